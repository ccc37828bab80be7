// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// DOCA_SOFT_FAULTS: what is asked for fails, and nothing else.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/environment.hpp"
#include "support/log_capture.hpp"
#include "support/rdma_fixture.hpp"
#include "support/sync_event.hpp"

namespace {

using namespace doca_test;

constexpr std::uint32_t to_dpu = DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE;

std::vector<std::byte> export_dpu(doca_mmap *map, doca_dev *dev)
{
    const void *descriptor = nullptr;
    std::size_t size = 0;
    must(doca_mmap_export_dpu(map, dev, &descriptor, &size));
    return to_vector(descriptor, size);
}

/// Sixteen local copies in a row; what each came to. A refusal is followed by the next one.
std::vector<doca_error_t> copy_often(const char *faults, std::size_t count = 16, bool is_event_driven = false)
{
    const Environment variable("DOCA_SOFT_FAULTS", faults);
    const DevHandle dev = open_device("soft_p0");
    std::vector<std::byte> memory(2 * 64);
    const LocalMap map(dev, memory);
    const Inventory inventory(2);
    const DmaEngine engine(dev, 8, is_event_driven);
    std::vector<doca_error_t> results;
    for (std::size_t i = 0; i < count; ++i) {
        fill(std::span(memory).first(64), static_cast<std::uint32_t>(i));
        fill(std::span(memory).subspan(64), static_cast<std::uint32_t>(i) + 1);
        const BufHandle dst = inventory.empty(map, &memory[64], 64);
        results.push_back(engine.copy(dst, inventory.full(map, memory.data(), 64)));
        const bool is_copied = std::equal(memory.begin(), memory.begin() + 64, memory.begin() + 64);
        EXPECT_EQ(is_copied, results.back() == DOCA_SUCCESS);
        EXPECT_EQ(data_len_of(dst), results.back() == DOCA_SUCCESS ? 64u : 0u);
    }
    return results;
}

/// Their numbers, counted from 1.
std::vector<std::size_t> failed(const std::vector<doca_error_t> &results, doca_error_t how)
{
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i] == how)
            numbers.push_back(i + 1);
        else
            EXPECT_EQ(results[i], DOCA_SUCCESS) << "number " << i + 1;
    }
    return numbers;
}

using Numbers = std::vector<std::size_t>;

TEST(FaultsTest, ChosenJobsFail)
{
    EXPECT_EQ(failed(copy_often("job=3"), DOCA_ERROR_IO_FAILED), Numbers({3}));
    EXPECT_EQ(failed(copy_often("job:dma=14+"), DOCA_ERROR_IO_FAILED), Numbers({14, 15, 16}));
    EXPECT_EQ(failed(copy_often("job=*/5,seed=7"), DOCA_ERROR_IO_FAILED), Numbers({5, 10, 15}));
    EXPECT_EQ(failed(copy_often("job=2,job:dma=4"), DOCA_ERROR_IO_FAILED), Numbers({2, 4}));
    EXPECT_EQ(failed(copy_often("job=3", 16, true), DOCA_ERROR_IO_FAILED), Numbers({3}));
    EXPECT_EQ(failed(copy_often("job:rdma=1+,job:sync_event=1+"), DOCA_ERROR_IO_FAILED), Numbers());
    EXPECT_EQ(failed(copy_often(""), DOCA_ERROR_IO_FAILED), Numbers());
}

