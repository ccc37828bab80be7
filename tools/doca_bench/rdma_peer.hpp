// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The other side of the RDMA benchmark: the passive end of a case, in another process here or on another machine. It
// sleeps unless it is told to serve.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "channel.hpp"
#include "other_process.hpp"
#include "rdma_session.hpp"

namespace opendoca::tools {

/// What the sides say first, and must have in common.
inline constexpr std::uint64_t rdma_protocol = 1;

/// Does what comes from @p socket until the connection ends. @p ibdev is the device to use; when it is empty, the other
/// side says which one, and so may only be trusted.
void serve_rdma(int socket, const std::string &ibdev);

/// Tells the other side what to do.
class RdmaPeer {
public:
    /// @p name is for messages about it, such as "the other process"; @p socket stays the caller's.
    RdmaPeer(int socket, std::string name) : socket_(socket), name_(std::move(name)) {}
    RdmaPeer(const RdmaPeer &) = delete;
    RdmaPeer &operator=(const RdmaPeer &) = delete;

    /// The name of its device. Throws when it speaks another protocol.
    std::string greet();
    /// Connects new sessions to those with the details @p own, one for each thread; their details.
    [[nodiscard]] std::vector<RdmaDetails> begin(const std::string &ibdev, const PairCase &what,
                                                 std::span<const RdmaDetails> own);
    /// Ends the sessions.
    void end();

    /// Starts the peer's loop for @p count jobs of each thread, and returns when it runs.
    void serve(std::size_t count);
    /// Waits until it has ended.
    void finish_serving();

    /// Fills the memory that the peer exposes with the pattern of @p seed.
    void fill(std::uint32_t seed);
    enum class Place : std::uint32_t { exposed, received };
    /// Whether the bytes there are the pattern of @p seed, in all sessions.
    [[nodiscard]] bool holds(Place place, std::uint32_t seed);
    /// The sum of the first words of the exposed memory of all sessions.
    [[nodiscard]] std::uint64_t word();

private:
    Message ask(const Message &request);
    Message await_answer();

    int socket_;
    std::string name_;
};

/// A peer in a process of its own on this machine.
class RdmaPeerProcess {
public:
    /// Forks, and so is to be made before the first DOCA object. @p cpu is where it stays, or -1.
    explicit RdmaPeerProcess(int cpu);

    [[nodiscard]] RdmaPeer &peer() noexcept { return peer_; }

private:
    OtherProcess process_;
    RdmaPeer peer_;
};

/// Bytes that depend on the seed and on their place.
void fill_pattern(std::span<std::byte> bytes, std::uint32_t seed);
[[nodiscard]] bool is_pattern(std::span<const std::byte> bytes, std::uint32_t seed);

} // namespace opendoca::tools
