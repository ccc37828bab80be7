// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sync events in asynchronous mode: jobs, and waits that sleep. Both handles of an event are in this process,
// where sanitizers see what orders them.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <time.h>
#include <unistd.h>

#include "support/log_capture.hpp"
#include "support/sanitizers.hpp"
#include "support/sync_event.hpp"

using namespace doca_test;

namespace {

/// An event of the host with its handle on the DPU, each a context or not.
class SyncJobTest : public testing::TestWithParam<DevicePair> {
protected:
    Event host_event(Publisher publisher = Publisher::cpu, std::uint64_t *addr = nullptr)
    {
        return Event(host, publisher, addr);
    }
    Event dpu_event(const Event &exported) { return Event(dpu, exported.export_to_dpu(host)); }

    DevHandle host{open_device(GetParam().exporter)};
    DevHandle dpu{open_device(GetParam().importer)};
    std::uint64_t value = 77;
};

std::uint64_t result_of(const doca_event &event)
{
    return event.result.u64;
}

} // namespace

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SyncJobTest);
INSTANTIATE_TEST_SUITE_P(pair, SyncJobTest, testing::ValuesIn(one_device_pair()), pair_name);

TEST_P(SyncJobTest, jobs_end_with_their_type_and_user_data)
{
    Event event = host_event();
    event.start_as_ctx();
    EventQueue queue;
    queue.add(event);
    must(queue.submit_set(event, 40));
    EXPECT_EQ(queue.poll().type, DOCA_SYNC_EVENT_JOB_UPDATE_SET);
    must(queue.submit_add(event, 2, &value));
    EXPECT_EQ(queue.poll().type, DOCA_SYNC_EVENT_JOB_UPDATE_ADD);
    EXPECT_EQ(value, 40u);
    must(queue.submit_add(event, all_bits, nullptr));
    EXPECT_EQ(result_of(queue.poll()), DOCA_SUCCESS);
    must(queue.submit_get(event, &value));
    EXPECT_EQ(queue.poll().type, DOCA_SYNC_EVENT_JOB_GET);
    EXPECT_EQ(value, 41u);
    must(queue.submit_wait(event, 40, all_bits, 123));
    const doca_event done = queue.poll();
    EXPECT_EQ(done.type, DOCA_SYNC_EVENT_JOB_WAIT_GT);
    EXPECT_EQ(done.user_data.u64, 123u);
    EXPECT_EQ(result_of(done), DOCA_SUCCESS);
}

