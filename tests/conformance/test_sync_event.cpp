// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sync events in one process: life, states, and operations in synchronous mode.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "../../src/core/device/soft/counter/counter_page.hpp"

#include "support/log_capture.hpp"
#include "support/process_traits.hpp"
#include "support/sanitizers.hpp"
#include "support/sync_event.hpp"

using namespace doca_test;

namespace {

class SyncEventTest : public DeviceTest {
protected:
    SyncEventHandle create()
    {
        SyncEventHandle event;
        must(doca_sync_event_create(event.out()));
        return event;
    }
    SyncEventHandle configured()
    {
        SyncEventHandle event = create();
        must(doca_sync_event_publisher_add_location_cpu(event, dev));
        must(doca_sync_event_subscriber_add_location_cpu(event, dev));
        return event;
    }

    std::uint64_t value = 77;
};

} // namespace

INSTANTIATE_FOR_DEVICES(SyncEventTest, has_sync_events);

TEST(SyncEvent, null_arguments)
{
    SyncEventHandle event;
    must(doca_sync_event_create(event.out()));
    auto *const dev = untouched<doca_dev>();
    auto *const dpa = untouched<doca_dpa>();
    auto *const gpu = untouched<doca_gpu>();
    std::uint64_t word = 0;
    const std::uint8_t *data = untouched<const std::uint8_t>();
    std::size_t size = 77;
    doca_gpu_dev_sync_event_t *on_gpu = nullptr;
    doca_sync_event_remote_t remote = {};
    doca_sync_event *made = nullptr;
    constexpr std::uint8_t blob = 0;

    const doca_error_t answers[] = {
        doca_sync_event_create(nullptr),
        doca_sync_event_create_from_export(nullptr, &blob, 1, &made),
        doca_sync_event_create_from_export(dev, nullptr, 1, &made),
        doca_sync_event_create_from_export(dev, &blob, 0, &made),
        doca_sync_event_create_from_export(dev, &blob, 1, nullptr),
        doca_sync_event_get_create_from_export_supported(nullptr),
        doca_sync_event_destroy(nullptr),
        doca_sync_event_publisher_add_location_cpu(nullptr, dev),
        doca_sync_event_publisher_add_location_cpu(event, nullptr),
        doca_sync_event_publisher_add_location_dpa(nullptr, dpa),
        doca_sync_event_publisher_add_location_dpa(event, nullptr),
        doca_sync_event_publisher_add_location_gpu(nullptr, gpu),
        doca_sync_event_publisher_add_location_gpu(event, nullptr),
        doca_sync_event_publisher_add_location_dpu(nullptr),
        doca_sync_event_subscriber_add_location_cpu(nullptr, dev),
        doca_sync_event_subscriber_add_location_cpu(event, nullptr),
        doca_sync_event_subscriber_add_location_dpa(nullptr, dpa),
        doca_sync_event_subscriber_add_location_dpa(event, nullptr),
        doca_sync_event_subscriber_add_location_gpu(nullptr, gpu),
        doca_sync_event_subscriber_add_location_gpu(event, nullptr),
        doca_sync_event_subscriber_add_location_dpu(nullptr),
        doca_sync_event_set_addr(nullptr, &word),
        doca_sync_event_set_addr(event, nullptr),
        doca_sync_event_start(nullptr),
        doca_sync_event_stop(nullptr),
        doca_sync_event_job_get_supported(nullptr, DOCA_SYNC_EVENT_JOB_GET),
        doca_sync_event_export_to_dpu(nullptr, dev, &data, &size),
        doca_sync_event_export_to_dpu(event, nullptr, &data, &size),
        doca_sync_event_export_to_dpu(event, dev, nullptr, &size),
        doca_sync_event_export_to_dpu(event, dev, &data, nullptr),
        doca_sync_event_get_export_to_dpu_supported(nullptr),
        doca_sync_event_export_to_dpa(nullptr, dpa, &word),
        doca_sync_event_export_to_dpa(event, nullptr, &word),
        doca_sync_event_export_to_dpa(event, dpa, nullptr),
        doca_sync_event_get_export_to_dpa_supported(nullptr),
        doca_sync_event_export_to_gpu(nullptr, gpu, &on_gpu),
        doca_sync_event_export_to_gpu(event, nullptr, &on_gpu),
        doca_sync_event_export_to_gpu(event, gpu, nullptr),
        doca_sync_event_get_export_to_gpu_supported(nullptr),
        doca_sync_event_export_remote(nullptr, &remote),
        doca_sync_event_export_remote(event, nullptr),
        doca_sync_event_get(nullptr, &word),
        doca_sync_event_get(event, nullptr),
        doca_sync_event_update_add(nullptr, 1, &word),
        doca_sync_event_update_set(nullptr, 1),
        doca_sync_event_wait_gt(nullptr, 0, all_bits),
        doca_sync_event_wait_gt_yield(nullptr, 0, all_bits),
    };
    for (std::size_t i = 0; i < std::size(answers); ++i)
        EXPECT_EQ(answers[i], DOCA_ERROR_INVALID_VALUE) << "call " << i;
    EXPECT_EQ(doca_sync_event_as_ctx(nullptr), nullptr);
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(size, 77u);
}

