// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// DOCA_SOFT_DEFER=1: a job is carried out when it is retrieved. Its wake-ups are in test_workq_events.cpp.
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <poll.h>

#include "support/dma_fixture.hpp"
#include "support/environment.hpp"

using namespace doca_test;

class DmaDeferTest : public DeviceTest {
protected:
    static constexpr std::uint32_t depth = 8;

    void SetUp() override
    {
        fill(src_memory, 1);
        fill(dst_memory, 2);
    }
    [[nodiscard]] BufHandle source(std::size_t offset, std::size_t len)
    {
        return inventory.full(src_map, &src_memory[offset], len);
    }
    [[nodiscard]] BufHandle destination(std::size_t offset, std::size_t len)
    {
        return inventory.empty(dst_map, &dst_memory[offset], len);
    }
    [[nodiscard]] bool is_destination_untouched() const { return is_filled(dst_memory, 2); }

    const Environment defer{"DOCA_SOFT_DEFER", "1"}; // read when a queue is added
    std::vector<std::byte> src_memory = std::vector<std::byte>(4096);
    std::vector<std::byte> dst_memory = std::vector<std::byte>(4096);
    LocalMap src_map{dev, src_memory};
    LocalMap dst_map{dev, dst_memory};
    Inventory inventory{64};
    DmaEngine engine{dev, depth};
};
INSTANTIATE_FOR_DEVICES(DmaDeferTest, is_soft);

TEST_P(DmaDeferTest, destination_changes_in_retrieve)
{
    const BufHandle src = source(0, 100), dst = destination(0, 100);
    ASSERT_EQ(engine.submit(dst, src, 7), DOCA_SUCCESS);
    EXPECT_TRUE(is_destination_untouched());
    EXPECT_EQ(data_len_of(dst), 0u);
    doca_event event;
    std::memset(&event, 0xff, sizeof(event));
    ASSERT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
    EXPECT_EQ(event.type, DOCA_DMA_JOB_MEMCPY);
    EXPECT_EQ(event.user_data.u64, 7u);
    EXPECT_EQ(event.result.u64, std::uint64_t{DOCA_SUCCESS});
    EXPECT_TRUE(is_filled(std::span(dst_memory).first(100), 1));
    EXPECT_TRUE(is_filled(std::span(dst_memory).subspan(100), 2, 100));
    EXPECT_EQ(data_len_of(dst), 100u);
}

TEST_P(DmaDeferTest, source_is_read_in_retrieve)
{
    const BufHandle src = source(0, 100), dst = destination(0, 100);
    ASSERT_EQ(engine.submit(dst, src), DOCA_SUCCESS);
    fill(src_memory, 9);
    doca_event event = {};
    ASSERT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(std::span(dst_memory).first(100), 9));
}

TEST_P(DmaDeferTest, job_structure_may_go_after_the_submit)
{
    const BufHandle src = source(0, 100), dst = destination(0, 100);
    doca_dma_job_memcpy job = memcpy_job(engine.ctx(), dst, src, 0x1234567890);
    ASSERT_EQ(doca_workq_submit(engine.workq(), &job.base), DOCA_SUCCESS);
    std::memset(&job, 0xff, sizeof(job));
    doca_event event = {};
    ASSERT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
    EXPECT_EQ(event.user_data.u64, 0x1234567890u);
    EXPECT_TRUE(is_filled(std::span(dst_memory).first(100), 1));
}

TEST_P(DmaDeferTest, queue_fills_up_and_drains)
{
    for (int round = 0; round < 20; ++round) {
        fill(dst_memory, 2);
        std::vector<BufHandle> srcs, dsts;
        for (std::size_t i = 0; i < depth; ++i) {
            srcs.push_back(source(i * 50, 50));
            dsts.push_back(destination(i * 50, 50));
            ASSERT_EQ(engine.submit(dsts[i], srcs[i], i), DOCA_SUCCESS);
        }
        const BufHandle src = source(1000, 10), dst = destination(1000, 10);
        ASSERT_EQ(engine.submit(dst, src), DOCA_ERROR_NO_MEMORY);
        ASSERT_TRUE(is_destination_untouched());
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < depth; ++i) {
            doca_event event = {};
            ASSERT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
            const std::size_t number = event.user_data.u64;
            seen |= std::uint64_t{1} << number;
            ASSERT_TRUE(is_filled(std::span(dst_memory).subspan(number * 50, 50), 1, number * 50));
        }
        ASSERT_EQ(seen, (1u << depth) - 1);
        doca_event event = {};
        ASSERT_EQ(engine.retrieve(event), DOCA_ERROR_AGAIN);
    }
}

