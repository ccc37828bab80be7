// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doca_error.h>

#include "../../../base/guard.hpp"

namespace opendoca::soft {

/// Kinds of faults.
enum class Fault : std::uint8_t {
    job,          ///< a job completes with IO_FAILED
    peer,         ///< the peer's process seems to have ended
    full,         ///< a job is refused as if the queue were full
    registration, ///< a memory map cannot be registered
    import,       ///< an export descriptor is refused
    reset,        ///< the device is reset
    remove,       ///< the device is removed
    port_down,    ///< the port goes down
};

/// The library that an affected job belongs to.
enum class Jobs : std::uint8_t { dma, rdma, sync_event, none };

/// The faults that DOCA_SOFT_FAULTS requests: a list of rules, each with a counter of its occasions. Owned jointly by a
/// device and its objects. Thread-safe: occasions are counted over all threads of the device.
class OPENDOCA_INTERNAL FaultPlan {
public:
    /// Sets @p plan from the environment; null if the variable is unset or empty. Returns INVALID_VALUE, after a log
    /// line with the allowed form, if it is malformed.
    [[nodiscard]] static doca_error_t from_environment(std::shared_ptr<FaultPlan> &plan);
    /// The same for a given text.
    [[nodiscard]] static doca_error_t parse(std::string_view text, std::shared_ptr<FaultPlan> &plan);

    /// Counts an occasion for each rule about @p fault and @p jobs. Returns whether one of them applies to it, and logs
    /// which.
    [[nodiscard]] bool injects(Fault fault, Jobs jobs = Jobs::none) noexcept;

private:
    /// One item of the list. Constant after parsing, but for the counter.
    struct Rule {
        Fault fault;
        Jobs jobs;               ///< none: of all libraries
        std::uint64_t first = 0; ///< first affected occasion, counted from 1; 0: occasions are chosen at random
        std::uint64_t step = 0;  ///< distance to the next affected occasion; 0: there is no further one
        double probability = 0;  ///< of being chosen, from 0 to 1
        std::uint32_t hash = 0;  ///< of the text; makes the random choices of rules independent
        std::string text;        ///< as in the variable, for log messages
        std::atomic<std::uint64_t> count{0}; ///< occasions so far
    };

    /// Parse an item, and its part behind the '='. Return false if it is malformed.
    [[nodiscard]] static bool parse_rule(std::string_view text, Rule &rule);
    [[nodiscard]] static bool parse_when(std::string_view text, Rule &rule);
    /// Returns whether @p rule affects its occasion number @p occasion.
    [[nodiscard]] bool is_hit(const Rule &rule, std::uint64_t occasion) const noexcept;

    std::vector<std::unique_ptr<Rule>> rules_;
    std::uint64_t seed_ = 1; ///< of the random choices; the same seed gives the same faults
};

} // namespace opendoca::soft
