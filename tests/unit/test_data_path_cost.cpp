// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Between submit and retrieve nothing is allocated or locked, and the kernel is not asked for anything.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../conformance/support/rdma_fixture.hpp"
#include "../conformance/support/remote_memory.hpp"
#include "../conformance/support/sanitizers.hpp"
#include "../conformance/support/sha_fixture.hpp"
#include "cost_counters.hpp"

namespace {

using namespace doca_test;

constexpr int num_jobs = 10'000;

/// What a forked child tells.
struct Report {
    bool is_trapping;
    int jobs_done;
    Costs costs;
};

/// Sets up in a forked child by @p set_up, which gives the code to be measured, and runs that once to warm up
/// and once while everything is counted. The code gives the number of jobs that it did.
template <typename SetUp>
Report measure(SetUp set_up)
{
    void *const shared = mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must_hold(shared != MAP_FAILED, "memory for the report");
    auto &report = *static_cast<Report *>(shared);
    const int status = in_forked_child([&] {
        auto run = set_up();
        run();
        report.is_trapping = trap_system_calls();
        if (!report.is_trapping)
            return 0;
        begin_counting();
        report.jobs_done = run();
        report.costs = end_counting();
        _exit(0); // nothing else works any more
    });
    EXPECT_EQ(status, 0);
    const Report result = report;
    munmap(shared, sizeof(Report));
    return result;
}

/// A source and a destination list, and the engine between them.
class Copying {
public:
    Copying(const DeviceParam &device, std::uint32_t depth) : dev_(open_device(device)), depth_(depth) {}

    void add_local(std::size_t size)
    {
        for (BufHandle *const end : {&src_, &dst_}) {
            memories_.push_back(std::make_unique<std::vector<std::byte>>(size));
            std::vector<std::byte> &memory = *memories_.back();
            fill(memory, end == &src_ ? 1 : 2);
            maps_.push_back(std::make_unique<LocalMap>(dev_, memory));
            append(*end, *maps_.back(), memory.data(), size, end == &src_);
        }
    }

    /// The first half of what @p remote exports is copied to the second.
    void add_remote(const RemoteMemory &remote)
    {
        imports_.push_back(remote.import(dev_));
        const std::size_t half = remote.size() / 2;
        append(src_, imports_.back(), remote.addr(), half, true);
        append(dst_, imports_.back(), remote.addr() + half, half, false);
    }

    /// As many jobs as the queue is deep are submitted, then all of them are retrieved, and so on.
    int run()
    {
        const doca_dma_job_memcpy job = memcpy_job(engine_.ctx(), dst_, src_);
        int done = 0;
        while (done < num_jobs) {
            std::uint32_t submitted = 0;
            while (submitted < depth_ && doca_workq_submit(engine_.workq(), &job.base) == DOCA_SUCCESS)
                ++submitted;
            if (submitted != depth_)
                return -1;
            for (std::uint32_t i = 0; i < submitted; ++i) {
                doca_event event;
                if (doca_workq_progress_retrieve(engine_.workq(), &event, 0) != DOCA_SUCCESS)
                    return -2;
                ++done;
            }
        }
        return done;
    }

private:
    void append(BufHandle &list, doca_mmap *map, void *addr, std::size_t size, bool is_source) const
    {
        BufHandle buf = is_source ? inventory_.full(map, addr, size) : inventory_.empty(map, addr, size);
        if (list.get() == nullptr)
            list = std::move(buf);
        else
            must(doca_buf_list_chain(list, buf.release()));
    }

    DevHandle dev_;
    std::uint32_t depth_;
    std::vector<std::unique_ptr<std::vector<std::byte>>> memories_;
    std::vector<std::unique_ptr<LocalMap>> maps_;
    std::vector<MmapHandle> imports_;
    Inventory inventory_{64};
    DmaEngine engine_{dev_, depth_};
    BufHandle src_;
    BufHandle dst_;
};

/// A message, room for its digest, and the engine between them. Pieces are messages of two of them.
class Hashing {
public:
    Hashing(const DeviceParam &device, std::uint32_t depth) : dev_(open_device(device)), depth_(depth) {}