TEST_P(DmaDeferTest, each_job_waits_for_its_own_retrieve)
{
    const BufHandle src = source(0, 100), first = destination(0, 100), second = destination(100, 100);
    must(engine.submit(first, src, 1));
    must(engine.submit(second, src, 2));
    doca_event event = {};
    ASSERT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
    const bool is_first = event.user_data.u64 == 1;
    EXPECT_TRUE(is_filled(std::span(dst_memory).subspan(is_first ? 0 : 100, 100), 1));
    EXPECT_TRUE(is_filled(std::span(dst_memory).subspan(is_first ? 100 : 0, 100), 2, is_first ? 100 : 0));
    EXPECT_EQ(data_len_of(is_first ? second : first), 0u);
    ASSERT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(std::span(dst_memory).first(100), 1));
    EXPECT_TRUE(is_filled(std::span(dst_memory).subspan(100, 100), 1));
}

TEST_P(DmaDeferTest, signal_does_not_carry_the_job_out)
{
    const DmaEngine on_events(dev, depth, true);
    const BufHandle src = source(0, 100), dst = destination(0, 100);
    doca_event_handle_t handle = -1;
    must(doca_workq_get_event_handle(on_events.workq(), &handle));
    must(on_events.submit(dst, src));
    must(doca_workq_event_handle_arm(on_events.workq()));
    pollfd poll_handle = {.fd = handle, .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&poll_handle, 1, 60'000), 1);
    EXPECT_TRUE(is_destination_untouched());
    must(doca_workq_event_handle_clear(on_events.workq(), handle));
    EXPECT_TRUE(is_destination_untouched());
    doca_event event = {};
    EXPECT_EQ(wait_for(on_events.workq(), event), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(std::span(dst_memory).first(100), 1));
}

TEST_P(DmaDeferTest, submit_tells_of_bad_jobs_at_once)
{
    const BufHandle src = source(0, 100), small = destination(0, 99);
    EXPECT_EQ(engine.submit(nullptr, src), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(engine.submit(small, src), DOCA_ERROR_INVALID_VALUE);
    const LocalMap read_only(dev, dst_memory, DOCA_ACCESS_LOCAL_READ_ONLY);
    const BufHandle unwritable = inventory.empty(read_only, &dst_memory[0], 100);
    EXPECT_EQ(engine.submit(unwritable, src), DOCA_ERROR_NOT_PERMITTED);
    doca_event event = {};
    EXPECT_EQ(engine.retrieve(event), DOCA_ERROR_AGAIN);
    EXPECT_TRUE(is_destination_untouched());
}

TEST_P(DmaDeferTest, lists_and_all_append_rules_work)
{
    const BufHandle src = source(0, 30);
    must(doca_buf_list_chain(src, source(100, 30).release()));
    const BufHandle dst = inventory.with(dst_map, &dst_memory[0], 50, &dst_memory[10], 15); // tailroom 25
    doca_buf *const tail = destination(100, 100).release();
    must(doca_buf_list_chain(dst, tail));
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(std::span(dst_memory).subspan(25, 25), 1));
    EXPECT_TRUE(is_filled(std::span(dst_memory).subspan(100, 5), 1, 25));
    EXPECT_TRUE(is_filled(std::span(dst_memory).subspan(105, 30), 1, 100));
    EXPECT_EQ(data_len_of(dst), 40u);
    EXPECT_EQ(data_len_of(tail), 35u);

    const BufHandle full = inventory.full(dst_map, &dst_memory[1000], 60);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(engine.copy(full, src), DOCA_SUCCESS);
        EXPECT_EQ(data_len_of(full), 60u);
    }
    EXPECT_TRUE(is_filled(std::span(dst_memory).subspan(1000, 30), 1));
    EXPECT_TRUE(is_filled(std::span(dst_memory).subspan(1030, 30), 1, 100));
}

