// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What two ends of a connection tell each other before there is one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <doca_error.h>

#include "../queue_pair.hpp"
#include "reliable_connection.hpp"

namespace opendoca::verbs {

class VerbsFunction;

inline constexpr std::size_t max_candidates = 8;

/// What connection details say; from anywhere. The address is a choice of GIDs: which one suits is known when both
/// ends are.
struct ConnectionDetails {
    std::uint32_t queue_pair;
    std::uint32_t packet; ///< number of the first packet that is sent
    std::uint16_t lid;
    std::uint8_t link_layer;
    std::uint8_t mtu; ///< enum ibv_mtu
    std::uint8_t max_reads;
    std::uint8_t num_gids;
    std::uint8_t ranks[max_candidates]; ///< as rank_of() has them: ends reach each other within one
    ibv_gid gids[max_candidates];       ///< best first
    std::uint32_t machine;              ///< the same for all processes of one, or 0

    template <typename Self, typename Visitor>
    static void visit(Self &d, Visitor visitor)
    {
        visitor(d.queue_pair);
        visitor(d.packet);
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

/// This end: the details, and to each of its GIDs the number in the port's table.
struct LocalEnd {
    ConnectionDetails details;
    std::uint8_t gid_indices[max_candidates];
};

/// Asks the port for what the details of @p queue_pair have to hold.
[[nodiscard]] doca_error_t describe_end(ibv_context &context, const VerbsFunction &function,
                                        const QueuePairSettings &settings, std::uint32_t queue_pair,
                                        LocalEnd &end);

/// Checks @p bytes. CONNECTION_ABORTED, with the reason in the log, when they are no details of a verbs
/// device.
[[nodiscard]] doca_error_t read_details(std::span<const std::byte> bytes,
                                        ConnectionDetails &details) noexcept;

/// The ways from @p own to @p peer, best first. Both ends find the same ones in the same order: each takes
/// the first that its system accepts, and neither knows what the other has taken.
[[nodiscard]] std::vector<ReliableConnection::Path>
find_paths(const LocalEnd &own, const ConnectionDetails &peer, const QueuePairSettings &settings);

} // namespace opendoca::verbs
