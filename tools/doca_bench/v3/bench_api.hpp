// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The functions and types that differ between the generations, under names that all benchmarks use: the API of
// DOCA 3.0. v2/ has a header of the same name; the build chooses one of them by its include path.
#pragma once

#include <cstddef>
#include <cstdint>

#include <api.hpp>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

namespace opendoca::tools::api {

// Access rights of memory: for tasks of this process, for the other side of the PCIe, and for RDMA peers.
inline constexpr std::uint32_t local_rights = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE;
inline constexpr std::uint32_t pci_rights = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE;
inline constexpr std::uint32_t rdma_rights =
    DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC;
inline constexpr auto add_dev_to_map = doca_mmap_add_dev;
inline constexpr auto export_pci = doca_mmap_export_pci;
inline constexpr auto drop_buf = doca_buf_dec_refcount;
inline constexpr auto can_export_pci = doca_mmap_cap_is_export_pci_supported;
inline constexpr auto can_import_pci = doca_mmap_cap_is_create_from_export_pci_supported;
inline constexpr auto rep_pci_address = doca_devinfo_rep_get_pci_addr_str;
inline constexpr auto has_pci_address = doca_devinfo_is_equal_pci_addr;
inline constexpr auto max_copy_size = doca_dma_cap_task_memcpy_get_max_buf_size;
// SHA algorithms.
using ShaId = doca_sha_algorithm;
inline constexpr ShaId sha1 = DOCA_SHA_ALGORITHM_SHA1;
inline constexpr ShaId sha256 = DOCA_SHA_ALGORITHM_SHA256;
inline constexpr ShaId sha512 = DOCA_SHA_ALGORITHM_SHA512;
// Sync events. Publishers and subscribers are on this process's CPU, or on the other side of the PCIe.
inline constexpr auto can_import_event = doca_sync_event_cap_is_create_from_export_supported;
inline constexpr auto can_export_event = doca_sync_event_cap_is_export_to_remote_pci_supported;
inline constexpr auto export_event = doca_sync_event_export_to_remote_pci;
inline constexpr auto publish_locally = doca_sync_event_add_publisher_location_cpu;
inline constexpr auto publish_remotely = doca_sync_event_add_publisher_location_remote_pci;
inline constexpr auto subscribe_locally = doca_sync_event_add_subscriber_location_cpu;
inline constexpr auto subscribe_remotely = doca_sync_event_add_subscriber_location_remote_pci;
inline constexpr auto max_hash_size = doca_sha_cap_get_max_src_buf_size;

inline constexpr auto create_map = doca_mmap_create;
inline constexpr auto create_inventory = doca_buf_inventory_create;
/// Returns whether the device supports DMA copies.
inline bool can_copy(doca_devinfo &info)
{
    return doca_dma_cap_task_memcpy_is_supported(&info) == DOCA_SUCCESS;
}
/// Returns whether the device supports RDMA.
inline bool can_write(doca_devinfo &info)
{
    return doca_rdma_cap_task_write_is_supported(&info) == DOCA_SUCCESS;
}
/// Returns whether the device can serve messages, as ports of a DPU can.
inline bool can_serve_messages(const doca_devinfo &info)
{
    return doca_comch_cap_server_is_supported(&info) == DOCA_SUCCESS;
}
/// Returns whether the device supports SHA.
inline bool can_hash(doca_devinfo &info)
{
    return doca_sha_cap_task_hash_get_supported(&info, sha256) == DOCA_SUCCESS;
}
/// Takes a buffer with @p data_len bytes of data from @p addr on.
inline doca_error_t take_buf(doca_buf_inventory *inventory, doca_mmap *map, void *addr, std::size_t size,
                             std::size_t data_len, doca_buf **buf)
{
    return doca_buf_inventory_buf_get_by_args(inventory, map, addr, size, addr, data_len, buf);
}

/// While an object exists, the libraries log only critical errors. For the teardown of connections in which the peer
/// may be the first to go, where errors are expected. The level is global to the process, so objects must not be used
/// by two threads at once.
class QuietLog {
public:
    QuietLog() { (void)doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_CRIT); }
    QuietLog(const QuietLog &) = delete;
    QuietLog &operator=(const QuietLog &) = delete;
    ~QuietLog() { (void)doca_log_level_set_global_sdk_limit(level_); }

private:
    /// The level to restore.
    decltype(doca_log_level_get_global_sdk_limit()) level_ = doca_log_level_get_global_sdk_limit();
};

} // namespace opendoca::tools::api
