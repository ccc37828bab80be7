// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// RDMA instances with everything around them that a job takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <doca_rdma.h>

#include "dma_fixture.hpp"

namespace doca_test {

using RdmaHandle = Handle<doca_rdma, doca_rdma_destroy>;

inline constexpr std::uint32_t all_rdma_rights =
    DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC;
inline constexpr std::uint32_t exposed = DOCA_ACCESS_LOCAL_READ_WRITE | all_rdma_rights;

/// A predicate for devices_that().
inline bool can_connect(doca_devinfo *info)
{
    return doca_rdma_job_get_supported(info, DOCA_RDMA_JOB_SEND) == DOCA_SUCCESS;
}

inline std::vector<std::byte> to_vector(const void *data, std::size_t size)
{
    const auto *const bytes = static_cast<const std::byte *>(data);
    return {bytes, bytes + size};
}

struct RdmaOptions {
    std::uint32_t permissions = exposed;
    std::uint32_t depth = 32;
    bool is_event_driven = false;
    std::uint32_t send_queue_size = 0; ///< 0 for the default
    std::uint32_t recv_queue_size = 0;
    std::uint32_t recv_chain_length = 4;
    bool has_workq = true;
};

/// What a completion told.
struct RdmaEnded {
    doca_error_t status; ///< of retrieve
    int type;
    std::uint64_t user_data;
    doca_rdma_result result;
};

/// A started instance with a work queue on it. What is left in flight at its end is cancelled.
class RdmaEnd {
public:
    explicit RdmaEnd(doca_dev *dev, const RdmaOptions &options = {}) : options_(options)
    {
        must(doca_rdma_create(rdma_.out()));
        ctx_ = doca_rdma_as_ctx(rdma_);
        must(doca_ctx_dev_add(ctx(), dev));
        must(doca_rdma_set_permissions(rdma_, options.permissions));
        must(doca_rdma_set_recv_buf_chain_len(rdma_, options.recv_chain_length));
        if (options.send_queue_size != 0)
            must(doca_rdma_set_send_queue_size(rdma_, options.send_queue_size));
        if (options.recv_queue_size != 0)
            must(doca_rdma_set_recv_queue_size(rdma_, options.recv_queue_size));
        must(doca_workq_create(options.depth, workq_.out()));
        if (options.is_event_driven)
            must(doca_workq_set_event_driven_enable(workq_, 1));
        start();
    }
    RdmaEnd(const RdmaEnd &) = delete;
    RdmaEnd &operator=(const RdmaEnd &) = delete;
    ~RdmaEnd()
    {
        if (is_started_)
            stop();
    }

    [[nodiscard]] doca_rdma *rdma() const { return rdma_; }
    [[nodiscard]] doca_ctx *ctx() const { return ctx_; }
    [[nodiscard]] doca_workq *workq() const { return workq_; }

    [[nodiscard]] doca_rdma_state state() const
    {
        doca_rdma_state state = DOCA_RDMA_STATE_RESET;
        must(doca_rdma_get_state(rdma_, &state));
        return state;
    }
    [[nodiscard]] std::vector<std::byte> details() const
    {
        const void *details = nullptr;
        std::size_t size = 0;
        must(doca_rdma_export(rdma_, &details, &size));
        return to_vector(details, size);
    }
    [[nodiscard]] doca_error_t connect(const std::vector<std::byte> &details) const
    {
        return doca_rdma_connect(rdma_, details.data(), details.size());
    }

    void start()
    {
        must(doca_ctx_start(ctx()));
        is_started_ = true;
        if (options_.has_workq)
            must(doca_ctx_workq_add(ctx(), workq_));
    }
    /// Cancels what is in flight.
    void stop()
    {
        if (options_.has_workq) {
            doca_error_t status = DOCA_SUCCESS;
            while ((status = doca_ctx_workq_rm(ctx(), workq_)) == DOCA_ERROR_NOT_PERMITTED)
                (void)try_retrieve();
            EXPECT_EQ(status, DOCA_SUCCESS);
        }
        EXPECT_EQ(doca_ctx_stop(ctx()), DOCA_SUCCESS);
        is_started_ = false;
    }

    // Jobs: what submit says.

    [[nodiscard]] doca_error_t receive(doca_buf *dst, std::uint64_t user_data = 0) const
    {
        doca_rdma_job_recv job = {};
        job.base = base(DOCA_RDMA_JOB_RECV, user_data);
        job.dst_buff = dst;
        return doca_workq_submit(workq_, &job.base);
    }
    [[nodiscard]] doca_error_t send(const doca_buf *src, std::optional<std::uint32_t> immediate = {},
                                    std::uint64_t user_data = 0) const
    {
        doca_rdma_job_send job = {};
        job.base = base(immediate ? DOCA_RDMA_JOB_SEND_IMM : DOCA_RDMA_JOB_SEND, user_data);
        job.src_buff = src;
        job.immediate_data = immediate.value_or(0);
        return doca_workq_submit(workq_, &job.base);
    }
    [[nodiscard]] doca_error_t read(doca_buf *dst, const doca_buf *src, std::uint64_t user_data = 0) const
    {
        doca_rdma_job_read_write job = {};
        job.base = base(DOCA_RDMA_JOB_READ, user_data);
        job.dst_buff = dst;
        job.src_buff = src;
        return doca_workq_submit(workq_, &job.base);
    }
    [[nodiscard]] doca_error_t write(doca_buf *dst, const doca_buf *src, std::optional<std::uint32_t> immediate = {},
                                     std::uint64_t user_data = 0) const
    {
        doca_rdma_job_read_write job = {};
        job.base = base(immediate ? DOCA_RDMA_JOB_WRITE_IMM : DOCA_RDMA_JOB_WRITE, user_data);
        job.dst_buff = dst;
        job.src_buff = src;
        job.immediate_data = immediate.value_or(0);
        return doca_workq_submit(workq_, &job.base);
    }
    [[nodiscard]] doca_error_t add(doca_buf *target, doca_buf *result, std::uint64_t operand) const
    {
        return update(DOCA_RDMA_JOB_ATOMIC_FETCH_ADD, target, result, operand, 0);
    }
    [[nodiscard]] doca_error_t compare_swap(doca_buf *target, doca_buf *result, std::uint64_t compare,
                                            std::uint64_t swap) const
    {
        return update(DOCA_RDMA_JOB_ATOMIC_CMP_SWP, target, result, swap, compare);
    }