TEST(FaultsTest, RandomOnesAreThoseOfTheSeed)
{
    constexpr std::size_t count = 2000;
    const Numbers once = failed(copy_often("seed=7,job=10%", count), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(failed(copy_often("job=10%,seed=7", count), DOCA_ERROR_IO_FAILED), once);
    EXPECT_NE(failed(copy_often("seed=8,job=10%", count), DOCA_ERROR_IO_FAILED), once);
    EXPECT_GT(once.size(), count / 20);
    EXPECT_LT(once.size(), count / 5);
    const Numbers twice = failed(copy_often("seed=7,job=10%,job:dma=10%", count), DOCA_ERROR_IO_FAILED);
    EXPECT_GT(twice.size(), once.size() * 5 / 4) << "two items do not strike at the same time";
}

TEST(FaultsTest, AQueueIsFull)
{
    EXPECT_EQ(failed(copy_often("full=1"), DOCA_ERROR_NO_MEMORY), Numbers({1}));
    EXPECT_EQ(failed(copy_often("full:dma=*/8"), DOCA_ERROR_NO_MEMORY), Numbers({8, 16}));
}

TEST(FaultsTest, RegistrationsAndImportsAreRefused)
{
    const Environment variable("DOCA_SOFT_FAULTS", "register=2,import=1");
    const DevHandle host = open_device("soft_pf0");
    const DevHandle dpu = open_device("soft_p0");
    std::vector<std::byte> memory(64);
    const LocalMap first(host, memory, to_dpu);
    MmapHandle second;
    must(doca_mmap_create(nullptr, second.out()));
    must(doca_mmap_dev_add(second, host));
    must(doca_mmap_set_memrange(second, memory.data(), memory.size()));
    must(doca_mmap_set_permissions(second, to_dpu));
    const LogCapture log;
    EXPECT_EQ(doca_mmap_start(second), DOCA_ERROR_NO_MEMORY);
    EXPECT_LOGGED(log, "DOCA_SOFT_FAULTS");
    EXPECT_EQ(doca_mmap_start(second), DOCA_SUCCESS) << "the next attempt";

    const std::vector<std::byte> descriptor = export_dpu(first, host);
    MmapHandle imported;
    EXPECT_EQ(doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dpu, imported.out()),
              DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(imported.get(), nullptr);
    EXPECT_EQ(doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dpu, imported.out()),
              DOCA_SUCCESS);
}

TEST(FaultsTest, AnExporterVanishes)
{
    const Environment variable("DOCA_SOFT_FAULTS", "peer:dma=2");
    const DevHandle host = open_device("soft_pf0");
    const DevHandle dpu = open_device("soft_p0");
    std::vector<std::byte> memory(64), own(64);
    const LocalMap exported(host, memory, to_dpu);
    const std::vector<std::byte> descriptor = export_dpu(exported, host);
    MmapHandle imported;
    must(doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dpu, imported.out()));
    const LocalMap own_map(dpu, own);
    const Inventory inventory(2);
    const DmaEngine engine(dpu);
    const auto copy = [&](doca_mmap *from) {
        return engine.copy(inventory.empty(own_map, own.data(), 32),
                           inventory.full(from, from == own_map ? own.data() + 32 : memory.data(), 32));
    };
    EXPECT_EQ(copy(own_map), DOCA_SUCCESS) << "has no peer";
    EXPECT_EQ(copy(imported), DOCA_SUCCESS);
    EXPECT_EQ(copy(imported), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(copy(imported), DOCA_ERROR_CONNECTION_RESET) << "it does not come back";
    EXPECT_EQ(copy(own_map), DOCA_SUCCESS);
}

TEST(FaultsTest, AJobThatFailsEndsItsConnection)
{
    for (const auto &[faults, result] :
         {std::pair("job:rdma=3", DOCA_ERROR_IO_FAILED), std::pair("peer=3", DOCA_ERROR_CONNECTION_RESET)}) {
        SCOPED_TRACE(faults);
        const Environment variable("DOCA_SOFT_FAULTS", faults);
        const DevHandle dev = open_device("soft_p0");
        std::vector<std::byte> memory(256);
        const LocalMap map(dev, memory, exposed);
        const Inventory inventory(8);
        RdmaEnd left(dev), right(dev);
        must(left.connect(right.details()));
        must(right.connect(left.details()));
        must(right.receive(inventory.empty(map, memory.data(), 64), 1));
        must(right.receive(inventory.empty(map, memory.data() + 64, 64), 2));
        const BufHandle src = inventory.full(map, memory.data() + 128, 64);
        must(left.send(src));
        EXPECT_EQ(left.result(), result);
        EXPECT_EQ(left.state(), DOCA_RDMA_STATE_ERROR);
        EXPECT_EQ(left.send(src), DOCA_ERROR_BAD_STATE);
        EXPECT_EQ(right.result(), DOCA_ERROR_CONNECTION_RESET) << "the other side hears of it";
        EXPECT_EQ(right.result(), DOCA_ERROR_SHUTDOWN);
    }
}

