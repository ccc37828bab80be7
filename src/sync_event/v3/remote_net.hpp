// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <doca_sync_event.h>

#include "../../core/mmap.hpp"

struct doca_sync_event;

/// A handle of another node's event: its counter, as memory that a device reaches by RDMA.
struct doca_sync_event_remote_net {
    explicit doca_sync_event_remote_net(std::shared_ptr<doca_mmap> counter) noexcept : map(std::move(counter)) {}

    const std::shared_ptr<doca_mmap> map; ///< imported; its range is the counter
};

namespace opendoca::v3 {

/// The bytes from which another node makes its handle; the event's own.
[[nodiscard]] doca_error_t export_to_net(doca_sync_event &event, std::span<const std::byte> &descriptor);
[[nodiscard]] doca_error_t import_from_net(doca_dev &dev, std::span<const std::byte> descriptor,
                                           doca_sync_event_remote_net *&event);

} // namespace opendoca::v3
