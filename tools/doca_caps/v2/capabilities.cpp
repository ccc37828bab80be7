// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "../capabilities.hpp"

#include <doca_comm_channel.h>
#include <doca_dma.h>
#include <doca_log.h>
#include <doca_rdma.h>
#include <doca_rdma_bridge.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

#include "../../common/doca.hpp"
// The inside of the library: the provider is not in the public API.
#include "../../../src/core/dev.hpp"

namespace opendoca::tools {

namespace {

/// A capability that a function of the public API tells by a byte.
template <auto get>
CapabilityValue flag(doca_devinfo &info)
{
    std::uint8_t value = 0;
    if (get(&info, &value) != DOCA_SUCCESS)
        return {};
    return value != 0;
}

bool can_copy(doca_devinfo &info)
{
    return doca_dma_job_get_supported(&info, DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS;
}

/// A limit of DMA, for devices with DMA.
template <typename Number, auto get>
CapabilityValue dma_limit(doca_devinfo &info)
{
    Number value = 0;
    if (!can_copy(info) || get(&info, &value) != DOCA_SUCCESS)
        return {};
    return std::uint64_t{value};
}

bool can_hash(doca_devinfo &info)
{
    return doca_sha_job_get_supported(&info, DOCA_SHA_JOB_SHA256) == DOCA_SUCCESS;
}

/// A limit of SHA, for devices with SHA.
template <typename Number, auto get>
CapabilityValue sha_limit(doca_devinfo &info)
{
    Number value = 0;
    if (!can_hash(info) || get(&info, &value) != DOCA_SUCCESS)
        return {};
    return std::uint64_t{value};
}

/// A software device stands for a card with an engine, whose work the CPU does.
CapabilityValue hashes_in_hardware(doca_devinfo &info)
{
    if (doca_sha_get_hardware_supported(&info) != DOCA_SUCCESS)
        return false;
    if (info.function->provider == "soft")
        return "emulated";
    return true;
}

bool can_connect(doca_devinfo &info)
{
    return doca_rdma_get_transport_type_supported(&info, DOCA_RDMA_TRANSPORT_RC) == DOCA_SUCCESS;
}

/// A limit of RDMA, for devices with RDMA.
template <auto get>
CapabilityValue rdma_limit(doca_devinfo &info)
{
    std::uint32_t value = 0;
    if (!can_connect(info) || get(&info, &value) != DOCA_SUCCESS)
        return {};
    return std::uint64_t{value};
}

/// Only an open device can be asked.
CapabilityValue has_protection_domain(doca_devinfo &info)
{
    try {
        ibv_pd *pd = nullptr;
        return doca_dev_get_pd(open_device(info).get(), &pd) == DOCA_SUCCESS;
    } catch (const std::exception &) {
        return {};
    }
}

constexpr CapabilityRow rows[] = {
    {"dma_memcpy", "DMA memcpy", [](doca_devinfo &info) -> CapabilityValue { return can_copy(info); }},
    {"dma_max_buf_size", "  bytes of a job", dma_limit<std::uint64_t, doca_dma_get_max_buf_size>},
    {"dma_max_list_buf_num_elem", "  buffers of a list",
     dma_limit<std::uint32_t, doca_dma_get_max_list_buf_num_elem>},
    {"sha", "SHA", [](doca_devinfo &info) -> CapabilityValue { return can_hash(info); }},
    {"sha_hardware", "  in hardware", hashes_in_hardware},
    {"sha_max_src_buffer_size", "  bytes of a job",
     sha_limit<std::uint64_t, doca_sha_get_max_src_buffer_size>},
    {"sha_max_list_buf_num_elem", "  buffers of a list",
     sha_limit<std::uint32_t, doca_sha_get_max_list_buf_num_elem>},
    {"rdma_rc", "RDMA", [](doca_devinfo &info) -> CapabilityValue { return can_connect(info); }},
    {"rdma_max_message_size", "  bytes of a job", rdma_limit<doca_rdma_get_max_message_size>},
    {"rdma_max_send_queue_size", "  send queue", rdma_limit<doca_rdma_get_max_send_queue_size>},
    {"rdma_max_recv_queue_size", "  receive queue", rdma_limit<doca_rdma_get_max_recv_queue_size>},
    {"rdma_gid_table_size", "  GIDs", rdma_limit<doca_rdma_get_gid_table_size>},
    {"rdma_atomics", "  atomics",
     [](doca_devinfo &info) -> CapabilityValue {
         return doca_rdma_job_get_supported(&info, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD) == DOCA_SUCCESS;
     }},
    {"rdma_bridge", "RDMA bridge",
     [](doca_devinfo &info) -> CapabilityValue { return has_protection_domain(info); }},
    {"comm_channel", "Comm Channel",
     [](doca_devinfo &info) -> CapabilityValue {
         std::uint32_t size = 0;
         return doca_comm_channel_get_max_message_size(&info, &size) == DOCA_SUCCESS;
     }},
    {"sync_event", "sync events",
     [](doca_devinfo &info) -> CapabilityValue {
         return doca_sync_event_job_get_supported(&info, DOCA_SYNC_EVENT_JOB_WAIT_GT) == DOCA_SUCCESS;
     }},
    {"sync_event_export_to_dpu", "  export",
     [](doca_devinfo &info) -> CapabilityValue {
         return doca_sync_event_get_export_to_dpu_supported(&info) == DOCA_SUCCESS;
     }},
    {"sync_event_create_from_export", "  import",
     [](doca_devinfo &info) -> CapabilityValue {
         return doca_sync_event_get_create_from_export_supported(&info) == DOCA_SUCCESS;
     }},
    {"mmap_export_dpu", "export to the DPU", flag<doca_devinfo_get_is_mmap_export_dpu_supported>},
    {"mmap_from_export_dpu", "import on the DPU", flag<doca_devinfo_get_is_mmap_from_export_dpu_supported>},
    {"rep_list_net", "network representors", flag<doca_devinfo_rep_get_is_list_net_supported>},
    {"rep_list_emulated", "emulated representors", flag<doca_devinfo_rep_get_is_list_emulated_supported>},
    {"hotplug_manager", "hotplug manager", flag<doca_devinfo_get_is_hotplug_manager_supported>},
};

} // namespace

std::span<const CapabilityRow> capability_rows()
{
    return rows;
}

std::vector<Gid> gid_table(doca_devinfo &info)
{
    std::uint32_t size = 0;
    if (doca_rdma_get_gid_table_size(&info, &size) != DOCA_SUCCESS || size == 0)
        return {};
    std::vector<Gid> table(size);
    static_assert(sizeof(Gid) == sizeof(doca_rdma_gid));
    if (doca_rdma_get_gid(&info, 0, size, reinterpret_cast<doca_rdma_gid *>(table.data())) != DOCA_SUCCESS)
        return {};
    return table;
}

void set_log_level(bool is_verbose)
{
    must(doca_log_global_level_set(is_verbose ? DOCA_LOG_LEVEL_DEBUG : DOCA_LOG_LEVEL_CRIT), "logging");
}

} // namespace opendoca::tools
