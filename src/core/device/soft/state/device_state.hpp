// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What changes of software devices while programs run: resets, removals, and the state of ports. See "While programs
// run" in docs/software-device.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <doca_error.h>

#include "../topology/topology.hpp"

namespace opendoca::soft {

/// The state of one function. In a page that processes of one user share, so each value is possible at any time: there
/// is none that is invalid.
struct FunctionState {
    std::atomic<std::uint32_t> num_resets; ///< what was created before the last one is lost
    std::atomic<std::uint32_t> flags;      ///< bits, below; unknown ones have no meaning

    static constexpr std::uint32_t removed = 1;
    static constexpr std::uint32_t port_down = 2;

    // Relaxed: the words order no other data.
    [[nodiscard]] bool is_removed() const noexcept { return (flags.load(std::memory_order_relaxed) & removed) != 0; }
    [[nodiscard]] bool is_port_down() const noexcept
    {
        return (flags.load(std::memory_order_relaxed) & port_down) != 0;
    }
    void reset() noexcept { num_resets.fetch_add(1, std::memory_order_relaxed); }
    /// Also ends what was created before.
    void remove() noexcept
    {
        flags.fetch_or(removed, std::memory_order_relaxed);
        reset();
    }
    void add() noexcept { flags.fetch_and(~removed, std::memory_order_relaxed); }
    void set_port(bool is_down) noexcept
    {
        if (is_down)
            flags.fetch_or(port_down, std::memory_order_relaxed);
        else
            flags.fetch_and(~port_down, std::memory_order_relaxed);
    }
};

/// The states of all functions of a topology, in its order: in memory of this process, or in a file of the user that
/// programs map. One object in a process for each topology, which lives as long as the process, so that the states of
/// devices that are open never move. Thread-safe.
class OPENDOCA_INTERNAL DeviceStates {
public:
    static constexpr std::size_t max_functions = 250;

    /// Finds the states by which devices of @p topology are to be controlled: those in the file if the environment has
    /// DOCA_SOFT_CONTROL=1, else those of this process if @p is_needed; else null. INVALID_VALUE, logged, for another
    /// value of the variable; otherwise errors as of open_file().
    [[nodiscard]] static doca_error_t find(const Topology &topology, bool is_needed, DeviceStates *&states);
    /// Maps the file of @p topology, and creates it if it does not exist. Refuses files and directories that others
    /// than this user could write. NOT_PERMITTED, NO_MEMORY, OPERATING_SYSTEM, logged.
    [[nodiscard]] static doca_error_t open_file(const Topology &topology, DeviceStates *&states);

    /// Returns the name of that file in the user's directory.
    [[nodiscard]] static std::string file_name_of(const Topology &topology);

    DeviceStates(const DeviceStates &) = delete;
    DeviceStates &operator=(const DeviceStates &) = delete;

    /// @p index: of a function in the topology.
    [[nodiscard]] FunctionState &of(std::size_t index) const noexcept { return functions_[index]; }
    /// The topology with which the states were found first; others with the same functions share them.
    [[nodiscard]] const Topology &topology() const noexcept { return topology_; }
    /// Returns where the states are, for messages.
    [[nodiscard]] const std::string &origin() const noexcept { return origin_; }

private:
    DeviceStates(FunctionState *functions, Topology topology, std::string origin)
        : functions_(functions),
          topology_(std::move(topology)),
          origin_(std::move(origin))
    {
    }

    [[nodiscard]] static DeviceStates *known(std::uint64_t key, bool is_file);
    static DeviceStates *keep(std::uint64_t key, bool is_file, std::unique_ptr<DeviceStates> made);

    FunctionState *const functions_; ///< max_functions elements; never unmapped
    const Topology topology_;
    const std::string origin_;
};

} // namespace opendoca::soft
