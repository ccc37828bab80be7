// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Work queues in polling mode: creation, depth, submitting and retrieving over one and several contexts.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "support/dma_fixture.hpp"
#include "support/sanitizers.hpp"

using namespace doca_test;

TEST(Workq, create_refuses_bad_values)
{
    doca_workq *out = untouched<doca_workq>();
    EXPECT_EQ(doca_workq_create(32, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_workq_create(0, &out), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_workq_create(65537, &out), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_workq_create(UINT32_MAX, &out), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(out, untouched<doca_workq>());
}

TEST(Workq, has_the_depth_given)
{
    for (const std::uint32_t depth : {1U, 3U, 10U, 32U, 1024U, 65536U}) {
        WorkqHandle workq;
        ASSERT_EQ(doca_workq_create(depth, workq.out()), DOCA_SUCCESS);
        std::uint32_t got = 0;
        EXPECT_EQ(doca_workq_get_depth(workq, &got), DOCA_SUCCESS);
        EXPECT_EQ(got, depth);
    }
}

TEST(Workq, depth_refuses_null)
{
    WorkqHandle workq;
    must(doca_workq_create(1, workq.out()));
    std::uint32_t got = 77;
    EXPECT_EQ(doca_workq_get_depth(nullptr, &got), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_workq_get_depth(workq, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(got, 77u);
}

TEST(Workq, destroy_refuses_null)
{
    EXPECT_EQ(doca_workq_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
}

TEST(Workq, data_path_refuses_null)
{
    WorkqHandle workq;
    must(doca_workq_create(1, workq.out()));
    doca_event event = {.type = 77, .user_data = {}, .result = {}};
    EXPECT_EQ(doca_workq_progress_retrieve(nullptr, &event, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_workq_progress_retrieve(workq, nullptr, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_workq_event_handle_arm(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_workq_event_handle_clear(nullptr, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(event.type, 77);
}

TEST(Workq, without_context_it_has_nothing_to_retrieve)
{
    WorkqHandle workq;
    must(doca_workq_create(1, workq.out()));
    doca_event event;
    std::memset(&event, 0x5a, sizeof(event));
    const doca_event before = event;
    EXPECT_EQ(doca_workq_progress_retrieve(workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE), DOCA_ERROR_AGAIN);
    EXPECT_EQ(std::memcmp(&event, &before, sizeof(event)), 0);
}

TEST(Workq, takes_no_handle_from_outside)
{
    WorkqHandle workq;
    must(doca_workq_create(1, workq.out()));
    EXPECT_EQ(doca_workq_set_event_handle(nullptr, 0, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_workq_set_event_handle(workq, 0, 0), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_workq_set_event_handle(workq, doca_event_invalid_handle, 7), DOCA_ERROR_NOT_SUPPORTED);
}

/// Buffers over one memory, whose jobs are told apart by their user data. The queue is on no context.
class WorkqTest : public DeviceTest {
protected:
    static constexpr std::uint32_t depth = 8;

    void SetUp() override
    {
        must(doca_workq_create(depth, workq.out()));
        for (std::size_t i = 0; i < 2; ++i) {
            must(doca_dma_create(dma[i].out()));
            ctx[i] = doca_dma_as_ctx(dma[i]);
            must(doca_ctx_dev_add(ctx[i], dev));
            must(doca_ctx_start(ctx[i]));
        }
    }
    void TearDown() override
    {
        for (doca_ctx *each : ctx) {
            const doca_error_t status = doca_ctx_workq_rm(each, workq);
            EXPECT_TRUE(status == DOCA_SUCCESS || status == DOCA_ERROR_NOT_FOUND || status == DOCA_ERROR_BAD_STATE);
        }
    }
    void attach(std::size_t i) { must(doca_ctx_workq_add(ctx[i], workq)); }

    /// A job that can be repeated without end: the destination is full and counts as empty.
    [[nodiscard]] doca_error_t submit(std::size_t i, std::uint64_t user_data)
    {
        const doca_dma_job_memcpy job = memcpy_job(ctx[i], dst, src, user_data);
        return doca_workq_submit(workq, &job.base);
    }
    [[nodiscard]] std::uint64_t retrieve()
    {
        doca_event event = {};
        EXPECT_EQ(wait_for(workq, event), DOCA_SUCCESS);
        return event.user_data.u64;
    }
    /// Of a queue that is full.
    void retrieve_all()
    {
        for (std::uint32_t i = 0; i < depth; ++i)
            (void)retrieve();
        expect_nothing_to_retrieve();
    }
    void expect_nothing_to_retrieve()
    {
        doca_event event;
        std::memset(&event, 0x5a, sizeof(event));
        const doca_event before = event;
        EXPECT_EQ(doca_workq_progress_retrieve(workq, &event, 0), DOCA_ERROR_AGAIN);
        EXPECT_EQ(std::memcmp(&event, &before, sizeof(event)), 0);
    }

    std::vector<std::byte> memory = std::vector<std::byte>(100);
    LocalMap map{dev, memory};
    Inventory inventory{2};
    BufHandle src = inventory.full(map, &memory[0], 10);
    BufHandle dst = inventory.full(map, &memory[50], 10);
    WorkqHandle workq;
    DmaHandle dma[2];
    doca_ctx *ctx[2] = {};
};
INSTANTIATE_FOR_DEVICES(WorkqTest, can_copy);

TEST_P(WorkqTest, cannot_be_destroyed_on_a_context)
{
    attach(0);
    attach(1);
    EXPECT_EQ(doca_workq_destroy(workq), DOCA_ERROR_IN_USE);
    must(doca_ctx_workq_rm(ctx[0], workq));
    EXPECT_EQ(doca_workq_destroy(workq), DOCA_ERROR_IN_USE);
    EXPECT_EQ(submit(1, 5), DOCA_SUCCESS); // nothing has changed
    EXPECT_EQ(retrieve(), 5u);
    must(doca_ctx_workq_rm(ctx[1], workq));
    EXPECT_EQ(doca_workq_destroy(workq.release()), DOCA_SUCCESS);
    must(doca_workq_create(depth, workq.out()));
}

TEST_P(WorkqTest, takes_jobs_of_its_contexts_only)
{
    EXPECT_EQ(submit(0, 1), DOCA_ERROR_NOT_FOUND);
    attach(0);
    EXPECT_EQ(submit(1, 1), DOCA_ERROR_NOT_FOUND);
    must(doca_ctx_workq_rm(ctx[0], workq));
    EXPECT_EQ(submit(0, 1), DOCA_ERROR_NOT_FOUND);
    must(doca_ctx_stop(ctx[0]));
    EXPECT_EQ(submit(0, 1), DOCA_ERROR_BAD_STATE);
    expect_nothing_to_retrieve();
}

TEST_P(WorkqTest, another_context_in_place_of_a_destroyed_one_is_not_mistaken_for_it)
{
    attach(0);
    must(doca_ctx_workq_rm(ctx[0], workq));
    must(doca_ctx_stop(ctx[0]));
    dma[0].reset();
    must(doca_dma_create(dma[0].out()));
    ctx[0] = doca_dma_as_ctx(dma[0]);
    must(doca_ctx_dev_add(ctx[0], dev));
    must(doca_ctx_start(ctx[0]));
    EXPECT_EQ(submit(0, 1), DOCA_ERROR_NOT_FOUND);
}

TEST_P(WorkqTest, fills_up_and_drains)
{
    attach(0);
    for (int round = 0; round < 100; ++round) {
        for (std::uint64_t i = 0; i < depth; ++i)
            ASSERT_EQ(submit(0, i), DOCA_SUCCESS);
        ASSERT_EQ(submit(0, 99), DOCA_ERROR_NO_MEMORY);
        ASSERT_EQ(submit(0, 99), DOCA_ERROR_NO_MEMORY);
        std::uint64_t seen = 0;
        for (std::uint64_t i = 0; i < depth; ++i)
            seen |= std::uint64_t{1} << retrieve();
        ASSERT_EQ(seen, (1u << depth) - 1);
        expect_nothing_to_retrieve();
    }
}

TEST_P(WorkqTest, one_retrieve_makes_room_for_one_job)
{
    attach(0);
    for (std::uint64_t i = 0; i < depth; ++i)
        ASSERT_EQ(submit(0, i), DOCA_SUCCESS);
    for (int i = 0; i < times(10000); ++i) {
        ASSERT_EQ(submit(0, 99), DOCA_ERROR_NO_MEMORY);
        (void)retrieve();
        ASSERT_EQ(submit(0, 1), DOCA_SUCCESS);
    }
    retrieve_all();
}

TEST_P(WorkqTest, depth_counts_over_all_contexts)
{
    attach(0);
    attach(1);
    for (std::uint64_t i = 0; i < depth; ++i)
        ASSERT_EQ(submit(i % 2, i), DOCA_SUCCESS);
    EXPECT_EQ(submit(0, 99), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(submit(1, 99), DOCA_ERROR_NO_MEMORY);
    (void)retrieve();
    EXPECT_EQ(submit(1, 98), DOCA_SUCCESS);
    EXPECT_EQ(submit(0, 99), DOCA_ERROR_NO_MEMORY);
    retrieve_all();
}

TEST_P(WorkqTest, each_job_of_each_context_has_one_event)
{
    attach(0);
    attach(1);
    std::map<std::uint64_t, int> events;
    std::uint64_t next = 0;
    for (int round = 0; round < 50; ++round) {
        for (std::uint64_t i = 0; i < 1 + next % depth; ++i)
            ASSERT_EQ(submit(i % 2, next + i), DOCA_SUCCESS);
        const std::uint64_t count = 1 + next % depth;
        for (std::uint64_t i = 0; i < count; ++i)
            ++events[retrieve()];
        next += count;
        expect_nothing_to_retrieve();
    }
    EXPECT_EQ(events.size(), next);
    for (const auto &[user_data, count] : events)
        EXPECT_EQ(count, 1) << user_data;
}

TEST_P(WorkqTest, jobs_of_one_context_do_not_hold_the_other)
{
    attach(0);
    attach(1);
    must(submit(0, 5));
    EXPECT_EQ(doca_ctx_workq_rm(ctx[0], workq), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_ctx_workq_rm(ctx[1], workq), DOCA_SUCCESS);
    EXPECT_EQ(submit(1, 6), DOCA_ERROR_NOT_FOUND);
    EXPECT_EQ(retrieve(), 5u);
    EXPECT_EQ(doca_ctx_workq_rm(ctx[0], workq), DOCA_SUCCESS);
}

TEST_P(WorkqTest, job_is_only_read_during_the_submit)
{
    attach(0);
    {
        doca_dma_job_memcpy job = memcpy_job(ctx[0], dst, src, 0x1111);
        ASSERT_EQ(doca_workq_submit(workq, &job.base), DOCA_SUCCESS);
        job.base.user_data.u64 = 0x2222;
        ASSERT_EQ(doca_workq_submit(workq, &job.base), DOCA_SUCCESS);
        std::memset(&job, 0xff, sizeof(job));
    }
    const std::uint64_t first = retrieve(), second = retrieve();
    EXPECT_EQ(std::min(first, second), 0x1111u);
    EXPECT_EQ(std::max(first, second), 0x2222u);
}

TEST_P(WorkqTest, of_every_depth_holds_exactly_that_many)
{
    for (const std::uint32_t other_depth : {1U, 2U, 3U, 5U, 10U, 31U, 32U, 33U, 1000U}) {
        WorkqHandle other;
        must(doca_workq_create(other_depth, other.out()));
        must(doca_ctx_workq_add(ctx[0], other));
        const doca_dma_job_memcpy job = memcpy_job(ctx[0], dst, src);
        for (int round = 0; round < 3; ++round) {
            for (std::uint32_t i = 0; i < other_depth; ++i)
                ASSERT_EQ(doca_workq_submit(other, &job.base), DOCA_SUCCESS) << i << " of " << other_depth;
            ASSERT_EQ(doca_workq_submit(other, &job.base), DOCA_ERROR_NO_MEMORY);
            doca_event event = {};
            for (std::uint32_t i = 0; i < other_depth; ++i)
                ASSERT_EQ(wait_for(other, event), DOCA_SUCCESS);
            ASSERT_EQ(doca_workq_progress_retrieve(other, &event, 0), DOCA_ERROR_AGAIN);
        }
        must(doca_ctx_workq_rm(ctx[0], other));
    }
}
