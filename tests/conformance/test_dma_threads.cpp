// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What may go on in several threads at once, and several contexts on one queue.
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "support/dma_fixture.hpp"
#include "support/sanitizers.hpp"

using namespace doca_test;

namespace {

constexpr std::size_t num_threads = 4;

/// Runs @p body with 0, 1, ... in threads that begin together.
void in_threads(const std::function<void(std::size_t)> &body)
{
    std::barrier begin(num_threads);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < num_threads; ++i) {
        threads.emplace_back([&, i] {
            begin.arrive_and_wait();
            try {
                body(i);
            } catch (const std::exception &error) {
                ADD_FAILURE() << "thread " << i << ": " << error.what();
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();
}

/// A queue of one thread, with memory to copy in.
class Worker {
public:
    Worker(doca_ctx *ctx, doca_dev *dev, std::uint32_t seed) : ctx_(ctx), map_(dev, memory_), random_(seed), seed_(seed)
    {
        fill(std::span(memory_).first(half), seed);
        must(doca_workq_create(depth, workq_.out()));
        must(doca_ctx_workq_add(ctx_, workq_));
    }
    Worker(const Worker &) = delete;
    Worker &operator=(const Worker &) = delete;
    ~Worker() { EXPECT_EQ(doca_ctx_workq_rm(ctx_, workq_), DOCA_SUCCESS); }

    /// Fills the queue with copies of random parts to places of their own, and looks at each when it has
    /// ended.
    void work(int rounds)
    {
        for (int round = 0; round < rounds; ++round) {
            struct Copy {
                BufHandle src, dst;
                std::size_t from, len;
            };
            std::vector<Copy> copies(depth);
            for (std::size_t i = 0; i < depth; ++i) {
                Copy &copy = copies[i];
                copy.len = 1 + random_() % (half / depth);
                copy.from = random_() % (half - copy.len + 1);
                copy.src = inventory_.full(map_, &memory_[copy.from], copy.len);
                copy.dst = inventory_.empty(map_, place(i), half / depth);
                const doca_dma_job_memcpy job = memcpy_job(ctx_, copy.dst, copy.src, i);
                ASSERT_EQ(doca_workq_submit(workq_, &job.base), DOCA_SUCCESS);
            }
            for (std::size_t i = 0; i < depth; ++i) {
                doca_event event = {};
                ASSERT_EQ(wait_for(workq_, event), DOCA_SUCCESS);
                ASSERT_LT(event.user_data.u64, depth);
                const Copy &copy = copies[event.user_data.u64];
                ASSERT_EQ(data_len_of(copy.dst), copy.len);
                ASSERT_TRUE(is_filled({place(event.user_data.u64), copy.len}, seed_, copy.from));
            }
        }
    }

private:
    static constexpr std::size_t depth = 8;
    static constexpr std::size_t half = 16384;

    [[nodiscard]] std::byte *place(std::size_t i) { return &memory_[half + i * (half / depth)]; }

    doca_ctx *ctx_;
    std::vector<std::byte> memory_ = std::vector<std::byte>(2 * half);
    LocalMap map_;
    Inventory inventory_{2 * depth};
    WorkqHandle workq_;
    std::mt19937 random_;
    std::uint32_t seed_;
};

/// A started context.
class Context {
public:
    explicit Context(doca_dev *dev)
    {
        must(doca_dma_create(dma_.out()));
        must(doca_ctx_dev_add(*this, dev));
        must(doca_ctx_start(*this));
    }
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;
    ~Context() { EXPECT_EQ(doca_ctx_stop(*this), DOCA_SUCCESS); }

    operator doca_ctx *() const { return doca_dma_as_ctx(dma_); }

private:
    DmaHandle dma_;
};

} // namespace

class ThreadTest : public DeviceTest {};
INSTANTIATE_FOR_FEW_DEVICES(ThreadTest, can_copy);

TEST_P(ThreadTest, several_queues_of_one_context)
{
    const Context ctx(dev);
    in_threads([&](std::size_t i) { Worker(ctx, dev, static_cast<std::uint32_t>(i + 1)).work(times(300)); });
}

TEST_P(ThreadTest, context_of_each_thread)
{
    in_threads([&](std::size_t i) {
        const Context ctx(dev);
        Worker(ctx, dev, static_cast<std::uint32_t>(i + 1)).work(times(300));
    });
}

TEST_P(ThreadTest, queues_come_and_go_while_others_work)
{
    const Context ctx(dev);
    in_threads([&](std::size_t i) {
        if (i == 0) {
            Worker(ctx, dev, 1).work(times(300));
            return;
        }
        for (int round = 0; round < times(200); ++round)
            Worker(ctx, dev, static_cast<std::uint32_t>(i + 1)).work(1);
    });
}

TEST_P(ThreadTest, contexts_come_and_go_while_others_work)
{
    in_threads([&](std::size_t i) {
        for (int round = 0; round < times(200); ++round) {
            const Context ctx(dev);
            Worker(ctx, dev, static_cast<std::uint32_t>(i + 1)).work(1);
        }
    });
}

TEST_P(ThreadTest, context_is_asked_and_started_from_any_thread)
{
    const Context ctx(dev);
    std::atomic<int> stopped = 0, started = 0;
    in_threads([&](std::size_t) {
        for (int round = 0; round < times(2000); ++round) {
            std::uint8_t answer = 99;
            EXPECT_EQ(doca_ctx_get_event_driven_supported(ctx, &answer), DOCA_SUCCESS);
            const doca_error_t stop = doca_ctx_stop(ctx);
            EXPECT_TRUE(stop == DOCA_SUCCESS || stop == DOCA_ERROR_BAD_STATE);
            stopped += stop == DOCA_SUCCESS;
            const doca_error_t start = doca_ctx_start(ctx);
            EXPECT_TRUE(start == DOCA_SUCCESS || start == DOCA_ERROR_BAD_STATE);
            started += start == DOCA_SUCCESS;
        }
    });
    EXPECT_GT(started.load(), 0);
    EXPECT_EQ(started.load(), stopped.load()); // it ends as it began, started
}

TEST_P(ThreadTest, one_map_serves_all_threads)
{
    constexpr std::size_t part = 4096;
    std::vector<std::byte> src_memory(part), dst_memory(num_threads * part);
    fill(src_memory, 3);
    const LocalMap src_map(dev, src_memory), dst_map(dev, dst_memory);
    in_threads([&](std::size_t i) {
        const DmaEngine engine(dev);
        const Inventory inventory(2);
        for (int round = 0; round < times(1000); ++round) {
            const BufHandle src = inventory.full(src_map, src_memory.data(), part);
            const BufHandle dst = inventory.empty(dst_map, &dst_memory[i * part], part);
            ASSERT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
        }
    });
    for (std::size_t i = 0; i < num_threads; ++i)
        EXPECT_TRUE(is_filled(std::span(dst_memory).subspan(i * part, part), 3));
}

TEST_P(ThreadTest, devices_are_listed_opened_and_closed_at_once)
{
    const std::string name = GetParam().ibdev;
    in_threads([&](std::size_t) {
        for (int round = 0; round < times(300); ++round) {
            const DevHandle same = open_device(name);
            ASSERT_EQ(same.get(), dev.get());
            MmapHandle mmap;
            must(doca_mmap_create(nullptr, mmap.out()));
            must(doca_mmap_dev_add(mmap, same));
            mmap.reset();
        }
    });
    EXPECT_EQ(doca_dev_close(dev.release()), DOCA_SUCCESS);
}

TEST_P(ThreadTest, last_close_races_with_open)
{
    const std::string name = GetParam().ibdev;
    dev.reset(); // each open may be the first, each close the last
    in_threads([&](std::size_t) {
        for (int round = 0; round < times(300); ++round) {
            const DevHandle own = open_device(name);
            ASSERT_EQ(ibdev_of(doca_dev_as_devinfo(own)), name);
        }
    });
}

class RepThreadTest : public DeviceTest {};
INSTANTIATE_FOR_FEW_DEVICES(RepThreadTest, has_representors);

TEST_P(RepThreadTest, representors_are_listed_opened_and_closed_at_once)
{
    in_threads([&](std::size_t) {
        for (int round = 0; round < times(300); ++round) {
            const RepList list(dev);
            RepHandle rep;
            must(doca_dev_rep_open(list[0], rep.out()));
            ASSERT_EQ(pci_of(doca_dev_rep_as_devinfo(rep)), pci_of(list[0]));
        }
    });
}

// Several contexts on one queue, in one thread

TEST(DmaContexts, of_all_devices_share_a_queue)
{
    const std::vector<DeviceParam> devices = devices_that(can_copy);
    if (devices.empty())
        GTEST_SKIP() << "takes a device";
    std::vector<DevHandle> devs;
    std::vector<DmaHandle> dmas(devices.size());
    constexpr std::uint32_t depth = 16;
    WorkqHandle workq;
    must(doca_workq_create(depth, workq.out()));
    std::vector<std::byte> src_memory(1000), dst_memory(depth * 100);
    fill(src_memory, 4);
    std::vector<std::unique_ptr<LocalMap>> maps;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        devs.push_back(open_device(devices[i]));
        must(doca_dma_create(dmas[i].out()));
        must(doca_ctx_dev_add(doca_dma_as_ctx(dmas[i]), devs[i]));
        must(doca_ctx_start(doca_dma_as_ctx(dmas[i])));
        must(doca_ctx_workq_add(doca_dma_as_ctx(dmas[i]), workq));
        maps.push_back(std::make_unique<LocalMap>(devs[i], src_memory));
        maps.push_back(std::make_unique<LocalMap>(devs[i], dst_memory));
    }
    {
        const Inventory inventory(2 * depth);
        for (std::size_t round = 0; round < 200; ++round) {
            std::vector<BufHandle> bufs;
            for (std::size_t i = 0; i < depth; ++i) {
                const std::size_t which = (round + i) % devices.size();
                bufs.push_back(inventory.full(*maps[2 * which], &src_memory[round + i], 100));
                bufs.push_back(inventory.empty(*maps[2 * which + 1], &dst_memory[i * 100], 100));
                const doca_dma_job_memcpy job =
                    memcpy_job(doca_dma_as_ctx(dmas[which]), bufs[2 * i + 1], bufs[2 * i], i);
                ASSERT_EQ(doca_workq_submit(workq, &job.base), DOCA_SUCCESS);
            }
            std::uint64_t seen = 0;
            for (std::size_t i = 0; i < depth; ++i) {
                doca_event event = {};
                ASSERT_EQ(wait_for(workq, event), DOCA_SUCCESS);
                seen |= std::uint64_t{1} << event.user_data.u64;
            }
            ASSERT_EQ(seen, (1u << depth) - 1);
            for (std::size_t i = 0; i < depth; ++i)
                ASSERT_TRUE(is_filled(std::span(dst_memory).subspan(i * 100, 100), 4, round + i));
        }
    }
    maps.clear();
    for (std::size_t i = 0; i < devices.size(); ++i) {
        must(doca_ctx_workq_rm(doca_dma_as_ctx(dmas[i]), workq));
        must(doca_ctx_stop(doca_dma_as_ctx(dmas[i])));
        must(doca_ctx_dev_rm(doca_dma_as_ctx(dmas[i]), devs[i]));
    }
}
