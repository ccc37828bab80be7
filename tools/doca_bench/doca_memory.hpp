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

/// Returns a started map of @p memory with the device and @p rights, flags of DOCA's access rights. The caller keeps
/// the memory and the device until the map is destroyed.
[[nodiscard]] MmapHandle start_map(doca_dev *dev, std::span<std::byte> memory, std::uint32_t rights);

/// Returns a started inventory of @p num_bufs buffers.
[[nodiscard]] InventoryHandle start_inventory(std::size_t num_bufs);

/// Memory of this process that another one can map (in a memfd) or only copy (private). Zeroed and populated at
/// construction, so that no page fault is measured. Unmapped by the destructor: maps of it must be destroyed before.
class OwnMemory {
public:
    OwnMemory(MemoryKind kind, std::size_t size);
    OwnMemory(const OwnMemory &) = delete;
    OwnMemory &operator=(const OwnMemory &) = delete;
    ~OwnMemory();

    [[nodiscard]] std::byte *addr() const noexcept { return bytes_.data(); }
    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

private:
    UniqueFd memfd_; ///< empty for private memory; stays open so that importers can map it
    std::span<std::byte> bytes_;
};

} // namespace opendoca::tools