TEST(FaultsTest, EveryJobOfAConnectionCanBeRefused)
{
    const Environment variable("DOCA_SOFT_FAULTS", "full:rdma=*/2");
    const DevHandle dev = open_device("soft_p0");
    std::vector<std::byte> memory(256);
    const LocalMap map(dev, memory, exposed);
    const MmapHandle imported = import_rdma(export_rdma(map, dev), dev);
    const Inventory inventory(8);
    RdmaEnd left(dev), right(dev);
    must(left.connect(right.details()));
    must(right.connect(left.details()));
    const BufHandle src = inventory.full(map, memory.data(), 8);
    const BufHandle remote_src = inventory.full(imported, memory.data() + 64, 8);
    const auto empty = [&](doca_mmap *of, std::size_t at) { return inventory.empty(of, memory.data() + at, 8); };
    // Each takes an odd number and an even one.
    EXPECT_EQ(right.receive(empty(map, 128)), DOCA_SUCCESS);
    EXPECT_EQ(right.receive(empty(map, 128)), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(left.send(src), DOCA_SUCCESS);
    EXPECT_EQ(left.send(src), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(left.read(empty(map, 136), remote_src), DOCA_SUCCESS);
    EXPECT_EQ(left.read(empty(map, 136), remote_src), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(left.write(empty(imported, 144), src), DOCA_SUCCESS);
    EXPECT_EQ(left.write(empty(imported, 144), src), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(left.add(empty(imported, 152), empty(map, 160), 1), DOCA_SUCCESS);
    EXPECT_EQ(left.add(empty(imported, 152), empty(map, 160), 1), DOCA_ERROR_NO_MEMORY);
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(left.result(), DOCA_SUCCESS);
    EXPECT_EQ(right.result(), DOCA_SUCCESS);
}

TEST(FaultsTest, SyncEventsFail)
{
    const Environment variable("DOCA_SOFT_FAULTS", "job:sync_event=2,peer:sync_event=3,full=2");
    const DevHandle dev = open_device("soft_p0");
    Event event(dev, Publisher::cpu);
    event.start();
    EXPECT_EQ(doca_sync_event_update_set(event, 5), DOCA_SUCCESS);
    std::uint64_t value = 77;
    EXPECT_EQ(doca_sync_event_get(event, &value), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(value, 77u);
    EXPECT_EQ(doca_sync_event_get(event, &value), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(doca_sync_event_wait_gt(event, 1, all_bits), DOCA_ERROR_CONNECTION_RESET) << "it does not come back";

    Event waited(dev, Publisher::cpu);
    waited.start_as_ctx();
    EventQueue queue;
    queue.add(waited);
    EXPECT_EQ(queue.submit_wait(waited, 0), DOCA_SUCCESS);
    EXPECT_EQ(queue.submit_wait(waited, 0), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(queue.submit_set(waited, 1), DOCA_SUCCESS);
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(queue.poll().result.u64, std::uint64_t{DOCA_SUCCESS});
}

TEST(FaultsTest, WhatCantBeUnderstoodIsExplained)
{
    for (const char *const text : {"jab=1",     "job",
                                   "job=",      "job=0",
                                   "job=x",     "job=-1",
                                   "job=1+2",   "job=*/0",
                                   "job=0%",    "job=101%",
                                   "job=%",     "job:sha=1",
                                   "job:=1",    "register:dma=1",
                                   "import:=1", "seed=",
                                   "seed=x",    "job=1,,job=2",
                                   ",",         "=",
                                   ":=",        "job=99999999999999999999",
                                   "job=nan%",  "job=1e400%"}) {
        SCOPED_TRACE(text);
        const Environment variable("DOCA_SOFT_FAULTS", text);
        const LogCapture log;
        doca_devinfo **list = nullptr;
        std::uint32_t size = 0;
        EXPECT_EQ(doca_devinfo_list_create(&list, &size), DOCA_ERROR_INVALID_VALUE);
        EXPECT_LOGGED(log, "DOCA_SOFT_FAULTS: '");
        EXPECT_LOGGED(log, "3+ (from the third on)");
    }
    const Environment variable("DOCA_SOFT_FAULTS", "job=1,");
    const DevinfoList list;
    EXPECT_GT(list.size(), 0u);
}

} // namespace
