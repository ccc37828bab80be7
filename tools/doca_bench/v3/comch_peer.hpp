// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Both sides of the Comch benchmark: a client on the host here, and a server on the DPU in another process.
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

class ComchPeer {
public:
    /// Forks, so it must be constructed before the first DOCA object. The child is pinned to @p cpu, unless that is -1.
    ComchPeer(int cpu, std::string host_ibdev);
    ComchPeer(const ComchPeer &) = delete;
    ComchPeer &operator=(const ComchPeer &) = delete;

    /// Chooses the functions of both sides. Throws if there are none.
    void find();
    [[nodiscard]] const CardFunctions &functions() const noexcept { return functions_; }

    /// Connects both sides of a case.
    [[nodiscard]] std::unique_ptr<CasePair> connect(const PairCase &what);
    /// Returns the seconds of @p count round trips over a bare socket pair.
    [[nodiscard]] double trips_by_socket(SocketTrips::Wait wait, std::size_t size, std::size_t count);

private:
    class Pair;
    enum class Command : std::uint32_t;
    struct Request;
    struct Reply;

    void serve(int channel);
    void carry_out(const Request &request, int channel, Reply &reply);
    [[nodiscard]] bool ask(const Request &request);

    std::string host_ibdev_;
    SocketTrips sockets_;
    std::unique_ptr<ComchSession> session_; ///< of the other process
    CardFunctions functions_;
    std::uint32_t num_patterns_ = 0;
    OtherProcess process_;
};

} // namespace opendoca::tools
