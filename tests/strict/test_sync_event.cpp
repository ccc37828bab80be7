// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Strict mode: asynchronous waits for values and with masks that a card cannot do.
#include <cstdint>
#include <optional>

#include <doca_sync_event.h>

#include "strict_fixture.hpp"

namespace doca_test {
namespace {

using EventHandle = Handle<doca_sync_event, doca_sync_event_destroy>;

template <typename Task>
void ended(Task *task, doca_data task_data, doca_data)
{
    *static_cast<std::optional<doca_error_t> *>(task_data.ptr) =
        doca_task_get_status(reinterpret_cast<doca_task *>(task));
}

class StrictSyncEvent : public StrictTest {
protected:
    void SetUp() override
    {
        must(doca_sync_event_create(event.out()));
        must(doca_sync_event_add_publisher_location_cpu(event, dev));
        must(doca_sync_event_add_subscriber_location_cpu(event, dev));
        ctx = doca_sync_event_as_ctx(event);
        must(doca_sync_event_task_notify_set_set_conf(event, ended, ended, 1));
        must(doca_sync_event_task_wait_eq_set_conf(event, ended, ended, 1));
        must(doca_sync_event_task_wait_neq_set_conf(event, ended, ended, 1));
        must(doca_pe_connect_ctx(pe, ctx));
        must(doca_ctx_start(ctx));
    }
    void TearDown() override
    {
        (void)doca_ctx_stop(ctx);
        run_until([&] { return state_of(ctx) == DOCA_CTX_STATE_IDLE; });
    }
    /// Returns the status of a task that was submitted and has ended.
    [[nodiscard]] doca_error_t run(doca_task *task)
    {
        result.reset();
        must(doca_task_submit(task));
        run_until([&] { return result.has_value(); });
        doca_task_free(task);
        return *result;
    }
    [[nodiscard]] doca_error_t set(std::uint64_t value)
    {
        doca_sync_event_task_notify_set *task = nullptr;
        must(doca_sync_event_task_notify_set_alloc_init(event, value, {.ptr = &result}, &task));
        return run(doca_sync_event_task_notify_set_as_doca_task(task));
    }
    [[nodiscard]] doca_error_t wait_eq(std::uint64_t value, std::uint64_t mask)
    {
        doca_sync_event_task_wait_eq *task = nullptr;
        must(doca_sync_event_task_wait_eq_alloc_init(event, value, mask, {.ptr = &result}, &task));
        return run(doca_sync_event_task_wait_eq_as_doca_task(task));
    }
    [[nodiscard]] doca_error_t wait_neq(std::uint64_t value, std::uint64_t mask)
    {
        doca_sync_event_task_wait_neq *task = nullptr;
        must(doca_sync_event_task_wait_neq_alloc_init(event, value, mask, {.ptr = &result}, &task));
        return run(doca_sync_event_task_wait_neq_as_doca_task(task));
    }
    /// Returns what a wait that a card cannot do ends with.
    [[nodiscard]] static doca_error_t refused() { return is_strict() ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS; }

    EventHandle event;
    doca_ctx *ctx = nullptr;
    std::optional<doca_error_t> result;
};
INSTANTIATE_STRICT(StrictSyncEvent);

TEST_P(StrictSyncEvent, waits_for_a_value_of_0_to_254)
{
    ASSERT_EQ(set(254), DOCA_SUCCESS);
    EXPECT_EQ(wait_eq(254, UINT64_MAX), DOCA_SUCCESS);
    EXPECT_EQ(wait_neq(0, UINT64_MAX), DOCA_SUCCESS);
    EXPECT_FALSE(log.has("strict: ")) << log.text();
    EXPECT_EQ(wait_neq(255, UINT64_MAX), refused());
    expect_rule("sync-event-wait-range");
    EXPECT_EQ(wait_neq(UINT64_MAX, UINT64_MAX), refused());
    EXPECT_EQ(state_of(ctx), DOCA_CTX_STATE_RUNNING);
}

TEST_P(StrictSyncEvent, waits_while_the_counter_is_0_to_254)
{
    ASSERT_EQ(set(255), DOCA_SUCCESS);
    EXPECT_EQ(wait_neq(1, UINT64_MAX), refused());
    expect_rule("sync-event-wait-range");
    ASSERT_EQ(set(0x1005), DOCA_SUCCESS);
    EXPECT_EQ(wait_eq(5, 0xff), DOCA_SUCCESS) << "only what is compared counts";
}

TEST_P(StrictSyncEvent, waits_with_masks_of_whole_bytes)
{
    ASSERT_EQ(set(5), DOCA_SUCCESS);
    for (const std::uint64_t mask : {std::uint64_t{0xff}, std::uint64_t{0xffff}, std::uint64_t{0xffffffff}, UINT64_MAX})
        EXPECT_EQ(wait_eq(5, mask), DOCA_SUCCESS) << mask;
    for (const std::uint64_t mask : {std::uint64_t{0}, std::uint64_t{0xff00}, std::uint64_t{0xff} << 56})
        EXPECT_EQ(wait_eq(0, mask), DOCA_SUCCESS) << mask;
    EXPECT_FALSE(log.has("strict: ")) << log.text();
    for (const std::uint64_t mask : {std::uint64_t{0xf}, std::uint64_t{0xffffff}, std::uint64_t{0x1fe}})
        EXPECT_EQ(wait_neq(0, mask), refused()) << mask;
    expect_rule("sync-event-wait-range");
}

} // namespace
} // namespace doca_test
