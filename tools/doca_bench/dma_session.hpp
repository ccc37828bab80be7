// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The DOCA side of the DMA benchmark. Both generations of the API use devices and memory in the same way; the copies
// themselves are in v2/ (jobs on a work queue) and v3/ (tasks on a progress engine).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "doca_memory.hpp"
#include "graph_shape.hpp"
#include "plain_copy.hpp"

namespace opendoca::tools {

/// One side of the copies: a memory map, and the address at which its slots begin. Owned by a Region.
struct JobSide {
    doca_mmap *map;
    std::byte *addr;
};

/// A device that supports DMA, with a running DMA context. Owned by a lane of the benchmark and used by one thread at a
/// time. The derived class adds the generation's context and queue; loops and graphs refer to the session, and must be
/// destroyed before it.
class DmaSession {
public:
    DmaSession(const DmaSession &) = delete;
    DmaSession &operator=(const DmaSession &) = delete;
    virtual ~DmaSession();

    [[nodiscard]] const std::string &ibdev() const noexcept { return ibdev_; }
    /// Returns the name of the device that exports to this one from the host; nothing if this process has none.
    [[nodiscard]] std::optional<std::string> find_exporter() const;
    /// Returns the largest number of bytes of one job.
    [[nodiscard]] std::uint64_t max_size() const noexcept { return max_size_; }

    /// Maps memory of this process, with local rights. The caller keeps the memory.
    [[nodiscard]] MmapHandle map(std::span<std::byte> memory) const;
    /// Imports memory that another process has exported to this device.
    [[nodiscard]] MmapHandle import(std::span<const std::byte> descriptor) const;
    /// Returns a buffer without data. The caller releases it with api::drop_buf().
    [[nodiscard]] doca_buf *take_buf(doca_mmap *map, std::byte *addr, std::size_t size) const;

    /// Returns a loop that copies, with @p depth copies in flight; its counts are multiples of the depth. With only one
    /// slot, the destination buffer is full after the first copy, counts as empty, and is overwritten. It may be reset
    /// before each copy nevertheless.
    [[nodiscard]] virtual std::unique_ptr<Variant> make_loop(JobSide dst, JobSide src, Walk walk, std::uint32_t depth,
                                                             bool resets) = 0;
    /// Makes an instance of a graph with copies by this context.
    [[nodiscard]] virtual std::unique_ptr<GraphRunner> make_graph(const GraphShape &shape) = 0;

protected:
    /// @p ibdev names the device; if empty, the first one that supports DMA and import is used, or else the first with
    /// DMA.
    explicit DmaSession(const std::string &ibdev);

    [[nodiscard]] doca_dev *dev() const noexcept { return dev_.get(); }

private:
    std::string ibdev_;
    std::uint64_t max_size_ = 0;
    DeviceHandle dev_;
    InventoryHandle inventory_;
};

/// @p depth is the highest number of copies in flight in any loop.
[[nodiscard]] std::unique_ptr<DmaSession> make_dma_session(const std::string &ibdev, std::uint32_t depth);

} // namespace opendoca::tools
