// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sync events of other nodes. The counter is one word of memory, which its node registers for RDMA; another node reads
// and updates it by RDMA tasks (src/rdma/v3/rdma_tasks_sync_event.cpp).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <doca_sync_event.h>

#include "../../core/objects/mmap.hpp"

struct doca_sync_event;

/// The handle of another node's sync event: an imported memory map of its counter. Created and owned by the program;
/// immutable, so any thread may use it. Tasks in flight use the map, so the handle must outlive them.
struct doca_sync_event_remote_net {
    explicit doca_sync_event_remote_net(std::shared_ptr<doca_mmap> counter) noexcept : map(std::move(counter)) {}

    const std::shared_ptr<doca_mmap> map; ///< imported; its range is the 8 aligned bytes of the counter
};

namespace opendoca::v3 {

/// Returns the bytes from which another node makes its handle; they belong to @p event and are the same in each call.
/// BAD_STATE unless the event is started, NOT_SUPPORTED unless its publisher is on another node and the counter is in
/// memory of this process.
[[nodiscard]] doca_error_t export_to_net(doca_sync_event &event, std::span<const std::byte> &descriptor);
/// Creates a handle from bytes that export_to_net() has made on another node. INVALID_VALUE for other bytes.
[[nodiscard]] doca_error_t import_from_net(doca_dev &dev, std::span<const std::byte> descriptor,
                                           doca_sync_event_remote_net *&event);

} // namespace opendoca::v3
