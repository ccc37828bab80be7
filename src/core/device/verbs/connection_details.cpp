// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "connection_details.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <fstream>
#include <string>

#include "../../base/crc32.hpp"
#include "../../log/log.hpp"
#include "../descriptor.hpp"
#include "device.hpp"
#include "gid_table.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_DETAILS);

namespace opendoca::verbs {

namespace {

/// Returns a number that identifies this machine until its next boot.
std::uint32_t number_of_machine()
{
    // The boot ID is the same in all processes and containers of the machine.
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id.empty() ? 0 : crc32(id.data(), id.size());
}

bool has_gid(const ConnectionDetails &details, const ibv_gid &gid) noexcept
{
    return std::any_of(details.gids, details.gids + details.num_gids,
                       [&](const ibv_gid &other) { return std::memcmp(other.raw, gid.raw, sizeof(gid.raw)) == 0; });
}

/// Returns whether both ends are different ports of one machine. Such ports may be unable to reach each other's IP
/// addresses in one or both directions, depending on the machine's routes and neighbours. Their link-local addresses
/// are bound to a port and work.
bool are_two_ports_of_one_machine(const ConnectionDetails &a, const ConnectionDetails &b) noexcept
{
    return a.machine == b.machine && a.machine != 0 && a.num_gids != 0 && !has_gid(b, a.gids[0]);
}

} // namespace

doca_error_t describe_end(ibv_context &context, const VerbsFunction &function, const QueuePairSettings &settings,
                          std::uint32_t qpn, LocalEnd &end)
{
    // The address consists of the LID (InfiniBand) and the GIDs (Ethernet, or InfiniBand with a GRH).
    const auto port = static_cast<std::uint8_t>(function.port());
    ibv_port_attr attributes{};
    if (const int error = ibv_query_port(&context, port, &attributes); error != 0) {
        LOG_ERR("port %u of device %s can't be queried: %s", port, function.ibdev_name.c_str(), std::strerror(error));
        return DOCA_ERROR_DRIVER;
    }
    // Only a warning: the link may come up before the program connects.
    if (attributes.state != IBV_PORT_ACTIVE)
        LOG_WARN("port %u of device %s is %s: no packets can be exchanged", port, function.ibdev_name.c_str(),
                 ibv_port_state_str(attributes.state));
    std::vector<ibv_gid_entry> gids = gids_of(context, port);
    if (settings.is_gid_fixed)
        std::erase_if(gids, [&](const ibv_gid_entry &entry) { return entry.gid_index != settings.gid_index; });
    // InfiniBand without a GRH needs no GID. RoCE has no other address.
    if (gids.empty() && attributes.link_layer != IBV_LINK_LAYER_INFINIBAND) {
        if (settings.is_gid_fixed)
            LOG_ERR("GID %" PRIu32 " of device %s, port %u, is empty", settings.gid_index, function.ibdev_name.c_str(),
                    port);
        else
            LOG_ERR("device %s, port %u, has no GID: is its interface up, with an address?",
                    function.ibdev_name.c_str(), port);
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    // gids_of() sorts by preference, so the least preferred addresses are dropped.
    if (gids.size() > max_candidates)
        gids.erase(gids.begin() + max_candidates, gids.end());

    // Set after the last step that can fail.
    end = {};
    ConnectionDetails &d = end.details;
    d.qpn = qpn;
    d.psn = random_psn();
    d.lid = attributes.lid;
    d.link_layer = attributes.link_layer;
    d.mtu = static_cast<std::uint8_t>(mtu_of(settings.mtu));
    d.max_reads = function.max_reads();
    d.num_gids = static_cast<std::uint8_t>(gids.size());
    for (std::size_t i = 0; i < gids.size(); ++i) {
        d.gids[i] = gids[i].gid;
        d.ranks[i] = static_cast<std::uint8_t>(rank_of(gids[i]));
        end.gid_indices[i] = static_cast<std::uint8_t>(gids[i].gid_index);
    }
    d.machine = number_of_machine();
    return DOCA_SUCCESS;
}

doca_error_t read_details(std::span<const std::byte> bytes, ConnectionDetails &details) noexcept
{
    ConnectionDetails d{};
    if (const auto fault = from_bytes(bytes, DescriptorKind::verbs_connection, d);
        fault != DescriptorReader::Fault::none) {
        LOG_ERR("these %zu bytes are not connection details of a verbs device: %s", bytes.size(), to_text(fault));
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    // Only values that the kernel or the hardware would misinterpret are rejected here. A wrong but well-formed address
    // makes the transition to RTR or the first operation fail.
    if (d.qpn > max_24_bits || d.psn > max_24_bits || d.mtu < IBV_MTU_256 || d.mtu > IBV_MTU_4096 || d.max_reads == 0 ||
        d.num_gids > max_candidates) {
        LOG_ERR("connection details are out of range: QPN 0x%" PRIx32 ", PSN 0x%" PRIx32
                ", MTU code %u, %u reads, %u GIDs",
                d.qpn, d.psn, d.mtu, d.max_reads, d.num_gids);
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    details = d;
    return DOCA_SUCCESS;
}

/// Combines each GID of this end with each GID of the peer. Both ends sort by criteria that have the same value on both
/// ends, so that they try the same paths in the same order.
std::vector<ReliableConnection::Path> find_paths(const LocalEnd &own, const ConnectionDetails &peer,
                                                 const QueuePairSettings &settings)
{
    const ConnectionDetails &local = own.details;
    ReliableConnection::Path path{};
    // Both ends use the smaller MTU. Each end may have as many reads in flight as the other end has resources to
    // answer.
    path.mtu = static_cast<ibv_mtu>(std::min(local.mtu, peer.mtu));
    path.service_level = static_cast<std::uint8_t>(settings.service_level);
    path.has_grh = settings.has_grh;
    path.lid = peer.lid;
    path.qpn = peer.qpn;
    path.sq_psn = local.psn;
    path.rq_psn = peer.psn;
    path.max_reads_out = std::min(local.max_reads, peer.max_reads);
    path.max_reads_in = local.max_reads;
    std::vector<ReliableConnection::Path> paths;
    // Ethernet and InfiniBand cannot reach each other: no path.
    if (local.link_layer != peer.link_layer)
        return paths;
    // Without a GRH, packets are routed by the LID alone, and there is only one path.
    if (!settings.has_grh) {
        paths.push_back(path);
        return paths;
    }
    struct Candidate {
        bool is_less_preferred;
        std::size_t sum;   ///< sum of the positions in both GID lists
        ibv_gid lower_gid; ///< the lower of the two GIDs, as a tie-breaker that both ends agree on
        ReliableConnection::Path path;
    };
    std::vector<Candidate> candidates;
    const bool prefers_link_local = are_two_ports_of_one_machine(local, peer);
    const auto add = [&](bool of_one_rank) {
        for (std::size_t i = 0; i < local.num_gids; ++i) {
            for (std::size_t j = 0; j < peer.num_gids; ++j) {
                if ((local.ranks[i] == peer.ranks[j]) != of_one_rank)
                    continue;
                path.gid_index = own.gid_indices[i];
                path.gid = peer.gids[j];
                const bool is_link = is_link_local(local.gids[i]) && is_link_local(peer.gids[j]);
                const bool is_lower = std::memcmp(local.gids[i].raw, peer.gids[j].raw, sizeof(path.gid.raw)) < 0;
                candidates.push_back(
                    {prefers_link_local && !is_link, i + j, is_lower ? local.gids[i] : peer.gids[j], path});
            }
        }
    };
    add(true);
    if (candidates.empty())
        add(false); // one end is set to a GID without a match at the other end: try it, the kernel decides
    // Preferred first: link-local addresses between two ports of one machine, then the sum of both positions, and the
    // lower GID of a pair where sums are equal.
    std::ranges::sort(candidates, [](const Candidate &a, const Candidate &b) {
        if (a.is_less_preferred != b.is_less_preferred)
            return b.is_less_preferred;
        if (a.sum != b.sum)
            return a.sum < b.sum;
        return std::memcmp(a.lower_gid.raw, b.lower_gid.raw, sizeof(a.lower_gid.raw)) < 0;
    });
    for (const Candidate &candidate : candidates)
        paths.push_back(candidate.path);
    return paths;
}

} // namespace opendoca::verbs
