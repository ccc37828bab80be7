// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Tasks of erasure coding that are processed in slices: results, other contexts meanwhile, order, wake-ups, stop, tasks
// freed in flight, matrices in use.
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/mman.h>

#include "erasure_coding_fixture.hpp"

namespace doca_test {
namespace {

class ErasureCodingLong : public ErasureCodingTest {
protected:
    static constexpr std::size_t k = 3, m = 2;
    static constexpr std::size_t block = std::size_t{1} << 20; ///< of several slices

    void SetUp() override
    {
        ErasureCodingTest::SetUp();
        coding = matrix(DOCA_EC_MATRIX_TYPE_CAUCHY, k, m);
        on_end = [this](doca_task *task) {
            ended_tasks.push_back(task);
            statuses.push_back(doca_task_get_status(task));
        };
    }
    void TearDown() override
    {
        coding.reset();
        ErasureCodingTest::TearDown();
    }

    doca_task *start(const doca_buf *src, doca_buf *dst, const doca_ec_matrix *by = nullptr)
    {
        doca_task *const task = doca_ec_task_create_as_task(
            alloc<doca_ec_task_create>(by != nullptr ? by : static_cast<doca_ec_matrix *>(coding), src, dst));
        EXPECT_EQ(doca_task_submit(task), DOCA_SUCCESS);
        return task;
    }
    void finish(std::size_t count)
    {
        while (ended_tasks.size() != count)
            ASSERT_EQ(doca_pe_progress(pe), 1);
    }
    /// The redundancy of @p blocks by tasks of 16 KiB of each, which are no long ones.
    Blocks redundancy_in_short_tasks(const Blocks &blocks)
    {
        Blocks redundancy(m, Block(blocks[0].size()));
        constexpr std::size_t part = std::size_t{16} << 10;
        for (std::size_t at = 0; at != blocks[0].size(); at += part) {
            Blocks parts;
            for (const Block &whole : blocks)
                parts.emplace_back(whole.begin() + static_cast<std::ptrdiff_t>(at),
                                   whole.begin() + static_cast<std::ptrdiff_t>(at + part));
            const Blocks coded = result<doca_ec_task_create>(coding, parts, m);
            for (std::size_t j = 0; j != m; ++j)
                std::memcpy(&redundancy[j][at], coded[j].data(), part);
        }
        used = 0;
        ended_tasks.clear();
        statuses.clear();
        num_ended = 0;
        return redundancy;
    }

