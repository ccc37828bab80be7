// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "capabilities.hpp"

#include <exception>
#include <initializer_list>

#include <questions.hpp> // of the tool's generation

#include "../common/doca.hpp"
// Internal headers of the library: the public API does not report the provider.
#include "core/objects/dev.hpp"

namespace opendoca::tools {

namespace {

/// Opens the device, since the API returns a protection domain for open devices only. No answer if it can't be opened.
CapabilityValue has_protection_domain(doca_devinfo &info)
{
    try {
        ibv_pd *pd = nullptr;
        return questions::protection_domain(open_device(info).get(), &pd) == DOCA_SUCCESS;
    } catch (const std::exception &) {
        return {};
    }
}

/// Builds the rows in the order of the report. A row with an indented title belongs to the nearest one above that is
/// not, see full_title().
std::vector<CapabilityRow> make_rows()
{
    namespace q = questions;
    std::vector<CapabilityRow> rows;
    // Row by row, since g++ 12 warns of vector::insert() here.
    const auto add_own = [&](std::span<const CapabilityRow> more) {
        for (const CapabilityRow &row : more)
            rows.push_back(row);
    };
    const auto add = [&](std::initializer_list<CapabilityRow> more) { add_own({more.begin(), more.size()}); };
    add({{"dma_memcpy", "DMA memcpy", yes_or_no<q::can_copy>, Ability::copy, "DMA"},
         {"dma_max_buf_size", q::bytes_of_one, limit<q::can_copy, q::dma_max_size>, {}},
         {"dma_max_list_buf_num_elem", "  buffers of a list", limit<q::can_copy, q::dma_max_list>, {}},
         {"sha", "SHA", yes_or_no<q::can_hash>, {}, "SHA"}});
    add_own(q::hash_rows);
    add({{"sha_max_src_buffer_size", q::bytes_of_one, limit<q::can_hash, q::sha_max_size>, {}},
         {"sha_max_list_buf_num_elem", "  buffers of a list", limit<q::can_hash, q::sha_max_list>, {}}});
    add_own(q::compress_rows);
    add_own(q::coding_rows);
    add_own(q::cipher_rows);
    add({{"rdma_rc", "RDMA", yes_or_no<q::can_connect>, Ability::connect, "RDMA"},
         {"rdma_max_message_size", q::bytes_of_one, limit<q::can_connect, q::rdma_max_size>, {}},
         {"rdma_max_send_queue_size", "  send queue", limit<q::can_connect, q::rdma_send_queue>, {}}});
    add_own(q::rdma_rows);
    add({{"rdma_gid_table_size", "  GIDs", limit<q::can_connect, q::gid_table_size>, {}},
         {"rdma_atomics", "  atomics", yes_or_no<q::has_atomics>, Ability::atomics},
         {"rdma_bridge", "RDMA bridge", has_protection_domain, Ability::protection_domain}});
    add_own(q::channel_rows);
    add({{"sync_event", "sync events", yes_or_no<q::has_sync_events>, {}, "sync events"},
         {q::exports_events_key, "  export", success<q::exports_events>, Ability::export_counter},
         {"sync_event_create_from_export", "  import", success<q::imports_events>, Ability::import_counter}});
    add_own(q::event_rows);
    add({{q::exports_memory_key, "export to the DPU", flag<q::exports_memory>, Ability::export_memory, "export"},
         {q::imports_memory_key, "import on the DPU", flag<q::imports_memory>, Ability::import_memory, "import"},
         {"rep_list_net", "network representors", flag<api::can_list_net>, Ability::list_representors, "representors"},
         {"rep_list_emulated", "emulated representors", flag<api::can_list_emulated>, Ability::list_emulated},
         {"hotplug_manager", "hotplug manager", flag<q::manages_hotplug>, Ability::manage_hotplug}});
    return rows;
}

} // namespace

std::span<const CapabilityRow> capability_rows()
{
    static const std::vector<CapabilityRow> rows = make_rows();
    return rows;
}

std::span<const char *const> library_names()
{
    return questions::libraries;
}

std::vector<Gid> gid_table(doca_devinfo &info)
{
    // Devices without RDMA report an error or an empty table.
    std::uint32_t size = 0;
    if (questions::gid_table_size(&info, &size) != DOCA_SUCCESS || size == 0)
        return {};
    std::vector<Gid> table(size);
    static_assert(sizeof(Gid) == sizeof(questions::GidOfApi));
    if (questions::get_gids(&info, 0, size, reinterpret_cast<questions::GidOfApi *>(table.data())) != DOCA_SUCCESS)
        return {};
    return table;
}

void set_log_level(bool is_verbose)
{
    must(questions::set_log_level(is_verbose), "logging");
}

bool is_software(const doca_devinfo &info)
{
    return info.function->provider == "soft";
}

std::string to_text(const CapabilityValue &value)
{
    if (const bool *const is_set = std::get_if<bool>(&value))
        return *is_set ? "yes" : "-";
    if (const std::uint64_t *const number = std::get_if<std::uint64_t>(&value))
        return std::to_string(*number);
    if (const char *const *const word = std::get_if<const char *>(&value))
        return *word;
    return "";
}

bool is_present(const CapabilityValue &value)
{
    return value == CapabilityValue(true) || std::holds_alternative<const char *>(value);
}

bool is_lacking(const CapabilityValue &value)
{
    const bool *const answer = std::get_if<bool>(&value);
    return answer != nullptr && !*answer;
}

} // namespace opendoca::tools
