// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The engine's copies, through a front end of the test's own.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include <poll.h>

#include <gtest/gtest.h>

#include "../../src/core/checks/copy_check.hpp"
#include "../../src/core/device/copy_engine.hpp"
#include "../../src/core/objects/dev.hpp"
#include "../conformance/support/dma_fixture.hpp"
#include "front_end.hpp"

using namespace doca_test;

namespace {

using opendoca::CopyCheck;
using opendoca::CopyPlan;

class EngineCopies : public DeviceTest {
protected:
    void SetUp() override { make_engine(tasks, engine); }

    void make_engine(TaskEngine &on, std::unique_ptr<opendoca::CopyEngine> &made)
    {
        doca_dev *const device = dev;
        ASSERT_EQ(device->device().create_copy_engine(on.completions, made), DOCA_SUCCESS);
    }
    [[nodiscard]] doca_error_t submit(opendoca::CopyEngine &on, Task &task, doca_buf *dst, const doca_buf *src)
    {
        CopyPlan plan{};
        const doca_error_t status = check.check(dst, src, plan);
        return status == DOCA_SUCCESS ? on.copy(task.tag(), *dst, *src, plan) : status;
    }

    static constexpr std::size_t size = 4096;
    std::vector<std::byte> from = std::vector<std::byte>(size);
    std::vector<std::byte> to = std::vector<std::byte>(size);
    LocalMap from_map{dev, from};
    LocalMap to_map{dev, to};
    Inventory inventory{256};
    CopyCheck check{static_cast<doca_dev *>(dev)->device(),
                    static_cast<doca_dev *>(dev)->function().can.dma_max_list_elements,
                    static_cast<doca_dev *>(dev)->function().can.dma_max_size};
    TaskEngine tasks{16};
    std::unique_ptr<opendoca::CopyEngine> engine;
};

INSTANTIATE_FOR_DEVICES(EngineCopies, can_copy);

TEST_P(EngineCopies, take_no_buffer_on_the_fast_path_whose_data_was_moved_meanwhile)
{
    const BufHandle src = inventory.full(from_map, from.data(), 64);
    const BufHandle dst = inventory.empty(to_map, to.data(), 64);
    doca_buf *const buf = dst;
    Task task;
    ASSERT_EQ(submit(*engine, task, buf, src), DOCA_SUCCESS);
    buf->set_data(to.data() + 32, 0); // from here on a copy that is still on its way ends behind the buffer
    tasks.run(task);
    EXPECT_TRUE(!buf->has_fast_path() || buf->has_data_inside()) << buf->data_len;
}

TEST_P(EngineCopies, run_the_callback_of_each)
{
    fill(from, 3);
    int num_calls = 0;
    Task task([&](Task &ended) {
        ++num_calls;
        EXPECT_EQ(ended.status(), DOCA_SUCCESS);
    });
    const BufHandle src = inventory.full(from_map, from.data(), size);
    const BufHandle dst = inventory.empty(to_map, to.data(), size);
    ASSERT_EQ(submit(*engine, task, dst, src), DOCA_SUCCESS);
    tasks.run(task);
    EXPECT_EQ(num_calls, 1);
    EXPECT_EQ(to, from);
    EXPECT_EQ(data_len_of(dst), size);
    EXPECT_FALSE(tasks.progress());
}

TEST_P(EngineCopies, are_submitted_again_in_their_callbacks)
{
    const BufHandle src = inventory.full(from_map, from.data(), 8);
    const BufHandle dst = inventory.empty(to_map, to.data(), size);
    Task task([&](Task &ended) {
        EXPECT_EQ(ended.status(), DOCA_SUCCESS);
        if (ended.num_ends() < 100) {
            EXPECT_EQ(submit(*engine, ended, dst, src), DOCA_SUCCESS);
        }
    });
    ASSERT_EQ(submit(*engine, task, dst, src), DOCA_SUCCESS);
    tasks.run_until([&] { return task.num_ends() == 100; });
    EXPECT_EQ(data_len_of(dst), 800u);
}

TEST_P(EngineCopies, take_a_credit_each_until_they_are_retrieved)
{
    std::vector<std::unique_ptr<Task>> all;
    std::vector<BufHandle> bufs;
    const BufHandle src = inventory.full(from_map, from.data(), 64);
    for (;;) {
        all.push_back(std::make_unique<Task>());
        bufs.push_back(inventory.empty(to_map, to.data(), 64));
        const doca_error_t status = submit(*engine, *all.back(), bufs.back(), src);
        if (status == DOCA_ERROR_NO_MEMORY)
            break;
        ASSERT_EQ(status, DOCA_SUCCESS);
    }
    EXPECT_EQ(all.size(), 17u);
    EXPECT_TRUE(tasks.completions.is_full());
    EXPECT_EQ(tasks.completions.num_outstanding(*engine), 16u);
    for (int left = 16; left != 0;)
        left -= tasks.progress();
    EXPECT_EQ(tasks.completions.num_outstanding(*engine), 0u);
    EXPECT_EQ(submit(*engine, *all.back(), bufs.back(), src), DOCA_SUCCESS);
    tasks.run(*all.back());
}

TEST_P(EngineCopies, that_end_on_a_sleeping_queue_wake_it)
{
    TaskEngine sleeper(16, true);
    std::unique_ptr<opendoca::CopyEngine> own;
    make_engine(sleeper, own);
    const BufHandle src = inventory.full(from_map, from.data(), 64);
    const BufHandle dst = inventory.empty(to_map, to.data(), 64);
    Task task;
    sleeper.completions.arm();
    ASSERT_EQ(submit(*own, task, dst, src), DOCA_SUCCESS);
    while (!task.has_ended()) {
        pollfd handle{.fd = sleeper.completions.event_handle(), .events = POLLIN, .revents = 0};
        ASSERT_EQ(::poll(&handle, 1, 60'000), 1) << "nobody has woken the thread";
        ASSERT_EQ(sleeper.completions.clear(), DOCA_SUCCESS);
        while (sleeper.progress()) {
        }
        sleeper.completions.arm();
    }
    EXPECT_EQ(task.status(), DOCA_SUCCESS);
}

/// Two front ends on one device at the same time, each with a queue of its own.
TEST_P(EngineCopies, do_not_meet_the_jobs_of_a_work_queue)
{
    const DmaEngine jobs(dev);
    fill(from, 5);
    for (std::uint64_t round = 0; round < 50; ++round) {
        const BufHandle src = inventory.full(from_map, from.data(), 512);
        const BufHandle low = inventory.empty(to_map, to.data(), 512);
        const BufHandle high = inventory.empty(to_map, &to[2048], 512);
        Task task;
        ASSERT_EQ(jobs.submit(low, src, round), DOCA_SUCCESS);
        ASSERT_EQ(submit(*engine, task, high, src), DOCA_SUCCESS);
        tasks.run(task);
        doca_event event = {};
        ASSERT_EQ(wait_for(jobs.workq(), event), DOCA_SUCCESS);
        EXPECT_EQ(event.user_data.u64, round);
        EXPECT_EQ(task.num_ends(), 1);
        EXPECT_TRUE(std::equal(from.begin(), from.begin() + 512, to.begin()));
        EXPECT_TRUE(std::equal(from.begin(), from.begin() + 512, to.begin() + 2048));
    }
}

/// Where a program has moved a buffer's data to is looked at before the copy.
TEST_P(EngineCopies, outside_of_a_buffer_are_refused)
{
    const BufHandle src = inventory.full(from_map, &from[64], 64);
    const BufHandle dst = inventory.empty(to_map, &to[64], 64);
    Task task;
    for (const auto &[buf, offset, length] : {std::tuple{src.get(), -1, 8},
                                              {src.get(), 60, 5},
                                              {src.get(), 65, 0},
                                              {dst.get(), -64, 8},
                                              {dst.get(), 0, 65},
                                              {dst.get(), 80, 0}}) {
        auto *const head = buf == src.get() ? &from[64] : &to[64];
        ASSERT_EQ(doca_buf_set_data(buf, head + offset, static_cast<std::size_t>(length)), DOCA_SUCCESS);
        EXPECT_EQ(submit(*engine, task, dst, src), DOCA_ERROR_INVALID_VALUE) << offset;
        ASSERT_EQ(doca_buf_set_data(src, &from[64], 8), DOCA_SUCCESS);
        ASSERT_EQ(doca_buf_set_data(dst, &to[64], 0), DOCA_SUCCESS);
    }
    EXPECT_EQ(submit(*engine, task, dst, src), DOCA_SUCCESS);
    tasks.run(task);
}

} // namespace
