// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// DMA: the object, capabilities, single copies, where data goes, what the event says.
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "support/dma_fixture.hpp"
#include "support/sanitizers.hpp"

using namespace doca_test;

// The object

TEST(Dma, refuses_null)
{
    EXPECT_EQ(doca_dma_create(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_dma_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_dma_as_ctx(nullptr), nullptr);
}

TEST(Dma, has_one_context)
{
    DmaHandle first, second;
    ASSERT_EQ(doca_dma_create(first.out()), DOCA_SUCCESS);
    ASSERT_EQ(doca_dma_create(second.out()), DOCA_SUCCESS);
    doca_ctx *const ctx = doca_dma_as_ctx(first);
    ASSERT_NE(ctx, nullptr);
    EXPECT_EQ(doca_dma_as_ctx(first), ctx);
    EXPECT_NE(doca_dma_as_ctx(second), ctx);
}

class DmaDeviceTest : public DeviceTest {};
INSTANTIATE_FOR_EVERY_DEVICE(DmaDeviceTest, exists);

TEST_P(DmaDeviceTest, job_types)
{
    EXPECT_EQ(DOCA_DMA_JOB_MEMCPY, 65537);
    EXPECT_EQ(doca_dma_job_get_supported(nullptr, DOCA_DMA_JOB_MEMCPY), DOCA_ERROR_INVALID_VALUE);
    for (const int unknown : {0, DOCA_ACTION_DMA_FIRST + 0, DOCA_ACTION_DMA_FIRST + 2})
        EXPECT_EQ(doca_dma_job_get_supported(info, static_cast<doca_dma_job_types>(unknown)), DOCA_ERROR_INVALID_VALUE);
    const doca_error_t status = doca_dma_job_get_supported(info, DOCA_DMA_JOB_MEMCPY);
    EXPECT_TRUE(status == DOCA_SUCCESS || status == DOCA_ERROR_NOT_SUPPORTED);
    // A context takes the device in the first case only.
    DmaHandle dma;
    must(doca_dma_create(dma.out()));
    EXPECT_EQ(doca_ctx_dev_add(doca_dma_as_ctx(dma), dev), status);
}

TEST_P(DmaDeviceTest, limits)
{
    std::uint32_t elements = 77;
    EXPECT_EQ(doca_dma_get_max_list_buf_num_elem(nullptr, &elements), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_dma_get_max_list_buf_num_elem(info, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(elements, 77u);
    std::uint64_t bytes = 77;
    EXPECT_EQ(doca_dma_get_max_buf_size(nullptr, &bytes), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_dma_get_max_buf_size(info, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(bytes, 77u);
    if (!can_copy(info))
        return;
    EXPECT_EQ(doca_dma_get_max_list_buf_num_elem(info, &elements), DOCA_SUCCESS);
    EXPECT_GE(elements, 1u);
    EXPECT_EQ(doca_dma_get_max_buf_size(info, &bytes), DOCA_SUCCESS);
    EXPECT_GE(bytes, 1u << 20);
}

// Copies

class DmaCopyTest : public DmaTest {
protected:
    /// The destination memory's bytes [from, from + count) are those of the source memory from @p src_from
    /// on.
    [[nodiscard]] bool has_copied(std::size_t from, std::size_t count, std::size_t src_from) const
    {
        return is_filled(std::span(dst_memory).subspan(from, count), 1, src_from);
    }
    /// No other bytes than [from, from + count) of the destination memory have changed.
    [[nodiscard]] bool rest_is_unchanged(std::size_t from, std::size_t count) const
    {
        return is_filled(std::span(dst_memory).first(from), 2) &&
               is_filled(std::span(dst_memory).subspan(from + count), 2, from + count);
    }
    void TearDown() override { EXPECT_TRUE(is_filled(src_memory, 1)) << "the source has changed"; }
};
INSTANTIATE_FOR_DEVICES(DmaCopyTest, can_copy);

TEST_P(DmaCopyTest, cannot_be_destroyed_with_a_queue)
{
    DmaHandle dma;
    WorkqHandle workq;
    must(doca_dma_create(dma.out()));
    must(doca_workq_create(2, workq.out()));
    doca_ctx *const ctx = doca_dma_as_ctx(dma);
    must(doca_ctx_dev_add(ctx, dev));
    must(doca_ctx_start(ctx));
    must(doca_ctx_workq_add(ctx, workq));
    EXPECT_EQ(doca_dma_destroy(dma), DOCA_ERROR_IN_USE);
    const BufHandle src = source(0, 10), dst = destination(0, 10);
    const doca_dma_job_memcpy job = memcpy_job(ctx, dst, src);
    EXPECT_EQ(doca_workq_submit(workq, &job.base), DOCA_SUCCESS); // nothing has changed
    EXPECT_EQ(doca_dma_destroy(dma), DOCA_ERROR_IN_USE);
    doca_event event = {};
    EXPECT_EQ(wait_for(workq, event), DOCA_SUCCESS);
    must(doca_ctx_workq_rm(ctx, workq));
    must(doca_ctx_stop(ctx));
    EXPECT_EQ(doca_dma_destroy(dma.release()), DOCA_SUCCESS);
}

TEST_P(DmaCopyTest, copies_to_an_empty_buffer)
{
    const BufHandle src = source(100, 1000), dst = destination(300, 1000);
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_TRUE(has_copied(300, 1000, 100));
    EXPECT_TRUE(rest_is_unchanged(300, 1000));
    EXPECT_EQ(data_len_of(dst), 1000u);
    EXPECT_EQ(data_of(dst), &dst_memory[300]);
    EXPECT_EQ(data_len_of(src), 1000u);
    EXPECT_EQ(data_of(src), &src_memory[100]);
}

TEST_P(DmaCopyTest, copies_the_data_section_only)
{
    const BufHandle src = inventory.with(src_map, &src_memory[0], 1000, &src_memory[200], 300);
    const BufHandle dst = destination(0, 1000);
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_TRUE(has_copied(0, 300, 200));
    EXPECT_TRUE(rest_is_unchanged(0, 300));
    EXPECT_EQ(data_len_of(dst), 300u);
}

TEST_P(DmaCopyTest, appends_to_the_data_that_is_there)
{
    const BufHandle src = source(0, 30), dst = destination(0, 100);
    for (std::size_t n = 1; n <= 3; ++n) {
        EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
        EXPECT_EQ(data_len_of(dst), n * 30);
        EXPECT_EQ(data_of(dst), &dst_memory[0]);
        EXPECT_TRUE(has_copied((n - 1) * 30, 30, 0));
        EXPECT_TRUE(rest_is_unchanged(0, n * 30));
    }
    EXPECT_EQ(engine.copy(dst, src), DOCA_ERROR_INVALID_VALUE); // room for ten bytes is left
    EXPECT_EQ(data_len_of(dst), 90u);
    EXPECT_TRUE(rest_is_unchanged(0, 90));
    must(doca_buf_set_data(src, &src_memory[0], 10));
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(dst), 100u);
}

TEST_P(DmaCopyTest, leaves_the_headroom_alone)
{
    const BufHandle src = source(0, 50);
    const BufHandle dst = inventory.with(dst_map, &dst_memory[0], 200, &dst_memory[100], 20);
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_TRUE(has_copied(120, 50, 0));
    EXPECT_TRUE(rest_is_unchanged(120, 50));
    EXPECT_EQ(data_of(dst), &dst_memory[100]);
    EXPECT_EQ(data_len_of(dst), 70u);
    must(doca_buf_set_data(src, &src_memory[0],
                           31)); // one more than the tailroom, though the headroom is empty
    EXPECT_EQ(engine.copy(dst, src), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(DmaCopyTest, full_destination_counts_as_empty)
{
    const BufHandle src = source(500, 100);
    const BufHandle dst = inventory.full(dst_map, &dst_memory[0], 100);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
        EXPECT_EQ(data_of(dst), &dst_memory[0]);
        EXPECT_EQ(data_len_of(dst), 100u);
        EXPECT_TRUE(has_copied(0, 100, 500));
        EXPECT_TRUE(rest_is_unchanged(0, 100));
    }
}

TEST_P(DmaCopyTest, full_destination_takes_shorter_data)
{
    const BufHandle src = source(0, 60);
    const BufHandle dst = inventory.full(dst_map, &dst_memory[0], 100);
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(dst), 60u);
    EXPECT_TRUE(has_copied(0, 60, 0));
    EXPECT_TRUE(rest_is_unchanged(0, 60));
    EXPECT_EQ(engine.copy(dst, src), DOCA_ERROR_INVALID_VALUE); // it has tailroom now, of 40 bytes
    must(doca_buf_set_data(src, &src_memory[0], 40));
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(dst), 100u);
    EXPECT_TRUE(has_copied(60, 40, 0));
}

TEST_P(DmaCopyTest, full_destination_behind_headroom_keeps_its_data_address)
{
    const BufHandle src = source(0, 70);
    const BufHandle dst = inventory.with(dst_map, &dst_memory[0], 100, &dst_memory[30], 70);
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_EQ(data_of(dst), &dst_memory[30]);
    EXPECT_EQ(data_len_of(dst), 70u);
    EXPECT_TRUE(has_copied(30, 70, 0));
    EXPECT_TRUE(rest_is_unchanged(30, 70));
    const BufHandle longer = source(0, 71);
    EXPECT_EQ(engine.copy(dst, longer), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(data_len_of(dst), 70u);
}

TEST_P(DmaCopyTest, destination_that_was_reset_is_overwritten)
{
    const BufHandle dst = destination(0, 100);
    for (std::size_t round = 0; round < 10; ++round) {
        const BufHandle src = source(round * 100, 80);
        EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
        EXPECT_EQ(data_len_of(dst), 80u);
        EXPECT_TRUE(has_copied(0, 80, round * 100));
        must(round % 2 == 0 ? doca_buf_reset_data_len(dst) : doca_buf_set_data(dst, &dst_memory[0], 0));
    }
}

TEST_P(DmaCopyTest, data_goes_where_set_data_says)
{
    const BufHandle src = source(0, 10), dst = destination(0, 100);
    for (const std::size_t offset : {90, 50, 0, 33}) {
        must(doca_buf_set_data(dst, &dst_memory[offset], 0));
        EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
        EXPECT_TRUE(has_copied(offset, 10, 0));
        EXPECT_EQ(data_of(dst), &dst_memory[offset]);
        EXPECT_EQ(data_len_of(dst), 10u);
    }
    EXPECT_TRUE(rest_is_unchanged(0, 100));
}

TEST_P(DmaCopyTest, zero_bytes_are_copied)
{
    const BufHandle src = inventory.empty(src_map, &src_memory[0], 100);
    const BufHandle dst = inventory.with(dst_map, &dst_memory[0], 100, &dst_memory[0], 40);
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(dst), 40u); // nothing was added
    const BufHandle full = inventory.full(dst_map, &dst_memory[0], 100);
    EXPECT_EQ(engine.copy(full, src), DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(full), 0u); // counted as empty, and nothing was added
    EXPECT_TRUE(rest_is_unchanged(0, 0));
}

TEST_P(DmaCopyTest, both_sides_may_be_in_one_map)
{
    const BufHandle src = inventory.full(dst_map, &dst_memory[0], 100);
    const BufHandle dst = inventory.empty(dst_map, &dst_memory[100], 100);
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(std::span(dst_memory).subspan(100, 100), 2, 0));
    EXPECT_TRUE(rest_is_unchanged(100, 100));
}

TEST_P(DmaCopyTest, device_may_be_any_of_the_map)
{
    std::vector<DevHandle> others;
    for (const DeviceParam &device : devices_that(can_copy)) {
        if (device.ibdev != GetParam().ibdev)
            others.push_back(open_device(device));
    }
    if (others.size() < 2)
        GTEST_SKIP() << "takes three devices";
    std::vector<std::byte> memory(200);
    fill(memory, 9);
    LocalMap map({others[0], dev, others[1]}, memory);
    {
        const BufHandle src = inventory.full(map, &memory[0], 100), dst = inventory.empty(map, &memory[100], 100);
        EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
        EXPECT_TRUE(is_filled(std::span(memory).subspan(100), 9, 0));
        EXPECT_EQ(data_len_of(dst), 100u);
    }
    map.destroy();
}

TEST_P(DmaCopyTest, permissions_need_not_be_set)
{
    std::vector<std::byte> memory(200);
    fill(memory, 9);
    MmapHandle map;
    must(doca_mmap_create(nullptr, map.out()));
    must(doca_mmap_dev_add(map, dev));
    must(doca_mmap_set_memrange(map, memory.data(), memory.size()));
    must(doca_mmap_start(map));
    {
        const BufHandle src = inventory.full(map, &memory[0], 100), dst = inventory.empty(map, &memory[100], 100);
        EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
        EXPECT_TRUE(is_filled(std::span(memory).subspan(100), 9, 0));
    }
    map.reset();
}

TEST_P(DmaCopyTest, source_may_be_read_only)
{
    std::vector<std::byte> memory(100);
    fill(memory, 9);
    const LocalMap map(dev, memory, DOCA_ACCESS_LOCAL_READ_ONLY);
    const BufHandle src = inventory.full(map, memory.data(), 100), dst = destination(0, 100);
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(std::span(dst_memory).first(100), 9));
}

TEST_P(DmaCopyTest, works_on_every_kind_of_memory)
{
    for (const MemoryKind kind : all_memory_kinds) {
        if (!Memory::is_available(kind))
            continue;
        SCOPED_TRACE(name_of(kind));
        const Memory memory(kind, 10000, 3);
        fill(memory.bytes().first(5000), 7);
        const LocalMap map(dev, memory.bytes());
        const BufHandle src = inventory.full(map, memory.data(), 5000);
        const BufHandle dst = inventory.empty(map, memory.data() + 5000, 5000);
        EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
        EXPECT_TRUE(is_filled(memory.bytes().subspan(5000), 7));
    }
}

// Events

TEST_P(DmaCopyTest, event_echoes_the_job)
{
    const BufHandle src = source(0, 10);
    for (const std::uint64_t user_data :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x8000000000000000}, ~std::uint64_t{0}}) {
        const BufHandle dst = destination(0, 10);
        doca_event event;
        std::memset(&event, 0xff, sizeof(event));
        ASSERT_EQ(engine.submit(dst, src, user_data), DOCA_SUCCESS);
        ASSERT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
        EXPECT_EQ(event.type, DOCA_DMA_JOB_MEMCPY);
        EXPECT_EQ(event.user_data.u64, user_data);
        EXPECT_EQ(event.result.u64, std::uint64_t{DOCA_SUCCESS}); // all of its 64 bits
    }
    int place = 0;
    doca_dma_job_memcpy job = memcpy_job(engine.ctx(), nullptr, src);
    const BufHandle dst = destination(0, 10);
    job.dst_buff = dst;
    job.base.user_data.ptr = &place;
    ASSERT_EQ(doca_workq_submit(engine.workq(), &job.base), DOCA_SUCCESS);
    doca_event event = {};
    ASSERT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
    EXPECT_EQ(event.user_data.ptr, &place);
}

