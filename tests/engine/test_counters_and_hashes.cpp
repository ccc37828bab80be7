// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Operations that the CPU does for any device, through a front end of the test's own.
#include <array>
#include <cstring>

#include <openssl/sha.h>

#include <gtest/gtest.h>

#include "../../src/core/dev.hpp"
#include "../../src/core/device/counter.hpp"
#include "../../src/sha/hash_queue.hpp"
#include "../conformance/support/dma_fixture.hpp"
#include "front_end.hpp"

using namespace doca_test;

namespace {

using opendoca::HashQueue;
using opendoca::ShaKind;

bool has_counters(doca_devinfo *info)
{
    return info->function->can.sync_event;
}
bool has_hashes(doca_devinfo *info)
{
    return info->function->can.sha_software;
}

class EngineCounters : public DeviceTest {};
INSTANTIATE_FOR_DEVICES(EngineCounters, has_counters);

TEST_P(EngineCounters, end_the_waits_that_they_meet)
{
    doca_dev *const device = dev;
    std::unique_ptr<opendoca::Counter> counter;
    ASSERT_EQ(device->device().create_counter({}, counter), DOCA_SUCCESS);
    TaskEngine tasks;
    std::unique_ptr<opendoca::CounterWaits> waits;
    ASSERT_EQ(counter->create_waits(tasks.completions, waits), DOCA_SUCCESS);
    Task low, high, never;
    ASSERT_EQ(waits->wait(low.tag(), {5, UINT64_MAX}), DOCA_SUCCESS);
    ASSERT_EQ(waits->wait(high.tag(), {50, UINT64_MAX}), DOCA_SUCCESS);
    ASSERT_EQ(waits->wait(never.tag(), {500, UINT64_MAX}), DOCA_SUCCESS);
    EXPECT_FALSE(tasks.progress());
    ASSERT_EQ(counter->set(6), DOCA_SUCCESS);
    tasks.run(low);
    EXPECT_FALSE(high.has_ended());
    std::uint64_t before = 0;
    ASSERT_EQ(counter->add(100, before), DOCA_SUCCESS);
    EXPECT_EQ(before, 6u);
    tasks.run(high);
    EXPECT_FALSE(never.has_ended());
    waits->flush();
    tasks.run(never);
    EXPECT_EQ(low.status(), DOCA_SUCCESS);
    EXPECT_EQ(high.status(), DOCA_SUCCESS);
    EXPECT_EQ(never.status(), DOCA_ERROR_SHUTDOWN);
}

class EngineHashes : public DeviceTest {
protected:
    std::vector<std::byte> memory = std::vector<std::byte>(4096);
    LocalMap map{dev, memory};
    Inventory inventory{8};
    TaskEngine tasks;
};
INSTANTIATE_FOR_DEVICES(EngineHashes, has_hashes);

TEST_P(EngineHashes, are_those_of_openssl)
{
    doca_dev *const device = dev;
    const auto hashes =
        std::make_unique<HashQueue>(tasks.completions, device->device(), HashQueue::Limits{16, 1 << 20});
    fill(memory, 11);
    const BufHandle request = inventory.full(map, memory.data(), 1000);
    const BufHandle response = inventory.empty(map, &memory[2048], 32);
    std::array<unsigned char, 32> expected{};
    SHA256(reinterpret_cast<const unsigned char *>(memory.data()), 1000, expected.data());
    Task task;
    ASSERT_EQ(hashes->hash(task.tag(), ShaKind::sha256, request, response), DOCA_SUCCESS);
    tasks.run(task);
    EXPECT_EQ(task.status(), DOCA_SUCCESS);
    EXPECT_EQ(std::memcmp(expected.data(), &memory[2048], expected.size()), 0);
}

/// The session is free again when the end has been retrieved, whoever has submitted the piece.
TEST_P(EngineHashes, keep_their_session_busy_until_they_are_retrieved)
{
    doca_dev *const device = dev;
    const auto hashes =
        std::make_unique<HashQueue>(tasks.completions, device->device(), HashQueue::Limits{16, 1 << 20});
    opendoca::HashSession session;
    const BufHandle request = inventory.full(map, memory.data(), 64);
    const BufHandle response = inventory.empty(map, &memory[2048], 32);
    Task first, second;
    ASSERT_EQ(hashes->hash_piece(first.tag(), ShaKind::sha256, request, response, session, false), DOCA_SUCCESS);
    EXPECT_EQ(hashes->hash_piece(second.tag(), ShaKind::sha256, request, response, session, true),
              DOCA_ERROR_BAD_STATE);
    tasks.run(first);
    ASSERT_EQ(hashes->hash_piece(second.tag(), ShaKind::sha256, request, response, session, true), DOCA_SUCCESS);
    tasks.run(second);
    EXPECT_EQ(data_len_of(response), 32u);
}

} // namespace
