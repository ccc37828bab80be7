// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Compress tasks of more than 256 KiB, which another thread carries out: other contexts meanwhile, order, wake-ups,
// stop, tasks freed in flight, and systems that have no thread or only one CPU for them.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <doca_compress.h>

#include "../support/sanitizers.hpp"
#include "compress_tasks.hpp"

namespace doca_test {
namespace {

/// Bytes of a long task: some 50 ms of work.
const std::size_t long_size = std::size_t{8} << 20 >> (is_sanitized || is_on_card() ? 1 : 0);

class CompressLongTasks : public testing::TestWithParam<std::string> {
protected:
    static constexpr std::uint32_t num_tasks = 4;

    std::byte *take(std::size_t length)
    {
        std::byte *const start = &memory.at(used);
        used += length;
        EXPECT_LE(used, memory.size());
        return start;
    }
    BufHandle source(std::span<const std::byte> data)
    {
        std::byte *const at = take(data.size());
        std::ranges::copy(data, at);
        return data_at(at, data.size());
    }
    BufHandle data_at(std::byte *at, std::size_t length)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_data(inventory, map, at, length, buf.out()));
        return buf;
    }
    BufHandle room(std::size_t length) { return room_at(take(length), length); }
    BufHandle room_at(std::byte *at, std::size_t length)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_addr(inventory, map, at, length, buf.out()));
        return buf;
    }
    static Bytes data_in(const doca_buf *buf)
    {
        void *start = nullptr;
        must(doca_buf_get_data(buf, &start));
        const auto *const from = static_cast<std::byte *>(start);
        return {from, from + data_len_of(buf)};
    }
    doca_task *start(CompressContext &of, Kind kind, const doca_buf *src, doca_buf *dst)
    {
        doca_task *const task = of.alloc(kind, src, dst);
        EXPECT_EQ(doca_task_submit(task), DOCA_SUCCESS);
        EXPECT_EQ(of.num_ended, 0) << "a callback was called in a submit";
        return task;
    }
    static std::ptrdiff_t num_threads()
    {
        return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
    }
    void finish(int count)
    {
        while (context.num_ended != count)
            (void)doca_pe_progress(pe);
    }
    /// The DEFLATE stream of @p content, of which the source and the result are in the test's memory.
    Bytes compressed(const Bytes &content)
    {
        used = 0;
        const BufHandle src = source(content), dst = room(content.size() + 1000);
        EXPECT_EQ(context.run(Kind::compress, src, dst).status, DOCA_SUCCESS);
        context.num_ended = 0;
        context.ended_tasks.clear();
        return data_in(dst);
    }

    Bytes memory = Bytes(3 * long_size + (std::size_t{1} << 20));
    std::size_t used = 0;
    DevHandle dev = open_device(GetParam());
    MmapHandle map = map_of(dev, memory);
    InventoryHandle inventory = inventory_of(64);
    PeHandle pe = [] {
        PeHandle created;
        must(doca_pe_create(created.out()));
        return created;
    }();
    CompressContext context{dev, pe, num_tasks};
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CompressLongTasks);
INSTANTIATE_TEST_SUITE_P(device, CompressLongTasks, testing::ValuesIn(compressing_devices()), name_of_device);

TEST_P(CompressLongTasks, LetOtherContextsRunAndKeepTheOrderOfTheirOwn)
{
    const Bytes content = text_of(long_size), short_content = text_of(1000, 7);
    CompressContext other(dev, pe, 1);
    const BufHandle src = source(content), short_src = source(short_content);
    const BufHandle dst = room(content.size()), short_dst = room(2000), other_dst = room(2000);
    // The kernel may take the CPU away for longer than the long task needs: then once more.
    bool has_overtaken = false;
    for (int tries = 0; tries != 10 && !has_overtaken; ++tries) {
        for (const BufHandle *const buf : {&dst, &short_dst, &other_dst})
            must(doca_buf_reset_data_len(*buf));
        doca_task *const tasks[] = {start(context, Kind::compress, src, dst),
                                    start(context, Kind::compress, short_src, short_dst)};
        doca_task *const overtaking = start(other, Kind::compress, short_src, other_dst);
        while (other.num_ended == 0)
            (void)doca_pe_progress(pe);
        has_overtaken = context.num_ended == 0;
        EXPECT_TRUE(!has_overtaken || in_flight(context.ctx()) == 2);
        finish(2);
        EXPECT_TRUE(std::ranges::equal(context.ended_tasks, tasks));
        for (doca_task *const task : {tasks[0], tasks[1], overtaking}) {
            EXPECT_EQ(doca_task_get_status(task), DOCA_SUCCESS);
            doca_task_free(task);
        }
        context.num_ended = other.num_ended = 0;
        context.ended_tasks.clear();
    }
    EXPECT_TRUE(has_overtaken);
    EXPECT_EQ(data_in(short_dst), data_in(other_dst));
    const BufHandle back = room_at(memory.data(), content.size()); // over the source
    EXPECT_EQ(context.run(Kind::decompress, dst, back).status, DOCA_SUCCESS);
    EXPECT_EQ(data_in(back), content);
    EXPECT_EQ(doca_pe_progress(pe), 0);
}

