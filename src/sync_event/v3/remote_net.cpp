// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "remote_net.hpp"

#include <cstdint>
#include <cstring>

#include "../../core/log/log.hpp"
#include "../../core/v3/call.hpp"
#include "sync_event.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SYNC_EVENT_NET);

namespace opendoca::v3 {

namespace {

/// The start of a descriptor; the descriptor of the counter's memory map follows. In the byte order of the host, which
/// is little-endian on all supported machines.
struct Header {
    char magic[8];
    std::uint32_t version;
    std::uint32_t size; ///< bytes of header and memory map descriptor together
};

/// The fields that each descriptor has; size is set for each.
constexpr Header header{{'O', 'D', 'E', 'V', 'T', 'N', 'E', 'T'}, 1, 0};

/// Releases the program's share of a memory map, as doca_mmap_destroy() does. An error cannot be handled in a
/// destructor, so it is ignored.
struct Destroy {
    void operator()(doca_mmap *map) const noexcept { (void)map->destroy(); }
};

/// Returns an owner of @p map, which is not null and of which the caller has the program's share. The last copy of the
/// result releases the share.
std::shared_ptr<doca_mmap> owned(doca_mmap *map)
{
    return {map, Destroy{}};
}

} // namespace

doca_error_t export_to_net(doca_sync_event &event, std::span<const std::byte> &descriptor)
{
    if (const doca_error_t status = event.event.check_exportable(); status != DOCA_SUCCESS)
        return status;
    if (!event.event.has_publisher_on(SyncEvent::Location::remote_net)) {
        LOG_ERR("the publisher of the sync event is not on another node");
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    // Only the first export creates the memory map and the descriptor. They are stored last, so that a failed step
    // leaves the event unchanged.
    if (event.remote_net_export.empty()) {
        std::uint64_t *const word = event.event.counter().local_word();
        // Null: the counter is not in memory of this process, which could be registered.
        if (word == nullptr || event.event.devices().empty()) {
            LOG_ERR("the sync event has no device of this machine that gives another node access to it");
            return DOCA_ERROR_NOT_SUPPORTED;
        }
        // A map of the counter's word alone: another node has access to nothing else. All rights, since the RDMA tasks
        // on events read, write and add.
        doca_dev &dev = *event.event.devices().front();
        auto map = owned(doca_mmap::add_program_reference(std::make_shared<doca_mmap>(doca_data{})));
        const void *bytes = nullptr;
        std::size_t size = 0;
        doca_error_t status = map->set_memrange(reinterpret_cast<std::byte *>(word), sizeof(*word));
        if (status == DOCA_SUCCESS)
            status = map->set_permissions(Access::local_read_write | Access::rdma_read | Access::rdma_write |
                                          Access::rdma_atomic);
        if (status == DOCA_SUCCESS)
            status = code_of(map->dev_add(dev));
        if (status == DOCA_SUCCESS)
            status = map->start();
        if (status == DOCA_SUCCESS)
            status = code_of(map->export_to(ExportKind::rdma, dev, bytes, size));
        if (status != DOCA_SUCCESS)
            return status;
        Header own = header;
        own.size = static_cast<std::uint32_t>(sizeof(own) + size);
        std::vector<std::byte> made(own.size);
        std::memcpy(made.data(), &own, sizeof(own));
        std::memcpy(made.data() + sizeof(own), bytes, size);
        // From now on a device may change the counter, without a wake-up of waiters here.
        event.event.counter().expect_unnotified_changes();
        event.remote_net_export = std::move(made);
        event.remote_net_map = std::move(map);
    }
    descriptor = event.remote_net_export;
    return DOCA_SUCCESS;
}

doca_error_t import_from_net(doca_dev &dev, std::span<const std::byte> descriptor, doca_sync_event_remote_net *&event)
{
    // The bytes come from outside of this process: everything in them is checked.
    Header found{};
    if (descriptor.size() > sizeof(found))
        std::memcpy(&found, descriptor.data(), sizeof(found));
    if (std::memcmp(found.magic, header.magic, sizeof(found.magic)) != 0 || found.version != header.version ||
        found.size != descriptor.size()) {
        LOG_ERR("%zu bytes are not an export of a sync event to another node", descriptor.size());
        return DOCA_ERROR_INVALID_VALUE;
    }
    doca_mmap *map = nullptr;
    const doca_error_t status = doca_mmap::create_from_export({}, descriptor.subspan(sizeof(found)), dev, map);
    if (status != DOCA_SUCCESS)
        return status;
    auto owned_map = owned(map); // destroyed again if the range is refused or memory lacks for the handle
    // Tasks access 8 bytes at the start of the range, and atomics need the alignment.
    if (const MemoryRange &range = map->range();
        range.len != sizeof(std::uint64_t) ||
        reinterpret_cast<std::uintptr_t>(range.addr) % sizeof(std::uint64_t) != 0) {
        LOG_ERR("the exported range of %zu bytes at %p is not a counter: 8 aligned bytes", range.len,
                static_cast<const void *>(range.addr));
        return DOCA_ERROR_INVALID_VALUE;
    }
    event = new doca_sync_event_remote_net(std::move(owned_map));
    return DOCA_SUCCESS;
}

} // namespace opendoca::v3
