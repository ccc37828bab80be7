// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The queries that differ between the generations, under names that both use: in the API of DOCA 2.2. v3/ has a header
// of the same name; the build chooses one of them by its include path.
#pragma once

#include <cstdint>
#include <span>

#include <doca_comm_channel.h>
#include <doca_compress.h>
#include <doca_dma.h>
#include <doca_erasure_coding.h>
#include <doca_log.h>
#include <doca_rdma.h>
#include <doca_rdma_bridge.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

#include "../capabilities.hpp"

namespace opendoca::tools::questions {

inline constexpr const char *libraries[] = {"argp", "comm_channel",   "common", "compress",
                                            "dma",  "erasure_coding", "rdma",   "sha"};
inline constexpr const char *bytes_of_one = "  bytes of a job";

// Support for one representative job of each library; the others are available with it.
inline bool can_copy(doca_devinfo &info)
{
    return doca_dma_job_get_supported(&info, DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS;
}
inline bool can_hash(doca_devinfo &info)
{
    return doca_sha_job_get_supported(&info, DOCA_SHA_JOB_SHA256) == DOCA_SUCCESS;
}
template <doca_compress_job_types type>
bool can_run(doca_devinfo &info)
{
    return doca_compress_job_get_supported(&info, type) == DOCA_SUCCESS;
}
inline constexpr auto can_compress = can_run<DOCA_COMPRESS_DEFLATE_JOB>;
inline constexpr auto can_decompress = can_run<DOCA_DECOMPRESS_DEFLATE_JOB>;
inline constexpr auto can_decompress_lz4 = can_run<DOCA_DECOMPRESS_LZ4_JOB>;
inline doca_error_t compress_max_size(const doca_devinfo *info, std::uint64_t *size)
{
    return doca_compress_get_max_buf_size(info, DOCA_DECOMPRESS_DEFLATE_JOB, size);
}
inline bool can_code(doca_devinfo &info)
{
    return doca_ec_job_get_supported(&info, DOCA_EC_JOB_CREATE) == DOCA_SUCCESS;
}
inline bool can_connect(doca_devinfo &info)
{
    return doca_rdma_get_transport_type_supported(&info, DOCA_RDMA_TRANSPORT_RC) == DOCA_SUCCESS;
}
inline bool has_atomics(doca_devinfo &info)
{
    return doca_rdma_job_get_supported(&info, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD) == DOCA_SUCCESS;
}
inline bool has_sync_events(doca_devinfo &info)
{
    return doca_sync_event_job_get_supported(&info, DOCA_SYNC_EVENT_JOB_WAIT_GT) == DOCA_SUCCESS;
}
inline bool has_comm_channel(doca_devinfo &info)
{
    std::uint32_t size = 0;
    return doca_comm_channel_get_max_message_size(&info, &size) == DOCA_SUCCESS;
}

// Limits and flags, in the order of the rows.
inline constexpr auto dma_max_size = doca_dma_get_max_buf_size;
inline constexpr auto dma_max_list = doca_dma_get_max_list_buf_num_elem;
inline constexpr auto sha_max_size = doca_sha_get_max_src_buffer_size;
inline constexpr auto sha_max_list = doca_sha_get_max_list_buf_num_elem;
inline constexpr auto rdma_max_size = doca_rdma_get_max_message_size;
inline constexpr auto rdma_send_queue = doca_rdma_get_max_send_queue_size;
inline constexpr auto gid_table_size = doca_rdma_get_gid_table_size;
inline constexpr auto get_gids = doca_rdma_get_gid;
using GidOfApi = doca_rdma_gid;
inline constexpr auto protection_domain = doca_dev_get_pd;
inline constexpr auto exports_memory = doca_devinfo_get_is_mmap_export_dpu_supported;
inline constexpr auto imports_memory = doca_devinfo_get_is_mmap_from_export_dpu_supported;
inline constexpr auto exports_events = doca_sync_event_get_export_to_dpu_supported;
inline constexpr auto imports_events = doca_sync_event_get_create_from_export_supported;
inline constexpr auto manages_hotplug = doca_devinfo_get_is_hotplug_manager_supported;

// Keys in JSON of the rows with the same names. They follow the functions of the API, which differ in each generation.
inline constexpr const char *exports_memory_key = "mmap_export_dpu";
inline constexpr const char *imports_memory_key = "mmap_from_export_dpu";
inline constexpr const char *exports_events_key = "sync_event_export_to_dpu";

/// Software devices model a card with a hash engine, but the CPU hashes: neither yes nor no.
inline CapabilityValue hashes_in_hardware(doca_devinfo &info)
{
    if (doca_sha_get_hardware_supported(&info) != DOCA_SUCCESS)
        return false;
    if (is_software(info))
        return "emulated";
    return true;
}

// Rows that only this generation can answer.
inline constexpr CapabilityRow hash_rows[] = {
    {"sha_hardware", "  in hardware", hashes_in_hardware, Ability::hash_by_engine}};
inline constexpr CapabilityRow compress_rows[] = {
    {"compress_deflate", "compress DEFLATE", emulated<can_compress>, Ability::compress, "compress"},
    {"decompress_deflate", "decompress DEFLATE", emulated<can_decompress>, Ability::compress},
    {"decompress_lz4", "decompress LZ4", emulated<can_decompress_lz4>, Ability::compress},
    {"compress_max_buf_size", bytes_of_one, limit<can_decompress, compress_max_size>, {}},
    {"compress_max_list_buf_num_elem",
     "  buffers of a list",
     limit<can_decompress, doca_compress_get_max_list_buf_num_elem>,
     {}}};
inline constexpr CapabilityRow coding_rows[] = {
    {"erasure_coding", "erasure coding", emulated<can_code>, Ability::erasure_coding, "EC"},
    {"ec_max_list_buf_num_elem", "  buffers of a list", limit<can_code, doca_ec_get_max_list_buf_num_elem>, {}}};
inline constexpr std::span<const CapabilityRow> cipher_rows;
inline constexpr CapabilityRow rdma_rows[] = {
    {"rdma_max_recv_queue_size", "  receive queue", limit<can_connect, doca_rdma_get_max_recv_queue_size>, {}}};
inline constexpr CapabilityRow channel_rows[] = {
    {"comm_channel", "Comm Channel", yes_or_no<has_comm_channel>, Ability::message_channel, "Comm Channel"}};
inline constexpr std::span<const CapabilityRow> event_rows;

inline doca_error_t set_log_level(bool is_verbose)
{
    return doca_log_global_level_set(is_verbose ? DOCA_LOG_LEVEL_DEBUG : DOCA_LOG_LEVEL_CRIT);
}

} // namespace opendoca::tools::questions