TEST_P(CompressLongTasks, WakeAnArmedEngineWhenTheyEnd)
{
    const BufHandle src = source(text_of(long_size)), dst = room(long_size);
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(pe, &handle));
    int expected = 0;
    for (const bool is_armed_before : {false, true}) {
        must(doca_buf_reset_data_len(dst));
        if (is_armed_before) {
            while (doca_pe_progress(pe) != 0) {
            }
            must(doca_pe_request_notification(pe));
        }
        doca_task *const task = context.alloc(Kind::compress, src, dst);
        ASSERT_EQ(doca_task_submit(task), DOCA_SUCCESS);
        ++expected;
        int num_wakes = 0;
        while (context.num_ended != expected) {
            if (doca_pe_progress(pe) != 0)
                continue;
            must(doca_pe_request_notification(pe));
            if (doca_pe_progress(pe) != 0)
                continue;
            pollfd descriptor = {handle, POLLIN, 0};
            ASSERT_EQ(::poll(&descriptor, 1, 100000), 1) << "the engine sleeps although there is work";
            must(doca_pe_clear_notification(pe, handle));
            ++num_wakes;
        }
        EXPECT_LE(num_wakes, 3) << "the engine is woken although there is nothing to do";
        EXPECT_EQ(doca_task_get_status(task), DOCA_SUCCESS);
        doca_task_free(task);
    }
    // Nothing is left that makes the handle readable.
    while (doca_pe_progress(pe) != 0) {
    }
    must(doca_pe_request_notification(pe));
    pollfd descriptor = {handle, POLLIN, 0};
    EXPECT_EQ(::poll(&descriptor, 1, 0), 0);
    must(doca_pe_clear_notification(pe, handle));
}

TEST_P(CompressLongTasks, InFlightAtAStopEndAndThoseBehindAreFlushed)
{
    const BufHandle src = source(text_of(long_size)), short_src = source(text_of(100));
    const BufHandle dst = room(long_size), second_dst = room(long_size / 2), short_dst = room(200);
    doca_task *const tasks[] = {start(context, Kind::compress, src, dst),
                                start(context, Kind::compress, src, second_dst),
                                start(context, Kind::compress, short_src, short_dst)};
    ASSERT_EQ(doca_ctx_stop(context.ctx()), DOCA_ERROR_IN_PROGRESS);
    finish(3);
    EXPECT_TRUE(std::ranges::equal(context.ended_tasks, tasks));
    // The first one may have ended before the stop.
    EXPECT_EQ(doca_task_get_status(tasks[0]) == DOCA_SUCCESS, data_len_of(dst) != 0);
    EXPECT_EQ(doca_task_get_status(tasks[1]), DOCA_ERROR_SHUTDOWN);
    EXPECT_EQ(doca_task_get_status(tasks[2]), DOCA_ERROR_SHUTDOWN);
    EXPECT_EQ(data_len_of(second_dst) + data_len_of(short_dst), 0u);
    for (doca_task *const task : tasks)
        doca_task_free(task);
    while (state_of(context.ctx()) != DOCA_CTX_STATE_IDLE)
        (void)doca_pe_progress(pe);
    must(doca_ctx_start(context.ctx()));
    must(doca_buf_reset_data_len(short_dst));
    EXPECT_EQ(context.run(Kind::compress, short_src, short_dst).status, DOCA_SUCCESS);
}

/// The program needs neither the buffers nor their memory any more, be the task in progress or waiting for another.
TEST_P(CompressLongTasks, FreedInFlightNeedTheirBuffersNoLonger)
{
    const Bytes content = text_of(long_size);
    for (const bool is_stopped : {true, false}) {
        const std::size_t length = 4 * content.size();
        void *const pages = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(pages, MAP_FAILED);
        auto *const at = static_cast<std::byte *>(pages);
        std::ranges::copy(content, at);
        MmapHandle own_map = map_of(dev, {at, length});
        BufHandle src, dst, short_src;
        must(doca_buf_inventory_buf_get_by_data(inventory, own_map, at, content.size(), src.out()));
        must(doca_buf_inventory_buf_get_by_data(inventory, own_map, at, 1000, short_src.out()));
        must(
            doca_buf_inventory_buf_get_by_addr(inventory, own_map, at + content.size(), 3 * content.size(), dst.out()));
        doca_task *const first = start(context, Kind::compress, src, dst);
        doca_task *const second = start(context, Kind::compress, short_src, dst);
        doca_task *const third = start(context, Kind::compress, src, dst);
        for (doca_task *const task : {second, first, third})
            doca_task_free(task);
        for (BufHandle *const buf : {&src, &dst, &short_src})
            buf->reset();
        own_map.reset();
        ASSERT_EQ(munmap(pages, length), 0);
        if (is_stopped) {
            ASSERT_EQ(doca_ctx_stop(context.ctx()), DOCA_SUCCESS);
            must(doca_ctx_start(context.ctx()));
        } else {
            while (doca_pe_progress(pe) != 0) {
            }
            EXPECT_EQ(in_flight(context.ctx()), 0u);
        }
        EXPECT_EQ(context.num_ended, 0);
    }
}