    MatrixHandle coding;
    std::vector<doca_task *> ended_tasks;
    std::vector<doca_error_t> statuses;
};

INSTANTIATE_TEST_SUITE_P(device, ErasureCodingLong, testing::ValuesIn(coding_devices()), name_of_device);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ErasureCodingLong);

TEST_P(ErasureCodingLong, ResultsAreThoseOfShortTasks)
{
    const Blocks blocks = random_blocks(k, block);
    const Blocks expected = redundancy_in_short_tasks(blocks);
    // In one buffer each, and as lists that are cut within blocks.
    for (const bool is_split : {false, true}) {
        used = 0;
        BufHandle src, dst;
        if (!is_split) {
            src = data(blocks);
            dst = room(m * block);
        } else {
            const std::size_t begin = used;
            const BufHandle whole = data(blocks);
            for (const auto &[from, to] : {std::pair{std::size_t{0}, block + 100}, {block + 100, k * block}}) {
                BufHandle part;
                must(doca_buf_inventory_buf_get_by_data(inventory, map, &memory[begin + from], to - from, part.out()));
                append(src, std::move(part));
            }
            append(dst, room(block / 2 + 1));
            (void)take(64);
            append(dst, room(m * block - block / 2 - 1));
        }
        doca_task *const task = start(src, dst);
        EXPECT_EQ(data_len_of(dst), 0u);
        int num_slices = 0;
        for (; ended_tasks.empty(); ++num_slices)
            ASSERT_EQ(doca_pe_progress(pe), 1);
        EXPECT_GE(num_slices, static_cast<int>(k * block / (std::size_t{1} << 20)));
        EXPECT_TRUE(blocks_in(dst, block) == expected);
        doca_task_free(task);
        ended_tasks.clear();
    }
    // In place, in slices that are copied.
    used = 0;
    const BufHandle src = data(blocks);
    BufHandle over;
    must(doca_buf_inventory_buf_get_by_addr(inventory, map, memory.data(), m * block, over.out()));
    EXPECT_EQ(run<doca_ec_task_galois_mul>(coding, src, over), DOCA_SUCCESS);
    EXPECT_TRUE(blocks_in(over, block) == expected);
}

TEST_P(ErasureCodingLong, LetOtherContextsRunAndKeepTheOrderOfTheirOwn)
{
    const BufHandle src = data(k * block), dst = room(m * block), short_src = data(k * 64), short_dst = room(m * 64);
    const BufHandle other_dst = room(m * 64);
    EcHandle other;
    int num_others = 0;
    must(doca_ec_create(dev, other.out()));
    const auto count = [](doca_ec_task_create *, doca_data, doca_data ctx_data) {
        ++*static_cast<int *>(ctx_data.ptr);
    };
    must(doca_ec_task_create_set_conf(other, count, count, 1));
    must(doca_ctx_set_user_data(doca_ec_as_ctx(other), {.ptr = &num_others}));
    must(doca_pe_connect_ctx(pe, doca_ec_as_ctx(other)));
    must(doca_ctx_start(doca_ec_as_ctx(other)));
    doca_task *const tasks[] = {start(src, dst), start(short_src, short_dst)};
    EXPECT_EQ(doca_pe_progress(pe), 1);
    EXPECT_TRUE(ended_tasks.empty()) << "a slice is no completion";
    doca_ec_task_create *overtaking = nullptr;
    must(doca_ec_task_create_allocate_init(other, coding, short_src, other_dst, {}, &overtaking));
    must(doca_task_submit(doca_ec_task_create_as_task(overtaking)));
    while (num_others == 0)
        ASSERT_EQ(doca_pe_progress(pe), 1);
    EXPECT_TRUE(ended_tasks.empty()) << "the long task was first, and is still in progress";
    EXPECT_EQ(doca_task_get_status(doca_ec_task_create_as_task(overtaking)), DOCA_SUCCESS);
    finish(2);
    EXPECT_EQ(ended_tasks, (std::vector<doca_task *>{tasks[0], tasks[1]}));
    EXPECT_EQ(statuses, (std::vector<doca_error_t>{DOCA_SUCCESS, DOCA_SUCCESS}));
    EXPECT_EQ(bytes_in(short_dst), bytes_in(other_dst));
    EXPECT_EQ(doca_pe_progress(pe), 0);
    for (doca_task *const task : tasks)
        doca_task_free(task);
    doca_task_free(doca_ec_task_create_as_task(overtaking));
    EXPECT_EQ(doca_ctx_stop(doca_ec_as_ctx(other)), DOCA_SUCCESS);
}

TEST_P(ErasureCodingLong, WakeAnArmedEngine)
{
    const BufHandle src = data(k * block), dst = room(m * block);
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(pe, &handle));
    std::size_t expected = 0;
    for (const bool is_armed_before : {false, true}) {
        must(doca_buf_reset_data_len(dst));
        if (is_armed_before) {
            while (doca_pe_progress(pe) != 0) {
            }
            must(doca_pe_request_notification(pe));
        }
        doca_task *const task = start(src, dst);
        ++expected;
        while (ended_tasks.size() != expected) {
            must(doca_pe_request_notification(pe));
            pollfd descriptor = {handle, POLLIN, 0};
            ASSERT_EQ(::poll(&descriptor, 1, 10000), 1) << "the engine sleeps although there is work";
            must(doca_pe_clear_notification(pe, handle));
            (void)doca_pe_progress(pe);
        }
        EXPECT_EQ(statuses.back(), DOCA_SUCCESS);
        doca_task_free(task);
    }
}