    /// What retrieve has to tell now; its status is AGAIN when nothing has ended.
    [[nodiscard]] RdmaEnded try_retrieve() const
    {
        RdmaEnded ended = {};
        doca_event event = {};
        event.result.ptr = &ended.result;
        ended.status = doca_workq_progress_retrieve(workq_, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
        ended.type = event.type;
        ended.user_data = event.user_data.u64;
        return ended;
    }
    /// Retrieves, waiting until a job has ended.
    [[nodiscard]] RdmaEnded wait() const
    {
        for (;;) {
            const RdmaEnded ended = try_retrieve();
            if (ended.status != DOCA_ERROR_AGAIN)
                return ended;
            std::this_thread::yield();
        }
    }
    /// The result of the job that ends next.
    [[nodiscard]] doca_error_t result() const { return wait().result.result; }

private:
    [[nodiscard]] doca_job base(int type, std::uint64_t user_data) const
    {
        doca_job job = {};
        job.type = type;
        job.flags = DOCA_JOB_FLAGS_NONE;
        job.ctx = ctx();
        job.user_data.u64 = user_data;
        return job;
    }
    [[nodiscard]] doca_error_t update(int type, doca_buf *target, doca_buf *result, std::uint64_t operand,
                                      std::uint64_t compare) const
    {
        doca_rdma_job_atomic job = {};
        job.base = base(type, 0);
        job.cmp_or_add_dest_buff = target;
        job.result_buff = result;
        job.swap_or_add_data = operand;
        job.cmp_data = compare;
        return doca_workq_submit(workq_, &job.base);
    }

    RdmaOptions options_;
    RdmaHandle rdma_;
    doca_ctx *ctx_ = nullptr;
    WorkqHandle workq_;
    bool is_started_ = false;
};

inline std::vector<std::byte> export_rdma(doca_mmap *mmap, doca_dev *dev)
{
    const void *descriptor = nullptr;
    std::size_t size = 0;
    must(doca_mmap_export_rdma(mmap, dev, &descriptor, &size));
    return to_vector(descriptor, size);
}

inline MmapHandle import_rdma(const std::vector<std::byte> &descriptor, doca_dev *dev)
{
    MmapHandle mmap;
    must(doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dev, mmap.out()));
    return mmap;
}

/// Two instances of this process that are connected to each other, and memory that each exposes to the other.
class RdmaTest : public DeviceTest {
protected:
    static constexpr std::size_t size = std::size_t{1} << 16;

    void SetUp() override
    {
        fill(left_memory.bytes(), 1);
        fill(right_memory.bytes(), 2);
        must(left.connect(right.details()));
        must(right.connect(left.details()));
    }

    /// A buffer of the memory's first @p len bytes from @p offset on, full of data.
    [[nodiscard]] BufHandle full(doca_mmap *map, const Memory &memory, std::size_t offset, std::size_t len) const
    {
        return inventory.full(map, memory.data() + offset, len);
    }
    [[nodiscard]] BufHandle empty(doca_mmap *map, const Memory &memory, std::size_t offset, std::size_t len) const
    {
        return inventory.empty(map, memory.data() + offset, len);
    }
    // Of the left side's own memory, and of what it sees of the right one's.
    [[nodiscard]] BufHandle local_full(std::size_t offset, std::size_t len) const
    {
        return full(left_map, left_memory, offset, len);
    }
    [[nodiscard]] BufHandle local_empty(std::size_t offset, std::size_t len) const
    {
        return empty(left_map, left_memory, offset, len);
    }
    [[nodiscard]] BufHandle remote_full(std::size_t offset, std::size_t len) const
    {
        return full(imported, right_memory, offset, len);
    }
    [[nodiscard]] BufHandle remote_empty(std::size_t offset, std::size_t len) const
    {
        return empty(imported, right_memory, offset, len);
    }
    // Of the right side's memory, for its receives.
    [[nodiscard]] BufHandle right_empty(std::size_t offset, std::size_t len) const
    {
        return empty(right_map, right_memory, offset, len);
    }
    [[nodiscard]] std::span<const std::byte> right_bytes(std::size_t offset, std::size_t len) const
    {
        return right_memory.bytes().subspan(offset, len);
    }

    Memory left_memory{MemoryKind::heap, size};
    Memory right_memory{MemoryKind::anonymous, size};
    LocalMap left_map{dev, left_memory.bytes(), exposed};
    LocalMap right_map{dev, right_memory.bytes(), exposed};
    MmapHandle imported{import_rdma(export_rdma(right_map, dev), dev)};
    Inventory inventory{256};
    RdmaEnd left{dev};
    RdmaEnd right{dev};
};

} // namespace doca_test
