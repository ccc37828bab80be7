// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Both sides of the Comch benchmark: a client on the host in this process, and a server on the DPU in another process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "../other_process.hpp"
#include "../pair_bench.hpp"
#include "../socket_trips.hpp"
#include "comch_session.hpp"

namespace opendoca::tools {

/// The other process with its server, and the handle of it. Owned by the benchmark and used by its only thread. Both
/// processes have the same object; requests go over the channel, one at a time, and each has one answer, or two if the
/// other process takes part in a measurement: one when it begins and one when it ends.
class ComchPeer {
public:
    /// Forks, so it must be constructed before the first DOCA object. The child is pinned to @p cpu, unless that is -1.
    ComchPeer(int cpu, std::string host_ibdev);
    ComchPeer(const ComchPeer &) = delete;
    ComchPeer &operator=(const ComchPeer &) = delete;

    /// Opens the devices of both sides. Throws if there are none. Each process does so for itself, after the fork.
    void find();
    [[nodiscard]] const CardFunctions &functions() const noexcept { return functions_; }

    /// Connects both sides of a case. One pair at a time.
    [[nodiscard]] std::unique_ptr<CasePair> connect(const PairCase &what);
    /// Returns the seconds of @p count round trips over a bare socket pair, without those of a warm-up.
    [[nodiscard]] double trips_by_socket(SocketTrips::Wait wait, std::size_t size, std::size_t count);

private:
    class Pair;
    enum class Command : std::uint32_t;
    struct Request;
    struct Reply;

    /// The main function of the other process.
    void serve(int channel);
    /// Does what a request asks for, in the other process, and fills the answer.
    void carry_out(const Request &request, int channel, Reply &reply);
    /// Sends a request and waits for its first answer. Returns the result of a comparison, if the request is one.
    [[nodiscard]] bool call(const Request &request);

    std::string host_ibdev_;
    SocketTrips sockets_;                   ///< created before the fork
    std::unique_ptr<ComchSession> session_; ///< the session of the other process; null in this one
    CardFunctions functions_;
    std::uint32_t num_patterns_ = 0; ///< seeds used so far, so that each verification has new bytes
    OtherProcess process_;
};

} // namespace opendoca::tools