    int run(const ShaKind &kind, bool is_piece)
    {
        const doca_sha_job whole = sha_job(engine_.ctx(), kind, from_, to_);
        int done = 0;
        while (done < num_jobs) {
            for (std::uint32_t i = 0; i < depth_; ++i) {
                if ((is_piece ? engine_.submit(sessions_[i]->job(kind, from_, to_, done / depth_ % 2 == 1))
                              : engine_.submit(whole)) != DOCA_SUCCESS)
                    return -1;
                (void)doca_buf_set_data(to_, memory_.data(), 0);
            }
            for (std::uint32_t i = 0; i < depth_; ++i) {
                doca_event event;
                if (doca_workq_progress_retrieve(engine_.workq(), &event, 0) != DOCA_SUCCESS)
                    return -2;
                ++done;
            }
        }
        return done;
    }

private:
    DevHandle dev_;
    std::uint32_t depth_;
    std::vector<std::byte> memory_ = std::vector<std::byte>(1024);
    LocalMap map_{dev_, memory_};
    Inventory inventory_{2};
    ShaEngine engine_{dev_, depth_};
    BufHandle from_ = inventory_.full(map_, &memory_[128], 256);
    BufHandle to_ = inventory_.empty(map_, memory_.data(), 64);
    std::vector<std::unique_ptr<Session>> sessions_ = [this] {
        std::vector<std::unique_ptr<Session>> sessions;
        for (std::uint32_t i = 0; i < depth_; ++i)
            sessions.push_back(std::make_unique<Session>(engine_));
        return sessions;
    }();
};

/// Two instances that are connected, and one job of each kind at a time between them.
class Talking {
public:
    Talking(const DeviceParam &device, std::size_t size) : dev_(open_device(device)), memory_(3 * size)
    {
        must(left_.connect(right_.details()));
        must(right_.connect(left_.details()));
        local_full_ = inventory_.full(map_, memory_.data(), size);
        local_empty_ = inventory_.empty(map_, memory_.data() + size, size);
        remote_full_ = inventory_.full(imported_, memory_.data() + 2 * size, size);
        remote_empty_ = inventory_.empty(imported_, memory_.data() + 2 * size, size);
    }

    int run()
    {
        int done = 0;
        while (done < num_jobs) {
            must(doca_buf_reset_data_len(local_empty_));
            must(right_.receive(local_empty_));
            must(left_.send(local_full_));
            must(right_.result());
            must(doca_buf_reset_data_len(remote_empty_));
            must(left_.write(remote_empty_, local_full_));
            must(doca_buf_reset_data_len(local_empty_));
            must(left_.read(local_empty_, remote_full_));
            must(left_.add(remote_full_, local_empty_, 1));
            for (int i = 0; i < 4; ++i)
                must(left_.result());
            done += 5;
        }
        return done;
    }

private:
    DevHandle dev_;
    std::vector<std::byte> memory_;
    LocalMap map_{dev_.get(), memory_, exposed};
    MmapHandle imported_{import_rdma(export_rdma(map_, dev_), dev_)};
    Inventory inventory_{4};
    RdmaEnd left_{dev_};
    RdmaEnd right_{dev_};
    BufHandle local_full_, local_empty_, remote_full_, remote_empty_;
};

class DataPathCost : public testing::TestWithParam<std::uint32_t> {
protected:
    void SetUp() override
    {
        if (is_sanitized)
            GTEST_SKIP() << "a sanitizer allocates, locks and calls the kernel on its own";
        const std::vector<DevicePair> pairs = one_device_pair();
        if (pairs.empty() || !pairs.front().importer.is_soft())
            GTEST_SKIP() << "there is no software device";
        pair = pairs.front();
    }