TEST_P(SyncJobTest, submit_refuses_what_it_cannot_take)
{
    Event event = host_event();
    event.start_as_ctx();
    EventQueue queue(2);
    queue.add(event);
    EXPECT_EQ(queue.submit_get(event, nullptr), DOCA_ERROR_INVALID_VALUE);
    const doca_job unknown = {
        .type = DOCA_SYNC_EVENT_JOB_UPDATE_ADD + 1, .flags = 0, .ctx = event.ctx(), .user_data = {}};
    EXPECT_EQ(doca_workq_submit(queue, &unknown), DOCA_ERROR_INVALID_VALUE);
    EXPECT_TRUE(queue.has_nothing());

    must(queue.submit_wait(event, 5));
    must(queue.submit_wait(event, 6));
    EXPECT_EQ(queue.submit_wait(event, 0), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(queue.submit_get(event, &value), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(queue.submit_set(event, 10), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(queue.submit_add(event, 10, &value), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(value, 77u);
    EXPECT_TRUE(queue.has_nothing()) << "what was refused has changed nothing";
    EXPECT_EQ(doca_ctx_stop(event.ctx()), DOCA_ERROR_NOT_PERMITTED);

    EventQueue other;
    other.add(event);
    must(other.submit_set(event, 7));
    (void)other.poll();
    (void)queue.poll();
    (void)queue.poll();
}

TEST_P(SyncJobTest, waits_that_never_end_can_be_cancelled)
{
    Event event = host_event();
    Event other = host_event();
    event.start_as_ctx();
    other.start_as_ctx();
    EventQueue queue;
    queue.add(event);
    queue.add(other);
    must(queue.submit_wait(event, 5, all_bits, 1));
    must(queue.submit_wait(other, 5, all_bits, 2));
    must(queue.submit_wait(event, 6, all_bits, 3));
    EXPECT_EQ(doca_ctx_workq_rm(event.ctx(), queue), DOCA_ERROR_NOT_PERMITTED);
    for (const std::uint64_t cancelled : {1u, 3u}) {
        doca_event done{};
        EXPECT_EQ(queue.retrieve(done), DOCA_ERROR_IO_FAILED);
        EXPECT_EQ(done.type, DOCA_SYNC_EVENT_JOB_WAIT_GT);
        EXPECT_EQ(done.user_data.u64, cancelled);
        EXPECT_EQ(result_of(done), DOCA_ERROR_SHUTDOWN);
    }
    EXPECT_TRUE(queue.has_nothing()) << "the waits for other events go on";
    queue.remove(event);
    must(queue.submit_set(other, 6));
    EXPECT_EQ(queue.poll().type, DOCA_SYNC_EVENT_JOB_UPDATE_SET);
    EXPECT_EQ(result_of(queue.poll()), DOCA_SUCCESS);
}

TEST_P(SyncJobTest, waits_end_when_their_own_values_are_reached)
{
    Event first = host_event();
    Event second = host_event();
    first.start_as_ctx();
    second.start_as_ctx();
    EventQueue queue;
    queue.add(first);
    queue.add(second);
    must(queue.submit_wait(first, 20, all_bits, 1));
    must(queue.submit_wait(first, 10, all_bits, 2));
    must(queue.submit_wait(second, 10, all_bits, 3));
    must(queue.submit_wait(first, 0, 0xff00, 4));
    EXPECT_TRUE(queue.has_nothing());
    const auto set = [&](const Event &event, std::uint64_t to) {
        must(queue.submit_set(event, to));
        EXPECT_EQ(queue.poll().type, DOCA_SYNC_EVENT_JOB_UPDATE_SET);
    };
    set(first, 10);
    EXPECT_TRUE(queue.has_nothing());
    set(first, 11);
    EXPECT_EQ(queue.poll().user_data.u64, 2u);
    EXPECT_TRUE(queue.has_nothing());
    set(second, 30);
    EXPECT_EQ(queue.poll().user_data.u64, 3u);
    EXPECT_TRUE(queue.has_nothing());
    set(first, 0x100);
    EXPECT_EQ(queue.poll().user_data.u64, 1u) << "those that end together, in the order of submission";
    EXPECT_EQ(queue.poll().user_data.u64, 4u);
    EXPECT_TRUE(queue.has_nothing());
}

TEST_P(SyncJobTest, context_takes_several_queues_each_with_its_waits)
{
    Event event = host_event();
    event.start_as_ctx();
    EventQueue first, second;
    first.add(event);
    second.add(event);
    must(first.submit_wait(event, 1));
    must(second.submit_wait(event, 2));
    must(second.submit_set(event, 2));
    EXPECT_EQ(second.poll().type, DOCA_SYNC_EVENT_JOB_UPDATE_SET);
    EXPECT_EQ(first.poll().type, DOCA_SYNC_EVENT_JOB_WAIT_GT);
    EXPECT_TRUE(second.has_nothing());
    must(first.submit_set(event, 3));
    EXPECT_EQ(first.poll().type, DOCA_SYNC_EVENT_JOB_UPDATE_SET);
    EXPECT_EQ(second.poll().type, DOCA_SYNC_EVENT_JOB_WAIT_GT);
}

// Sleeping

namespace {

/// The DPU's side sleeps, the host's updates; with the counter in either memory.
class SyncSleepTest : public SyncJobTest {
protected:
    void for_each_place(const std::function<void(const Event &updated, const Event &awaited, EventQueue &queue)> &body)
    {
        for (const bool is_own : {false, true}) {
            SCOPED_TRACE(is_own ? "in the program's memory" : "in the library's memory");
            Memory memory(MemoryKind::anonymous, 64);
            auto *const word = reinterpret_cast<std::uint64_t *>(memory.data());
            *word = 0;
            Event updated = host_event(Publisher::cpu, is_own ? word : nullptr);
            updated.start();
            Event awaited = dpu_event(updated);
            awaited.start_as_ctx();
            EventQueue queue(64, true);
            queue.add(awaited);
            body(updated, awaited, queue);
        }
    }
};

void set(const Event &event, std::uint64_t value)
{
    must(doca_sync_event_update_set(event, value));
}

void add(const Event &event, std::uint64_t value)
{
    must(doca_sync_event_update_add(event, value, nullptr));
}

} // namespace

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SyncSleepTest);
INSTANTIATE_TEST_SUITE_P(pair, SyncSleepTest, testing::ValuesIn(one_device_pair()), pair_name);

TEST_P(SyncSleepTest, signal_comes_with_the_value_and_not_before)
{
    for_each_place([&](const Event &updated, const Event &awaited, EventQueue &queue) {
        must(queue.submit_wait(awaited, 10));
        queue.arm();
        for (const std::uint64_t below : {1, 10, 0, 5}) {
            set(updated, below);
            EXPECT_FALSE(queue.is_signalled()) << below;
        }
        add(updated, 6);
        EXPECT_TRUE(queue.is_signalled(EventQueue::patience));
        queue.clear();
        EXPECT_FALSE(queue.is_signalled());
        EXPECT_EQ(result_of(queue.poll()), DOCA_SUCCESS);
    });
}

TEST_P(SyncSleepTest, armed_before_submitted)
{
    for_each_place([&](const Event &updated, const Event &awaited, EventQueue &queue) {
        queue.arm();
        must(queue.submit_wait(awaited, 10));
        EXPECT_FALSE(queue.is_signalled());
        must(queue.submit_wait(awaited, 20)); // both count, and the one before is not forgotten
        set(updated, 11);
        EXPECT_TRUE(queue.is_signalled(EventQueue::patience));
        queue.clear();
        EXPECT_EQ(result_of(queue.poll()), DOCA_SUCCESS);
        queue.arm();
        EXPECT_FALSE(queue.is_signalled());
        set(updated, 20);
        EXPECT_FALSE(queue.is_signalled());
        set(updated, 21);
        EXPECT_TRUE(queue.is_signalled(EventQueue::patience));
        queue.clear();
        EXPECT_EQ(result_of(queue.poll()), DOCA_SUCCESS);
    });
}

TEST_P(SyncSleepTest, what_is_reached_already_signals_at_once)
{
    for_each_place([&](const Event &updated, const Event &awaited, EventQueue &queue) {
        must(queue.submit_wait(awaited, 10));
        set(updated, 11);
        queue.arm();
        EXPECT_TRUE(queue.is_signalled());
        queue.clear();
        EXPECT_EQ(result_of(queue.poll()), DOCA_SUCCESS);
        queue.arm();
        must(queue.submit_wait(awaited, 10));
        EXPECT_TRUE(queue.is_signalled());
        queue.clear();
        EXPECT_EQ(result_of(queue.poll()), DOCA_SUCCESS);
    });
}

TEST_P(SyncSleepTest, unarmed_or_cleared_nothing_is_signalled)
{
    for_each_place([&](const Event &updated, const Event &awaited, EventQueue &queue) {
        must(queue.submit_wait(awaited, 10));
        set(updated, 11);
        EXPECT_FALSE(queue.is_signalled());
        EXPECT_EQ(result_of(queue.poll()), DOCA_SUCCESS);
        must(queue.submit_wait(awaited, 20));
        queue.arm();
        queue.clear();
        set(updated, 21);
        EXPECT_FALSE(queue.is_signalled());
        EXPECT_EQ(result_of(queue.poll()), DOCA_SUCCESS);
    });
}

TEST_P(SyncSleepTest, many_different_conditions)
{
    for_each_place([&](const Event &updated, const Event &awaited, EventQueue &queue) {
        // One byte each, more of them than the counter's page has room for.
        for (unsigned byte = 0; byte < 8; ++byte)
            must(queue.submit_wait(awaited, std::uint64_t{1} << (8 * byte), std::uint64_t{0xff} << (8 * byte), byte));
        for (const unsigned byte : {6u, 0u, 7u, 1u, 5u, 2u, 4u, 3u}) {
            queue.arm();
            EXPECT_FALSE(queue.is_signalled());
            add(updated, std::uint64_t{2} << (8 * byte));
            EXPECT_TRUE(queue.is_signalled(EventQueue::patience));
            queue.clear();
            EXPECT_EQ(queue.poll().user_data.u64, byte);
        }
    });
}

TEST_P(SyncSleepTest, sleepers_of_one_event_are_woken_each_for_its_value)
{
    for_each_place([&](const Event &updated, const Event &awaited, EventQueue &first) {
        EventQueue second(4, true);
        second.add(awaited);
        must(first.submit_wait(awaited, 10));
        must(second.submit_wait(awaited, 20));
        first.arm();
        second.arm();
        set(updated, 15);
        EXPECT_TRUE(first.is_signalled(EventQueue::patience));
        EXPECT_FALSE(second.is_signalled());
        set(updated, 25);
        EXPECT_TRUE(second.is_signalled(EventQueue::patience));
        first.clear();
        second.clear();
        EXPECT_EQ(result_of(first.poll()), DOCA_SUCCESS);
        EXPECT_EQ(result_of(second.poll()), DOCA_SUCCESS);
    });
}

TEST_P(SyncSleepTest, queue_that_takes_the_place_of_another_is_woken)
{
    // Whoever has woken the first one must not believe that the second has the same pipe.
    for_each_place([&](const Event &updated, const Event &awaited, EventQueue &) {
        for (std::uint64_t i = 1; i < 10; ++i) {
            EventQueue queue(4, true);
            queue.add(awaited);
            must(queue.submit_wait(awaited, i - 1));
            queue.arm();
            set(updated, i);
            EXPECT_TRUE(queue.is_signalled(EventQueue::patience));
            queue.clear();
            EXPECT_EQ(result_of(queue.poll()), DOCA_SUCCESS);
            queue.remove(awaited);
        }
    });
}

TEST_P(SyncSleepTest, a_store_wakes_nobody_but_is_seen_by_the_next_look)
{
    Memory memory(MemoryKind::anonymous, 64);
    auto *const word = reinterpret_cast<std::uint64_t *>(memory.data());
    *word = 0;
    Event event = host_event(Publisher::dpu, word);
    event.start_as_ctx();
    EventQueue queue(4, true);
    queue.add(event);
    must(queue.submit_wait(event, 10));
    queue.arm();
    std::atomic_ref(*word).store(11);
    EXPECT_FALSE(queue.is_signalled());
    EXPECT_EQ(result_of(queue.poll()), DOCA_SUCCESS);
}

TEST_P(SyncSleepTest, sleeping_takes_no_cpu_time)
{
    for_each_place([&](const Event &updated, const Event &awaited, EventQueue &queue) {
        must(queue.submit_wait(awaited, 0));
        // No signal is left over that would make an event loop spin.
        for (int i = 0; i < 3; ++i) {
            EXPECT_TRUE(queue.has_nothing());
            queue.arm();
            EXPECT_FALSE(queue.is_signalled(1));
            queue.clear();
        }
        set(updated, 1);
        EXPECT_EQ(queue.sleep_for_result(), DOCA_SUCCESS);
    });
}

TEST_P(SyncSleepTest, no_wake_up_is_lost)
{
    // Two threads send each other to sleep, with everything between arm and poll in every order.
    for (const bool is_own : {false, true}) {
        Memory memory(MemoryKind::anonymous, 64);
        auto *const words = reinterpret_cast<std::uint64_t *>(memory.data());
        words[0] = words[1] = 0;
        Event ping_there = host_event(Publisher::cpu, is_own ? &words[0] : nullptr);
        ping_there.start();
        Event ping_here = dpu_event(ping_there);
        ping_here.start_as_ctx();
        Event pong_here = host_event(Publisher::dpu, is_own ? &words[1] : nullptr);
        pong_here.start_as_ctx();
        Event pong_there = dpu_event(pong_here);
        pong_there.start();
        const auto rounds = static_cast<std::uint64_t>(times(10'000));
        const auto play = [&](const Event &sent, const Event &awaited, bool begins) {
            EventQueue queue(4, true);
            queue.add(awaited);
            for (std::uint64_t i = 0; i < rounds; ++i) {
                if (begins)
                    set(sent, i + 1);
                must(queue.submit_wait(awaited, i));
                ASSERT_EQ(queue.sleep_for_result(), DOCA_SUCCESS) << "round " << i;
                if (!begins)
                    set(sent, i + 1);
            }
        };
        std::thread other([&] { play(pong_there, ping_here, false); });
        play(ping_there, pong_here, true);
        other.join();
    }
}

// Ends

TEST_P(SyncSleepTest, handles_may_end_in_any_order)
{
    for (const bool is_own : {false, true}) {
        auto word = std::make_unique<std::uint64_t>(0);
        Event exported = host_event(Publisher::cpu, is_own ? word.get() : nullptr);
        exported.start();
        Event awaited = dpu_event(exported);
        awaited.start_as_ctx();
        Event updated = dpu_event(exported);
        updated.start();
        EventQueue queue(4, true);
        queue.add(awaited);
        must(queue.submit_wait(awaited, 0));
        queue.arm();
        exported.reset(); // and with it its memory
        word.reset();
        EXPECT_TRUE(queue.is_signalled(EventQueue::patience));
        queue.clear();
        EXPECT_EQ(result_of(queue.poll()), DOCA_ERROR_CONNECTION_RESET);
        EXPECT_EQ(doca_sync_event_get(updated, &value), DOCA_ERROR_CONNECTION_RESET);
        EXPECT_EQ(doca_sync_event_update_set(updated, 1), DOCA_ERROR_CONNECTION_RESET);
        EXPECT_EQ(doca_sync_event_update_add(updated, 1, &value), DOCA_ERROR_CONNECTION_RESET);
        EXPECT_EQ(doca_sync_event_wait_gt(updated, 0, all_bits), DOCA_ERROR_CONNECTION_RESET);
        EXPECT_EQ(value, 77u);
        must(queue.submit_wait(awaited, 0)); // ends at once, or at the next look
        EXPECT_EQ(result_of(queue.poll()), DOCA_ERROR_CONNECTION_RESET);
    }
}

TEST_P(SyncSleepTest, imported_handle_is_not_configured_and_not_exported)
{
    Event exported = host_event();
    exported.start();
    Event imported = dpu_event(exported);
    EXPECT_EQ(doca_sync_event_publisher_add_location_cpu(imported, dpu), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_subscriber_add_location_dpu(imported), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_set_addr(imported, &value), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_update_set(imported, 1), DOCA_ERROR_BAD_STATE) << "not started";
    imported.start();
    const std::uint8_t *data = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(doca_sync_event_export_to_dpu(imported, host, &data, &size), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(data, nullptr);
    EXPECT_EQ(doca_dev_close(dpu), DOCA_ERROR_IN_USE);
}

TEST_P(SyncJobTest, a_wait_of_a_second_says_for_what)
{
    const auto wait_for_line = [](const LogCapture &log, const std::string &part) {
        const auto start = std::chrono::steady_clock::now();
        while (!log.has(part) && std::chrono::steady_clock::now() < start + std::chrono::minutes(1))
            std::this_thread::yield();
        EXPECT_LOGGED(log, part);
    };
    const std::string process = "waiting for a sync event of process " + std::to_string(getpid());
    Event event = host_event(Publisher::dpu);
    event.start();
    {
        const LogCapture log;
        std::thread waiting([&] { EXPECT_EQ(doca_sync_event_wait_gt_yield(event, 4, 0xff), DOCA_SUCCESS); });
        wait_for_line(log, process + " to exceed 4 (mask 0xff); it is 0, and no process of the DPU has imported it");
        Event imported = dpu_event(event);
        imported.start();
        EXPECT_EQ(doca_sync_event_update_set(imported, 5), DOCA_SUCCESS);
        waiting.join();
        EXPECT_EQ(log.text().find(process), log.text().rfind(process)) << "once";
    }
    const LogCapture log;
    Event imported = dpu_event(event);
    imported.start_as_ctx();
    EventQueue queue;
    queue.add(imported);
    must(queue.submit_wait(imported, 5));
    const auto start = std::chrono::steady_clock::now();
    while (!log.has(process) && std::chrono::steady_clock::now() < start + std::chrono::minutes(1))
        EXPECT_TRUE(queue.has_nothing());
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
    EXPECT_LOGGED(log, process + " to exceed 5 (mask 0xffffffffffffffff); it is 5\n");
    must(doca_sync_event_update_set(event, 6));
    EXPECT_EQ(result_of(queue.poll()), DOCA_SUCCESS);
}

TEST_P(SyncSleepTest, export_states)
{
    Event event = host_event();
    const std::uint8_t *data = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(doca_sync_event_export_to_dpu(event, host, &data, &size), DOCA_ERROR_BAD_STATE);
    event.start();
    for (const DeviceParam &device : devices_that([](doca_devinfo *info) { return !exports_sync_events(info); })) {
        const DevHandle other = open_device(device);
        EXPECT_EQ(doca_sync_event_export_to_dpu(event, other, &data, &size), DOCA_ERROR_NOT_SUPPORTED) << device;
    }
    EXPECT_EQ(data, nullptr);
    ASSERT_EQ(doca_sync_event_export_to_dpu(event, host, &data, &size), DOCA_SUCCESS);
    EXPECT_LE(size, 256u);
    const std::uint8_t *again = nullptr;
    EXPECT_EQ(doca_sync_event_export_to_dpu(event, host, &again, &size), DOCA_SUCCESS);
    EXPECT_EQ(again, data);
    doca_sync_event *made = nullptr;
    EXPECT_EQ(doca_sync_event_create_from_export(host, data, size, &made), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(made, nullptr);
}