/// Each was possible when it was submitted; the second finds no space behind what the first has appended.
TEST_P(DmaDeferTest, jobs_that_append_to_one_buffer_stay_inside_of_it)
{
    const BufHandle src = source(0, 100);
    const BufHandle single = destination(0, 150), list = destination(1000, 70);
    must(doca_buf_list_chain(list, destination(2000, 80).release()));
    for (const BufHandle *const dst : {&single, &list}) {
        must(engine.submit(*dst, src, 1));
        must(engine.submit(*dst, src, 2));
        doca_event event = {};
        EXPECT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
        EXPECT_EQ(event.user_data.u64, 1u);
        EXPECT_EQ(wait_for(engine.workq(), event), DOCA_ERROR_IO_FAILED);
        EXPECT_EQ(event.user_data.u64, 2u);
        EXPECT_EQ(event.result.u64, std::uint64_t{DOCA_ERROR_INVALID_VALUE});
    }
    EXPECT_EQ(data_len_of(single), 100u);
    EXPECT_EQ(data_len_of(list), 70u);
    const std::span memory(dst_memory);
    EXPECT_TRUE(is_filled(memory.first(100), 1));
    EXPECT_TRUE(is_filled(memory.subspan(100, 900), 2, 100));
    EXPECT_TRUE(is_filled(memory.subspan(1000, 70), 1));
    EXPECT_TRUE(is_filled(memory.subspan(1070, 930), 2, 1070));
    EXPECT_TRUE(is_filled(memory.subspan(2000, 30), 1, 70));
    EXPECT_TRUE(is_filled(memory.subspan(2030), 2, 2030));
}

TEST_P(DmaDeferTest, pending_jobs_hold_queue_and_context)
{
    const BufHandle src = source(0, 100), dst = destination(0, 100);
    must(engine.submit(dst, src));
    EXPECT_EQ(doca_ctx_workq_rm(engine.ctx(), engine.workq()), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_ctx_stop(engine.ctx()), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_TRUE(is_destination_untouched());
    doca_event event = {};
    EXPECT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
}

TEST_P(DmaDeferTest, several_contexts_defer_on_one_queue)
{
    DmaHandle dma;
    must(doca_dma_create(dma.out()));
    doca_ctx *const other = doca_dma_as_ctx(dma);
    must(doca_ctx_dev_add(other, dev));
    must(doca_ctx_start(other));
    must(doca_ctx_workq_add(other, engine.workq()));
    std::vector<BufHandle> srcs, dsts;
    for (std::size_t i = 0; i < depth; ++i) {
        srcs.push_back(source(i * 50, 50));
        dsts.push_back(destination(i * 50, 50));
        const doca_dma_job_memcpy job = memcpy_job(i % 2 == 0 ? engine.ctx() : other, dsts[i], srcs[i], i);
        ASSERT_EQ(doca_workq_submit(engine.workq(), &job.base), DOCA_SUCCESS);
    }
    EXPECT_TRUE(is_destination_untouched());
    for (std::size_t i = 0; i < depth; ++i) {
        doca_event event = {};
        ASSERT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
    }
    EXPECT_TRUE(is_filled(std::span(dst_memory).first(50 * depth), 1));
    must(doca_ctx_workq_rm(other, engine.workq()));
    must(doca_ctx_stop(other));
}

TEST_P(DmaDeferTest, counts_when_the_queue_is_added)
{
    for (const char *value : {static_cast<const char *>(nullptr), "0"}) {
        const Environment now("DOCA_SOFT_DEFER", value);
        {
            // Added before: still deferring.
            const BufHandle src = source(0, 100), dst = destination(0, 100);
            must(engine.submit(dst, src));
            EXPECT_TRUE(is_destination_untouched());
            doca_event event = {};
            EXPECT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
            fill(dst_memory, 2);
        }
        // Added now: not deferring. Also what is set later changes nothing.
        const DmaEngine prompt(dev);
        const Environment later("DOCA_SOFT_DEFER", "1");
        const BufHandle src = source(0, 100), dst = destination(0, 100);
        must(prompt.submit(dst, src));
        EXPECT_FALSE(is_destination_untouched());
        doca_event event = {};
        EXPECT_EQ(wait_for(prompt.workq(), event), DOCA_SUCCESS);
        EXPECT_TRUE(is_filled(std::span(dst_memory).first(100), 1));
        fill(dst_memory, 2);
    }
}