TEST_P(DmaCopyTest, many_jobs_in_flight_end_once_each)
{
    std::vector<BufHandle> srcs, dsts;
    for (std::size_t i = 0; i < 32; ++i) {
        srcs.push_back(source(i * 1000, 500 + i));
        dsts.push_back(destination(i * 1000, 1000));
        ASSERT_EQ(engine.submit(dsts[i], srcs[i], i), DOCA_SUCCESS);
    }
    std::vector<int> ended(32);
    for (int i = 0; i < 32; ++i) {
        doca_event event = {};
        ASSERT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
        ASSERT_LT(event.user_data.u64, 32u);
        ++ended[event.user_data.u64];
    }
    for (std::size_t i = 0; i < 32; ++i) {
        EXPECT_EQ(ended[i], 1);
        EXPECT_EQ(data_len_of(dsts[i]), 500 + i);
        EXPECT_TRUE(has_copied(i * 1000, 500 + i, i * 1000));
        EXPECT_TRUE(is_filled(std::span(dst_memory).subspan(i * 1000 + 500 + i, 500 - i), 2, i * 1000 + 500 + i));
    }
}

TEST_P(DmaCopyTest, one_pair_is_resubmitted_thousands_of_times)
{
    const BufHandle src = source(0, 256);
    const BufHandle dst = inventory.full(dst_map, &dst_memory[0], 256); // never reset
    for (int i = 0; i < times(20000); ++i) {
        dst_memory[static_cast<std::size_t>(i) % 256] = std::byte{0};
        ASSERT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
        ASSERT_EQ(data_len_of(dst), 256u);
    }
    EXPECT_TRUE(has_copied(0, 256, 0));
    EXPECT_TRUE(rest_is_unchanged(0, 256));
}

TEST_P(DmaCopyTest, one_pair_is_reset_and_resubmitted_thousands_of_times)
{
    const BufHandle src = source(0, 256), dst = destination(0, 1000);
    for (int i = 0; i < times(20000); ++i) {
        const std::size_t from = static_cast<std::size_t>(i) % 700;
        must(doca_buf_set_data(src, &src_memory[from % 200], 1 + from % 56));
        must(doca_buf_reset_data_len(dst));
        ASSERT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
        ASSERT_EQ(data_len_of(dst), 1 + from % 56);
        ASSERT_TRUE(has_copied(0, 1 + from % 56, from % 200));
    }
    EXPECT_TRUE(rest_is_unchanged(0, 1000));
}

TEST_P(DmaCopyTest, buffers_can_be_released_once_the_job_was_retrieved)
{
    for (int i = 0; i < times(3000); ++i) {
        const BufHandle src = source(static_cast<std::size_t>(i), 100);
        const BufHandle dst = destination(static_cast<std::size_t>(i), 100);
        ASSERT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    }
    std::uint32_t free = 0;
    EXPECT_EQ(doca_buf_inventory_get_num_free_elements(inventory, &free), DOCA_SUCCESS);
    EXPECT_EQ(free, 4096u);
}
