// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A device with DMA and everything around it that a copy takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <thread>
#include <vector>

#include "device.hpp"
#include "memory.hpp"

namespace doca_test {

/// A started memory map of memory that belongs to somebody else.
class LocalMap {
public:
    LocalMap(std::initializer_list<doca_dev *> devices, std::span<std::byte> range,
             std::uint32_t access = DOCA_ACCESS_LOCAL_READ_WRITE)
    {
        must(doca_mmap_create(nullptr, mmap_.out()));
        for (doca_dev *dev : devices)
            must(doca_mmap_dev_add(mmap_, dev));
        must(doca_mmap_set_memrange(mmap_, range.data(), range.size()));
        must(doca_mmap_set_permissions(mmap_, access));
        must(doca_mmap_start(mmap_));
    }
    LocalMap(doca_dev *dev, std::span<std::byte> range, std::uint32_t access = DOCA_ACCESS_LOCAL_READ_WRITE)
        : LocalMap({dev}, range, access)
    {
    }

    operator doca_mmap *() const { return mmap_; }
    void destroy() { mmap_.reset(); }

private:
    MmapHandle mmap_;
};

/// A started inventory.
class Inventory {
public:
    explicit Inventory(std::size_t size)
    {
        must(doca_buf_inventory_create(nullptr, size, DOCA_BUF_EXTENSION_NONE, inventory_.out()));
        must(doca_buf_inventory_start(inventory_));
    }

    operator doca_buf_inventory *() const { return inventory_; }

    /// A buffer that is full of data: a source.
    [[nodiscard]] BufHandle full(doca_mmap *mmap, void *addr, std::size_t len) const
    {
        return with(mmap, addr, len, addr, len);
    }
    /// A buffer without data: a destination.
    [[nodiscard]] BufHandle empty(doca_mmap *mmap, void *addr, std::size_t len) const
    {
        return with(mmap, addr, len, addr, 0);
    }
    [[nodiscard]] BufHandle with(doca_mmap *mmap, void *addr, std::size_t len, void *data, std::size_t data_len) const
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_by_args(inventory_, mmap, addr, len, data, data_len, buf.out()));
        return buf;
    }

private:
    InventoryHandle inventory_;
};

inline std::size_t data_len_of(const doca_buf *buf)
{
    std::size_t length = 0;
    EXPECT_EQ(doca_buf_get_data_len(buf, &length), DOCA_SUCCESS);
    return length;
}

inline std::byte *data_of(const doca_buf *buf)
{
    void *data = nullptr;
    EXPECT_EQ(doca_buf_get_data(buf, &data), DOCA_SUCCESS);
    return static_cast<std::byte *>(data);
}

inline doca_dma_job_memcpy memcpy_job(doca_ctx *ctx, doca_buf *dst, const doca_buf *src, std::uint64_t user_data = 0)
{
    doca_dma_job_memcpy job = {};
    job.base.type = DOCA_DMA_JOB_MEMCPY;
    job.base.flags = DOCA_JOB_FLAGS_NONE;
    job.base.ctx = ctx;
    job.base.user_data.u64 = user_data;
    job.dst_buff = dst;
    job.src_buff = src;
    return job;
}

/// Retrieves, waiting until a job has ended.
inline doca_error_t wait_for(doca_workq *workq, doca_event &event)
{
    doca_error_t status = DOCA_ERROR_AGAIN;
    while ((status = doca_workq_progress_retrieve(workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) == DOCA_ERROR_AGAIN)
        std::this_thread::yield();
    return status;
}

/// A predicate for devices_that(): DMA, also with event-driven queues.
inline bool supports_events(doca_devinfo *info)
{
    if (!can_copy(info))
        return false;
    DevHandle dev;
    DmaHandle dma;
    must(doca_dev_open(info, dev.out()));
    must(doca_dma_create(dma.out()));
    must(doca_ctx_dev_add(doca_dma_as_ctx(dma), dev));
    std::uint8_t is_supported = 0;
    must(doca_ctx_get_event_driven_supported(doca_dma_as_ctx(dma), &is_supported));
    dma.reset();
    return is_supported == 1;
}

/// A started DMA context with a work queue on it. Jobs are to be retrieved before its end.
class DmaEngine {
public:
    explicit DmaEngine(doca_dev *dev, std::uint32_t depth = 32, bool is_event_driven = false)
    {
        must(doca_dma_create(dma_.out()));
        ctx_ = doca_dma_as_ctx(dma_);
        must(doca_ctx_dev_add(ctx_, dev));
        must(doca_ctx_start(ctx_));
        must(doca_workq_create(depth, workq_.out()));
        if (is_event_driven)
            must(doca_workq_set_event_driven_enable(workq_, 1));
        must(doca_ctx_workq_add(ctx_, workq_));
    }
    DmaEngine(const DmaEngine &) = delete;
    DmaEngine &operator=(const DmaEngine &) = delete;
    ~DmaEngine()
    {
        EXPECT_EQ(doca_ctx_workq_rm(ctx_, workq_), DOCA_SUCCESS);
        EXPECT_EQ(doca_ctx_stop(ctx_), DOCA_SUCCESS);
    }

    [[nodiscard]] doca_ctx *ctx() const { return ctx_; }
    [[nodiscard]] doca_workq *workq() const { return workq_; }

    [[nodiscard]] doca_error_t submit(doca_buf *dst, const doca_buf *src, std::uint64_t user_data = 0) const
    {
        const doca_dma_job_memcpy job = memcpy_job(ctx_, dst, src, user_data);
        return doca_workq_submit(workq_, &job.base);
    }

    [[nodiscard]] doca_error_t retrieve(doca_event &event) const
    {
        return doca_workq_progress_retrieve(workq_, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
    }

    /// One copy from submit to retrieve: what submit said, or the job's own result.
    [[nodiscard]] doca_error_t copy(doca_buf *dst, const doca_buf *src) const
    {
        if (const doca_error_t status = submit(dst, src, 0x5eed); status != DOCA_SUCCESS)
            return status;
        doca_event event = {};
        const doca_error_t status = wait_for(workq_, event);
        const auto result = static_cast<doca_error_t>(event.result.u64);
        EXPECT_EQ(status, result == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED);
        EXPECT_EQ(event.type, DOCA_DMA_JOB_MEMCPY);
        EXPECT_EQ(event.user_data.u64, 0x5eedu);
        return result;
    }

private:
    DmaHandle dma_;
    doca_ctx *ctx_ = nullptr;
    WorkqHandle workq_;
};

/// Source and destination memory of one device, mapped, with an engine and an inventory.
class DmaTest : public DeviceTest {
protected:
    static constexpr std::size_t size = std::size_t{1} << 16;

    void SetUp() override
    {
        fill(src_memory, 1);
        fill(dst_memory, 2);
    }

    [[nodiscard]] BufHandle source(std::size_t offset, std::size_t len) const
    {
        return inventory.full(src_map, &src_memory[offset], len);
    }
    [[nodiscard]] BufHandle destination(std::size_t offset, std::size_t len) const
    {
        return inventory.empty(dst_map, &dst_memory[offset], len);
    }

    mutable std::vector<std::byte> src_memory = std::vector<std::byte>(size);
    mutable std::vector<std::byte> dst_memory = std::vector<std::byte>(size);
    LocalMap src_map{dev, src_memory};
    LocalMap dst_map{dev, dst_memory};
    Inventory inventory{4096};
    DmaEngine engine{dev};
};

} // namespace doca_test
