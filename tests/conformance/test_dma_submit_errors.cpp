// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Jobs that DMA refuses: each leaves everything as it was.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/dma_fixture.hpp"

using namespace doca_test;

class DmaErrorTest : public DmaTest {
protected:
    static constexpr std::size_t depth = 32; // of the engine

    void SetUp() override
    {
        DmaTest::SetUp();
        src = source(0, 100);
        dst = inventory.with(dst_map, &dst_memory[0], 200, &dst_memory[10], 20);
    }

    /// Submits @p job, which has to be refused with @p status, and looks for changes.
    void expect_refused(const doca_dma_job_memcpy &job, doca_error_t status)
    {
        struct Section {
            std::byte *data;
            std::size_t len;
            bool operator==(const Section &) const = default;
        };
        const auto sections = [&] {
            std::vector<Section> result;
            for (const doca_buf *each : {static_cast<const doca_buf *>(job.dst_buff), job.src_buff}) {
                auto *buf = const_cast<doca_buf *>(each);
                while (buf != nullptr) {
                    result.push_back({data_of(buf), data_len_of(buf)});
                    must(doca_buf_list_next(buf, &buf));
                }
            }
            return result;
        };
        const auto before = sections();
        EXPECT_EQ(doca_workq_submit(engine.workq(), &job.base), status);
        EXPECT_EQ(sections(), before);
        EXPECT_TRUE(is_filled(src_memory, 1));
        EXPECT_TRUE(is_filled(dst_memory, 2));
        doca_event event = {};
        EXPECT_EQ(engine.retrieve(event), DOCA_ERROR_AGAIN);
        expect_full_capacity();
    }
    void expect_refused(doca_buf *to, const doca_buf *from, doca_error_t status)
    {
        expect_refused(memcpy_job(engine.ctx(), to, from), status);
    }

    /// The queue takes as many jobs as it is deep, and they all end well.
    void expect_full_capacity()
    {
        const BufHandle nothing = inventory.empty(src_map, &src_memory[0], 10);
        const BufHandle nowhere = inventory.empty(dst_map, &dst_memory[0], 10);
        for (std::size_t i = 0; i < depth; ++i)
            ASSERT_EQ(engine.submit(nowhere, nothing, i), DOCA_SUCCESS);
        ASSERT_EQ(engine.submit(nowhere, nothing), DOCA_ERROR_NO_MEMORY);
        doca_event event = {};
        for (std::size_t i = 0; i < depth; ++i)
            ASSERT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
        ASSERT_EQ(engine.retrieve(event), DOCA_ERROR_AGAIN);
    }

    BufHandle src;
    BufHandle dst;
};
INSTANTIATE_FOR_DEVICES(DmaErrorTest, can_copy);

TEST_P(DmaErrorTest, null_buffers)
{
    expect_refused(nullptr, src, DOCA_ERROR_INVALID_VALUE);
    expect_refused(dst, nullptr, DOCA_ERROR_INVALID_VALUE);
    expect_refused(nullptr, nullptr, DOCA_ERROR_INVALID_VALUE);
}

TEST_P(DmaErrorTest, unknown_job_types)
{
    for (const int type : {0, -1, DOCA_ACTION_DMA_FIRST + 0, DOCA_ACTION_DMA_FIRST + 2, DOCA_ACTION_SHA_FIRST + 1,
                           DOCA_ACTION_RDMA_FIRST + 1}) {
        doca_dma_job_memcpy job = memcpy_job(engine.ctx(), dst, src);
        job.base.type = type;
        expect_refused(job, DOCA_ERROR_INVALID_VALUE);
    }
}

TEST_P(DmaErrorTest, buffers_that_are_no_heads)
{
    const BufHandle src_head = source(200, 10), dst_head = destination(300, 10);
    doca_buf *const src_member = source(300, 10).release();
    doca_buf *const dst_member = destination(400, 100).release();
    must(doca_buf_list_chain(src_head, src_member));
    must(doca_buf_list_chain(dst_head, dst_member));
    expect_refused(dst, src_member, DOCA_ERROR_INVALID_VALUE);
    expect_refused(dst_member, src, DOCA_ERROR_INVALID_VALUE);
    expect_refused(dst_member, src_member, DOCA_ERROR_INVALID_VALUE);
}

