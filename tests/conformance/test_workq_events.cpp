// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Work queues in event-driven mode: the handle, and that no order of arm, submit and completion loses a
// signal. Each test runs with jobs that are carried out in submit, and on software devices also with those
// carried out in retrieve.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>

#include "support/dma_fixture.hpp"
#include "support/environment.hpp"
#include "support/sanitizers.hpp"

using namespace doca_test;

namespace {

constexpr int patience = 60'000; // milliseconds, after which a signal counts as lost

bool is_readable(int fd, int timeout = 0)
{
    pollfd handle = {.fd = fd, .events = POLLIN, .revents = 0};
    return poll(&handle, 1, timeout) == 1 && (handle.revents & POLLIN) != 0;
}

struct EventParam {
    DeviceParam device;
    bool is_deferred;
};

std::ostream &operator<<(std::ostream &stream, const EventParam &param)
{
    return stream << param.device << (param.is_deferred ? ", deferred" : "");
}

std::vector<EventParam> event_params()
{
    std::vector<EventParam> params;
    for (const DeviceParam &device : few_devices_that(supports_events)) {
        params.push_back({device, false});
        if (device.is_soft())
            params.push_back({device, true});
    }
    return params;
}

std::string event_param_name(const testing::TestParamInfo<EventParam> &info)
{
    return as_test_name(info.param.device.ibdev) + (info.param.is_deferred ? "_deferred" : "");
}

} // namespace

// The mode, which needs no context