TEST_P(SyncEventTest, capabilities)
{
    for (const auto type : {DOCA_SYNC_EVENT_JOB_WAIT_GT, DOCA_SYNC_EVENT_JOB_GET, DOCA_SYNC_EVENT_JOB_UPDATE_SET,
                            DOCA_SYNC_EVENT_JOB_UPDATE_ADD})
        EXPECT_EQ(doca_sync_event_job_get_supported(info, type), DOCA_SUCCESS);
    for (const int type : {DOCA_SYNC_EVENT_JOB_WAIT_GT - 1, DOCA_SYNC_EVENT_JOB_UPDATE_ADD + 1})
        EXPECT_EQ(doca_sync_event_job_get_supported(info, static_cast<doca_sync_event_job_types>(type)),
                  DOCA_ERROR_INVALID_VALUE);
    const auto expected = [](bool can) { return can ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED; };
    EXPECT_EQ(doca_sync_event_get_export_to_dpu_supported(info), expected(can_export(info)));
    EXPECT_EQ(doca_sync_event_get_create_from_export_supported(info), expected(can_import(info)));
    EXPECT_EQ(doca_sync_event_get_export_to_dpa_supported(info), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_sync_event_get_export_to_gpu_supported(info), DOCA_ERROR_NOT_SUPPORTED);
}