TEST_P(DmaErrorTest, data_that_does_not_fit)
{
    const BufHandle fits = source(0, 170), too_long = source(0, 171);
    expect_refused(dst, too_long, DOCA_ERROR_INVALID_VALUE);
    const BufHandle small = destination(0, 99);
    expect_refused(small, src, DOCA_ERROR_INVALID_VALUE);
    const BufHandle full = inventory.full(dst_map, &dst_memory[0], 99);
    expect_refused(full, src, DOCA_ERROR_INVALID_VALUE);
    const BufHandle nothing = destination(0, 0);
    expect_refused(nothing, src, DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(engine.copy(dst, fits), DOCA_SUCCESS);
}

TEST_P(DmaErrorTest, data_that_does_not_fit_in_a_list)
{
    const BufHandle list = destination(0, 40);
    must(doca_buf_list_chain(list, destination(100, 40).release()));
    const BufHandle fits = source(0, 80), too_long = source(0, 81);
    expect_refused(list, too_long, DOCA_ERROR_INVALID_VALUE);
    expect_refused(list, src, DOCA_ERROR_INVALID_VALUE);

    const BufHandle from = source(0, 85);
    must(doca_buf_list_chain(from, source(100, 86).release()));
    expect_refused(dst, from, DOCA_ERROR_INVALID_VALUE); // 171 bytes into 170
    EXPECT_EQ(engine.copy(list, fits), DOCA_SUCCESS);
}

TEST_P(DmaErrorTest, maps_without_the_device)
{
    std::vector<std::byte> memory(100);
    const LocalMap no_device({}, memory);
    const BufHandle elsewhere_src = inventory.full(no_device, memory.data(), 100);
    const BufHandle elsewhere_dst = inventory.empty(no_device, memory.data(), 100);
    expect_refused(dst, elsewhere_src, DOCA_ERROR_INVALID_VALUE);
    expect_refused(elsewhere_dst, src, DOCA_ERROR_INVALID_VALUE);

    // In a list, each member counts.
    const BufHandle from = source(0, 10);
    must(doca_buf_list_chain(from, inventory.full(no_device, memory.data(), 10).release()));
    expect_refused(dst, from, DOCA_ERROR_INVALID_VALUE);
    const BufHandle to = destination(0, 100);
    must(doca_buf_list_chain(to, inventory.empty(no_device, memory.data(), 10).release()));
    expect_refused(to, src, DOCA_ERROR_INVALID_VALUE); // even one that would get nothing
}

TEST_P(DmaErrorTest, maps_with_another_device)
{
    DevHandle other;
    for (const DeviceParam &device : devices_that(can_copy)) {
        if (device.ibdev != GetParam().ibdev)
            other = open_device(device);
    }
    if (other.get() == nullptr)
        GTEST_SKIP() << "takes two devices";
    std::vector<std::byte> memory(100);
    LocalMap map(other, memory);
    {
        const BufHandle foreign_src = inventory.full(map, memory.data(), 100);
        const BufHandle foreign_dst = inventory.empty(map, memory.data(), 100);
        expect_refused(dst, foreign_src, DOCA_ERROR_INVALID_VALUE);
        expect_refused(foreign_dst, src, DOCA_ERROR_INVALID_VALUE);
    }
    map.destroy();
}

TEST_P(DmaErrorTest, destinations_that_may_not_be_written)
{
    for (const std::uint32_t access : {DOCA_ACCESS_LOCAL_READ_ONLY, DOCA_ACCESS_RDMA_READ, DOCA_ACCESS_RDMA_WRITE,
                                       DOCA_ACCESS_DPU_READ_ONLY, DOCA_ACCESS_DPU_READ_WRITE}) {
        SCOPED_TRACE(access);
        std::vector<std::byte> memory(100);
        fill(memory, 3);
        const LocalMap map(dev, memory, access);
        const BufHandle read_only = inventory.empty(map, memory.data(), 100);
        expect_refused(read_only, src, DOCA_ERROR_NOT_PERMITTED);
        const BufHandle list = destination(0, 50);
        must(doca_buf_list_chain(list, inventory.empty(map, memory.data(), 50).release()));
        expect_refused(list, src, DOCA_ERROR_NOT_PERMITTED);
        EXPECT_TRUE(is_filled(memory, 3));
    }
}

TEST_P(DmaErrorTest, lists_that_are_too_long)
{
    std::uint32_t limit = 0;
    must(doca_dma_get_max_list_buf_num_elem(info, &limit));
    if (limit > 4000)
        GTEST_SKIP() << limit << " buffers in a list are possible";
    const BufHandle from = source(0, 1), to = destination(0, 1);
    for (std::uint32_t i = 1; i < limit; ++i) {
        must(doca_buf_list_chain(from, source(i, 1).release()));
        must(doca_buf_list_chain(to, destination(i, 1).release()));
    }
    doca_buf *const from_tail = source(limit, 1).release();
    must(doca_buf_list_chain(from, from_tail));
    const BufHandle large = destination(0, 2 * limit);
    expect_refused(large, from, DOCA_ERROR_INVALID_VALUE);
    must(doca_buf_list_unchain(from, from_tail));
    must(doca_buf_refcount_rm(from_tail, nullptr));

    doca_buf *const to_tail = destination(limit, 1).release();
    must(doca_buf_list_chain(to, to_tail));
    const BufHandle one = source(0, 1);
    expect_refused(to, one, DOCA_ERROR_INVALID_VALUE);
    must(doca_buf_list_unchain(to, to_tail));
    must(doca_buf_refcount_rm(to_tail, nullptr));
    EXPECT_EQ(engine.copy(to, from), DOCA_SUCCESS); // as long as possible
    EXPECT_TRUE(is_filled(std::span(dst_memory).first(limit), 1));
}

TEST_P(DmaErrorTest, more_bytes_than_a_job_copies)
{
    std::uint64_t limit = 0;
    must(doca_dma_get_max_buf_size(info, &limit));
    if (limit > std::uint64_t{4} << 30)
        GTEST_SKIP() << limit << " bytes in a job are possible";
    const RepeatedMemory huge(2 * limit + 4096);
    const LocalMap map(dev, huge.bytes());
    std::byte *const begin = huge.data();
    const BufHandle to = inventory.empty(map, begin + limit + 2048, limit + 2048);
    const BufHandle too_long = inventory.full(map, begin, limit + 1);
    expect_refused(to, too_long, DOCA_ERROR_INVALID_VALUE);

    const BufHandle list = inventory.full(map, begin, limit);
    doca_buf *const tail = inventory.full(map, begin + limit, 1).release();
    must(doca_buf_list_chain(list, tail));
    expect_refused(to, list, DOCA_ERROR_INVALID_VALUE);
}

TEST_P(DmaErrorTest, full_queue)
{
    const BufHandle nothing = inventory.empty(src_map, &src_memory[0], 10);
    const BufHandle nowhere = inventory.empty(dst_map, &dst_memory[0], 10);
    for (std::size_t i = 0; i < depth; ++i)
        ASSERT_EQ(engine.submit(nowhere, nothing, i), DOCA_SUCCESS);
    EXPECT_EQ(engine.submit(dst, src), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(data_of(dst), &dst_memory[10]);
    EXPECT_EQ(data_len_of(dst), 20u);
    EXPECT_TRUE(is_filled(dst_memory, 2));
    // What is wrong with a job is told also when there is no room for it.
    EXPECT_NE(engine.submit(nullptr, src), DOCA_SUCCESS);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < depth; ++i) {
        doca_event event = {};
        ASSERT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
        seen |= std::uint64_t{1} << event.user_data.u64;
    }
    EXPECT_EQ(seen, 0xffffffffu);
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS); // now there is room
    EXPECT_EQ(data_len_of(dst), 120u);
}

TEST_P(DmaErrorTest, full_queue_refuses_lists_as_well)
{
    const BufHandle nothing = inventory.empty(src_map, &src_memory[0], 10);
    const BufHandle nowhere = inventory.empty(dst_map, &dst_memory[0], 10);
    const BufHandle list = destination(0, 50);
    must(doca_buf_list_chain(list, destination(100, 50).release()));
    for (std::size_t i = 0; i < depth; ++i)
        ASSERT_EQ(engine.submit(nowhere, nothing, i), DOCA_SUCCESS);
    EXPECT_EQ(engine.submit(list, src), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(data_len_of(list), 0u);
    EXPECT_TRUE(is_filled(dst_memory, 2));
    doca_event event = {};
    for (std::size_t i = 0; i < depth; ++i)
        ASSERT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
    EXPECT_EQ(engine.copy(list, src), DOCA_SUCCESS);
}