TEST_P(ErasureCodingLong, InFlightAreFlushedByAStop)
{
    const BufHandle src = data(k * block), dst = room(m * block), short_src = data(k * 64), short_dst = room(m * 64);
    const BufHandle first_dst = room(m * 64);
    doca_task *const tasks[] = {start(short_src, first_dst), start(src, dst), start(short_src, short_dst)};
    finish(1);
    EXPECT_EQ(doca_pe_progress(pe), 1); // a slice of the second one
    ASSERT_EQ(doca_ctx_stop(ctx()), DOCA_ERROR_IN_PROGRESS);
    finish(3);
    EXPECT_EQ(ended_tasks, (std::vector<doca_task *>{tasks[0], tasks[1], tasks[2]}));
    EXPECT_EQ(statuses, (std::vector<doca_error_t>{DOCA_SUCCESS, DOCA_ERROR_SHUTDOWN, DOCA_ERROR_SHUTDOWN}));
    EXPECT_EQ(data_len_of(dst) + data_len_of(short_dst), 0u);
    for (doca_task *const task : tasks)
        doca_task_free(task);
    while (state_of(ctx()) != DOCA_CTX_STATE_IDLE)
        ASSERT_EQ(doca_pe_progress(pe), 1);
}

/// The program needs neither the buffers, nor their memory, nor the matrix any more, be the task in progress or waiting
/// for another.
TEST_P(ErasureCodingLong, FreedInFlightNeedNothingAnyMore)
{
    for (const bool is_stopped : {true, false}) {
        const std::size_t length = (k + m) * block;
        void *const pages = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(pages, MAP_FAILED);
        auto *const at = static_cast<std::byte *>(pages);
        MmapHandle own_map = map_of(dev, {at, length});
        MatrixHandle by = matrix(DOCA_EC_MATRIX_TYPE_VANDERMONDE, k, m);
        BufHandle src, dst, short_src;
        must(doca_buf_inventory_buf_get_by_data(inventory, own_map, at, k * block, src.out()));
        must(doca_buf_inventory_buf_get_by_data(inventory, own_map, at, k * 64, short_src.out()));
        must(doca_buf_inventory_buf_get_by_addr(inventory, own_map, at + k * block, m * block, dst.out()));
        doca_task *const first = start(src, dst, by), *const second = start(short_src, dst, by);
        doca_task *const third = start(src, dst, by);
        EXPECT_EQ(doca_pe_progress(pe), 1); // a slice of the first one
        EXPECT_EQ(doca_ec_matrix_destroy(by), DOCA_ERROR_IN_USE);
        for (doca_task *const task : {second, first, third})
            doca_task_free(task);
        by.reset();
        for (BufHandle *const buf : {&src, &dst, &short_src})
            buf->reset();
        own_map.reset();
        ASSERT_EQ(munmap(pages, length), 0);
        if (is_stopped) {
            ASSERT_EQ(doca_ctx_stop(ctx()), DOCA_SUCCESS);
            must(doca_ctx_start(ctx()));
        } else {
            while (doca_pe_progress(pe) != 0) {
            }
            EXPECT_EQ(in_flight(ctx()), 0u);
        }
        EXPECT_TRUE(ended_tasks.empty());
    }
}

/// The second task's room is what the first one leaves.
TEST_P(ErasureCodingLong, MayFollowEachOtherInOneDestination)
{
    const BufHandle src = data(k * block), dst = room(2 * m * block);
    doca_task *const tasks[] = {start(src, dst), start(src, dst), start(src, dst)};
    finish(3);
    EXPECT_EQ(statuses, (std::vector<doca_error_t>{DOCA_SUCCESS, DOCA_SUCCESS, DOCA_ERROR_IO_FAILED}));
    EXPECT_EQ(data_len_of(dst), 2 * m * block);
    for (doca_task *const task : tasks)
        doca_task_free(task);
}

} // namespace
} // namespace doca_test
