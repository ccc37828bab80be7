// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Tasks of a DMA context: from their allocation to their callback, and the states of the context around them.
#include <cstdint>
#include <cstring>
#include <vector>

#include "dma_tasks.hpp"

using namespace doca_test;

namespace {

class TasksV3 : public DmaTaskTest {
protected:
    static constexpr std::uint32_t num_tasks = 64;

    DmaContext dma{dev, pe, num_tasks};
};

TEST_P(TasksV3, ACopyEndsInItsCallbackAndNowhereElse)
{
    ASSERT_EQ(doca_ctx_start(dma.ctx()), DOCA_SUCCESS);
    const BufHandle src = source(0, 100);
    const BufHandle dst = destination(0, 1000);
    Copy copy;
    ASSERT_EQ(dma.alloc(copy, src, dst), DOCA_SUCCESS);
    EXPECT_EQ(in_flight(dma.ctx()), 0u); // allocated is not submitted
    EXPECT_FALSE(progress());
    ASSERT_EQ(doca_task_submit(copy.as_task()), DOCA_SUCCESS);
    EXPECT_FALSE(copy.has_ended()); // never inside submit
    EXPECT_EQ(in_flight(dma.ctx()), 1u);
    std::size_t of_engine = 0;
    EXPECT_EQ(doca_pe_get_num_inflight_tasks(pe, &of_engine), DOCA_SUCCESS);
    EXPECT_EQ(of_engine, 1u);
    run_until([&] { return copy.has_ended(); });
    EXPECT_EQ(copy.num_succeeded, 1);
    EXPECT_EQ(copy.status, DOCA_SUCCESS);
    EXPECT_EQ(in_flight(dma.ctx()), 0u);
    EXPECT_EQ(data_len_of(dst), 100u);
    EXPECT_EQ(std::memcmp(src_memory.data(), dst_memory.data(), 100), 0);
    EXPECT_FALSE(progress());
    // Its fields can be read after it was freed.
    doca_task_free(copy.as_task());
    EXPECT_EQ(doca_dma_task_memcpy_get_src(copy.task), static_cast<doca_buf *>(src));
    EXPECT_EQ(doca_dma_task_memcpy_get_dst(copy.task), static_cast<doca_buf *>(dst));
    EXPECT_EQ(doca_ctx_stop(dma.ctx()), DOCA_SUCCESS);
    EXPECT_EQ(dma.changes, (std::vector{idle_to_running, running_to_idle}));
}

TEST_P(TasksV3, ATaskIsSubmittedAgainInItsCallback)
{
    ASSERT_EQ(doca_ctx_start(dma.ctx()), DOCA_SUCCESS);
    const BufHandle src = source(0, 64);
    const BufHandle dst = destination(0, 64 * 10);
    Copy copy;
    ASSERT_EQ(dma.alloc(copy, src, dst), DOCA_SUCCESS);
    copy.then = [&](Copy &self) {
        if (self.num_succeeded < 10) {
            EXPECT_EQ(doca_task_submit(self.as_task()), DOCA_SUCCESS);
        }
    };
    ASSERT_EQ(doca_task_submit(copy.as_task()), DOCA_SUCCESS);
    run_until([&] { return copy.num_succeeded == 10; });
    EXPECT_EQ(data_len_of(dst), 640u); // data is appended
    EXPECT_FALSE(progress());
    doca_task_free(copy.as_task());
    EXPECT_EQ(doca_ctx_stop(dma.ctx()), DOCA_SUCCESS);
}

TEST_P(TasksV3, ThereAreAsManyTasksAsWereAskedFor)
{
    const BufHandle src = source(0, 8);
    const BufHandle dst = destination(0, 8);
    Copy copies[num_tasks + 1];
    EXPECT_EQ(dma.alloc(copies[0], src, dst), DOCA_ERROR_BAD_STATE); // not started
    ASSERT_EQ(doca_ctx_start(dma.ctx()), DOCA_SUCCESS);
    for (std::uint32_t i = 0; i != num_tasks; ++i)
        ASSERT_EQ(dma.alloc(copies[i], src, dst), DOCA_SUCCESS);
    EXPECT_EQ(dma.alloc(copies[num_tasks], src, dst), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(copies[num_tasks].task, nullptr);
    doca_task_free(copies[5].as_task());
    EXPECT_EQ(dma.alloc(copies[num_tasks], src, dst), DOCA_SUCCESS);
    copies[5].task = nullptr;
    // A context that has tasks out is not idle, however it is asked.
    EXPECT_EQ(doca_ctx_stop(dma.ctx()), DOCA_ERROR_IN_PROGRESS);
    EXPECT_EQ(dma.state(), DOCA_CTX_STATE_STOPPING);
    EXPECT_EQ(doca_dma_destroy(dma.dma()), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_task_submit(copies[0].as_task()), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_ctx_stop(dma.ctx()), DOCA_ERROR_IN_PROGRESS);
    for (const Copy &copy : copies) {
        if (copy.task != nullptr)
            doca_task_free(copy.as_task());
    }
    EXPECT_EQ(dma.state(), DOCA_CTX_STATE_STOPPING);
    EXPECT_TRUE(progress());
    EXPECT_EQ(dma.state(), DOCA_CTX_STATE_IDLE);
    EXPECT_EQ(dma.changes, (std::vector{idle_to_running, running_to_stopping, stopping_to_idle}));
    EXPECT_FALSE(progress());
}

TEST_P(TasksV3, AStopInACallbackIsNeverDoneAtOnce)
{
    ASSERT_EQ(doca_ctx_start(dma.ctx()), DOCA_SUCCESS);
    const BufHandle src = source(0, 8);
    const BufHandle dst = destination(0, 8);
    Copy copy;
    ASSERT_EQ(dma.alloc(copy, src, dst), DOCA_SUCCESS);
    copy.then = [&](Copy &self) {
        doca_task_free(self.as_task()); // the only one, and it still counts
        EXPECT_EQ(in_flight(dma.ctx()), 1u);
        EXPECT_EQ(doca_ctx_stop(dma.ctx()), DOCA_ERROR_IN_PROGRESS);
        EXPECT_EQ(dma.state(), DOCA_CTX_STATE_STOPPING);
    };
    ASSERT_EQ(doca_task_submit(copy.as_task()), DOCA_SUCCESS);
    run_until([&] { return copy.has_ended(); });
    EXPECT_EQ(dma.state(), DOCA_CTX_STATE_IDLE); // in the same call that returned the last task
    EXPECT_FALSE(progress());
}

TEST_P(TasksV3, AStopEndsWhatIsInFlight)
{
    ASSERT_EQ(doca_ctx_start(dma.ctx()), DOCA_SUCCESS);
    const BufHandle src = source(0, 512);
    std::vector<BufHandle> dsts;
    std::vector<Copy> copies(num_tasks);
    for (std::uint32_t i = 0; i != num_tasks; ++i) {
        dsts.push_back(destination(i * 512, 512));
        ASSERT_EQ(dma.alloc(copies[i], src, dsts[i]), DOCA_SUCCESS);
        copies[i].then = [](Copy &self) { doca_task_free(self.as_task()); };
        ASSERT_EQ(doca_task_submit(copies[i].as_task()), DOCA_SUCCESS);
    }
    EXPECT_EQ(doca_ctx_stop(dma.ctx()), DOCA_ERROR_IN_PROGRESS);
    run_until([&] { return dma.state() == DOCA_CTX_STATE_IDLE; });
    for (const Copy &copy : copies)
        EXPECT_EQ(copy.num_succeeded + copy.num_failed, 1);
    // And it can be started again.
    ASSERT_EQ(doca_ctx_start(dma.ctx()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(dma.ctx()), DOCA_SUCCESS);
}

TEST_P(TasksV3, AFailedTaskEndsTheContext)
{
    ASSERT_EQ(doca_ctx_start(dma.ctx()), DOCA_SUCCESS);
    std::vector<BufHandle> bufs;
    std::vector<Copy> copies(num_tasks);
    for (std::uint32_t i = 0; i != num_tasks; ++i) {
        bufs.push_back(source(i * 16, 16));
        if (i == 2)
            must(doca_buf_reset_data_len(bufs.back())); // the third copies nothing, which fails
        bufs.push_back(destination(i * 16, 16));
        ASSERT_EQ(dma.alloc(copies[i], bufs[2 * i], bufs[2 * i + 1]), DOCA_SUCCESS);
        copies[i].then = [](Copy &self) { doca_task_free(self.as_task()); };
        ASSERT_EQ(doca_task_submit(copies[i].as_task()), DOCA_SUCCESS); // no validation
    }
    run_until([&] { return dma.state() == DOCA_CTX_STATE_IDLE; });
    EXPECT_EQ(dma.changes, (std::vector{idle_to_running, running_to_stopping, stopping_to_idle}));
    EXPECT_EQ(copies[2].num_failed, 1);
    EXPECT_EQ(copies[2].status, DOCA_ERROR_INVALID_VALUE);
    for (std::uint32_t i = 3; i != num_tasks; ++i) {
        EXPECT_EQ(copies[i].num_failed, 1) << i;
        EXPECT_EQ(copies[i].num_succeeded, 0) << i;
        EXPECT_NE(copies[i].status, DOCA_SUCCESS);
        EXPECT_EQ(data_len_of(bufs[2 * i + 1]), 0u);
    }
}

TEST_P(TasksV3, TrySubmitLooksFirst)
{
    ASSERT_EQ(doca_ctx_start(dma.ctx()), DOCA_SUCCESS);
    const BufHandle src = source(0, 16);
    const BufHandle dst = destination(0, 8);
    Copy copy;
    ASSERT_EQ(dma.alloc(copy, src, dst), DOCA_SUCCESS);
    EXPECT_EQ(doca_task_try_submit(copy.as_task()), DOCA_ERROR_INVALID_VALUE); // does not fit
    EXPECT_EQ(doca_task_get_status(copy.as_task()), DOCA_ERROR_INVALID_VALUE) << "programs ask for the cause";
    EXPECT_EQ(in_flight(dma.ctx()), 0u);
    doca_dma_task_memcpy_set_src(copy.task, nullptr);
    EXPECT_EQ(doca_task_try_submit(copy.as_task()), DOCA_ERROR_INVALID_VALUE);
    must(doca_buf_set_data_len(src, 8));
    doca_dma_task_memcpy_set_src(copy.task, src);
    EXPECT_EQ(doca_task_try_submit(copy.as_task()), DOCA_SUCCESS);
    EXPECT_EQ(doca_task_submit(copy.as_task()), DOCA_ERROR_BAD_STATE); // it is on its way
    EXPECT_EQ(doca_task_submit_ex(copy.as_task(), 4), DOCA_ERROR_INVALID_VALUE);
    run_until([&] { return copy.has_ended(); });
    EXPECT_EQ(copy.num_succeeded, 1);
    EXPECT_EQ(doca_task_get_status(copy.as_task()), DOCA_SUCCESS);
    must(doca_buf_reset_data_len(dst));
    EXPECT_EQ(doca_task_submit_ex(copy.as_task(), 4), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_task_get_status(copy.as_task()), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_task_submit_ex(copy.as_task(), DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS), DOCA_SUCCESS);
    doca_ctx_flush_tasks(dma.ctx());
    run_until([&] { return copy.num_succeeded == 2; });
    EXPECT_EQ(doca_task_get_status(copy.as_task()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(dma.ctx()), DOCA_ERROR_IN_PROGRESS) << "the task is not freed";
    must(doca_buf_reset_data_len(dst));
    for (const auto submit : {doca_task_submit, doca_task_try_submit}) {
        EXPECT_EQ(submit(copy.as_task()), DOCA_ERROR_BAD_STATE);
        EXPECT_EQ(doca_task_get_status(copy.as_task()), DOCA_ERROR_BAD_STATE);
    }
    doca_task_free(copy.as_task());
    run_until([&] { return dma.state() == DOCA_CTX_STATE_IDLE; });
    EXPECT_EQ(dma.changes, (std::vector{idle_to_running, running_to_stopping, stopping_to_idle}));
}

TEST_P(TasksV3, ATaskThatIsFreedInFlightHasNoCallback)
{
    ASSERT_EQ(doca_ctx_start(dma.ctx()), DOCA_SUCCESS);
    const BufHandle src = source(0, 16);
    const BufHandle dst = destination(0, 16);
    Copy copy;
    ASSERT_EQ(dma.alloc(copy, src, dst), DOCA_SUCCESS);
    ASSERT_EQ(doca_task_submit(copy.as_task()), DOCA_SUCCESS);
    doca_task_free(copy.as_task());
    doca_task_free(copy.as_task()); // once more: a message, and nothing else
    if (doca_ctx_stop(dma.ctx()) != DOCA_SUCCESS)
        run_until([&] { return dma.state() == DOCA_CTX_STATE_IDLE; });
    EXPECT_EQ(dma.state(), DOCA_CTX_STATE_IDLE);
    EXPECT_FALSE(copy.has_ended());
}

TEST_P(TasksV3, TheConfigurationIsThatOfAnIdleContext)
{
    const auto callback = [](doca_dma_task_memcpy *, doca_data, doca_data) {};
    EXPECT_EQ(doca_dma_task_memcpy_set_conf(dma.dma(), callback, nullptr, 4), DOCA_ERROR_INVALID_VALUE);
    std::uint32_t most = 0;
    EXPECT_EQ(doca_dma_cap_get_max_num_tasks(dma.dma(), &most), DOCA_SUCCESS);
    EXPECT_GE(most, 1024u);
    EXPECT_EQ(doca_dma_task_memcpy_set_conf(dma.dma(), callback, callback, most + 1), DOCA_ERROR_INVALID_VALUE);
    ASSERT_EQ(doca_ctx_start(dma.ctx()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_start(dma.ctx()), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_dma_task_memcpy_set_conf(dma.dma(), callback, callback, 4), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_dma_destroy(dma.dma()), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_ctx_stop(dma.ctx()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(dma.ctx()), DOCA_SUCCESS); // harmless
}

TEST_P(TasksV3, AContextIsConnectedOnceAndForLife)
{
    DmaHandle lonely;
    ASSERT_EQ(doca_dma_create(dev, lonely.out()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_start(doca_dma_as_ctx(lonely)), DOCA_ERROR_NOT_CONNECTED);
    EXPECT_EQ(doca_ctx_stop(doca_dma_as_ctx(lonely)), DOCA_ERROR_NOT_CONNECTED);
    EXPECT_EQ(doca_pe_connect_ctx(pe, dma.ctx()), DOCA_ERROR_NOT_PERMITTED);
    doca_pe *const in_use = pe.release();
    EXPECT_EQ(doca_pe_destroy(in_use), DOCA_ERROR_IN_USE);
    dma.destroy();
    EXPECT_EQ(doca_pe_destroy(in_use), DOCA_SUCCESS);
}

TEST_P(TasksV3, AContextMayBeDestroyedWhenItReportsThatItIsIdle)
{
    ASSERT_EQ(doca_ctx_start(dma.ctx()), DOCA_SUCCESS);
    const BufHandle src = source(0, 16);
    const BufHandle dst = destination(0, 16);
    Copy copy;
    ASSERT_EQ(dma.alloc(copy, src, dst), DOCA_SUCCESS);
    copy.then = [&](Copy &self) {
        doca_task_free(self.as_task());
        EXPECT_EQ(doca_ctx_stop(dma.ctx()), DOCA_ERROR_IN_PROGRESS);
    };
    bool is_gone = false;
    dma.on_change = [&](StateChange change) {
        if (change.to == DOCA_CTX_STATE_IDLE) {
            dma.destroy();
            is_gone = true;
        }
    };
    ASSERT_EQ(doca_task_submit(copy.as_task()), DOCA_SUCCESS);
    run_until([&] { return is_gone; });
    EXPECT_FALSE(progress());
}

INSTANTIATE_FOR_COPYING_DEVICES(TasksV3);

} // namespace
