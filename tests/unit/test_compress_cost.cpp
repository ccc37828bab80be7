// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// From the submit of compress tasks to their callbacks nothing is allocated or locked, with one buffer on each side and
// with lists; short ones make no system call either. Long ones, which another thread carries out, make no thread.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <lz4.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../conformance/support/sanitizers.hpp"
#include "../conformance/v3/compress_tasks.hpp"
#include "cost_counters.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t short_content = 5000, long_content = 300000; // bytes: within a submit, and by the thread
constexpr std::uint32_t num_tasks = 64;

/// What a forked child reports.
struct Report {
    bool is_trapping;
    std::uint32_t num_succeeded;
    Costs costs;
};

/// 64 tasks of a type, with a source and a destination each: one buffer, or two that are not adjacent.
class Tasks {
public:
    static constexpr std::uint32_t max_rounds = 20;

    Tasks(const std::string &device, Kind kind, std::size_t content_size, bool has_lists)
        : area_(content_size + content_size / 2),
          dev_(open_device(device))
    {
        const Bytes source = source_of(kind, content_size);
        const std::size_t area = area_;
        for (std::uint32_t i = 0; i != num_tasks; ++i) {
            std::byte *const at = &memory_[i * 2 * area];
            std::ranges::copy(source, at);
            const std::size_t half = has_lists ? source.size() / 2 : source.size();
            bufs_.push_back(take(at, half, true));
            bufs_.push_back(take(at + area, has_lists ? 100 : area, false));
            if (has_lists) {
                std::ranges::copy(std::span(source).subspan(half), at + half + 1);
                chain(bufs_[2 * i], take(at + half + 1, source.size() - half, true));
                chain(bufs_[2 * i + 1], take(at + area + 200, area - 200, false));
            }
            tasks_.push_back(context_.alloc(kind, bufs_[2 * i], bufs_[2 * i + 1]));
        }
        context_.ended_tasks.reserve(std::size_t{num_tasks} * max_rounds);
    }
    ~Tasks()
    {
        for (doca_task *const task : tasks_)
            doca_task_free(task);
    }
    Tasks(const Tasks &) = delete;
    Tasks &operator=(const Tasks &) = delete;

    /// Submits all tasks, and waits for them, as often as @p num_rounds says. Returns how many have succeeded.
    std::uint32_t run(std::uint32_t num_rounds)
    {
        std::uint32_t count = 0;
        context_.ended_tasks.clear(); // has the memory that it needs
        for (std::uint32_t round = 0; round != num_rounds; ++round) {
            const int before = context_.num_ended;
            for (std::uint32_t i = 0; i != num_tasks; ++i) {
                for (doca_buf *buf = bufs_[2 * i + 1]; buf != nullptr;) {
                    (void)doca_buf_reset_data_len(buf);
                    (void)doca_buf_get_next_in_list(buf, &buf);
                }
                (void)doca_task_submit(tasks_[i]);
            }
            while (context_.num_ended - before != static_cast<int>(num_tasks))
                (void)doca_pe_progress(pe_);
            for (const doca_task *const task : tasks_)
                count += doca_task_get_status(task) == DOCA_SUCCESS ? 1 : 0;
        }
        return count;
    }

private:
    static Bytes source_of(Kind kind, std::size_t content_size)
    {
        const Bytes content = text_of(content_size);
        if (kind == Kind::compress)
            return content;
        if (kind == Kind::decompress)
            return stored(content);
        Bytes block(content_size);
        const int length =
            LZ4_compress_default(reinterpret_cast<const char *>(content.data()), reinterpret_cast<char *>(block.data()),
                                 static_cast<int>(content_size), static_cast<int>(content_size));
        block.resize(static_cast<std::size_t>(length));
        if (kind == Kind::lz4_stream) {
            const std::byte size[] = {static_cast<std::byte>(length), static_cast<std::byte>(length >> 8),
                                      static_cast<std::byte>(length >> 16), std::byte{}};
            block.insert(block.begin(), std::begin(size), std::end(size));
        }
        return block;
    }
    /// The DEFLATE stream of @p content in blocks that are stored as they are.
    static Bytes stored(std::span<const std::byte> content)
    {
        Bytes stream;
        while (!content.empty()) {
            const std::size_t size = std::min<std::size_t>(content.size(), 65535);
            const auto low = static_cast<std::byte>(size), high = static_cast<std::byte>(size >> 8);
            const bool is_last = size == content.size();
            const std::byte header[] = {static_cast<std::byte>(is_last ? 1 : 0), low, high, ~low, ~high};
            stream.insert(stream.end(), std::begin(header), std::end(header));
            stream.insert(stream.end(), content.begin(), content.begin() + static_cast<std::ptrdiff_t>(size));
            content = content.subspan(size);
        }
        return stream;
    }
    BufHandle take(std::byte *at, std::size_t length, bool has_data)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_args(inventory_, map_, at, length, at, has_data ? length : 0, buf.out()));
        return buf;
    }
    static void chain(doca_buf *head, BufHandle buf) { must(doca_buf_chain_list(head, buf.release())); }

    const std::size_t area_; ///< bytes for a source, and for a result
    DevHandle dev_;
    Bytes memory_ = Bytes(num_tasks * 2 * area_);
    MmapHandle map_ = map_of(dev_, memory_);
    InventoryHandle inventory_ = inventory_of(4 * num_tasks);
    PeHandle pe_ = [] {
        PeHandle pe;
        must(doca_pe_create(pe.out()));
        return pe;
    }();
    std::vector<BufHandle> bufs_;
    CompressContext context_{dev_, pe_, num_tasks};
    std::vector<doca_task *> tasks_;
};

