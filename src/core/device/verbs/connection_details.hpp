// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the two ends of a connection exchange before they connect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <doca_error.h>

#include "../queue_pair.hpp"
#include "reliable_connection.hpp"

namespace opendoca::verbs {

class VerbsFunction;

inline constexpr std::size_t max_candidates = 8;

/// The fields of connection details, which are untrusted. The address is a list of GIDs; which one to use can be
/// decided once the details of both ends are known.
struct ConnectionDetails {
    std::uint32_t qpn;
    std::uint32_t psn; ///< sequence number of the first packet that this end sends
    std::uint16_t lid;
    std::uint8_t link_layer;
    std::uint8_t mtu; ///< enum ibv_mtu
    std::uint8_t max_reads;
    std::uint8_t num_gids;
    std::uint8_t ranks[max_candidates]; ///< rank_of() each GID: RoCE version and kind of address; equal ranks go first
    ibv_gid gids[max_candidates];       ///< best first
    std::uint32_t machine;              ///< equal for all processes of one machine; 0 if unknown

    /// Calls @p visitor with each field in the order of the serialized details; to_bytes() and from_bytes() use it.
    template <typename Self, typename Visitor>
    static void visit(Self &d, Visitor visitor)
    {
        visitor(d.qpn);
        visitor(d.psn);
        visitor(d.lid);
        visitor(d.link_layer);
        visitor(d.mtu);
        visitor(d.max_reads);
        visitor(d.num_gids);
        visitor(d.ranks);
        for (auto &gid : d.gids)
            visitor(gid.raw);
        visitor(d.machine);
    }
};

/// The local end: its details, and each GID's index in the port's table.
struct LocalEnd {
    ConnectionDetails details;
    std::uint8_t gid_indices[max_candidates];
};

/// Queries the port, and fills in @p end for the queue pair @p qpn.
[[nodiscard]] doca_error_t describe_end(ibv_context &context, const VerbsFunction &function,
                                        const QueuePairSettings &settings, std::uint32_t qpn, LocalEnd &end);

/// Parses and checks @p bytes. CONNECTION_ABORTED, logged, if they are not valid details of a verbs device.
[[nodiscard]] doca_error_t read_details(std::span<const std::byte> bytes, ConnectionDetails &details) noexcept;

/// Returns the paths from @p own to @p peer, best first. Both ends compute the same paths in the same order. Each end
/// uses the first one that its kernel accepts, without knowledge of the other end's choice.
[[nodiscard]] std::vector<ReliableConnection::Path> find_paths(const LocalEnd &own, const ConnectionDetails &peer,
                                                               const QueuePairSettings &settings);

} // namespace opendoca::verbs
