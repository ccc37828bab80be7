// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory of the DMA benchmark, in this process or in the other one.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "dma_session.hpp"
#include "peer.hpp"

namespace opendoca::tools {

/// A region that jobs use, with two ways to access its bytes without the library: by address or by put() and get().
/// Owned by a lane of the benchmark. It must be destroyed before the session that made its map.
class Region {
public:
    Region() = default;
    Region(const Region &) = delete;
    Region &operator=(const Region &) = delete;
    virtual ~Region();

    /// Returns the memory map for jobs, and the address in it.
    [[nodiscard]] JobSide job_side() const noexcept { return {map_.get(), addr_}; }
    /// Returns the address for plain copies; null if the CPU can't access the region from this process.
    [[nodiscard]] std::byte *here() const noexcept { return here_; }
    /// Returns the address in the process that owns the region.
    [[nodiscard]] std::byte *addr() const noexcept { return addr_; }

    /// Stores and loads bytes to prepare and verify a case, outside of measurements.
    virtual void put(std::size_t offset, std::span<const std::byte> bytes) = 0;
    virtual void get(std::size_t offset, std::span<std::byte> bytes) const = 0;

protected:
    MmapHandle map_;
    std::byte *addr_ = nullptr;
    std::byte *here_ = nullptr;
};

/// Allocates private memory of this process, and maps it.
[[nodiscard]] std::unique_ptr<Region> make_local_region(const DmaSession &session, std::size_t size);
/// Lets @p peer export memory by the device @p exporter, and imports it.
[[nodiscard]] std::unique_ptr<Region> make_peer_region(const DmaSession &session, Peer &peer, MemoryKind kind,
                                                       std::size_t size, const std::string &exporter);

} // namespace opendoca::tools