class CompressCost : public testing::TestWithParam<Kind> {
protected:
    static void expect_free(Kind kind, bool has_lists)
    {
        const std::vector<std::string> devices = compressing_devices();
        if (is_sanitized || devices.empty())
            GTEST_SKIP() << "a sanitizer allocates, locks and calls the kernel on its own; or there is no device";
        void *const shared = mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(shared, MAP_FAILED);
        auto &report = *static_cast<Report *>(shared);
        const pid_t child = fork();
        if (child == 0) {
            auto *const tasks = new Tasks(devices.front(), kind, short_content, has_lists);
            (void)tasks->run(Tasks::max_rounds);
            report.is_trapping = trap_system_calls();
            begin_counting();
            report.num_succeeded = tasks->run(Tasks::max_rounds);
            report.costs = end_counting();
            _exit(0); // nothing else works any more
        }
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
        EXPECT_EQ(report.num_succeeded, num_tasks * Tasks::max_rounds);
        EXPECT_EQ(report.costs.allocations, 0u);
        EXPECT_EQ(report.costs.locks, 0u);
        if (report.is_trapping) {
            EXPECT_EQ(report.costs.system_calls, 0u);
        }
        munmap(shared, sizeof(Report));
    }
};

TEST_P(CompressCost, OfOneBufferIsNothing)
{
    expect_free(GetParam(), false);
}

TEST_P(CompressCost, OfListsIsNothing)
{
    expect_free(GetParam(), true);
}

std::ptrdiff_t num_threads()
{
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

/// From the first submit after the start on. The thread's wake-ups are system calls.
TEST_P(CompressCost, OfLongTasksIsNoAllocation)
{
    const std::vector<std::string> devices = compressing_devices();
    if (is_sanitized || devices.empty())
        GTEST_SKIP() << "a sanitizer allocates and locks on its own; or there is no device";
    for (const bool has_lists : {false, true}) {
        Tasks tasks(devices.front(), GetParam(), long_content, has_lists);
        const std::ptrdiff_t num_before = num_threads();
        begin_counting();
        const std::uint32_t num_succeeded = tasks.run(1);
        const Costs costs = end_counting();
        EXPECT_EQ(num_threads(), num_before);
        EXPECT_EQ(num_succeeded, num_tasks);
        EXPECT_EQ(costs.allocations, 0u);
        EXPECT_EQ(costs.locks, 0u);
    }
}

INSTANTIATE_TEST_SUITE_P(kind, CompressCost, testing::ValuesIn(all_kinds));

} // namespace
