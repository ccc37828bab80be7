// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A DMA context on a progress engine, and what a copy takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "objects.hpp"

namespace doca_test {

/// What became of a copy: the user data of its task.
struct Copy {
    doca_dma_task_memcpy *task = nullptr;
    int num_succeeded = 0;
    int num_failed = 0;
    doca_error_t status = DOCA_ERROR_UNKNOWN;
    std::function<void(Copy &)> then = {}; ///< called in the callback

    [[nodiscard]] bool has_ended() const { return num_succeeded + num_failed != 0; }
    [[nodiscard]] doca_task *as_task() const { return doca_dma_task_memcpy_as_task(task); }
};

struct StateChange {
    doca_ctx_states from;
    doca_ctx_states to;

    bool operator==(const StateChange &) const = default;
};

inline std::ostream &operator<<(std::ostream &stream, const StateChange &change)
{
    return stream << change.from << "->" << change.to;
}

inline constexpr StateChange idle_to_running{DOCA_CTX_STATE_IDLE, DOCA_CTX_STATE_RUNNING};
inline constexpr StateChange running_to_idle{DOCA_CTX_STATE_RUNNING, DOCA_CTX_STATE_IDLE};
inline constexpr StateChange running_to_stopping{DOCA_CTX_STATE_RUNNING, DOCA_CTX_STATE_STOPPING};
inline constexpr StateChange stopping_to_idle{DOCA_CTX_STATE_STOPPING, DOCA_CTX_STATE_IDLE};

/// A DMA context that tells of its changes. Not started.
class DmaContext {
public:
    DmaContext(doca_dev *dev, doca_pe *pe, std::uint32_t num_tasks)
    {
        must(doca_dma_create(dev, dma_.out()));
        must(doca_dma_task_memcpy_set_conf(dma_, succeeded, failed, num_tasks));
        must(doca_ctx_set_user_data(ctx(), {.ptr = this}));
        must(doca_ctx_set_state_changed_cb(ctx(), changed));
        must(doca_pe_connect_ctx(pe, ctx()));
    }
    DmaContext(const DmaContext &) = delete;
    DmaContext &operator=(const DmaContext &) = delete;

    [[nodiscard]] doca_dma *dma() const { return dma_; }
    [[nodiscard]] doca_ctx *ctx() const { return doca_dma_as_ctx(dma_); }
    [[nodiscard]] doca_ctx_states state() const { return state_of(ctx()); }

    [[nodiscard]] doca_error_t alloc(Copy &copy, const doca_buf *src, doca_buf *dst) const
    {
        return doca_dma_task_memcpy_alloc_init(dma_, src, dst, {.ptr = &copy}, &copy.task);
    }
    void destroy() { dma_.reset(); }

    std::vector<StateChange> changes;
    std::function<void(StateChange)> on_change = {};

private:
    static void end(Copy &copy, doca_dma_task_memcpy *task, doca_data ctx_data, int &counter)
    {
        ++counter;
        copy.status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
        EXPECT_EQ(copy.task, task);
        EXPECT_EQ(ctx_data.ptr, [&] {
            doca_data data{};
            must(doca_ctx_get_user_data(doca_task_get_ctx(doca_dma_task_memcpy_as_task(task)), &data));
            return data.ptr;
        }());
        if (copy.then)
            copy.then(copy);
    }
    static void succeeded(doca_dma_task_memcpy *task, doca_data task_data, doca_data ctx_data)
    {
        auto &copy = *static_cast<Copy *>(task_data.ptr);
        end(copy, task, ctx_data, copy.num_succeeded);
    }
    static void failed(doca_dma_task_memcpy *task, doca_data task_data, doca_data ctx_data)
    {
        auto &copy = *static_cast<Copy *>(task_data.ptr);
        end(copy, task, ctx_data, copy.num_failed);
    }
    static void changed(const doca_data data, doca_ctx *ctx, doca_ctx_states from, doca_ctx_states to)
    {
        auto &self = *static_cast<DmaContext *>(data.ptr);
        EXPECT_EQ(ctx, self.ctx());
        EXPECT_EQ(state_of(ctx), to); // in the callback the context is in its next state
        self.changes.push_back({from, to});
        if (self.on_change)
            self.on_change({from, to});
    }

    DmaHandle dma_;
};

/// One device with a progress engine, memory and an inventory.
class DmaTaskTest : public testing::TestWithParam<std::string> {
protected:
    static constexpr std::size_t size = std::size_t{1} << 16;

    void SetUp() override
    {
        for (std::size_t i = 0; i != size; ++i)
            src_memory[i] = static_cast<std::byte>(i * 7 + 1);
    }

    [[nodiscard]] BufHandle source(std::size_t offset, std::size_t len) const
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_data(inventory, src_map, &src_memory[offset], len, buf.out()));
        return buf;
    }
    [[nodiscard]] BufHandle destination(std::size_t offset, std::size_t len) const
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_addr(inventory, dst_map, &dst_memory[offset], len, buf.out()));
        return buf;
    }
    bool progress() const { return doca_pe_progress(pe) != 0; }
    void run_until(const std::function<bool()> &is_done) const
    {
        while (!is_done()) {
            if (!progress())
                std::this_thread::yield();
        }
    }

    mutable std::vector<std::byte> src_memory = std::vector<std::byte>(size);
    mutable std::vector<std::byte> dst_memory = std::vector<std::byte>(size);
    DevHandle dev = open_device(GetParam());
    MmapHandle src_map = map_of(dev, src_memory);
    MmapHandle dst_map = map_of(dev, dst_memory);
    InventoryHandle inventory = inventory_of(4096);
    PeHandle pe = [] {
        PeHandle created;
        must(doca_pe_create(created.out()));
        return created;
    }();
};

} // namespace doca_test
