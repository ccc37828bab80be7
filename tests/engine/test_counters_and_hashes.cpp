// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Operations that the CPU does for any device, through a front end of the test's own.
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <openssl/sha.h>

#include <gtest/gtest.h>

#include "../../src/core/device/counter.hpp"
#include "../../src/core/objects/dev.hpp"
#include "../../src/sha/hash_queue.hpp"
#include "../conformance/support/sha_fixture.hpp"
#include "../conformance/support/sync_event.hpp"
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

class EngineCounters : public DeviceTest {
protected:
    void SetUp() override
    {
        doca_dev *const device = dev;
        ASSERT_EQ(device->device().create_counter({}, counter), DOCA_SUCCESS);
        ASSERT_EQ(counter->create_waits(tasks.completions, waits), DOCA_SUCCESS);
    }

    TaskEngine tasks;
    std::unique_ptr<opendoca::Counter> counter;
    std::unique_ptr<opendoca::CounterWaits> waits;
};
INSTANTIATE_FOR_DEVICES(EngineCounters, has_counters);

TEST_P(EngineCounters, end_the_waits_that_they_meet)
{
    Task low, high, never;
    ASSERT_EQ(waits->wait(low.tag(), opendoca::WaitCondition::greater(5, UINT64_MAX)), DOCA_SUCCESS);
    ASSERT_EQ(waits->wait(high.tag(), opendoca::WaitCondition::greater(50, UINT64_MAX)), DOCA_SUCCESS);
    ASSERT_EQ(waits->wait(never.tag(), opendoca::WaitCondition::greater(500, UINT64_MAX)), DOCA_SUCCESS);
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

/// Two front ends on one device at the same time: each hears of its own counter alone.
TEST_P(EngineCounters, do_not_meet_the_sync_events_of_a_work_queue)
{
    Event event(dev, Publisher::cpu);
    event.start_as_ctx();
    EventQueue jobs;
    jobs.add(event);
    for (std::uint64_t round = 1; round != 50; ++round) {
        Task task;
        ASSERT_EQ(waits->wait(task.tag(), opendoca::WaitCondition::greater(round, UINT64_MAX)), DOCA_SUCCESS);
        must(jobs.submit_wait(event, round, all_bits, round));
        ASSERT_EQ(counter->set(round + 1), DOCA_SUCCESS);
        tasks.run(task);
        EXPECT_EQ(task.status(), DOCA_SUCCESS);
        EXPECT_TRUE(jobs.has_nothing());
        must(jobs.submit_set(event, round + 1));
        int num_waits = 0;
        for (int i = 0; i != 2; ++i) {
            const doca_event ended = jobs.poll();
            EXPECT_EQ(ended.result.u64, std::uint64_t{DOCA_SUCCESS});
            if (ended.type != DOCA_SYNC_EVENT_JOB_WAIT_GT)
                continue;
            ++num_waits;
            EXPECT_EQ(ended.user_data.u64, round);
        }
        EXPECT_EQ(num_waits, 1);
        EXPECT_FALSE(tasks.progress());
        EXPECT_EQ(task.num_ends(), 1);
    }
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

/// Two front ends on one device at the same time, each with a queue of its own.
TEST_P(EngineHashes, do_not_meet_the_jobs_of_a_work_queue)
{
    doca_dev *const device = dev;
    const auto hashes =
        std::make_unique<HashQueue>(tasks.completions, device->device(), HashQueue::Limits{16, 1 << 20});
    const ShaEngine jobs(dev);
    const doca_test::ShaKind &kind = sha_kinds[1];
    for (unsigned round = 0; round != 50; ++round) {
        fill(memory, round);
        const std::span<const std::byte> low(memory.data(), 500), high(&memory[500], 700);
        const BufHandle request_of_job = inventory.full(map, memory.data(), low.size());
        const BufHandle request_of_task = inventory.full(map, &memory[500], high.size());
        const BufHandle response_of_job = inventory.empty(map, &memory[2048], 32);
        const BufHandle response_of_task = inventory.empty(map, &memory[3072], 32);
        Task task;
        ASSERT_EQ(jobs.submit(sha_job(jobs.ctx(), kind, request_of_job, response_of_job)), DOCA_SUCCESS);
        ASSERT_EQ(hashes->hash(task.tag(), ShaKind::sha256, request_of_task, response_of_task), DOCA_SUCCESS);
        tasks.run(task);
        EXPECT_EQ(task.status(), DOCA_SUCCESS);
        EXPECT_EQ(jobs.result_of(DOCA_SHA_JOB_SHA256), DOCA_SUCCESS);
        EXPECT_FALSE(tasks.progress());
        EXPECT_EQ(task.num_ends(), 1);
        EXPECT_EQ(hex({&memory[2048], 32}), openssl_digest(kind, low));
        EXPECT_EQ(hex({&memory[3072], 32}), openssl_digest(kind, high));
    }
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
