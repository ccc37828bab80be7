// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "loopback.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "../../log/log.hpp"
#include "device.hpp"
#include "gid_table.hpp"
#include "reliable_connection.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_LOOPBACK);

namespace opendoca::verbs {

namespace {

/// Tries all GIDs of the port. Returns 0, or errno's value for the last one.
int connect_by_gid(const VerbsDevice &device, ReliableConnection &connection, ReliableConnection::Path &path)
{
    int error = EADDRNOTAVAIL;
    for (const ibv_gid_entry &entry : gids_of(device.context(), device.port().port())) {
        path.has_grh = true;
        path.gid = entry.gid;
        path.gid_index = static_cast<std::uint8_t>(entry.gid_index);
        error = connection.connect(path);
        if (error == 0) // not every address works: the kernel needs a route and a neighbour entry for it
            break;
    }
    return error;
}

} // namespace

doca_error_t connect_to_itself(const VerbsDevice &device, ReliableConnection &connection) noexcept
{
    return guarded([&] {
        const std::uint32_t port = device.port().port();
        ibv_port_attr attributes{};
        int error = ibv_query_port(&device.context(), static_cast<std::uint8_t>(port), &attributes);
        if (error == 0) {
            ReliableConnection::Path path{};
            path.mtu = attributes.active_mtu;
            path.lid = attributes.lid;
            path.qpn = connection.number();
            // The peer is the queue pair itself, so both directions have the same sequence numbers. No reads or atomics
            // are sent, so one of them suffices.
            path.sq_psn = random_psn();
            path.rq_psn = path.sq_psn;
            path.max_reads_out = 1;
            path.max_reads_in = 1;
            // InfiniBand addresses the port by its LID. RoCE needs a GID, and tries all of them.
            const bool has_lid = attributes.link_layer == IBV_LINK_LAYER_INFINIBAND && attributes.lid != 0;
            error = has_lid ? connection.connect(path) : connect_by_gid(device, connection, path);
        }
        if (error == 0)
            return DOCA_SUCCESS;
        LOG_ERR("device %s, port %u: the port cannot be reached from itself by any address: %s",
                device.port().ibdev_name.c_str(), port, std::strerror(error));
        return DOCA_ERROR_INITIALIZATION;
    });
}

} // namespace opendoca::verbs
