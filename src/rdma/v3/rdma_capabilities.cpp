// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The capabilities of a device: doca_rdma_cap_X(). They read what was found when the device was listed, and open
// nothing unless noted.
#include <cstdint>
#include <cstring>

#include "../../core/log/log.hpp"
#include "../../core/v3/call.hpp"
#include "rdma.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_CAPABILITIES);

using opendoca::v3::call;

namespace {

/// Stores the largest number of work requests of a queue. DRIVER if a device that supports RDMA has none that works:
/// the size is found by creating a queue, which can fail.
doca_error_t get_queue_size(const doca_devinfo *devinfo, std::uint32_t *size)
{
    return call({devinfo, size}, [&] {
        const std::uint32_t largest = devinfo->function->max_queue_size();
        if (largest == 0 && devinfo->function->can.rdma.reliable_connection)
            return DOCA_ERROR_DRIVER;
        *size = largest;
        return DOCA_SUCCESS;
    });
}

} // namespace

doca_error_t doca_rdma_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo, uint32_t *max_recv_queue_size)
{
    return get_queue_size(devinfo, max_recv_queue_size);
}

doca_error_t doca_rdma_cap_get_max_send_queue_size(const struct doca_devinfo *devinfo, uint32_t *max_send_queue_size)
{
    return get_queue_size(devinfo, max_send_queue_size);
}

/// Buffers in the local list of a task: the SGEs of a work request.
doca_error_t doca_rdma_cap_get_max_send_buf_list_len(const struct doca_devinfo *devinfo,
                                                     uint32_t *max_send_buf_list_len)
{
    return call({devinfo, max_send_buf_list_len},
                [&] { *max_send_buf_list_len = devinfo->function->can.rdma.max_chain_length; });
}

/// In bytes.
doca_error_t doca_rdma_cap_get_max_message_size(const struct doca_devinfo *devinfo, uint32_t *max_message_size)
{
    return call({devinfo, max_message_size}, [&] { *max_message_size = devinfo->function->can.rdma.max_message_size; });
}

doca_error_t doca_rdma_cap_get_gid_table_size(const struct doca_devinfo *devinfo, uint32_t *gid_table_size)
{
    return call({devinfo, gid_table_size},
                [&] { *gid_table_size = static_cast<std::uint32_t>(devinfo->function->can.rdma.gids.size()); });
}

/// Copies a part of the GID table of the port.
doca_error_t doca_rdma_cap_get_gid(const struct doca_devinfo *devinfo, uint32_t start_index, uint32_t num_entries,
                                   struct doca_rdma_gid *gid_array)
{
    return call({devinfo, gid_array}, [&] {
        const auto &gids = devinfo->function->can.rdma.gids;
        if (num_entries == 0 || start_index >= gids.size() || num_entries > gids.size() - start_index) {
            LOG_ERR("%u entries from %u on: the table has %zu entries", num_entries, start_index, gids.size());
            return DOCA_ERROR_INVALID_VALUE;
        }
        // Both are the 16 bytes of a GID, in network order.
        static_assert(sizeof(doca_rdma_gid) == sizeof(opendoca::Gid));
        std::memcpy(gid_array, &gids[start_index], num_entries * sizeof(*gid_array));
        return DOCA_SUCCESS;
    });
}

/// DC is a transport of the API that no device of ours supports; other values are invalid.
doca_error_t doca_rdma_cap_transport_type_is_supported(const struct doca_devinfo *devinfo,
                                                       enum doca_rdma_transport_type transport_type)
{
    return call({devinfo}, [&] {
        if (transport_type != DOCA_RDMA_TRANSPORT_TYPE_RC && transport_type != DOCA_RDMA_TRANSPORT_TYPE_DC) {
            LOG_ERR("there is no transport %d", static_cast<int>(transport_type));
            return DOCA_ERROR_INVALID_VALUE;
        }
        const bool is_supported =
            transport_type == DOCA_RDMA_TRANSPORT_TYPE_RC && devinfo->function->can.rdma.reliable_connection;
        return is_supported ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
    });
}

doca_error_t doca_rdma_cap_task_receive_get_max_dst_buf_list_len(const struct doca_devinfo *devinfo,
                                                                 enum doca_rdma_transport_type transport_type,
                                                                 uint32_t *max_buf_list_len)
{
    return call({devinfo, max_buf_list_len}, [&] {
        if (transport_type != DOCA_RDMA_TRANSPORT_TYPE_RC)
            return DOCA_ERROR_NOT_SUPPORTED;
        *max_buf_list_len = devinfo->function->can.rdma.max_chain_length;
        return DOCA_SUCCESS;
    });
}