TEST(WorkqMode, is_polling_until_set)
{
    WorkqHandle workq;
    must(doca_workq_create(4, workq.out()));
    std::uint8_t mode = 99;
    EXPECT_EQ(doca_workq_get_event_driven_enable(nullptr, &mode), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_workq_get_event_driven_enable(workq, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(mode, 99);
    const auto expect_mode = [&](std::uint8_t expected) {
        EXPECT_EQ(doca_workq_get_event_driven_enable(workq, &mode), DOCA_SUCCESS);
        EXPECT_EQ(mode, expected);
    };
    expect_mode(0);
    EXPECT_EQ(doca_workq_set_event_driven_enable(nullptr, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_workq_set_event_driven_enable(workq, 0), DOCA_SUCCESS); // what it is already
    expect_mode(0);
    EXPECT_EQ(doca_workq_set_event_driven_enable(workq, 1), DOCA_SUCCESS);
    expect_mode(1);
    EXPECT_EQ(doca_workq_set_event_driven_enable(workq, 1), DOCA_SUCCESS);
    expect_mode(1);
    EXPECT_EQ(doca_workq_set_event_driven_enable(workq, 0), DOCA_SUCCESS);
    expect_mode(0);
    EXPECT_EQ(doca_workq_set_event_driven_enable(workq, 255), DOCA_SUCCESS); // anything else than 0 is on
    expect_mode(1);
}

TEST(WorkqMode, polling_has_no_handle)
{
    WorkqHandle workq;
    must(doca_workq_create(4, workq.out()));
    doca_event_handle_t handle = 77;
    EXPECT_EQ(doca_workq_get_event_handle(workq, &handle), DOCA_ERROR_BAD_STATE);
    must(doca_workq_set_event_driven_enable(workq, 1));
    EXPECT_EQ(doca_workq_get_event_handle(nullptr, &handle), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_workq_get_event_handle(workq, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(handle, 77);
    EXPECT_EQ(doca_workq_get_event_handle(workq, &handle), DOCA_SUCCESS);
    must(doca_workq_set_event_driven_enable(workq, 0));
    handle = 77;
    EXPECT_EQ(doca_workq_get_event_handle(workq, &handle), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(handle, 77);
}

TEST(WorkqMode, handle_is_a_descriptor_that_goes_with_the_queue)
{
    WorkqHandle workq;
    must(doca_workq_create(4, workq.out()));
    must(doca_workq_set_event_driven_enable(workq, 1));
    doca_event_handle_t handle = -1;
    must(doca_workq_get_event_handle(workq, &handle));
    const int flags = fcntl(handle, F_GETFD);
    ASSERT_NE(flags, -1);
    EXPECT_NE(flags & FD_CLOEXEC, 0);
    EXPECT_FALSE(is_readable(handle));
    workq.reset();
    EXPECT_EQ(fcntl(handle, F_GETFD), -1);
}

TEST(WorkqMode, stays_polling_without_a_descriptor)
{
    WorkqHandle workq;
    must(doca_workq_create(4, workq.out()));
    rlimit before = {};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    const doca_error_t status = doca_workq_set_event_driven_enable(workq, 1);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(status, DOCA_ERROR_OPERATING_SYSTEM);
    std::uint8_t mode = 99;
    EXPECT_EQ(doca_workq_get_event_driven_enable(workq, &mode), DOCA_SUCCESS);
    EXPECT_EQ(mode, 0);
    EXPECT_EQ(doca_workq_set_event_driven_enable(workq, 1), DOCA_SUCCESS); // once there are some
}

// With jobs

class WorkqEventTest : public testing::TestWithParam<EventParam> {
protected:
    void SetUp() override { must(doca_workq_get_event_handle(engine.workq(), &handle)); }
    void TearDown() override
    {
        doca_event event = {};
        while (engine.retrieve(event) != DOCA_ERROR_AGAIN) {
        }
    }

    void arm() { EXPECT_EQ(doca_workq_event_handle_arm(engine.workq()), DOCA_SUCCESS); }
    void clear() { EXPECT_EQ(doca_workq_event_handle_clear(engine.workq(), handle), DOCA_SUCCESS); }
    void submit(std::uint64_t user_data = 0) { must(engine.submit(dst, src, user_data)); }
    /// The user data of the next event.
    std::uint64_t retrieve()
    {
        doca_event event = {};
        EXPECT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
        return event.user_data.u64;
    }
    [[nodiscard]] bool has_nothing_to_retrieve() const
    {
        doca_event event = {};
        return engine.retrieve(event) == DOCA_ERROR_AGAIN;
    }
    [[nodiscard]] bool is_signalled() const { return is_readable(handle); }
    /// Waits for a signal that has to come.
    [[nodiscard]] bool wait_for_signal() const { return is_readable(handle, patience); }

    const Environment defer{"DOCA_SOFT_DEFER", GetParam().is_deferred ? "1" : nullptr};
    DevHandle dev{open_device(GetParam().device)};
    std::vector<std::byte> memory = std::vector<std::byte>(100);
    LocalMap map{dev, memory};
    Inventory inventory{2};
    BufHandle src = inventory.full(map, &memory[0], 10);
    BufHandle dst = inventory.full(map, &memory[50], 10); // counts as empty: jobs can be repeated
    static constexpr std::uint32_t depth = 8;
    DmaEngine engine{dev, depth, true};
    doca_event_handle_t handle = -1;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WorkqEventTest);
INSTANTIATE_TEST_SUITE_P(device, WorkqEventTest, testing::ValuesIn(event_params()), event_param_name);

TEST_P(WorkqEventTest, mode_is_fixed_on_a_context)
{
    EXPECT_EQ(doca_workq_set_event_driven_enable(engine.workq(), 0), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_workq_set_event_driven_enable(engine.workq(), 1), DOCA_SUCCESS); // what it is already
    std::uint8_t mode = 99;
    EXPECT_EQ(doca_workq_get_event_driven_enable(engine.workq(), &mode), DOCA_SUCCESS);
    EXPECT_EQ(mode, 1);

    const DmaEngine polling(dev);
    EXPECT_EQ(doca_workq_set_event_driven_enable(polling.workq(), 1), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_workq_set_event_driven_enable(polling.workq(), 0), DOCA_SUCCESS);
}

TEST_P(WorkqEventTest, armed_then_submitted)
{
    arm();
    EXPECT_FALSE(is_signalled());
    submit(5);
    EXPECT_TRUE(wait_for_signal());
    EXPECT_TRUE(is_signalled()); // looking takes nothing away
    clear();
    EXPECT_FALSE(is_signalled());
    EXPECT_EQ(retrieve(), 5u);
    EXPECT_TRUE(has_nothing_to_retrieve());
}

TEST_P(WorkqEventTest, submitted_then_armed)
{
    submit(5);
    arm();
    EXPECT_TRUE(wait_for_signal());
    clear();
    EXPECT_EQ(retrieve(), 5u);
}

TEST_P(WorkqEventTest, unarmed_nothing_is_signalled)
{
    submit(5);
    EXPECT_FALSE(is_signalled());
    EXPECT_EQ(retrieve(), 5u);
    EXPECT_FALSE(is_signalled());
}

TEST_P(WorkqEventTest, armed_after_the_last_event_waits_for_the_next)
{
    submit(5);
    EXPECT_EQ(retrieve(), 5u);
    arm();
    EXPECT_FALSE(is_signalled());
    submit(6);
    EXPECT_TRUE(wait_for_signal());
    clear();
    EXPECT_EQ(retrieve(), 6u);
}

TEST_P(WorkqEventTest, signal_stays_until_it_is_cleared)
{
    arm();
    submit(5);
    EXPECT_TRUE(wait_for_signal());
    EXPECT_EQ(retrieve(), 5u);
    EXPECT_TRUE(is_signalled());
    clear();
    EXPECT_FALSE(is_signalled());
}

TEST_P(WorkqEventTest, clear_keeps_the_completions)
{
    arm();
    for (std::uint64_t i = 0; i < depth; ++i)
        submit(i);
    EXPECT_TRUE(wait_for_signal());
    clear();
    for (std::uint64_t i = 0; i < depth; ++i)
        EXPECT_EQ(retrieve(), i);
    EXPECT_TRUE(has_nothing_to_retrieve());
}

TEST_P(WorkqEventTest, rearmed_with_events_left_it_signals_at_once)
{
    arm();
    submit(1);
    submit(2);
    EXPECT_TRUE(wait_for_signal());
    clear();
    EXPECT_EQ(retrieve(), 1u);
    arm(); // one is left
    EXPECT_TRUE(wait_for_signal());
    clear();
    EXPECT_EQ(retrieve(), 2u);
    arm();
    // A device that works by itself may announce the second one only now, as it may have been found before.
    if (GetParam().device.is_soft()) {
        EXPECT_FALSE(is_signalled());
    }
}

TEST_P(WorkqEventTest, one_arm_is_good_for_one_signal)
{
    arm();
    submit(1);
    EXPECT_TRUE(wait_for_signal());
    clear();
    EXPECT_EQ(retrieve(), 1u);
    submit(2);
    EXPECT_FALSE(is_signalled());
    EXPECT_EQ(retrieve(), 2u);
}

TEST_P(WorkqEventTest, clear_disarms)
{
    arm();
    clear();
    submit(1);
    EXPECT_FALSE(is_signalled());
    EXPECT_EQ(retrieve(), 1u);
}

TEST_P(WorkqEventTest, clear_of_what_is_not_signalled_succeeds)
{
    clear();
    clear();
    arm();
    submit(1);
    EXPECT_TRUE(wait_for_signal());
    clear();
    clear();
    EXPECT_FALSE(is_signalled());
    EXPECT_EQ(retrieve(), 1u);
}

TEST_P(WorkqEventTest, arming_twice_is_arming_once)
{
    arm();
    arm();
    submit(1);
    EXPECT_TRUE(wait_for_signal());
    clear();
    EXPECT_FALSE(is_signalled());
    EXPECT_EQ(retrieve(), 1u);
}

TEST_P(WorkqEventTest, clear_refuses_another_handle)
{
    arm();
    submit(1);
    EXPECT_TRUE(wait_for_signal());
    EXPECT_EQ(doca_workq_event_handle_clear(engine.workq(), handle + 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_workq_event_handle_clear(engine.workq(), doca_event_invalid_handle), DOCA_ERROR_INVALID_VALUE);
    EXPECT_TRUE(is_signalled());
    clear();
    EXPECT_EQ(retrieve(), 1u);
}

TEST_P(WorkqEventTest, events_can_be_polled_for_as_well)
{
    for (std::uint64_t i = 0; i < 100; ++i) {
        submit(i);
        EXPECT_EQ(retrieve(), i);
    }
    EXPECT_FALSE(is_signalled());
}

TEST_P(WorkqEventTest, failed_submit_signals_nothing)
{
    arm();
    EXPECT_EQ(engine.submit(nullptr, src), DOCA_ERROR_INVALID_VALUE);
    EXPECT_FALSE(is_signalled());
    submit(1); // and does not disarm
    EXPECT_TRUE(wait_for_signal());
    clear();
    EXPECT_EQ(retrieve(), 1u);
}

TEST_P(WorkqEventTest, handle_never_changes)
{
    const auto now = [](doca_workq *workq) {
        doca_event_handle_t current = -1;
        must(doca_workq_get_event_handle(workq, &current));
        return current;
    };
    for (int i = 0; i < 10; ++i) {
        arm();
        submit();
        ASSERT_TRUE(wait_for_signal());
        clear();
        (void)retrieve();
        EXPECT_EQ(now(engine.workq()), handle);
    }
    WorkqHandle workq;
    must(doca_workq_create(4, workq.out()));
    must(doca_workq_set_event_driven_enable(workq, 1));
    const doca_event_handle_t first = now(workq);
    EXPECT_NE(first, handle); // each queue has its own
    must(doca_workq_set_event_driven_enable(workq, 0));
    must(doca_workq_set_event_driven_enable(workq, 1));
    EXPECT_EQ(now(workq), first);
    must(doca_ctx_workq_add(engine.ctx(), workq));
    EXPECT_EQ(now(workq), first);
    must(doca_ctx_workq_rm(engine.ctx(), workq));
    EXPECT_EQ(now(workq), first);
}

TEST_P(WorkqEventTest, handle_serves_all_contexts_of_the_queue)
{
    DmaHandle dma;
    must(doca_dma_create(dma.out()));
    doca_ctx *const other = doca_dma_as_ctx(dma);
    must(doca_ctx_dev_add(other, dev));
    must(doca_ctx_start(other));
    must(doca_ctx_workq_add(other, engine.workq()));
    const doca_dma_job_memcpy job = memcpy_job(other, dst, src, 7);
    arm();
    must(doca_workq_submit(engine.workq(), &job.base));
    EXPECT_TRUE(wait_for_signal());
    clear();
    EXPECT_EQ(retrieve(), 7u);
    arm();
    submit(8);
    EXPECT_TRUE(wait_for_signal());
    clear();
    EXPECT_EQ(retrieve(), 8u);
    must(doca_ctx_workq_rm(other, engine.workq()));
    must(doca_ctx_stop(other));
}

TEST_P(WorkqEventTest, handle_can_be_selected)
{
    ASSERT_LT(handle, FD_SETSIZE);
    const auto select_now = [this](long seconds) {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(handle, &set);
        timeval timeout = {seconds, 0};
        return select(handle + 1, &set, nullptr, nullptr, &timeout);
    };
    arm();
    EXPECT_EQ(select_now(0), 0);
    submit();
    EXPECT_EQ(select_now(patience / 1000), 1);
    clear();
    EXPECT_EQ(select_now(0), 0);
}

/// As programs of the 1.5 era have it.
TEST_P(WorkqEventTest, epoll_loop_gets_every_event)
{
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    ASSERT_GE(epoll, 0);
    epoll_event interest = {.events = EPOLLIN, .data = {.fd = handle}};
    ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, handle, &interest), 0);
    const auto count = static_cast<std::uint64_t>(times(5000));
    arm();
    for (std::uint64_t i = 0; i < count; ++i) {
        submit(i);
        epoll_event ready = {};
        ASSERT_EQ(epoll_wait(epoll, &ready, 1, patience), 1) << "lost signal at job " << i;
        ASSERT_EQ(ready.data.fd, handle);
        clear();
        ASSERT_EQ(retrieve(), i);
        ASSERT_TRUE(has_nothing_to_retrieve());
        arm();
    }
    close(epoll);
}

TEST_P(WorkqEventTest, any_order_follows_the_model)
{
    std::mt19937 random(20260102);
    bool is_armed = false, signalled = false;
    std::uint64_t waiting = 0, submitted = 0, retrieved = 0;
    for (int step = 0; step < times(20000); ++step) {
        std::string what;
        // As many retrievals as submits: the queue is often empty, and seldom full.
        switch (random() % 6) {
        case 0:
            what = "arm";
            arm();
            is_armed = true;
            break;
        case 1:
        case 2:
            what = "submit";
            if (waiting == depth) {
                ASSERT_EQ(engine.submit(dst, src), DOCA_ERROR_NO_MEMORY);
            } else {
                submit(submitted++);
                ++waiting;
            }
            break;
        case 4:
        case 3:
            what = "retrieve";
            if (waiting == 0) {
                ASSERT_TRUE(has_nothing_to_retrieve());
            } else {
                ASSERT_EQ(retrieve(), retrieved++);
                --waiting;
            }
            break;
        default:
            what = "clear";
            clear();
            is_armed = signalled = false;
        }
        if (is_armed && waiting != 0) {
            is_armed = false;
            signalled = true;
        }
        // A device that works by itself may announce a completion after it was retrieved: it can wake for nothing.
        const bool is_woken = is_readable(handle, signalled ? patience : 0);
        if (signalled || GetParam().device.is_soft()) {
            ASSERT_EQ(is_woken, signalled) << "after " << what << ", step " << step;
        }
    }
    while (waiting-- != 0)
        ASSERT_EQ(retrieve(), retrieved++);
    clear();
    while (is_readable(handle))
        clear(); // of what was still on its way: the last of it comes within the test's time limit
}
