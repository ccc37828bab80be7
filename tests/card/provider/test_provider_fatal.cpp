// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// DOCA programs on a device that dies. It does not come back, so each test has a card of its own.
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "card_device.hpp"

namespace provider_test {
namespace {

void kill_first_device()
{
    ASSERT_EQ(ask_card("fatal host 0"), "ok");
}

TEST(FatalDevice, EndsCopiesInFlightAndAllLaterOnes)
{
    DevHandle dev = open_device("mlx5_0"), other = open_device("mlx5_1");
    Copies copies(dev);
    copies.submit(1);
    EXPECT_EQ(copies.results(1), times(1, DOCA_SUCCESS));
    delay_completions(60s);
    copies.submit(40);
    kill_first_device();
    EXPECT_EQ(copies.results(40), times(40, DOCA_ERROR_IO_FAILED));
    copies.submit(3);
    EXPECT_EQ(copies.results(3), times(3, DOCA_ERROR_IO_FAILED));
    Copies others(other);
    others.submit(3);
    EXPECT_EQ(others.results(3), times(3, DOCA_SUCCESS)) << "another device";
}

TEST(FatalDevice, LetsAProgramThatOnlyWantsToStopDoSo)
{
    DevHandle dev = open_device("mlx5_0");
    const Area area(dev);
    DmaHandle dma;
    must(doca_dma_create(dma.out()));
    doca_ctx *const ctx = doca_dma_as_ctx(dma);
    must(doca_ctx_dev_add(ctx, dev));
    must(doca_ctx_start(ctx));
    WorkqHandle workq;
    must(doca_workq_create(8, workq.out()));
    must(doca_ctx_workq_add(ctx, workq));
    const BufHandle from = area.full(0, 64), to = area.empty(4096, 64);
    const doca_dma_job_memcpy job = memcpy_job(ctx, to, from);
    delay_completions(60s);
    must(doca_workq_submit(workq, &job.base));
    kill_first_device();
    EXPECT_EQ(doca_ctx_workq_rm(ctx, workq), DOCA_ERROR_NOT_PERMITTED) << "it sees to it, though";
    doca_event event = {};
    EXPECT_EQ(doca_workq_progress_retrieve(workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(doca_ctx_workq_rm(ctx, workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

TEST(FatalDevice, WakesAllWaiters)
{
    DevHandle dev = open_device("mlx5_0");
    Copies first(dev, true), second(dev, true);
    delay_completions(60s, 16);
    first.submit(4);
    second.submit(4);
    first.arm();
    second.arm();
    EXPECT_FALSE(is_readable(first.handle(), 0ms));
    kill_first_device();
    for (Copies *const copies : {&first, &second}) { // the first one to look takes the event away
        EXPECT_TRUE(is_readable(copies->handle(), patience));
        copies->clear();
        EXPECT_EQ(copies->results(4), times(4, DOCA_ERROR_IO_FAILED));
        copies->arm();
        EXPECT_FALSE(is_readable(copies->handle(), 50ms)) << "there is nothing more to be told";
    }
}

TEST(FatalDevice, EndsAConnectionWithItsReceives)
{
    DevHandle dev = open_device("mlx5_0"), other = open_device("mlx5_1");
    Connected pair(dev, other);
    const BufHandle into = pair.left_area.empty(0, 64), more = pair.left_area.empty(64, 64);
    must(pair.left.receive(into));
    must(pair.left.receive(more));
    kill_first_device();
    EXPECT_EQ(next_result(pair.left), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(next_result(pair.left), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(pair.left.state(), DOCA_RDMA_STATE_ERROR);
    EXPECT_EQ(pair.left.receive(into), DOCA_ERROR_BAD_STATE);
    // The peer is not told, and asks until its retries are spent.
    const BufHandle from = pair.right_area.full(0, 64);
    must(pair.right.send(from));
    EXPECT_EQ(next_result(pair.right), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(pair.right.state(), DOCA_RDMA_STATE_ERROR);
}

TEST(FatalDevice, WakesAConnectionThatIsIdle)
{
    DevHandle dev = open_device("mlx5_0"), other = open_device("mlx5_1");
    Connected pair(dev, other, {.is_event_driven = true});
    doca_event_handle_t handle = -1;
    must(doca_workq_get_event_handle(pair.left.workq(), &handle));
    must(doca_workq_event_handle_arm(pair.left.workq()));
    EXPECT_FALSE(is_readable(handle, 0ms));
    kill_first_device();
    EXPECT_TRUE(is_readable(handle, patience));
    must(doca_workq_event_handle_clear(pair.left.workq(), handle));
    EXPECT_EQ(pair.left.state(), DOCA_RDMA_STATE_ERROR);
    must(doca_workq_event_handle_arm(pair.left.workq()));
    EXPECT_FALSE(is_readable(handle, 50ms)) << "there is nothing more to be told";
}

TEST(FatalDevice, RefusesWhatIsNew)
{
    DevHandle dev = open_device("mlx5_0");
    DmaHandle dma;
    must(doca_dma_create(dma.out()));
    doca_ctx *const ctx = doca_dma_as_ctx(dma);
    must(doca_ctx_dev_add(ctx, dev));
    must(doca_ctx_start(ctx));
    kill_first_device();
    WorkqHandle workq;
    must(doca_workq_create(8, workq.out()));
    EXPECT_NE(doca_ctx_workq_add(ctx, workq), DOCA_SUCCESS);
    std::vector<std::byte> memory(4096);
    EXPECT_THROW((LocalMap(dev, memory)), std::runtime_error);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

} // namespace
} // namespace provider_test
