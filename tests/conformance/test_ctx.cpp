// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Contexts: devices, start and stop, work queues. DMA's stands for all.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/dma_fixture.hpp"
#include "support/log_capture.hpp"

using namespace doca_test;

TEST(Ctx, number_of_contexts)
{
    std::uint32_t count = 0;
    EXPECT_EQ(doca_ctx_get_max_num_ctx(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ctx_get_max_num_ctx(&count), DOCA_SUCCESS);
    EXPECT_EQ(count, 512u);
}

/// A context without device.
class CtxTest : public DeviceTest {
protected:
    void SetUp() override
    {
        must(doca_dma_create(dma.out()));
        ctx = doca_dma_as_ctx(dma);
        must(doca_workq_create(4, workq.out()));
    }
    void start()
    {
        must(doca_ctx_dev_add(ctx, dev));
        must(doca_ctx_start(ctx));
    }

    WorkqHandle workq;
    DmaHandle dma;
    doca_ctx *ctx = nullptr;
};
INSTANTIATE_FOR_DEVICES(CtxTest, can_copy);

class EventCtxTest : public CtxTest {};
INSTANTIATE_FOR_DEVICES(EventCtxTest, supports_events);

TEST_P(CtxTest, refuses_null)
{
    EXPECT_EQ(doca_ctx_dev_add(nullptr, dev), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ctx_dev_add(ctx, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ctx_dev_rm(nullptr, dev), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ctx_dev_rm(ctx, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ctx_start(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ctx_stop(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ctx_workq_add(nullptr, workq), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ctx_workq_add(ctx, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ctx_workq_rm(nullptr, workq), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ctx_workq_rm(ctx, nullptr), DOCA_ERROR_INVALID_VALUE);
    std::uint8_t answer = 99;
    EXPECT_EQ(doca_ctx_get_event_driven_supported(nullptr, &answer), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ctx_get_event_driven_supported(ctx, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(answer, 99);
    EXPECT_EQ(doca_ctx_set_datapath_on_gpu(nullptr, untouched<doca_gpu>()), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ctx_set_datapath_on_gpu(ctx, nullptr), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(CtxTest, takes_a_device_once)
{
    EXPECT_EQ(doca_ctx_dev_rm(ctx, dev), DOCA_ERROR_NOT_FOUND);
    EXPECT_EQ(doca_ctx_dev_add(ctx, dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_dev_add(ctx, dev), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_ctx_dev_rm(ctx, dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_dev_rm(ctx, dev), DOCA_ERROR_NOT_FOUND);
    EXPECT_EQ(doca_ctx_dev_add(ctx, dev), DOCA_SUCCESS);
}

TEST_P(CtxTest, of_dma_takes_one_device)
{
    DevHandle other;
    for (const DeviceParam &device : devices_that(can_copy)) {
        if (device.ibdev != GetParam().ibdev)
            other = open_device(device);
    }
    if (other.get() == nullptr)
        GTEST_SKIP() << "takes two devices";
    must(doca_ctx_dev_add(ctx, dev));
    EXPECT_EQ(doca_ctx_dev_add(ctx, other), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_ctx_dev_rm(ctx, other), DOCA_ERROR_NOT_FOUND);
    EXPECT_EQ(doca_dev_close(other.release()), DOCA_SUCCESS); // nothing keeps it
    EXPECT_EQ(doca_ctx_start(ctx), DOCA_SUCCESS);             // and the first one is still there
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

TEST_P(CtxTest, starts_with_a_device_only)
{
    EXPECT_EQ(doca_ctx_start(ctx), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_ERROR_BAD_STATE); // it has not started
    must(doca_ctx_dev_add(ctx, dev));
    must(doca_ctx_dev_rm(ctx, dev));
    EXPECT_EQ(doca_ctx_start(ctx), DOCA_ERROR_INVALID_VALUE);
    must(doca_ctx_dev_add(ctx, dev));
    EXPECT_EQ(doca_ctx_start(ctx), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

TEST_P(CtxTest, starts_and_stops_in_turn)
{
    must(doca_ctx_dev_add(ctx, dev));
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(doca_ctx_stop(ctx), DOCA_ERROR_BAD_STATE);
        EXPECT_EQ(doca_ctx_workq_add(ctx, workq), DOCA_ERROR_BAD_STATE);
        EXPECT_EQ(doca_ctx_workq_rm(ctx, workq), DOCA_ERROR_BAD_STATE);
        EXPECT_EQ(doca_ctx_start(ctx), DOCA_SUCCESS);
        EXPECT_EQ(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
        EXPECT_EQ(doca_ctx_dev_add(ctx, dev), DOCA_ERROR_BAD_STATE);
        EXPECT_EQ(doca_ctx_dev_rm(ctx, dev), DOCA_ERROR_BAD_STATE);
        EXPECT_EQ(doca_ctx_workq_add(ctx, workq), DOCA_SUCCESS);
        EXPECT_EQ(doca_ctx_workq_rm(ctx, workq), DOCA_SUCCESS);
        EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
    }
}

TEST_P(CtxTest, takes_a_queue_once)
{
    start();
    EXPECT_EQ(doca_ctx_workq_rm(ctx, workq), DOCA_ERROR_NOT_FOUND);
    EXPECT_EQ(doca_ctx_workq_add(ctx, workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_workq_add(ctx, workq), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_ctx_workq_rm(ctx, workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_workq_rm(ctx, workq), DOCA_ERROR_NOT_FOUND);
    EXPECT_EQ(doca_ctx_workq_add(ctx, workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_workq_rm(ctx, workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

TEST_P(CtxTest, does_not_stop_with_a_queue)
{
    start();
    must(doca_ctx_workq_add(ctx, workq));
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE); // it has not stopped
    must(doca_ctx_workq_rm(ctx, workq));
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

TEST_P(CtxTest, neither_stops_nor_lets_a_queue_go_while_jobs_are_in_flight)
{
    start();
    must(doca_ctx_workq_add(ctx, workq));
    std::vector<std::byte> memory(100);
    const LocalMap map(dev, memory);
    const Inventory inventory(2);
    const BufHandle src = inventory.full(map, &memory[0], 10);
    const BufHandle dst = inventory.empty(map, &memory[50], 20);
    const doca_dma_job_memcpy job = memcpy_job(ctx, dst, src);
    ASSERT_EQ(doca_workq_submit(workq, &job.base), DOCA_SUCCESS);
    ASSERT_EQ(doca_workq_submit(workq, &job.base), DOCA_SUCCESS);
    for (int left = 2; left > 0; --left) {
        const LogCapture log;
        EXPECT_EQ(doca_ctx_workq_rm(ctx, workq), DOCA_ERROR_NOT_PERMITTED);
        EXPECT_EQ(log.text(), "") << "how programs end what never ends by itself";
        EXPECT_EQ(doca_ctx_stop(ctx), DOCA_ERROR_NOT_PERMITTED);
        doca_event event = {};
        EXPECT_EQ(wait_for(workq, event), DOCA_SUCCESS); // what was refused has changed nothing
    }
    EXPECT_EQ(doca_ctx_workq_rm(ctx, workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

TEST_P(CtxTest, serves_several_queues)
{
    start();
    std::vector<WorkqHandle> queues(8);
    for (WorkqHandle &queue : queues) {
        must(doca_workq_create(2, queue.out()));
        EXPECT_EQ(doca_ctx_workq_add(ctx, queue), DOCA_SUCCESS);
    }
    for (WorkqHandle &queue : queues) {
        EXPECT_EQ(doca_ctx_stop(ctx), DOCA_ERROR_IN_USE);
        EXPECT_EQ(doca_ctx_workq_rm(ctx, queue), DOCA_SUCCESS);
    }
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

TEST_P(CtxTest, event_mode_is_supported_or_not)
{
    std::uint8_t answer = 99;
    EXPECT_EQ(doca_ctx_get_event_driven_supported(ctx, &answer), DOCA_SUCCESS); // in any state
    EXPECT_LE(answer, 1);
    start();
    EXPECT_EQ(doca_ctx_get_event_driven_supported(ctx, &answer), DOCA_SUCCESS);
    EXPECT_LE(answer, 1);
    if (GetParam().is_soft()) {
        EXPECT_EQ(answer, 1);
    }
    must(doca_workq_set_event_driven_enable(workq, 1));
    if (answer == 1) {
        EXPECT_EQ(doca_ctx_workq_add(ctx, workq), DOCA_SUCCESS);
        EXPECT_EQ(doca_ctx_workq_rm(ctx, workq), DOCA_SUCCESS);
    } else {
        EXPECT_EQ(doca_ctx_workq_add(ctx, workq), DOCA_ERROR_NOT_SUPPORTED);
    }
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

TEST_P(EventCtxTest, serves_polling_and_event_driven_queues_at_once)
{
    start();
    WorkqHandle other;
    must(doca_workq_create(2, other.out()));
    must(doca_workq_set_event_driven_enable(other, 1));
    EXPECT_EQ(doca_ctx_workq_add(ctx, workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_workq_add(ctx, other), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_workq_rm(ctx, workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_workq_rm(ctx, other), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

TEST_P(CtxTest, gpu_data_path_does_not_exist)
{
    EXPECT_EQ(doca_ctx_set_datapath_on_gpu(ctx, untouched<doca_gpu>()), DOCA_ERROR_NOT_SUPPORTED);
    start(); // which still works
    EXPECT_EQ(doca_ctx_set_datapath_on_gpu(ctx, untouched<doca_gpu>()), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

TEST_P(CtxTest, as_many_as_declared_live_at_once)
{
    std::uint32_t count = 0;
    must(doca_ctx_get_max_num_ctx(&count));
    std::vector<DmaHandle> objects(count - 1);
    for (DmaHandle &object : objects) {
        ASSERT_EQ(doca_dma_create(object.out()), DOCA_SUCCESS);
        ASSERT_EQ(doca_ctx_dev_add(doca_dma_as_ctx(object), dev), DOCA_SUCCESS);
        ASSERT_EQ(doca_ctx_start(doca_dma_as_ctx(object)), DOCA_SUCCESS);
    }
    // All on one queue, which tells them apart.
    for (DmaHandle &object : objects)
        ASSERT_EQ(doca_ctx_workq_add(doca_dma_as_ctx(object), workq), DOCA_SUCCESS);
    for (DmaHandle &object : objects) {
        ASSERT_EQ(doca_ctx_workq_rm(doca_dma_as_ctx(object), workq), DOCA_SUCCESS);
        ASSERT_EQ(doca_ctx_stop(doca_dma_as_ctx(object)), DOCA_SUCCESS);
    }
}
