// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sync events: synchronous, as contexts, and with their other side in a child process.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_sync_event.h>

#include "../support/environment.hpp"
#include "objects.hpp"

namespace doca_test {
namespace {

using EventHandle = Handle<doca_sync_event, doca_sync_event_destroy>;
using RemoteHandle = Handle<doca_sync_event_remote_net, doca_sync_event_remote_net_destroy>;

constexpr std::uint64_t all_bits = UINT64_MAX;

EventHandle local_event(doca_dev *dev)
{
    EventHandle event;
    must(doca_sync_event_create(event.out()));
    must(doca_sync_event_add_publisher_location_cpu(event, dev));
    must(doca_sync_event_add_subscriber_location_cpu(event, dev));
    return event;
}

std::uint64_t value_of(doca_sync_event *event)
{
    std::uint64_t value = 0;
    EXPECT_EQ(doca_sync_event_get(event, &value), DOCA_SUCCESS);
    return value;
}

class SyncEvent : public testing::TestWithParam<std::string> {
protected:
    DevHandle dev = open_device(GetParam());
};

INSTANTIATE_FOR_COPYING_DEVICES(SyncEvent);

TEST_P(SyncEvent, a_device_that_has_them_does_each_task)
{
    const doca_devinfo *const info = doca_dev_as_devinfo(dev);
    for (const auto ask :
         {doca_sync_event_cap_task_get_is_supported, doca_sync_event_cap_task_notify_set_is_supported,
          doca_sync_event_cap_task_notify_add_is_supported, doca_sync_event_cap_task_wait_eq_is_supported,
          doca_sync_event_cap_task_wait_neq_is_supported}) {
        EXPECT_EQ(ask(info), DOCA_SUCCESS);
        EXPECT_EQ(ask(nullptr), DOCA_ERROR_INVALID_VALUE);
    }
    // Both ends of an event that goes to another node, or neither.
    EXPECT_EQ(doca_sync_event_cap_remote_net_is_create_from_export_supported(info),
              doca_sync_event_cap_is_export_to_remote_net_supported(info));
}

// Synchronous

TEST_P(SyncEvent, counts_and_waits)
{
    const EventHandle event = local_event(dev);
    std::uint64_t value = 5;
    EXPECT_EQ(doca_sync_event_get(event, &value), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(value, 5u);
    ASSERT_EQ(doca_sync_event_start(event), DOCA_SUCCESS);
    EXPECT_EQ(value_of(event), 0u);
    EXPECT_EQ(doca_sync_event_update_set(event, 40), DOCA_SUCCESS);
    EXPECT_EQ(doca_sync_event_update_add(event, 2, &value), DOCA_SUCCESS);
    EXPECT_EQ(value, 40u);
    EXPECT_EQ(doca_sync_event_update_add(event, 0, nullptr), DOCA_SUCCESS);
    EXPECT_EQ(value_of(event), 42u);
    // All of these hold already.
    EXPECT_EQ(doca_sync_event_wait_gt(event, 41, all_bits), DOCA_SUCCESS);
    EXPECT_EQ(doca_sync_event_wait_gt_yield(event, 1, 0xf), DOCA_SUCCESS);
    EXPECT_EQ(doca_sync_event_wait_eq(event, 42, all_bits), DOCA_SUCCESS);
    EXPECT_EQ(doca_sync_event_wait_eq_yield(event, 0xa, 0xf), DOCA_SUCCESS);
    EXPECT_EQ(doca_sync_event_wait_neq(event, 41, all_bits), DOCA_SUCCESS);
    EXPECT_EQ(doca_sync_event_wait_neq_yield(event, 0, 0xf), DOCA_SUCCESS);
    EXPECT_EQ(doca_sync_event_as_ctx(event), nullptr);
    EXPECT_EQ(doca_sync_event_destroy(event), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_stop(event), DOCA_SUCCESS);
}

TEST_P(SyncEvent, is_started_again_after_a_stop)
{
    const EventHandle event = local_event(dev);
    ASSERT_EQ(doca_sync_event_start(event), DOCA_SUCCESS);
    EXPECT_EQ(doca_sync_event_update_set(event, 42), DOCA_SUCCESS);
    ASSERT_EQ(doca_sync_event_stop(event), DOCA_SUCCESS);
    std::uint64_t value = 0;
    EXPECT_EQ(doca_sync_event_get(event, &value), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_stop(event), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_add_publisher_location_cpu(event, dev), DOCA_ERROR_BAD_STATE) << "they are final";
    EXPECT_EQ(doca_sync_event_set_addr(event, &value), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_as_ctx(event), nullptr) << "so is the mode";
    ASSERT_EQ(doca_sync_event_start(event), DOCA_SUCCESS);
    EXPECT_EQ(value_of(event), 42u) << "the counter is the same";
    EXPECT_EQ(doca_sync_event_stop(event), DOCA_SUCCESS);
}

/// The original's hardware takes whole bytes, here any bits will do.
TEST_P(SyncEvent, takes_any_mask)
{
    const EventHandle event = local_event(dev);
    ASSERT_EQ(doca_sync_event_start(event), DOCA_SUCCESS);
    EXPECT_EQ(doca_sync_event_update_set(event, 0x00ff00ff12345678), DOCA_SUCCESS);
    for (const std::uint64_t mask :
         {std::uint64_t{0}, std::uint64_t{0x70}, std::uint64_t{0xff00ff}, std::uint64_t{1} << 63}) {
        SCOPED_TRACE(mask);
        const std::uint64_t masked = 0x00ff00ff12345678 & mask;
        EXPECT_EQ(doca_sync_event_wait_eq(event, masked, mask), DOCA_SUCCESS);
        EXPECT_EQ(doca_sync_event_wait_neq(event, masked + 1, mask), DOCA_SUCCESS);
    }
    EXPECT_EQ(doca_sync_event_stop(event), DOCA_SUCCESS);
}

TEST_P(SyncEvent, a_wait_ends_with_the_value_it_waits_for_and_no_other)
{
    struct Case {
        doca_error_t (*wait)(doca_sync_event *, std::uint64_t, std::uint64_t);
        std::uint64_t value;
        std::vector<std::uint64_t> in_vain;
        std::uint64_t end;
    };
    for (const Case &each :
         {Case{doca_sync_event_wait_eq, 3, {2, 4, all_bits}, 3}, Case{doca_sync_event_wait_neq_yield, 7, {7}, 8},
          Case{doca_sync_event_wait_eq_yield, 0, {1, all_bits}, 0},
          Case{doca_sync_event_wait_neq, all_bits, {all_bits}, 0}, Case{doca_sync_event_wait_gt, 3, {0, 3}, 4}}) {
        const EventHandle event = local_event(dev);
        ASSERT_EQ(doca_sync_event_start(event), DOCA_SUCCESS);
        must(doca_sync_event_update_set(event, each.in_vain[0]));
        std::atomic<bool> has_ended{false};
        std::atomic<bool> may_end{false};
        std::thread waiter([&] {
            EXPECT_EQ(each.wait(event, each.value, all_bits), DOCA_SUCCESS);
            EXPECT_TRUE(may_end);
            has_ended = true;
        });
        for (int round = 0; round != 100; ++round) {
            for (const std::uint64_t value : each.in_vain)
                must(doca_sync_event_update_set(event, value));
            std::this_thread::yield();
        }
        may_end = true;
        must(doca_sync_event_update_set(event, each.end));
        waiter.join();
        EXPECT_TRUE(has_ended);
        must(doca_sync_event_stop(event));
    }
}

TEST_P(SyncEvent, needs_one_location_a_side)
{
    EventHandle event;
    must(doca_sync_event_create(event.out()));
    EXPECT_EQ(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
    must(doca_sync_event_add_publisher_location_cpu(event, dev));
    EXPECT_EQ(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
    must(doca_sync_event_add_subscriber_location_cpu(event, dev));
    must(doca_sync_event_add_subscriber_location_remote_pci(event));
    EXPECT_EQ(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
    // It is the start that tells, whatever the second one is.
    EXPECT_EQ(doca_sync_event_add_publisher_location_cpu(event, dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sync_event_add_publisher_location_cpu(event, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sync_event_add_publisher_location_dpa(event, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sync_event_cap_is_export_to_gpu_supported(doca_dev_as_devinfo(dev)), DOCA_ERROR_NOT_SUPPORTED);
}

TEST_P(SyncEvent, is_where_the_program_says)
{
    alignas(8) std::uint64_t word = 9;
    {
        const EventHandle event = local_event(dev);
        EXPECT_EQ(
            doca_sync_event_set_addr(event, reinterpret_cast<std::uint64_t *>(reinterpret_cast<char *>(&word) + 1)),
            DOCA_ERROR_INVALID_VALUE);
        must(doca_sync_event_set_addr(event, &word));
        must(doca_sync_event_start(event));
        EXPECT_EQ(value_of(event), 9u);
        must(doca_sync_event_update_set(event, 10));
        EXPECT_EQ(word, 10u);
        must(doca_sync_event_stop(event));
    }
    alignas(8) std::byte memory[16] = {};
    const MmapHandle map = map_of(dev, memory);
    const InventoryHandle inventory = inventory_of(1);
    BufHandle buf;
    must(doca_buf_inventory_buf_get_by_addr(inventory, map, memory, sizeof(memory), buf.out()));
    const EventHandle event = local_event(dev);
    EXPECT_EQ(doca_sync_event_set_doca_buf(event, buf), DOCA_ERROR_INVALID_VALUE) << "there is no data";
    must(doca_buf_set_data(buf, memory + 8, 8));
    must(doca_sync_event_set_doca_buf(event, buf));
    must(doca_sync_event_start(event));
    must(doca_sync_event_update_set(event, 0x0101010101010101));
    EXPECT_EQ(memory[7], std::byte{0});
    EXPECT_EQ(memory[8], std::byte{1});
    must(doca_sync_event_stop(event));
}

// As a context

/// A sync event that runs as a context.
class SyncEventTasks : public SyncEvent {
protected:
    template <typename Task>
    static void ended(Task *, doca_data task_data, doca_data ctx_data)
    {
        static_cast<SyncEventTasks *>(ctx_data.ptr)->ends.push_back(task_data.u64);
    }

    void SetUp() override
    {
        must(doca_pe_create(pe.out()));
        ctx = doca_sync_event_as_ctx(event);
        ASSERT_NE(ctx, nullptr);
        must(doca_sync_event_task_get_set_conf(event, ended, ended, 4));
        must(doca_sync_event_task_notify_set_set_conf(event, ended, ended, 4));
        must(doca_sync_event_task_notify_add_set_conf(event, ended, ended, 4));
        must(doca_sync_event_task_wait_eq_set_conf(event, ended, ended, 4));
        must(doca_sync_event_task_wait_neq_set_conf(event, ended, ended, 4));
        must(doca_ctx_set_user_data(ctx, {.ptr = this}));
        must(doca_pe_connect_ctx(pe, ctx));
        must(doca_ctx_start(ctx));
    }
    void TearDown() override
    {
        for (doca_task *task : tasks)
            doca_task_free(task);
        tasks.clear();
        const doca_error_t status = doca_ctx_stop(ctx);
        EXPECT_TRUE(status == DOCA_SUCCESS || status == DOCA_ERROR_IN_PROGRESS);
        while (state_of(ctx) != DOCA_CTX_STATE_IDLE)
            ASSERT_EQ(doca_pe_progress(pe), 1);
    }

    doca_task *get(std::uint64_t *value, std::uint64_t name = 0)
    {
        doca_sync_event_task_get *task = nullptr;
        must(doca_sync_event_task_get_alloc_init(event, value, {.u64 = name}, &task));
        return keep(doca_sync_event_task_get_as_doca_task(task));
    }
    doca_task *set(std::uint64_t value, std::uint64_t name = 0)
    {
        doca_sync_event_task_notify_set *task = nullptr;
        must(doca_sync_event_task_notify_set_alloc_init(event, value, {.u64 = name}, &task));
        return keep(doca_sync_event_task_notify_set_as_doca_task(task));
    }
    doca_task *add(std::uint64_t value, std::uint64_t *old, std::uint64_t name = 0)
    {
        doca_sync_event_task_notify_add *task = nullptr;
        must(doca_sync_event_task_notify_add_alloc_init(event, value, old, {.u64 = name}, &task));
        return keep(doca_sync_event_task_notify_add_as_doca_task(task));
    }
    doca_task *wait_eq(std::uint64_t value, std::uint64_t mask, std::uint64_t name = 0)
    {
        doca_sync_event_task_wait_eq *task = nullptr;
        must(doca_sync_event_task_wait_eq_alloc_init(event, value, mask, {.u64 = name}, &task));
        return keep(doca_sync_event_task_wait_eq_as_doca_task(task));
    }
    doca_task *wait_neq(std::uint64_t value, std::uint64_t mask, std::uint64_t name = 0)
    {
        doca_sync_event_task_wait_neq *task = nullptr;
        must(doca_sync_event_task_wait_neq_alloc_init(event, value, mask, {.u64 = name}, &task));
        return keep(doca_sync_event_task_wait_neq_as_doca_task(task));
    }
    doca_task *keep(doca_task *task)
    {
        tasks.push_back(task);
        return task;
    }
    /// How @p task ends.
    doca_error_t run(doca_task *task)
    {
        const std::size_t before = ends.size();
        EXPECT_EQ(doca_task_submit(task), DOCA_SUCCESS);
        while (ends.size() == before)
            (void)doca_pe_progress(pe);
        return doca_task_get_status(task);
    }

    PeHandle pe;
    EventHandle event = local_event(dev);
    doca_ctx *ctx = nullptr;
    std::vector<doca_task *> tasks;  ///< to be freed
    std::vector<std::uint64_t> ends; ///< user data of tasks, as they have ended
};

INSTANTIATE_FOR_COPYING_DEVICES(SyncEventTasks);

TEST_P(SyncEventTasks, notify_and_get)
{
    std::uint64_t value = 0;
    EXPECT_EQ(run(set(7)), DOCA_SUCCESS);
    EXPECT_EQ(run(add(3, &value)), DOCA_SUCCESS);
    EXPECT_EQ(value, 7u);
    EXPECT_EQ(run(add(1, nullptr)), DOCA_SUCCESS);
    EXPECT_EQ(run(get(&value)), DOCA_SUCCESS);
    EXPECT_EQ(value, 11u);
    EXPECT_EQ(doca_sync_event_get(event, &value), DOCA_ERROR_BAD_STATE) << "it is a context";
    doca_task *const nowhere = get(nullptr);
    EXPECT_EQ(doca_task_try_submit(nowhere), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(run(nowhere), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(state_of(ctx), DOCA_CTX_STATE_RUNNING);
}

TEST_P(SyncEventTasks, waits_end_when_their_condition_holds)
{
    must(doca_task_submit(wait_eq(5, all_bits, 1)));
    must(doca_task_submit(wait_neq(0, 0xff, 2)));
    must(doca_task_submit(wait_eq(5, 0xff00, 3)));
    for (int i = 0; i != 10; ++i)
        EXPECT_EQ(doca_pe_progress(pe), 0);
    EXPECT_EQ(in_flight(ctx), 3u);
    EXPECT_EQ(run(set(0x100, 9)), DOCA_SUCCESS);
    while (doca_pe_progress(pe) != 0) {
    }
    EXPECT_EQ(ends, (std::vector<std::uint64_t>{9}));
    EXPECT_EQ(run(set(5, 9)), DOCA_SUCCESS);
    while (ends.size() != 4)
        (void)doca_pe_progress(pe);
    EXPECT_EQ(in_flight(ctx), 1u) << "0 & 0xff00 is not 5";
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
    while (ends.size() != 5)
        ASSERT_EQ(doca_pe_progress(pe), 1);
    EXPECT_EQ(ends.back(), 3u);
    EXPECT_EQ(doca_task_get_status(tasks[2]), DOCA_ERROR_SHUTDOWN);
}

TEST_P(SyncEventTasks, a_wait_wakes_who_sleeps_when_it_ends)
{
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(pe, &handle));
    // The other side of this event, in another thread, is a progress engine of its own.
    must(doca_task_submit(wait_eq(3, all_bits, 1)));
    must(doca_task_submit(wait_neq(0, all_bits, 2)));
    EXPECT_EQ(doca_pe_progress(pe), 0);
    must(doca_pe_request_notification(pe));
    pollfd fd{handle, POLLIN, 0};
    EXPECT_EQ(poll(&fd, 1, 0), 0);
    must(doca_task_submit(set(3, 9)));
    EXPECT_EQ(poll(&fd, 1, 10000), 1);
    must(doca_pe_clear_notification(pe, handle));
    while (ends.size() != 3)
        (void)doca_pe_progress(pe);
}

TEST_P(SyncEventTasks, are_configured_while_idle_and_run_again_after_a_stop)
{
    EXPECT_EQ(doca_sync_event_task_get_set_conf(event, ended, ended, 1), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_sync_event_destroy(event), DOCA_ERROR_IN_USE);
    EXPECT_EQ(run(set(77)), DOCA_SUCCESS);
    doca_task_free(tasks.back());
    tasks.pop_back();
    ASSERT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
    EXPECT_EQ(doca_sync_event_task_get_set_conf(event, nullptr, ended, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sync_event_task_get_set_conf(event, ended, ended, 1), DOCA_SUCCESS);
    ASSERT_EQ(doca_ctx_start(ctx), DOCA_SUCCESS);
    std::uint64_t value = 0;
    EXPECT_EQ(run(get(&value)), DOCA_SUCCESS);
    EXPECT_EQ(value, 77u) << "the counter is the same";
    doca_sync_event_task_get *more = nullptr;
    EXPECT_EQ(doca_sync_event_task_get_alloc_init(event, &value, {.u64 = 0}, &more), DOCA_ERROR_NO_MEMORY);
}

TEST_P(SyncEventTasks, take_any_mask)
{
    must(doca_task_submit(wait_eq(0x50, 0x70, 1)));
    must(doca_task_submit(wait_neq(0, 0x800001, 2)));
    EXPECT_EQ(run(set(0xd8, 3)), DOCA_SUCCESS);
    while (ends.size() != 2)
        (void)doca_pe_progress(pe);
    EXPECT_EQ(std::ranges::count(ends, 2), 0);
    EXPECT_EQ(run(set(0x1, 4)), DOCA_SUCCESS);
    while (ends.size() != 4)
        (void)doca_pe_progress(pe);
    EXPECT_EQ(doca_task_get_status(tasks[0]), DOCA_SUCCESS);
    EXPECT_EQ(doca_task_get_status(tasks[1]), DOCA_SUCCESS);
}

TEST_P(SyncEventTasks, tell_what_they_were_given)
{
    std::uint64_t place = 0;
    doca_sync_event_task_wait_eq *wait = nullptr;
    must(doca_sync_event_task_wait_eq_alloc_init(event, 1, 2, {.u64 = 3}, &wait));
    keep(doca_sync_event_task_wait_eq_as_doca_task(wait));
    EXPECT_EQ(doca_sync_event_task_wait_eq_get_wait_val(wait), 1u);
    EXPECT_EQ(doca_sync_event_task_wait_eq_get_mask(wait), 2u);
    doca_sync_event_task_wait_eq_set_wait_val(wait, 4);
    doca_sync_event_task_wait_eq_set_mask(wait, 5);
    EXPECT_EQ(doca_sync_event_task_wait_eq_get_wait_val(wait), 4u);
    EXPECT_EQ(doca_sync_event_task_wait_eq_get_mask(wait), 5u);
    doca_sync_event_task_notify_add *add_task = nullptr;
    must(doca_sync_event_task_notify_add_alloc_init(event, 6, &place, {.u64 = 3}, &add_task));
    keep(doca_sync_event_task_notify_add_as_doca_task(add_task));
    EXPECT_EQ(doca_sync_event_task_notify_add_get_inc_val(add_task), 6u);
    EXPECT_EQ(doca_sync_event_task_notify_add_get_fetched_val_ptr(add_task), &place);
}

TEST_P(SyncEventTasks, do_what_they_were_told_last)
{
    std::uint64_t place = 0, elsewhere = 0;
    doca_sync_event_task_notify_set *setting = nullptr;
    must(doca_sync_event_task_notify_set_alloc_init(event, 1, {.u64 = 3}, &setting));
    doca_sync_event_task_notify_set_set_set_val(setting, 40);
    EXPECT_EQ(doca_sync_event_task_notify_set_get_set_val(setting), 40u);
    EXPECT_EQ(run(keep(doca_sync_event_task_notify_set_as_doca_task(setting))), DOCA_SUCCESS);

    doca_sync_event_task_notify_add *adding = nullptr;
    must(doca_sync_event_task_notify_add_alloc_init(event, 1, nullptr, {.u64 = 3}, &adding));
    doca_sync_event_task_notify_add_set_inc_val(adding, 2);
    doca_sync_event_task_notify_add_set_fetched_val_ptr(adding, &place);
    EXPECT_EQ(doca_sync_event_task_notify_add_get_inc_val(adding), 2u);
    EXPECT_EQ(doca_sync_event_task_notify_add_get_fetched_val_ptr(adding), &place);
    EXPECT_EQ(run(keep(doca_sync_event_task_notify_add_as_doca_task(adding))), DOCA_SUCCESS);
    EXPECT_EQ(place, 40u);

    doca_sync_event_task_get *getting = nullptr;
    must(doca_sync_event_task_get_alloc_init(event, &place, {.u64 = 3}, &getting));
    doca_sync_event_task_get_set_ret_val_ptr(getting, &elsewhere);
    EXPECT_EQ(doca_sync_event_task_get_get_ret_val_ptr(getting), &elsewhere);
    EXPECT_EQ(run(keep(doca_sync_event_task_get_as_doca_task(getting))), DOCA_SUCCESS);
    EXPECT_EQ(elsewhere, 42u);
    EXPECT_EQ(place, 40u);

    doca_sync_event_task_wait_neq *waiting = nullptr;
    must(doca_sync_event_task_wait_neq_alloc_init(event, 42, all_bits, {.u64 = 3}, &waiting));
    doca_sync_event_task_wait_neq_set_wait_val(waiting, 2);
    doca_sync_event_task_wait_neq_set_mask(waiting, 0xf);
    EXPECT_EQ(doca_sync_event_task_wait_neq_get_wait_val(waiting), 2u);
    EXPECT_EQ(doca_sync_event_task_wait_neq_get_mask(waiting), 0xfu);
    EXPECT_EQ(run(keep(doca_sync_event_task_wait_neq_as_doca_task(waiting))), DOCA_SUCCESS) << "42 & 0xf is not 2";
}

// The other side of the PCIe

/// An end of an event across the PCIe: a device, and the role of the process.
struct PcieEnd {
    const char *role;
    const char *device;
};
constexpr PcieEnd pcie_host{"host", "soft_pf0"}, pcie_dpu{"dpu", "soft_p0"};

class SyncEventRemotePci : public testing::TestWithParam<std::pair<PcieEnd, PcieEnd>> {};

TEST_P(SyncEventRemotePci, is_reached_by_another_process)
{
    // tests/mlx5/v3_sync_event.cpp is for the two sides of a card.
    if (!has_device("soft_pf0") || !has_device("soft_p0"))
        GTEST_SKIP() << "takes the software device's two sides";
    const auto [exporter, importer] = GetParam();
    int to_child[2];
    ASSERT_EQ(pipe(to_child), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        // The importer waits for 5, and answers 6.
        setenv("DOCA_SOFT_ROLE", importer.role, 1);
        close(to_child[1]); // so that the parent's end ends the read
        std::uint32_t size = 0;
        std::uint8_t blob[256];
        bool works = read(to_child[0], &size, sizeof(size)) == sizeof(size) &&
                     read(to_child[0], blob, size) == static_cast<ssize_t>(size);
        try {
            const DevHandle there = open_device(importer.device);
            EventHandle event;
            must(doca_sync_event_create_from_export(there, blob, size, event.out()));
            must(doca_sync_event_start(event));
            must(doca_sync_event_wait_eq_yield(event, 5, all_bits));
            must(doca_sync_event_update_set(event, 6));
            must(doca_sync_event_stop(event));
        } catch (const std::exception &error) {
            (void)std::fprintf(stderr, "the child: %s\n", error.what());
            works = false;
        }
        _exit(works ? 0 : 1);
    }
    close(to_child[0]);
    const Environment role("DOCA_SOFT_ROLE", exporter.role);
    const DevHandle here = open_device(exporter.device);
    EventHandle event;
    must(doca_sync_event_create(event.out()));
    must(doca_sync_event_add_publisher_location_remote_pci(event));
    must(doca_sync_event_add_subscriber_location_cpu(event, here));
    must(doca_sync_event_start(event));
    const std::uint8_t *data = nullptr;
    std::size_t size = 0;
    ASSERT_EQ(doca_sync_event_export_to_remote_pci(event, here, &data, &size), DOCA_SUCCESS);
    ASSERT_LE(size, 256u);
    const auto length = static_cast<std::uint32_t>(size);
    EXPECT_EQ(write(to_child[1], &length, sizeof(length)), static_cast<ssize_t>(sizeof(length)));
    EXPECT_EQ(write(to_child[1], data, size), static_cast<ssize_t>(size));
    EXPECT_EQ(doca_sync_event_update_set(event, 5), DOCA_SUCCESS);
    close(to_child[1]);
    // A child that fails gives no answer: what waits for it is ended from here.
    int status = 0;
    std::thread watcher([&] {
        EXPECT_EQ(waitpid(child, &status, 0), child);
        if (status != 0) {
            EXPECT_EQ(doca_sync_event_update_set(event, 6), DOCA_SUCCESS);
        }
    });
    EXPECT_EQ(doca_sync_event_wait_eq_yield(event, 6, all_bits), DOCA_SUCCESS);
    watcher.join();
    EXPECT_EQ(status, 0);
    must(doca_sync_event_stop(event));
}

/// An event that nothing waits for is not polled. The end of the process that has exported it wakes a program that
/// blocks, and does not keep it awake.
TEST_P(SyncEventRemotePci, without_a_wait_does_not_keep_a_program_awake_when_its_holder_ends)
{
    if (!has_device("soft_pf0") || !has_device("soft_p0"))
        GTEST_SKIP() << "takes the software device's two sides";
    const auto [exporter, importer] = GetParam();
    int from_child[2];
    ASSERT_EQ(pipe(from_child), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        setenv("DOCA_SOFT_ROLE", exporter.role, 1);
        const DevHandle there = open_device(exporter.device);
        EventHandle held;
        must(doca_sync_event_create(held.out()));
        must(doca_sync_event_add_publisher_location_remote_pci(held));
        must(doca_sync_event_add_subscriber_location_cpu(held, there));
        must(doca_sync_event_start(held));
        const std::uint8_t *data = nullptr;
        std::size_t size = 0;
        must(doca_sync_event_export_to_remote_pci(held, there, &data, &size));
        (void)!write(from_child[1], data, size);
        pause(); // until it is killed
        _exit(0);
    }
    std::uint8_t blob[256];
    const ssize_t size = read(from_child[0], blob, sizeof(blob));
    ASSERT_GT(size, 0);
    const Environment role("DOCA_SOFT_ROLE", importer.role);
    const DevHandle here = open_device(importer.device);
    PeHandle pe;
    must(doca_pe_create(pe.out()));
    EventHandle imported;
    must(doca_sync_event_create_from_export(here, blob, static_cast<std::size_t>(size), imported.out()));
    EventHandle other = local_event(here);               // an engine leaves one context active
    doca_sync_event *const events[] = {other, imported}; // the last one is parked first
    for (doca_sync_event *const event : events) {
        must(doca_sync_event_task_wait_eq_set_conf(
            event, [](doca_sync_event_task_wait_eq *, doca_data, doca_data) {},
            [](doca_sync_event_task_wait_eq *, doca_data, doca_data) {}, 1));
        must(doca_pe_connect_ctx(pe, doca_sync_event_as_ctx(event)));
        must(doca_ctx_start(doca_sync_event_as_ctx(event)));
    }
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(pe, &handle));
    pollfd fd{handle, POLLIN, 0};
    constexpr int polls_until_parked = 6000;
    for (int i = 0; i != polls_until_parked; ++i)
        ASSERT_EQ(doca_pe_progress(pe), 0);
    must(doca_pe_request_notification(pe));
    EXPECT_EQ(poll(&fd, 1, 0), 0);
    ASSERT_EQ(kill(child, SIGKILL), 0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    bool sleeps = false;
    for (int rounds = 0; rounds != 100 && !sleeps; ++rounds) {
        // The holder's end may be noticed after its descriptor has become readable.
        sleeps = poll(&fd, 1, 100) == 0;
        must(doca_pe_clear_notification(pe, handle));
        while (doca_pe_progress(pe) != 0) {
        }
        must(doca_pe_request_notification(pe));
    }
    EXPECT_TRUE(sleeps);
    for (doca_sync_event *const event : events)
        EXPECT_EQ(doca_ctx_stop(doca_sync_event_as_ctx(event)), DOCA_SUCCESS);
    close(from_child[0]);
    close(from_child[1]);
}

INSTANTIATE_TEST_SUITE_P(both_directions, SyncEventRemotePci,
                         testing::Values(std::pair{pcie_host, pcie_dpu}, std::pair{pcie_dpu, pcie_host}),
                         [](const auto &test) { return std::string(test.param.first.role) + "_exports"; });

// Another node

TEST_P(SyncEvent, is_exported_to_another_node_where_the_device_does_atomics)
{
    EventHandle event;
    must(doca_sync_event_create(event.out()));
    must(doca_sync_event_add_publisher_location_remote_net(event));
    must(doca_sync_event_add_subscriber_location_cpu(event, dev));
    const std::uint8_t *data = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(doca_sync_event_export_to_remote_net(event, &data, &size), DOCA_ERROR_BAD_STATE);
    must(doca_sync_event_start(event));
    if (doca_sync_event_cap_is_export_to_remote_net_supported(doca_dev_as_devinfo(dev)) != DOCA_SUCCESS) {
        must(doca_sync_event_stop(event));
        GTEST_SKIP() << "the device cannot";
    }
    ASSERT_EQ(doca_sync_event_export_to_remote_net(event, &data, &size), DOCA_SUCCESS);
    const std::uint8_t *again = nullptr;
    ASSERT_EQ(doca_sync_event_export_to_remote_net(event, &again, &size), DOCA_SUCCESS);
    EXPECT_EQ(again, data);
    EXPECT_LE(size, 512u);
    RemoteHandle remote;
    ASSERT_EQ(doca_sync_event_remote_net_create_from_export(dev, data, size, remote.out()), DOCA_SUCCESS);
    // Bytes from outside are not trusted.
    std::vector<std::uint8_t> forged(data, data + size);
    RemoteHandle none;
    EXPECT_EQ(doca_sync_event_remote_net_create_from_export(dev, forged.data(), size - 1, none.out()),
              DOCA_ERROR_INVALID_VALUE);
    forged[0] ^= 1;
    EXPECT_EQ(doca_sync_event_remote_net_create_from_export(dev, forged.data(), size, none.out()),
              DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sync_event_remote_net_create_from_export(dev, forged.data(), 0, none.out()),
              DOCA_ERROR_INVALID_VALUE);
    remote.reset();
    must(doca_sync_event_stop(event));
}

TEST_P(SyncEvent, with_a_publisher_here_is_not_exported_to_another_node)
{
    const EventHandle event = local_event(dev);
    must(doca_sync_event_start(event));
    const std::uint8_t *data = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(doca_sync_event_export_to_remote_net(event, &data, &size), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(data, nullptr);
    must(doca_sync_event_stop(event));
}

} // namespace
} // namespace doca_test
