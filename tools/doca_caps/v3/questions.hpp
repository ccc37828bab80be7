// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The queries that differ between the generations, under names that both use: in the API of DOCA 3.0. v2/ has a header
// of the same name; the build chooses one of them by its include path.
#pragma once

#include <span>

#include <doca_aes_gcm.h>
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_compress.h>
#include <doca_dma.h>
#include <doca_erasure_coding.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_rdma.h>
#include <doca_rdma_bridge.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

#include "../capabilities.hpp"

namespace opendoca::tools::questions {

inline constexpr const char *libraries[] = {"aes_gcm", "argp",           "comch", "common", "compress",
                                            "dma",     "erasure_coding", "rdma",  "sha"};
inline constexpr const char *bytes_of_one = "  bytes of a task";

// Support for one representative task of each library; the others are available with it.
inline bool can_copy(doca_devinfo &info)
{
    return doca_dma_cap_task_memcpy_is_supported(&info) == DOCA_SUCCESS;
}
inline bool can_hash(doca_devinfo &info)
{
    return doca_sha_cap_task_hash_get_supported(&info, DOCA_SHA_ALGORITHM_SHA256) == DOCA_SUCCESS;
}
inline bool can_code(doca_devinfo &info)
{
    return doca_ec_cap_task_create_is_supported(&info) == DOCA_SUCCESS;
}
inline bool can_encrypt(doca_devinfo &info)
{
    return doca_aes_gcm_cap_task_encrypt_is_supported(&info) == DOCA_SUCCESS &&
           doca_aes_gcm_cap_task_decrypt_is_supported(&info) == DOCA_SUCCESS;
}
inline bool can_connect(doca_devinfo &info)
{
    return doca_rdma_cap_transport_type_is_supported(&info, DOCA_RDMA_TRANSPORT_TYPE_RC) == DOCA_SUCCESS;
}
inline bool has_atomics(doca_devinfo &info)
{
    return doca_rdma_cap_task_atomic_fetch_add_is_supported(&info) == DOCA_SUCCESS;
}
inline bool has_sync_events(doca_devinfo &info)
{
    return doca_sync_event_cap_task_wait_eq_is_supported(&info) == DOCA_SUCCESS;
}
inline bool can_serve(doca_devinfo &info)
{
    return doca_comch_cap_server_is_supported(&info) == DOCA_SUCCESS;
}
inline bool can_be_client(doca_devinfo &info)
{
    return doca_comch_cap_client_is_supported(&info) == DOCA_SUCCESS;
}
inline bool has_messages(doca_devinfo &info)
{
    return can_serve(info) || can_be_client(info);
}
inline bool has_fast_path(doca_devinfo &info)
{
    return doca_comch_consumer_cap_is_supported(&info) == DOCA_SUCCESS &&
           doca_comch_producer_cap_is_supported(&info) == DOCA_SUCCESS;
}

template <doca_error_t (*is_supported)(const doca_devinfo *)>
bool supports(doca_devinfo &info)
{
    return is_supported(&info) == DOCA_SUCCESS;
}
inline constexpr auto can_compress = supports<doca_compress_cap_task_compress_deflate_is_supported>;
inline constexpr auto can_decompress = supports<doca_compress_cap_task_decompress_deflate_is_supported>;
inline constexpr auto can_decompress_lz4_stream = supports<doca_compress_cap_task_decompress_lz4_stream_is_supported>;
inline constexpr auto can_decompress_lz4_block = supports<doca_compress_cap_task_decompress_lz4_block_is_supported>;

// Limits and flags, in the order of the rows.
inline constexpr auto dma_max_size = doca_dma_cap_task_memcpy_get_max_buf_size;
inline constexpr auto dma_max_list = doca_dma_cap_task_memcpy_get_max_buf_list_len;
inline constexpr auto sha_max_size = doca_sha_cap_get_max_src_buf_size;
inline constexpr auto sha_max_list = doca_sha_cap_get_max_list_buf_num_elem;
inline constexpr auto rdma_max_size = doca_rdma_cap_get_max_message_size;
inline constexpr auto rdma_send_queue = doca_rdma_cap_get_max_send_queue_size;
inline constexpr auto gid_table_size = doca_rdma_cap_get_gid_table_size;
inline constexpr auto get_gids = doca_rdma_cap_get_gid;
using GidOfApi = doca_rdma_gid;
inline constexpr auto protection_domain = doca_rdma_bridge_get_dev_pd;
inline constexpr auto exports_memory = doca_mmap_cap_is_export_pci_supported;
inline constexpr auto imports_memory = doca_mmap_cap_is_create_from_export_pci_supported;
inline constexpr auto exports_events = doca_sync_event_cap_is_export_to_remote_pci_supported;
inline constexpr auto imports_events = doca_sync_event_cap_is_create_from_export_supported;
inline constexpr auto manages_hotplug = doca_devinfo_cap_is_hotplug_manager_supported;

// Keys in JSON of the rows with the same names. They follow the functions of the API, which differ in each generation.
inline constexpr const char *exports_memory_key = "mmap_export_pci";
inline constexpr const char *imports_memory_key = "mmap_create_from_export_pci";
inline constexpr const char *exports_events_key = "sync_event_export_to_remote_pci";

// Rows that only this generation can answer.
inline constexpr std::span<const CapabilityRow> hash_rows;
inline constexpr CapabilityRow compress_rows[] = {
    {"compress_deflate", "compress DEFLATE", emulated<can_compress>, Ability::compress, "compress"},
    {"decompress_deflate", "decompress DEFLATE", emulated<can_decompress>, Ability::compress},
    {"decompress_lz4_stream", "decompress LZ4 stream", emulated<can_decompress_lz4_stream>, Ability::compress},
    {"decompress_lz4_block", "decompress LZ4 block", emulated<can_decompress_lz4_block>, Ability::compress},
    {"compress_max_buf_size",
     bytes_of_one,
     limit<can_decompress, doca_compress_cap_task_decompress_deflate_get_max_buf_size>,
     {}},
    {"compress_max_buf_list_len",
     "  buffers of a list",
     limit<can_decompress, doca_compress_cap_task_decompress_deflate_get_max_buf_list_len>,
     {}}};
inline constexpr CapabilityRow coding_rows[] = {
    {"erasure_coding", "erasure coding", emulated<can_code>, Ability::erasure_coding, "EC"},
    {"ec_max_block_size", "  bytes of a block", limit<can_code, doca_ec_cap_get_max_block_size>, {}},
    {"ec_max_buf_list_len", "  buffers of a list", limit<can_code, doca_ec_cap_get_max_buf_list_len>, {}}};
inline constexpr CapabilityRow cipher_rows[] = {
    {"aes_gcm", "AES-GCM", emulated<can_encrypt>, Ability::encrypt, "AES"},
    {"aes_gcm_max_buf_size", bytes_of_one, limit<can_encrypt, doca_aes_gcm_cap_task_encrypt_get_max_buf_size>, {}},
    {"aes_gcm_max_list_buf_num_elem",
     "  buffers of a list",
     limit<can_encrypt, doca_aes_gcm_cap_task_encrypt_get_max_list_buf_num_elem>,
     {}}};
inline constexpr CapabilityRow rdma_rows[] = {{"rdma_max_send_buf_list_len",
                                               "  buffers of a list",
                                               limit<can_connect, doca_rdma_cap_get_max_send_buf_list_len>,
                                               {}}};
inline constexpr CapabilityRow channel_rows[] = {
    {"comch_server", "Comch server", yes_or_no<can_serve>, Ability::message_service, "Comch service"},
    {"comch_client", "Comch client", yes_or_no<can_be_client>, Ability::message_channel, "Comch"},
    {"comch_max_msg_size", "  bytes of a message", limit<has_messages, doca_comch_cap_get_max_msg_size>, {}},
    {"comch_consumer", "  consumers, producers", yes_or_no<has_fast_path>, Ability::message_channel}};
inline constexpr CapabilityRow event_rows[] = {{"sync_event_export_to_remote_net", "  to other nodes",
                                                success<doca_sync_event_cap_is_export_to_remote_net_supported>,
                                                Ability::atomics}};

inline doca_error_t set_log_level(bool is_verbose)
{
    return doca_log_level_set_global_sdk_limit(is_verbose ? DOCA_LOG_LEVEL_DEBUG : DOCA_LOG_LEVEL_CRIT);
}

} // namespace opendoca::tools::questions
