// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The DOCA side of the DMA benchmark. Devices and memory are the same in both generations of the API; what copies is
// in v2/ (jobs on a work queue) and v3/ (tasks on a progress engine).
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

/// One side of the copies: a memory map, and the address in it where the copies' places begin.
struct JobSide {
    doca_mmap *map;
    std::byte *addr;
};

/// A device that does DMA, and a running DMA context.
class DmaSession {
public:
    DmaSession(const DmaSession &) = delete;
    DmaSession &operator=(const DmaSession &) = delete;
    virtual ~DmaSession();

    [[nodiscard]] const std::string &ibdev() const noexcept { return ibdev_; }
    /// The device that exports to this one from the host, by name; nothing when this process sees none.
    [[nodiscard]] std::optional<std::string> find_exporter() const;
    [[nodiscard]] std::uint64_t max_size() const noexcept { return max_size_; }

    [[nodiscard]] MmapHandle map(std::span<std::byte> memory) const;
    [[nodiscard]] MmapHandle import(std::span<const std::byte> descriptor) const;
    /// Without data. Who takes it gives it back by api::drop_buf().
    [[nodiscard]] doca_buf *take_buf(doca_mmap *map, std::byte *addr, std::size_t size) const;

    /// Copies from submit to the end, as many in flight at once as @p depth, of which each count of the loop is a
    /// multiple. Where there is one place only, its buffer is full after the first copy, counts as empty, and is
    /// overwritten; it may be reset before each copy all the same.
    [[nodiscard]] virtual std::unique_ptr<Variant> make_loop(JobSide dst, JobSide src, Walk walk, std::uint32_t depth,
                                                             bool resets) = 0;
    /// An instance of a graph whose copies are made by this context.
    [[nodiscard]] virtual std::unique_ptr<GraphRunner> make_graph(const GraphShape &shape) = 0;

protected:
    /// @p ibdev names the device; empty takes the first that can do DMA and import, or else the first that can do DMA.
    explicit DmaSession(const std::string &ibdev);

    [[nodiscard]] doca_dev *dev() const noexcept { return dev_.get(); }

private:
    std::string ibdev_;
    std::uint64_t max_size_ = 0;
    DeviceHandle dev_;
    InventoryHandle inventory_;
};

/// @p depth is the most that loops have in flight.
[[nodiscard]] std::unique_ptr<DmaSession> make_dma_session(const std::string &ibdev, std::uint32_t depth);

} // namespace opendoca::tools