TEST_P(SyncEventTest, start_needs_one_location_a_side)
{
    SyncEventHandle event = create();
    EXPECT_EQ(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
    must(doca_sync_event_publisher_add_location_cpu(event, dev));
    EXPECT_EQ(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
    must(doca_sync_event_subscriber_add_location_dpu(event));
    must(doca_sync_event_subscriber_add_location_cpu(event, dev));
    const LogCapture log;
    EXPECT_EQ(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
    EXPECT_LOGGED(log, "one publisher and one subscriber, and has 1 and 2");
}

TEST_P(SyncEventTest, states_of_synchronous_mode)
{
    SyncEventHandle event = configured();
    EXPECT_EQ(doca_sync_event_stop(event), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_get(event, &value), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_update_set(event, 1), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_update_add(event, 1, &value), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_wait_gt(event, 0, all_bits), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_wait_gt_yield(event, 0, all_bits), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(value, 77u);
    must(doca_sync_event_start(event));
    EXPECT_EQ(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_as_ctx(event), nullptr);
    EXPECT_EQ(doca_sync_event_publisher_add_location_cpu(event, dev), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_subscriber_add_location_dpu(event), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_set_addr(event, &value), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_destroy(event), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_stop(event), DOCA_SUCCESS);
    EXPECT_EQ(doca_sync_event_stop(event), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_get(event, &value), DOCA_ERROR_BAD_STATE);
}

TEST_P(SyncEventTest, states_of_asynchronous_mode)
{
    SyncEventHandle event = configured();
    doca_ctx *const ctx = doca_sync_event_as_ctx(event);
    ASSERT_NE(ctx, nullptr);
    EXPECT_EQ(doca_sync_event_as_ctx(event), ctx);
    EXPECT_EQ(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_ctx_dev_add(ctx, dev), DOCA_ERROR_NOT_SUPPORTED);
    std::uint8_t can_sleep = 99;
    EXPECT_EQ(doca_ctx_get_event_driven_supported(ctx, &can_sleep), DOCA_SUCCESS);
    EXPECT_EQ(can_sleep, 1);
    must(doca_ctx_start(ctx));
    EXPECT_EQ(doca_sync_event_as_ctx(event), ctx);
    EXPECT_EQ(doca_sync_event_stop(event), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_get(event, &value), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_set_addr(event, &value), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_destroy(event), DOCA_ERROR_BAD_STATE);
    must(doca_ctx_stop(ctx));
    EXPECT_EQ(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
}

TEST_P(SyncEventTest, context_without_locations_does_not_start)
{
    SyncEventHandle event = create();
    doca_ctx *const ctx = doca_sync_event_as_ctx(event);
    EXPECT_EQ(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
    must(doca_sync_event_publisher_add_location_dpu(event)); // there is still time
    must(doca_sync_event_subscriber_add_location_dpu(event));
    EXPECT_EQ(doca_ctx_start(ctx), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

TEST_P(SyncEventTest, holds_its_devices)
{
    SyncEventHandle event = configured();
    EXPECT_EQ(doca_dev_close(dev), DOCA_ERROR_IN_USE);
    event.reset();
    EXPECT_EQ(doca_dev_close(dev.release()), DOCA_SUCCESS);
}

TEST_P(SyncEventTest, no_accelerators)
{
    SyncEventHandle event = configured();
    auto *const dpa = untouched<doca_dpa>();
    auto *const gpu = untouched<doca_gpu>();
    EXPECT_EQ(doca_sync_event_publisher_add_location_dpa(event, dpa), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_sync_event_publisher_add_location_gpu(event, gpu), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_sync_event_subscriber_add_location_dpa(event, dpa), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_sync_event_subscriber_add_location_gpu(event, gpu), DOCA_ERROR_NOT_SUPPORTED);
    doca_sync_event_remote_t remote = {{5, 6}};
    EXPECT_EQ(doca_sync_event_export_remote(event, &remote), DOCA_ERROR_BAD_STATE);
    must(doca_sync_event_start(event)); // none of them counted as a location
    auto *on_gpu = untouched<doca_gpu_dev_sync_event_t>();
    EXPECT_EQ(doca_sync_event_export_to_dpa(event, dpa, &value), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_sync_event_export_to_gpu(event, gpu, &on_gpu), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_sync_event_export_remote(event, &remote), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(value, 77u);
    EXPECT_EQ(on_gpu, untouched<doca_gpu_dev_sync_event_t>());
    EXPECT_EQ(remote.data[0], 5u);
    must(doca_sync_event_stop(event));
}

// Operations, on a counter of the library's and on one of the program's

namespace {

class SyncOperationTest : public SyncEventTest {
protected:
    void for_each_place(const std::function<void(Event &event)> &body)
    {
        for (const bool is_own : {false, true}) {
            SCOPED_TRACE(is_own ? "in the program's memory" : "in the library's memory");
            Memory memory(MemoryKind::anonymous, 64);
            auto *const word = reinterpret_cast<std::uint64_t *>(memory.data() + 8);
            *word = 0;
            Event event(dev, Publisher::cpu, is_own ? word : nullptr);
            event.start();
            body(event);
        }
    }
};

} // namespace

INSTANTIATE_FOR_FEW_DEVICES(SyncOperationTest, has_sync_events);

TEST_P(SyncOperationTest, set_get_and_add_in_the_whole_range)
{
    for_each_place([&](Event &event) {
        EXPECT_EQ(event.get(), 0u);
        for (const std::uint64_t set : {std::uint64_t{1}, std::uint64_t{254}, std::uint64_t{255},
                                        std::uint64_t{1} << 63, all_bits, std::uint64_t{0}}) {
            EXPECT_EQ(doca_sync_event_update_set(event, set), DOCA_SUCCESS);
            EXPECT_EQ(event.get(), set);
            EXPECT_EQ(doca_sync_event_update_add(event, 3, &value), DOCA_SUCCESS);
            EXPECT_EQ(value, set);
            EXPECT_EQ(event.get(), set + 3);
            EXPECT_EQ(doca_sync_event_update_add(event, all_bits, nullptr), DOCA_SUCCESS);
            EXPECT_EQ(event.get(), set + 2);
        }
    });
}

TEST_P(SyncOperationTest, wait_compares_what_the_mask_leaves)
{
    for_each_place([&](Event &event) {
        must(doca_sync_event_update_set(event, 0x1234'5678'9abc'def0));
        const auto both = [&](std::uint64_t threshold, std::uint64_t mask) {
            EXPECT_EQ(doca_sync_event_wait_gt(event, threshold, mask), DOCA_SUCCESS);
            EXPECT_EQ(doca_sync_event_wait_gt_yield(event, threshold, mask), DOCA_SUCCESS);
        };
        both(0, all_bits);
        both(0x1234'5678'9abc'deef, all_bits);
        both(0xef, 0xff);
        both(0x1234'0000'0000'0000 - 1, 0xffff'0000'0000'0000);

        // Not met until the masked part is above: equal is not enough, and what is outside does not count.
        for (const bool yields : {false, true}) {
            must(doca_sync_event_update_set(event, 0x1'05));
            std::thread waiter([&] {
                EXPECT_EQ(yields ? doca_sync_event_wait_gt_yield(event, 5, 0xff)
                                 : doca_sync_event_wait_gt(event, 5, 0xff),
                          DOCA_SUCCESS);
                must(doca_sync_event_update_add(event, 1, nullptr));
            });
            for (const std::uint64_t unmet : {0x2'05, 0xff'04, 0x0})
                must(doca_sync_event_update_set(event, unmet));
            must(doca_sync_event_update_set(event, 0x06));
            waiter.join();
            EXPECT_EQ(event.get(), 7u);
        }
    });
}

TEST_P(SyncOperationTest, additions_of_many_threads_are_all_there)
{
    for_each_place([&](Event &event) {
        constexpr int threads = 4;
        const int rounds = times(20'000);
        std::vector<std::thread> adding;
        for (int i = 0; i < threads; ++i) {
            adding.emplace_back([&] {
                std::uint64_t before = 0, fetched = 0;
                for (int round = 0; round < rounds; ++round) {
                    must(doca_sync_event_update_add(event, 1, &fetched));
                    EXPECT_TRUE(round == 0 || fetched > before);
                    before = fetched;
                }
            });
        }
        for (std::thread &thread : adding)
            thread.join();
        EXPECT_EQ(event.get(), static_cast<std::uint64_t>(threads * rounds));
    });
}

TEST_P(SyncOperationTest, counter_of_the_programs_own)
{
    Memory memory(MemoryKind::anonymous, 64);
    auto *const word = reinterpret_cast<std::uint64_t *>(memory.data() + 16);
    *word = 500;
    SyncEventHandle unaligned = create();
    EXPECT_EQ(doca_sync_event_set_addr(unaligned, reinterpret_cast<std::uint64_t *>(memory.data() + 4)),
              DOCA_ERROR_INVALID_VALUE);
    Event event(dev, Publisher::cpu, word);
    event.start();
    EXPECT_EQ(event.get(), 500u);
    must(doca_sync_event_update_add(event, 1, nullptr));
    EXPECT_EQ(*word, 501u);
    must(doca_sync_event_update_set(event, 7));
    EXPECT_EQ(*word, 7u);
    std::thread waiter([&] { EXPECT_EQ(doca_sync_event_wait_gt(event, 1000, all_bits), DOCA_SUCCESS); });
    std::atomic_ref(*word).store(1001, std::memory_order_release); // seen by who polls
    waiter.join();
    event.reset();
    EXPECT_EQ(*word, 1001u);
}

TEST_P(SyncOperationTest, memory_that_is_not_there)
{
    void *const mapped = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    const Event read_only(dev, Publisher::cpu, static_cast<std::uint64_t *>(mapped));
    EXPECT_EQ(doca_sync_event_start(read_only), DOCA_ERROR_NOT_SUPPORTED);
    ASSERT_EQ(munmap(mapped, 4096), 0);
    const Event unmapped(dev, Publisher::cpu, static_cast<std::uint64_t *>(mapped));
    EXPECT_EQ(doca_sync_event_start(unmapped), DOCA_ERROR_NOT_SUPPORTED);
}

/// Whoever can open an event's page can write anything to its lock; that must not stop updates for ever.
TEST_P(SyncEventTest, lock_that_nobody_holds_does_not_stop_updates)
{
    if (!GetParam().is_soft())
        GTEST_SKIP() << "the lock is the software device's";
    using opendoca::soft::ProcessId;
    alignas(8) std::uint64_t word = 0;
    SyncEventHandle event = configured();
    must(doca_sync_event_set_addr(event, &word));
    must(doca_sync_event_start(event));
    int page = -1; // of the event, which is the only one of this process
    for (const auto &fd : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code error;
        if (read_symlink(fd, error).string().find(opendoca::soft::counter_page_name) != std::string::npos)
            page = open(fd.path().c_str(), O_RDWR | O_CLOEXEC);
    }
    ASSERT_GE(page, 0);
    const std::uint64_t holders[] = {1, UINT64_MAX, ProcessId(1, start_time_of(1)).word(),
                                     ProcessId(2, start_time_of(2)).word(),
                                     ProcessId(getpid(), start_time_of(getpid())).word()};
    for (const std::uint64_t holder : holders) {
        ASSERT_EQ(pwrite(page, &holder, sizeof(holder), offsetof(opendoca::soft::CounterPage, lock)), 8);
        // Several threads: the name of their process is that of whichever holds the lock, too.
        must(doca_sync_event_update_set(event, 0));
        ASSERT_EQ(pwrite(page, &holder, sizeof(holder), offsetof(opendoca::soft::CounterPage, lock)), 8);
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (std::uint64_t fetched = 0, step = 0; step < 1000; ++step)
                    must(doca_sync_event_update_add(event, 1, &fetched));
            });
        }
        for (std::thread &thread : threads)
            thread.join();
        must(doca_sync_event_get(event, &value));
        EXPECT_EQ(value, 4000u) << "holder " << holder;
    }
    close(page);
    must(doca_sync_event_stop(event));
}
