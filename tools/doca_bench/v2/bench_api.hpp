// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The functions and types that differ between the generations, under names that all benchmarks use: the API of
// DOCA 2.2. v3/ has a header of the same name; the build chooses one of them by its include path.
#pragma once

#include <cstddef>
#include <cstdint>

#include <api.hpp>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comm_channel.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_rdma.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

namespace opendoca::tools::api {

// Access rights of memory: for jobs of this process, for the other side of the PCIe, and for RDMA peers.
inline constexpr std::uint32_t local_rights = DOCA_ACCESS_LOCAL_READ_WRITE;
inline constexpr std::uint32_t pci_rights = DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE;
inline constexpr std::uint32_t rdma_rights = DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC;
inline constexpr auto add_dev_to_map = doca_mmap_dev_add;
inline constexpr auto export_pci = doca_mmap_export_dpu;
inline constexpr auto drop_buf = doca_buf_refcount_rm;
inline constexpr auto can_export_pci = doca_devinfo_get_is_mmap_export_dpu_supported;
inline constexpr auto can_import_pci = doca_devinfo_get_is_mmap_from_export_dpu_supported;
inline constexpr auto rep_pci_address = doca_devinfo_rep_get_pci_addr_str;
inline constexpr auto has_pci_address = doca_devinfo_get_is_pci_addr_equal;
inline constexpr auto max_copy_size = doca_dma_get_max_buf_size;
// SHA algorithms.
using ShaId = doca_sha_job_type;
inline constexpr ShaId sha1 = DOCA_SHA_JOB_SHA1;
inline constexpr ShaId sha256 = DOCA_SHA_JOB_SHA256;
inline constexpr ShaId sha512 = DOCA_SHA_JOB_SHA512;
// Sync events. Publishers and subscribers are on this process's CPU, or on the other side of the PCIe.
inline constexpr auto can_import_event = doca_sync_event_get_create_from_export_supported;
inline constexpr auto can_export_event = doca_sync_event_get_export_to_dpu_supported;
inline constexpr auto export_event = doca_sync_event_export_to_dpu;
inline constexpr auto publish_locally = doca_sync_event_publisher_add_location_cpu;
inline constexpr auto publish_remotely = doca_sync_event_publisher_add_location_dpu;
inline constexpr auto subscribe_locally = doca_sync_event_subscriber_add_location_cpu;
inline constexpr auto subscribe_remotely = doca_sync_event_subscriber_add_location_dpu;
inline constexpr auto max_hash_size = doca_sha_get_max_src_buffer_size;

inline doca_error_t create_map(doca_mmap **map)
{
    return doca_mmap_create(nullptr, map);
}
inline doca_error_t create_inventory(std::size_t num_bufs, doca_buf_inventory **inventory)
{
    return doca_buf_inventory_create(nullptr, num_bufs, 0, inventory);
}
/// Returns whether the device supports DMA copies.
inline bool can_copy(doca_devinfo &info)
{
    return doca_dma_job_get_supported(&info, DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS;
}
/// Returns whether the device supports RDMA.
inline bool can_write(doca_devinfo &info)
{
    return doca_rdma_job_get_supported(&info, DOCA_RDMA_JOB_WRITE) == DOCA_SUCCESS;
}
/// Returns whether the device can serve messages, as ports of a DPU can.
inline bool can_serve_messages(doca_devinfo &info)
{
    std::uint32_t connections = 0;
    return doca_comm_channel_get_service_max_num_connections(&info, &connections) == DOCA_SUCCESS;
}
/// Returns whether the device supports SHA.
inline bool can_hash(doca_devinfo &info)
{
    return doca_sha_job_get_supported(&info, sha256) == DOCA_SUCCESS;
}
/// Takes a buffer with @p data_len bytes of data from @p addr on.
inline doca_error_t take_buf(doca_buf_inventory *inventory, doca_mmap *map, void *addr, std::size_t size,
                             std::size_t data_len, doca_buf **buf)
{
    return doca_buf_inventory_buf_by_args(inventory, map, addr, size, addr, data_len, buf);
}

/// While an object exists, the libraries log only critical errors. For the teardown of connections in which the peer
/// may be the first to go, where errors are expected. The level is global to the process, so objects must not be used
/// by two threads at once.
class QuietLog {
public:
    QuietLog() { (void)doca_log_global_level_set(DOCA_LOG_LEVEL_CRIT); }
    QuietLog(const QuietLog &) = delete;
    QuietLog &operator=(const QuietLog &) = delete;
    ~QuietLog() { (void)doca_log_global_level_set(level_); }

private:
    decltype(doca_log_global_level_get()) level_ = doca_log_global_level_get(); ///< the level to restore
};

} // namespace opendoca::tools::api
