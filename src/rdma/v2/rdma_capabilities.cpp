// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The capabilities of a device, as found when it was listed.
#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstring>

#include <doca_rdma.h>

#include "../../core/log/log.hpp"
#include "../../core/objects/dev.hpp"
#include "../../core/v2/call.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_CAPABILITIES);

using opendoca::v2::call;

namespace {

/// Returns INVALID_VALUE, after a log line, unless @p type is a type of RDMA jobs.
doca_error_t check_job_type(doca_rdma_job_types type) noexcept
{
    if (type >= DOCA_RDMA_JOB_RECV && type <= DOCA_RDMA_JOB_ATOMIC_FETCH_ADD)
        return DOCA_SUCCESS;
    LOG_ERR("job type %d is not one of RDMA's", static_cast<int>(type));
    return DOCA_ERROR_INVALID_VALUE;
}

bool is_atomic(doca_rdma_job_types type) noexcept
{
    return type == DOCA_RDMA_JOB_ATOMIC_CMP_SWP || type == DOCA_RDMA_JOB_ATOMIC_FETCH_ADD;
}

/// Stores the largest number of work requests of a queue. DRIVER if a device that supports RDMA has none that works:
/// the size is found by creating a queue, which can fail.
doca_error_t get_queue_size(const doca_devinfo *devinfo, std::uint32_t *size,
                            const char *function = __builtin_FUNCTION()) noexcept
{
    return call(
        {devinfo, size},
        [&] {
            const std::uint32_t largest = devinfo->function->max_queue_size();
            if (largest == 0 && devinfo->function->can.rdma.reliable_connection)
                return DOCA_ERROR_DRIVER;
            *size = largest;
            return DOCA_SUCCESS;
        },
        function);
}

} // namespace

/// Atomics are a capability of their own; all other jobs need reliable connections only.
doca_error_t doca_rdma_job_get_supported(const struct doca_devinfo *devinfo, enum doca_rdma_job_types job_type)
{
    return call({devinfo}, [&] {
        if (const doca_error_t status = check_job_type(job_type); status != DOCA_SUCCESS)
            return status;
        const opendoca::RdmaCapabilities &can = devinfo->function->can.rdma;
        const bool is_supported = is_atomic(job_type) ? can.atomics_of_connections() : can.reliable_connection;
        return is_supported ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
    });
}

/// DC is a transport of the API that no device of ours supports; other values are invalid.
doca_error_t doca_rdma_get_transport_type_supported(const struct doca_devinfo *devinfo,
                                                    enum doca_rdma_transport_type transport_type)
{
    return call({devinfo}, [&] {
        if (transport_type != DOCA_RDMA_TRANSPORT_RC && transport_type != DOCA_RDMA_TRANSPORT_DC) {
            LOG_ERR("there is no transport %d", static_cast<int>(transport_type));
            return DOCA_ERROR_INVALID_VALUE;
        }
        const bool is_supported =
            transport_type == DOCA_RDMA_TRANSPORT_RC && devinfo->function->can.rdma.reliable_connection;
        return is_supported ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
    });
}

doca_error_t doca_rdma_get_max_recv_queue_size(const struct doca_devinfo *devinfo, uint32_t *max_recv_queue_size)
{
    return get_queue_size(devinfo, max_recv_queue_size);
}

doca_error_t doca_rdma_get_max_send_queue_size(const struct doca_devinfo *devinfo, uint32_t *max_send_queue_size)
{
    return get_queue_size(devinfo, max_send_queue_size);
}

/// In bytes.
doca_error_t doca_rdma_get_max_message_size(const struct doca_devinfo *devinfo, uint32_t *max_message_size)
{
    return call({devinfo, max_message_size}, [&] { *max_message_size = devinfo->function->can.rdma.max_message_size; });
}

/// Atomics have one local buffer, of 8 bytes.
doca_error_t doca_rdma_get_max_buf_chain_len(const struct doca_devinfo *devinfo, enum doca_rdma_job_types job_type,
                                             enum doca_rdma_transport_type transport_type, uint32_t *max_buf_chain_len)
{
    return call({devinfo, max_buf_chain_len}, [&] {
        if (const doca_error_t status = check_job_type(job_type); status != DOCA_SUCCESS)
            return status;
        if (transport_type != DOCA_RDMA_TRANSPORT_RC) {
            LOG_ERR("transport %d has no chains of buffers", static_cast<int>(transport_type));
            return DOCA_ERROR_INVALID_VALUE;
        }
        const std::uint32_t longest = devinfo->function->can.rdma.max_chain_length;
        *max_buf_chain_len = is_atomic(job_type) ? std::min<std::uint32_t>(longest, 1) : longest;
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_rdma_get_gid_table_size(struct doca_devinfo *devinfo, uint32_t *gid_table_size)
{
    return call({devinfo, gid_table_size},
                [&] { *gid_table_size = static_cast<std::uint32_t>(devinfo->function->can.rdma.gids.size()); });
}

/// Copies a part of the GID table of the port.
doca_error_t doca_rdma_get_gid(struct doca_devinfo *devinfo, uint32_t start_index, uint32_t num_entries,
                               struct doca_rdma_gid *gid_array)
{
    return call({devinfo, gid_array}, [&] {
        const auto &gids = devinfo->function->can.rdma.gids;
        if (num_entries == 0 || start_index >= gids.size() || num_entries > gids.size() - start_index) {
            LOG_ERR("%" PRIu32 " entries from %" PRIu32 " on: the table has %zu entries", num_entries, start_index,
                    gids.size());
            return DOCA_ERROR_INVALID_VALUE;
        }
        // Both are the 16 bytes of a GID, in network order.
        static_assert(sizeof(doca_rdma_gid) == sizeof(opendoca::Gid));
        std::memcpy(gid_array, &gids[start_index], num_entries * sizeof(*gid_array));
        return DOCA_SUCCESS;
    });
}
