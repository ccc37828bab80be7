// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The DOCA side of the DMA benchmark: a device, a context on a work queue, memory, and the loop that submits
// and retrieves jobs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_mmap.h>

#include "../common/doca.hpp"
#include "plain_copy.hpp"

namespace opendoca::tools {

using MmapHandle = Handle<doca_mmap, doca_mmap_destroy>;

/// A device that does DMA, a running DMA context and its work queue.
class DmaSession {
public:
    /// @p ibdev names the device; empty takes the first that can do DMA and import, or else the first that
    /// can do DMA.
    DmaSession(const std::string &ibdev, std::uint32_t depth);
    DmaSession(const DmaSession &) = delete;
    DmaSession &operator=(const DmaSession &) = delete;
    ~DmaSession();

    [[nodiscard]] const std::string &ibdev() const noexcept { return ibdev_; }
    /// The device that exports to this one from the host, by name; nothing when this process sees none.
    [[nodiscard]] std::optional<std::string> find_exporter() const;
    [[nodiscard]] std::uint64_t max_size() const noexcept { return max_size_; }

    [[nodiscard]] MmapHandle map(std::span<std::byte> memory) const;
    [[nodiscard]] MmapHandle import(std::span<const std::byte> descriptor) const;

    [[nodiscard]] doca_workq *workq() const noexcept { return workq_.get(); }
    [[nodiscard]] doca_ctx *ctx() const noexcept { return doca_dma_as_ctx(dma_.get()); }
    [[nodiscard]] doca_buf *take_buf(doca_mmap *map, std::byte *addr, std::size_t size) const;

private:
    std::string ibdev_;
    std::uint64_t max_size_ = 0;
    DeviceHandle dev_;
    Handle<doca_dma, doca_dma_destroy> dma_;
    Handle<doca_workq, doca_workq_destroy> workq_;
    Handle<doca_buf_inventory, doca_buf_inventory_destroy> inventory_;
};

/// One side of the copies: a memory map, and the address in it where the copies' places begin.
struct JobSide {
    doca_mmap *map;
    std::byte *addr;
};

/// Copies by DMA jobs, as many in flight at once as the queue depth says.
class JobLoop final : public Variant {
public:
    /// Where there is one place only, its buffer is full after the first job, counts as empty, and is
    /// overwritten; it may be reset before each job all the same.
    JobLoop(const DmaSession &session, JobSide dst, JobSide src, Walk walk, std::uint32_t depth, bool resets);
    ~JobLoop() override;

    /// @p count is a multiple of the depth.
    void run(std::size_t count) override;

private:
    struct Pair {
        doca_buf *dst;
        doca_buf *src;
        doca_dma_job_memcpy job;
    };

    template <bool resets>
    void run_in_place(std::size_t count);
    void run_walking(std::size_t count);

    doca_workq *workq_;
    std::byte *dst_;
    std::byte *src_;
    Walk walk_;
    const bool resets_;
    std::vector<Pair> pairs_; ///< one for each job in flight
};

} // namespace opendoca::tools