    void expect_free(const std::function<void(Copying &)> &add_ends) const
    {
        const Report report = measure([&] {
            auto copying = std::make_shared<Copying>(pair.importer, GetParam());
            add_ends(*copying);
            return [copying] { return copying->run(); };
        });
        if (!report.is_trapping)
            GTEST_SKIP() << "the kernel does not let this process filter its system calls";
        EXPECT_GE(report.jobs_done, num_jobs);
        EXPECT_EQ(report.costs.allocations, 0u);
        EXPECT_EQ(report.costs.locks, 0u);
        EXPECT_EQ(report.costs.system_calls, 0u);
    }

    DevicePair pair;
};

TEST_P(DataPathCost, OfLocalCopiesIsNothing)
{
    for (const std::size_t size : {8u, 4096u, 65536u})
        expect_free([&](Copying &copying) { copying.add_local(size); });
}

TEST_P(DataPathCost, OfListsIsNothing)
{
    expect_free([](Copying &copying) {
        for (const std::size_t size : {100u, 2048u, 1u, 5000u})
            copying.add_local(size);
    });
}

TEST_P(DataPathCost, OfCopiesInSharedMemoryOfAnotherProcessIsNothing)
{
    const RemoteMemory remote(pair.exporter, {.kind = MemoryKind::memfd, .size = 8192});
    expect_free([&](Copying &copying) { copying.add_remote(remote); });
}

TEST_P(DataPathCost, OfListsOverSeveralProcessesIsNothing)
{
    const RemoteMemory a(pair.exporter, {.kind = MemoryKind::memfd, .size = 8192});
    const RemoteMemory b(pair.exporter, {.kind = MemoryKind::shared_file, .size = 20'000});
    expect_free([&](Copying &copying) {
        copying.add_remote(a);
        copying.add_local(1000);
        copying.add_remote(b);
    });
}

TEST_P(DataPathCost, OfDigestsIsNothing)
{
    for (const ShaKind &kind : sha_kinds) {
        for (const bool is_piece : {false, true}) {
            SCOPED_TRACE(std::string(kind.name) + (is_piece ? " in pieces" : ""));
            const Report report = measure([&] {
                auto hashing = std::make_shared<Hashing>(pair.importer, GetParam());
                return [=, &kind] { return hashing->run(kind, is_piece); };
            });
            if (!report.is_trapping)
                GTEST_SKIP() << "the kernel does not let this process filter its system calls";
            EXPECT_GE(report.jobs_done, num_jobs);
            EXPECT_EQ(report.costs.allocations, 0u);
            EXPECT_EQ(report.costs.locks, 0u);
            EXPECT_EQ(report.costs.system_calls, 0u);
        }
    }
}

/// Ordinary memory of another process costs what the kernel's way to it costs, and no more.
TEST_P(DataPathCost, OfOrdinaryMemoryOfAnotherProcessIsTheKernelsWork)
{
    const RemoteMemory remote(pair.exporter, {.kind = MemoryKind::heap, .size = 8192});
    const Report report = measure([&] {
        auto copying = std::make_shared<Copying>(pair.importer, GetParam());
        copying->add_remote(remote);
        return [copying] { return copying->run(); };
    });
    if (!report.is_trapping)
        GTEST_SKIP() << "the kernel does not let this process filter its system calls";
    EXPECT_GT(report.costs.system_calls, 0u);
}

TEST_P(DataPathCost, OfRdmaIsNothing)
{
    const std::size_t size = GetParam() == 1 ? 8 : 3000; // in a cell, and placed
    const Report report = measure([&] {
        auto talking = std::make_shared<Talking>(pair.importer, size);
        return [talking] { return talking->run(); };
    });
    if (!report.is_trapping)
        GTEST_SKIP() << "the kernel does not let this process filter its system calls";
    EXPECT_GE(report.jobs_done, num_jobs);
    EXPECT_EQ(report.costs.allocations, 0u);
    EXPECT_EQ(report.costs.locks, 0u);
    EXPECT_EQ(report.costs.system_calls, 0u);
}

INSTANTIATE_TEST_SUITE_P(depth, DataPathCost, testing::Values(1u, 32u));

/// The counters count.
class CostCounters : public testing::Test {
protected:
    void SetUp() override
    {
        if (is_sanitized)
            GTEST_SKIP() << "a sanitizer has its own allocator and locks";
    }
};

TEST_F(CostCounters, SeeAllocations)
{
    begin_counting();
    void *volatile memory = std::malloc(100);
    std::free(memory);
    auto *volatile object = new int[10];
    delete[] object;
    const Costs costs = end_counting();
    EXPECT_EQ(costs.allocations, 4u);
    EXPECT_EQ(costs.bytes, 140u);
    begin_counting();
    EXPECT_EQ(end_counting(), Costs{});
}

TEST_F(CostCounters, SeeAllocationsOfTheLibraries)
{
    begin_counting();
    doca_mmap *mmap = nullptr;
    const doca_error_t created = doca_mmap_create(nullptr, &mmap);
    const doca_error_t destroyed = doca_mmap_destroy(mmap);
    const Costs costs = end_counting();
    EXPECT_EQ(created, DOCA_SUCCESS);
    EXPECT_EQ(destroyed, DOCA_SUCCESS);
    EXPECT_GE(costs.allocations, 2u);
}

TEST_F(CostCounters, SeeLocks)
{
    std::mutex mutex;
    begin_counting();
    mutex.lock();
    mutex.unlock();
    EXPECT_EQ(end_counting().locks, 2u);
}

TEST_F(CostCounters, SeeLocksOfTheLibraries)
{
    begin_counting();
    doca_devinfo **list = nullptr;
    std::uint32_t size = 0;
    const doca_error_t status = doca_devinfo_list_create(&list, &size);
    doca_dev *dev = nullptr;
    const doca_error_t opened = status == DOCA_SUCCESS ? doca_dev_open(list[0], &dev) : status;
    const Costs costs = end_counting();
    ASSERT_EQ(opened, DOCA_SUCCESS);
    EXPECT_EQ(doca_dev_close(dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_devinfo_list_destroy(list), DOCA_SUCCESS);
    EXPECT_GT(costs.locks, 0u);
}

TEST_F(CostCounters, SeeSystemCalls)
{
    const Report report = measure([] {
        return [] {
            for (int i = 0; i < 7; ++i)
                syscall(SYS_getppid);
            return 7;
        };
    });
    if (!report.is_trapping)
        GTEST_SKIP() << "the kernel does not let this process filter its system calls";
    EXPECT_EQ(report.costs.system_calls, 7u);
}

TEST(WorkqMemory, OfAnIdleQueueOf1024JobsIsLessThan256KiB)
{
    if (is_sanitized)
        GTEST_SKIP() << "a sanitizer has its own allocator";
    const std::vector<DeviceParam> devices = devices_that(can_copy);
    ASSERT_FALSE(devices.empty());
    const DevHandle dev = open_device(devices.front());
    DmaHandle dma;
    must(doca_dma_create(dma.out()));
    doca_ctx *const ctx = doca_dma_as_ctx(dma);
    must(doca_ctx_dev_add(ctx, dev));
    must(doca_ctx_start(ctx));
    WorkqHandle workq;
    begin_counting();
    const doca_error_t created = doca_workq_create(1024, workq.out());
    const doca_error_t added = doca_ctx_workq_add(ctx, workq);
    const Costs costs = end_counting();
    EXPECT_EQ(created, DOCA_SUCCESS);
    ASSERT_EQ(added, DOCA_SUCCESS);
    EXPECT_GT(costs.bytes, 1024u) << "the counter counts";
    EXPECT_LT(costs.bytes, std::uint64_t{256} << 10);
    EXPECT_EQ(doca_ctx_workq_rm(ctx, workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

} // namespace
