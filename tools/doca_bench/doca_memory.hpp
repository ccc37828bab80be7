// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory maps and buffers, which are used in the same way in both generations of the API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <bench_api.hpp>

#include "../../src/core/base/unique_fd.hpp"
#include "../common/doca.hpp"
#include "peer.hpp"

namespace opendoca::tools {

using MmapHandle = Handle<doca_mmap, doca_mmap_destroy>;
using InventoryHandle = Handle<doca_buf_inventory, doca_buf_inventory_destroy>;

/// Returns a started map of @p memory with the device and @p rights.
[[nodiscard]] MmapHandle start_map(doca_dev *dev, std::span<std::byte> memory, std::uint32_t rights);

/// Returns a started inventory.
[[nodiscard]] InventoryHandle start_inventory(std::size_t num_bufs);

/// Memory that another process can map; zeroed and populated.
class OwnMemory {
public:
    OwnMemory(MemoryKind kind, std::size_t size);
    OwnMemory(const OwnMemory &) = delete;
    OwnMemory &operator=(const OwnMemory &) = delete;
    ~OwnMemory();

    [[nodiscard]] std::byte *addr() const noexcept { return bytes_.data(); }
    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

private:
    UniqueFd memfd_; ///< stays open so that importers can map the memory
    std::span<std::byte> bytes_;
};

} // namespace opendoca::tools
