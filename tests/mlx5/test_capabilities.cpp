// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What mlx5 devices say that they can do, on each kind of card: asked once a process, and never by listing.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doca_rdma.h>

#include "../../src/core/objects/dev.hpp"
#include "../conformance/support/sync_event.hpp"
#include "card.hpp"

namespace {

using namespace mlx5_test;

std::string profile()
{
    return std::getenv("OPENDOCA_TEST_PROFILE");
}
bool is_bluefield()
{
    return profile().starts_with("bluefield");
}

class Mlx5Capabilities : public DeviceTest {};

INSTANTIATE_FOR_EVERY_DEVICE(Mlx5Capabilities, exists);

/// The first test: nothing was asked before.
TEST(Mlx5Listing, TriesNothingAndTheFirstQuestionTriesOnce)
{
    const std::uint64_t copies = dma_copies(), keys = card_count("keys");
    const DevinfoList list;
    ASSERT_NE(list.size(), 0u);
    EXPECT_EQ(dma_copies(), copies);
    EXPECT_EQ(card_count("keys"), keys);
    const std::uint64_t tried = is_bluefield() ? 1 : 0;
    (void)list[0]->function->remarks();
    EXPECT_EQ(dma_copies(), copies + tried);
    (void)list[0]->function->remarks();
    const DevinfoList other;
    (void)other[0]->function->remarks();
    EXPECT_EQ(dma_copies(), copies + tried) << "of the process, and not of the list";
}

TEST_P(Mlx5Capabilities, MemoryAcrossThePcieIsForCardsThatShareKeys)
{
    EXPECT_EQ(info->function->provider, "mlx5");
    EXPECT_EQ(can_export(info), is_bluefield());
    EXPECT_EQ(can_import(info), is_bluefield());
    std::vector<std::byte> memory(4096);
    const LocalMap map(dev, memory, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE);
    const void *descriptor = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(doca_mmap_export_dpu(map, dev, &descriptor, &size),
              is_bluefield() ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED);
}

TEST_P(Mlx5Capabilities, SoAreSyncEventsAndAllHaveThemWithinAProcess)
{
    EXPECT_EQ(exports_sync_events(info), is_bluefield());
    EXPECT_EQ(doca_sync_event_get_create_from_export_supported(info),
              is_bluefield() ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED);
    Event event(dev, Publisher::cpu);
    event.start();
    must(doca_sync_event_update_set(event, 3));
    EXPECT_EQ(doca_sync_event_wait_gt(event, 2, all_bits), DOCA_SUCCESS);
    const std::uint8_t *data = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(doca_sync_event_export_to_dpu(event, dev, &data, &size),
              is_bluefield() ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED);
    // From now on it is changed by the device, where that can be.
    must(doca_sync_event_update_add(event, 4, nullptr));
    EXPECT_EQ(event.get(), 7u);
}

TEST_P(Mlx5Capabilities, BothClocksCanBeRead)
{
    EXPECT_TRUE(info->function->can.free_running_clock);
    EXPECT_TRUE(info->function->can.real_time_clock);
}

/// A BlueField's own function in switchdev mode has no GID, so it cannot connect: it has atomics for sync events only.
TEST_P(Mlx5Capabilities, AtomicsOfConnectionsNeedAFunctionThatConnects)
{
    const opendoca::RdmaCapabilities &can = info->function->can.rdma;
    EXPECT_TRUE(can.atomics);
    const doca_error_t expected = can.reliable_connection ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
    for (const auto type : {DOCA_RDMA_JOB_SEND, DOCA_RDMA_JOB_ATOMIC_CMP_SWP, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD})
        EXPECT_EQ(doca_rdma_job_get_supported(info, type), expected) << type;
}

TEST_P(Mlx5Capabilities, CopiesWithinTheProcessWorkByWhatThereIs)
{
    const std::uint64_t copies = dma_copies();
    std::vector<std::byte> memory(200000);
    const LocalMap map(dev, memory);
    const Inventory inventory(2);
    const DmaEngine engine(dev);
    const std::uint64_t before = std::max(dma_copies(), copies); // the first engine tries
    fill(std::span(memory).first(100000), 1);
    const BufHandle src = inventory.full(map, memory.data(), 100000),
                    dst = inventory.empty(map, memory.data() + 100000, 100000);
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(std::span(memory).subspan(100000), 1));
    EXPECT_EQ(dma_copies() - before, is_bluefield() ? 1u : 0u);
    const std::string expected = is_bluefield() ? "copies by the DMA engine" : "copies by RDMA loopback: ";
    EXPECT_TRUE(info->function->remarks()[0].starts_with(expected)) << info->function->remarks()[0];
}

TEST_P(Mlx5Capabilities, ACopyLongerThanTheEngineTakesIsCutUp)
{
    constexpr std::size_t size = (std::size_t{2} << 20) + 100;
    std::vector<std::byte> memory(2 * size);
    const LocalMap map(dev, memory);
    const Inventory inventory(2);
    const DmaEngine engine(dev);
    const std::uint64_t before = dma_copies();
    fill(std::span(memory).first(size), 2);
    const BufHandle src = inventory.full(map, memory.data(), size),
                    dst = inventory.empty(map, memory.data() + size, size);
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(std::span(memory).subspan(size), 2));
    EXPECT_EQ(dma_copies() - before, !is_bluefield() ? 0u : profile() == "bluefield-2" ? 2u : 1u);
}

/// Which devlink, the names of ports and the card tell together.
TEST_P(Mlx5Capabilities, RepresentorsAreThoseOfTheFunctionsBehindThem)
{
    using Names = std::vector<std::pair<std::string, std::string>>;
    Names found;
    for (const auto &rep : info->function->representors())
        found.emplace_back(rep.name, rep.vuid);
    Names expected;
    if (std::string_view(std::getenv("OPENDOCA_CARD_SIDE")).ends_with("/dpu") &&
        info->function->ibdev_name == "mlx5_0") {
        expected = {{"pf0hpf", "MT2347XZ03201MLNXS0D0F0"},
                    {"pf0vf0", "MT2347XZ03202MLNXS0D0F1"},
                    {"en3f0pf0sf4", "MT2347XZ03206MLNXS0D1F32772"}};
    }
    EXPECT_EQ(found, expected);
}

TEST_P(Mlx5Capabilities, AFailedCopyDoesNotEndTheOthers)
{
    std::vector<std::byte> memory(20000);
    const LocalMap map(dev, memory);
    const Inventory inventory(64);
    const DmaEngine engine(dev, 32);
    fill(std::span(memory).first(10000), 1);
    // Memory that is registered and then no longer there: the card cannot reach it.
    constexpr std::size_t hole = 4096;
    void *const gone = mmap(nullptr, hole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const LocalMap gone_map(dev, {static_cast<std::byte *>(gone), hole});
    ASSERT_EQ(munmap(gone, hole), 0);
    const BufHandle src = inventory.full(map, memory.data(), 1000), bad = inventory.full(gone_map, gone, 1000);
    std::vector<BufHandle> dsts;
    for (std::uint64_t i = 0; i < 20; ++i) {
        dsts.push_back(inventory.empty(map, memory.data() + 10000, 1000));
        ASSERT_EQ(engine.submit(dsts.back(), i == 7 ? bad : src, i), DOCA_SUCCESS);
    }
    for (std::uint64_t i = 0; i < 20; ++i) {
        doca_event event = {};
        (void)wait_for(engine.workq(), event);
        EXPECT_EQ(event.result.u64 == DOCA_SUCCESS, event.user_data.u64 != 7) << event.user_data.u64;
    }
}

} // namespace
