// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The passive side of the RDMA benchmark, in another process of this machine or on another machine. It blocks while no
// request is being served.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "channel.hpp"
#include "other_process.hpp"
#include "rdma_session.hpp"

namespace opendoca::tools {

/// The protocol version that the sides exchange first; it must be equal on both.
inline constexpr std::uint64_t rdma_protocol = 1;

/// Serves requests from @p socket until the connection ends. @p ibdev is the device to use; if it is empty, the other
/// side chooses it and therefore has to be trusted.
void serve_rdma(int socket, const std::string &ibdev);

/// The active side's handle of the peer: sends requests and waits for answers, one at a time. Used by the benchmark's
/// first thread. A problem that the peer reports becomes an exception, after which the connection can still be used.
class RdmaPeer {
public:
    /// @p name is used in error messages, for example "the other process". The caller keeps @p socket open.
    RdmaPeer(int socket, std::string name) : socket_(socket), name_(std::move(name)) {}
    RdmaPeer(const RdmaPeer &) = delete;
    RdmaPeer &operator=(const RdmaPeer &) = delete;

    /// Exchanges versions. Returns the name of the peer's device. Throws if the peer's protocol differs.
    std::string handshake();
    /// Connects new sessions of the peer to those with the details @p own, one for each thread. Returns the peer's
    /// details.
    [[nodiscard]] std::vector<RdmaDetails> begin(const std::string &ibdev, const PairCase &what,
                                                 std::span<const RdmaDetails> own);
    /// Destroys the sessions.
    void end();

    /// Starts the peer's loop for @p count jobs of each thread, and returns when it runs.
    void serve(std::size_t count);
    /// Waits until the loop has ended.
    void finish_serving();

    /// Fills the memory that the peer exposes with the pattern of @p seed.
    void fill(std::uint32_t seed);
    /// The memory of the peer: what it exposes to RDMA operations, or the destination of its receives.
    enum class Place : std::uint32_t { exposed, received };
    /// Returns whether the memory of all sessions contains the pattern of @p seed.
    [[nodiscard]] bool holds(Place place, std::uint32_t seed);
    /// Returns the sum of the first words of the exposed memory of all sessions.
    [[nodiscard]] std::uint64_t word();

private:
    /// Sends a request and returns the answer. Throws the problem that the peer reports.
    Message call(const Message &request);
    /// Receives an answer.
    Message await_answer();

    int socket_;
    std::string name_;
};

/// A peer in a process of its own on this machine, and the handle of it. Owned by the benchmark; the destructor ends
/// the process.
class RdmaPeerProcess {
public:
    /// Forks, so it must be constructed before the first DOCA object. The child is pinned to @p cpu, unless that is -1.
    explicit RdmaPeerProcess(int cpu);

    [[nodiscard]] RdmaPeer &peer() noexcept { return peer_; }

private:
    OtherProcess process_;
    RdmaPeer peer_;
};

/// Fills memory with bytes that depend on the seed and on their position.
void fill_pattern(std::span<std::byte> bytes, std::uint32_t seed);
/// Returns whether memory contains that pattern.
[[nodiscard]] bool is_pattern(std::span<const std::byte> bytes, std::uint32_t seed);

} // namespace opendoca::tools