/// The last of the tasks that a stop flushes is freed while the first one is in work.
TEST_P(CompressLongTasks, MayBeFreedDuringAStop)
{
    const BufHandle src = source(text_of(long_size)), dst = room(long_size), second_dst = room(long_size / 2);
    doca_task *const first = start(context, Kind::compress, src, dst);
    doca_task *const second = start(context, Kind::compress, src, second_dst);
    doca_task *const third = start(context, Kind::compress, src, second_dst);
    ASSERT_EQ(doca_ctx_stop(context.ctx()), DOCA_ERROR_IN_PROGRESS);
    doca_task_free(third);
    finish(2);
    EXPECT_EQ(context.ended_tasks, (std::vector<doca_task *>{first, second}));
    EXPECT_EQ(doca_task_get_status(second), DOCA_ERROR_SHUTDOWN);
    doca_task_free(first);
    doca_task_free(second);
    while (state_of(context.ctx()) != DOCA_CTX_STATE_IDLE)
        (void)doca_pe_progress(pe);
}

TEST_P(CompressLongTasks, SmallSourceMayHaveALongResult)
{
    const Bytes zeros(std::size_t{2} << 20);
    const Bytes stream = compressed(zeros);
    ASSERT_LT(stream.size(), zeros.size() / 100);
    used = 0;
    const BufHandle src = source(stream), dst = room(zeros.size());
    EXPECT_EQ(context.run(Kind::decompress, src, dst).status, DOCA_SUCCESS);
    EXPECT_EQ(data_in(dst), zeros);
    // One byte less is too short.
    const BufHandle small = room_at(memory.data() + stream.size(), zeros.size() - 1);
    EXPECT_EQ(context.run(Kind::decompress, src, small).status, DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(data_len_of(small), 0u);
    // A source that the first bytes of the result overwrite, as one buffer and as a list.
    for (const std::size_t split : {std::size_t{0}, stream.size() / 2}) {
        std::ranges::copy(stream, memory.begin());
        const BufHandle head = data_at(memory.data(), split != 0 ? split : stream.size());
        if (split != 0) {
            std::byte *const apart = memory.data() + stream.size() + 100;
            std::copy(stream.begin() + static_cast<std::ptrdiff_t>(split), stream.end(), apart);
            must(doca_buf_chain_list(head, data_at(apart, stream.size() - split).release()));
        }
        const BufHandle over = room_at(memory.data(), zeros.size());
        EXPECT_EQ(context.run(Kind::decompress, head, over).status, DOCA_SUCCESS);
        EXPECT_EQ(data_in(over), zeros);
    }
    // Bad data fails, whatever the room.
    Bytes bad = stream;
    bad[0] = std::byte{0xff};
    std::ranges::copy(bad, memory.begin());
    const BufHandle bad_src = data_at(memory.data(), bad.size()), bad_dst = room_at(memory.data() + (1 << 20), 1 << 20);
    EXPECT_EQ(context.run(Kind::decompress, bad_src, bad_dst).status, DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(context.run(Kind::lz4_block, bad_src, bad_dst).status, DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(context.run(Kind::lz4_stream, bad_src, bad_dst).status, DOCA_ERROR_IO_FAILED);
}

/// The second task's room is what the first one leaves.
TEST_P(CompressLongTasks, MayFollowEachOtherInOneDestination)
{
    const Bytes content = text_of(std::size_t{1} << 20);
    const Bytes stream = compressed(content);
    used = 0;
    const BufHandle src = source(content), dst = room(2 * stream.size() + 100);
    doca_task *const tasks[] = {start(context, Kind::compress, src, dst), start(context, Kind::compress, src, dst),
                                start(context, Kind::compress, src, dst)};
    finish(3);
    EXPECT_EQ(doca_task_get_status(tasks[0]), DOCA_SUCCESS);
    EXPECT_EQ(doca_task_get_status(tasks[1]), DOCA_SUCCESS);
    EXPECT_EQ(doca_task_get_status(tasks[2]), DOCA_ERROR_IO_FAILED) << "no room is left for it";
    Bytes expected = stream;
    expected.insert(expected.end(), stream.begin(), stream.end());
    EXPECT_EQ(data_in(dst), expected);
    for (doca_task *const task : tasks)
        doca_task_free(task);
}

/// The thread is made by the start and ended by the stop, so that no submit makes any.
TEST_P(CompressLongTasks, HaveTheirThreadFromTheStartOn)
{
    const std::ptrdiff_t num_running = num_threads();
    ASSERT_EQ(doca_ctx_stop(context.ctx()), DOCA_SUCCESS);
    EXPECT_EQ(num_threads(), num_running - 1);
    ASSERT_EQ(doca_ctx_start(context.ctx()), DOCA_SUCCESS);
    EXPECT_EQ(num_threads(), num_running);
    const BufHandle src = source(text_of(std::size_t{1} << 20)), dst = room(std::size_t{1} << 20);
    EXPECT_EQ(context.run(Kind::compress, src, dst).status, DOCA_SUCCESS);
    EXPECT_EQ(num_threads(), num_running);
}

/// Without a descriptor to be woken by there is no thread; the engine's own thread does the work then.
TEST_P(CompressLongTasks, AreCarriedOutWithoutAThread)
{
    if (is_on_card())
        GTEST_SKIP() << "the context of a card needs descriptors itself";
    const Bytes content = text_of(std::size_t{1} << 20);
    const BufHandle src = source(content), dst = room(content.size()), back = room(content.size());
    ASSERT_EQ(doca_ctx_stop(context.ctx()), DOCA_SUCCESS);
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlimit none = {0, limit.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    const doca_error_t status = doca_ctx_start(context.ctx());
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ASSERT_EQ(status, DOCA_SUCCESS);
    doca_task *const task = context.alloc(Kind::compress, src, dst);
    ASSERT_EQ(doca_task_submit(task), DOCA_SUCCESS);
    EXPECT_EQ(doca_pe_progress(pe), 1) << "it has completed within its submit";
    EXPECT_EQ(context.num_ended, 1);
    EXPECT_EQ(doca_task_get_status(task), DOCA_SUCCESS);
    doca_task_free(task);
    ASSERT_EQ(doca_ctx_stop(context.ctx()), DOCA_SUCCESS);
    ASSERT_EQ(doca_ctx_start(context.ctx()), DOCA_SUCCESS);
    EXPECT_EQ(context.run(Kind::decompress, dst, back).status, DOCA_SUCCESS)
        << "with a thread, now that there can be one";
    EXPECT_EQ(data_in(back), content);
}

TEST_P(CompressLongTasks, AreCarriedOutOnOneCpu)
{
    const Bytes content = text_of(std::size_t{1} << 20);
    const BufHandle src = source(content), dst = room(content.size()), back = room(content.size());
    cpu_set_t before, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &one);
    }
    ASSERT_EQ(doca_ctx_stop(context.ctx()), DOCA_SUCCESS);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    ASSERT_EQ(doca_ctx_start(context.ctx()), DOCA_SUCCESS); // its thread has the same CPU
    for (int i = 0; i != times(20); ++i) {
        must(doca_buf_reset_data_len(dst));
        must(doca_buf_reset_data_len(back));
        EXPECT_EQ(context.run(Kind::compress, src, dst).status, DOCA_SUCCESS);
        EXPECT_EQ(context.run(Kind::decompress, dst, back).status, DOCA_SUCCESS);
    }
    EXPECT_EQ(data_in(back), content);
    ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

TEST_P(CompressLongTasks, OfSeveralContextsRunAtTheSameTime)
{
    const Bytes content = text_of(std::size_t{1} << 20);
    CompressContext second(dev, pe, 1), third(dev, pe, 1);
    const std::array contexts = {&context, &second, &third};
    const BufHandle src = source(content);
    std::vector<BufHandle> dsts;
    for (std::size_t i = 0; i != contexts.size(); ++i)
        dsts.push_back(room(content.size()));
    std::vector<doca_task *> tasks;
    for (std::size_t i = 0; i != contexts.size(); ++i)
        tasks.push_back(contexts[i]->alloc(Kind::compress, src, dsts[i]));
    for (int round = 1; round <= times(30); ++round) {
        for (std::size_t i = 0; i != contexts.size(); ++i) {
            must(doca_buf_reset_data_len(dsts[i]));
            ASSERT_EQ(doca_task_submit(tasks[i]), DOCA_SUCCESS);
        }
        while (std::ranges::any_of(contexts, [&](const CompressContext *of) { return of->num_ended != round; }))
            (void)doca_pe_progress(pe);
    }
    for (std::size_t i = 0; i != contexts.size(); ++i) {
        EXPECT_EQ(data_in(dsts[i]), data_in(dsts[0]));
        doca_task_free(tasks[i]);
    }
}

} // namespace
} // namespace doca_test
