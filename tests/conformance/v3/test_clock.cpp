// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Clocks of a device and of this machine.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <time.h>

#include <doca_clock.h>

#include "../support/log_capture.hpp"
#include "objects.hpp"

using namespace doca_test;

namespace {

using ClockHandle = Handle<doca_clock, doca_clock_destroy>;

std::uint64_t ns_of(const timespec &time)
{
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t now(clockid_t clock)
{
    timespec time{};
    EXPECT_EQ(clock_gettime(clock, &time), 0);
    return ns_of(time);
}

class ClockTest : public testing::Test {
protected:
    void SetUp() override
    {
        if (!has_device("soft_p0"))
            GTEST_SKIP() << "there is no software device";
        dev = open_device("soft_p0");
        ASSERT_EQ(doca_clock_create(dev, clock.out()), DOCA_SUCCESS);
    }

    DevHandle dev;
    ClockHandle clock;
};

TEST_F(ClockTest, capabilities)
{
    const doca_devinfo *const info = doca_dev_as_devinfo(dev);
    EXPECT_EQ(doca_clock_cap_nic_free_running_is_supported(info), DOCA_SUCCESS);
    EXPECT_EQ(doca_clock_cap_nic_real_time_is_supported(info), DOCA_SUCCESS);
    EXPECT_EQ(doca_clock_cap_nic_dpa_timer_is_supported(info), DOCA_ERROR_NOT_SUPPORTED);
}

/// The clocks of RDMA devices, on each device of the machine. Those of drivers without a clock must be refused.
class ClocksOfRdmaDevices : public testing::Test {
protected:
    static std::vector<doca_devinfo *> rdma_devices(const DevinfoList &list)
    {
        std::vector<doca_devinfo *> devices;
        for (doca_devinfo *info : list) {
            if (!is_soft(ibdev_of(info)))
                devices.push_back(info);
        }
        return devices;
    }

    static bool has_counter(doca_devinfo *info)
    {
        return doca_clock_cap_nic_free_running_is_supported(info) == DOCA_SUCCESS;
    }

    static bool has_time(doca_devinfo *info) { return doca_clock_cap_nic_real_time_is_supported(info) == DOCA_SUCCESS; }

    static std::uint64_t count(doca_clock *clock)
    {
        doca_clock_timespec_t timestamp{};
        must(doca_clock_get_timestamp(clock, DOCA_CLOCK_NIC_FREE_RUNNING, &timestamp));
        return timestamp.counter;
    }

    static std::uint64_t time_of(doca_clock *clock)
    {
        doca_clock_timespec_t timestamp{};
        must(doca_clock_get_timestamp(clock, DOCA_CLOCK_NIC_REAL_TIME, &timestamp));
        return ns_of(timestamp.ts);
    }

    const DevinfoList list;
};

TEST_F(ClocksOfRdmaDevices, cannot_be_created_without_a_clock)
{
    for (doca_devinfo *info : rdma_devices(list)) {
        EXPECT_EQ(doca_clock_cap_nic_dpa_timer_is_supported(info), DOCA_ERROR_NOT_SUPPORTED);
        const DevHandle dev = open_device(ibdev_of(info));
        ClockHandle clock;
        const bool has_clock = has_counter(info) || has_time(info);
        EXPECT_EQ(doca_clock_create(dev, clock.out()), has_clock ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED);
        doca_clock_timespec_t timestamp{};
        if (has_clock && !has_time(info)) {
            EXPECT_EQ(doca_clock_get_timestamp(clock, DOCA_CLOCK_NIC_REAL_TIME, &timestamp), DOCA_ERROR_NOT_SUPPORTED);
        }
    }
}

TEST_F(ClocksOfRdmaDevices, advance)
{
    for (doca_devinfo *info : rdma_devices(list)) {
        const DevHandle dev = open_device(ibdev_of(info));
        ClockHandle clock;
        if (!has_counter(info))
            continue;
        must(doca_clock_create(dev, clock.out()));
        const std::uint64_t first = count(clock);
        while (count(clock) == first)
            ;
        EXPECT_GT(count(clock), first);
        if (!has_time(info))
            continue;
        const std::uint64_t first_time = time_of(clock);
        while (time_of(clock) == first_time)
            ;
        EXPECT_GT(time_of(clock), first_time);
    }
}

TEST_F(ClocksOfRdmaDevices, are_read_together_with_one_of_this_machine)
{
    for (doca_devinfo *info : rdma_devices(list)) {
        const DevHandle dev = open_device(ibdev_of(info));
        ClockHandle clock;
        if (!has_time(info))
            continue;
        must(doca_clock_create(dev, clock.out()));
        doca_clock_timespec_t host{}, nic{};
        std::uint64_t accuracy = 0;
        const std::uint64_t before = time_of(clock);
        ASSERT_EQ(doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_MONOTONIC_RAW, DOCA_CLOCK_NIC_REAL_TIME, &host,
                                                &nic, &accuracy),
                  DOCA_SUCCESS);
        EXPECT_GE(accuracy, 1u);
        EXPECT_GE(ns_of(nic.ts), before);
        EXPECT_LE(ns_of(nic.ts), time_of(clock));
        EXPECT_LE(ns_of(host.ts), now(CLOCK_MONOTONIC_RAW));
    }
}

/// The card made of software counts nanoseconds, and its time is the machine's at the moment when the device is opened.
TEST_F(ClocksOfRdmaDevices, of_the_card_are_those_of_the_kernel)
{
    if (std::getenv("OPENDOCA_CARD_SIDE") == nullptr)
        GTEST_SKIP() << "the devices are not those of the card made of software";
    for (doca_devinfo *info : rdma_devices(list)) {
        ASSERT_TRUE(has_counter(info) && has_time(info)) << ibdev_of(info);
        const DevHandle dev = open_device(ibdev_of(info));
        ClockHandle clock;
        must(doca_clock_create(dev, clock.out()));
        const std::uint64_t before = now(CLOCK_MONOTONIC);
        const std::uint64_t read = count(clock);
        EXPECT_GE(read, before);
        EXPECT_LE(read, now(CLOCK_MONOTONIC));
        constexpr std::uint64_t second = 1'000'000'000; // may be stepped by a time service
        const std::uint64_t time = time_of(clock);
        EXPECT_LE(time, now(CLOCK_REALTIME) + second);
        EXPECT_GE(time + second, now(CLOCK_REALTIME));
    }
}

TEST_F(ClockTest, times_are_those_of_the_kernel)
{
    const struct {
        std::uint64_t type;
        clockid_t id;
    } clocks[] = {{DOCA_CLOCK_NIC_REAL_TIME, CLOCK_TAI},
                  {DOCA_CLOCK_HOST_REAL_TIME, CLOCK_REALTIME},
                  {DOCA_CLOCK_HOST_MONOTONIC, CLOCK_MONOTONIC},
                  {DOCA_CLOCK_HOST_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW}};
    for (const auto &[type, id] : clocks) {
        doca_clock_timespec_t timestamp{};
        const std::uint64_t before = now(id);
        ASSERT_EQ(doca_clock_get_timestamp(clock, type, &timestamp), DOCA_SUCCESS);
        EXPECT_GE(ns_of(timestamp.ts), before);
        EXPECT_LE(ns_of(timestamp.ts), now(id));
    }
}

TEST_F(ClockTest, counters_advance)
{
    doca_clock_timespec_t first{}, second{};
    const std::uint64_t before = now(CLOCK_MONOTONIC_RAW);
    ASSERT_EQ(doca_clock_get_timestamp(clock, DOCA_CLOCK_NIC_FREE_RUNNING, &first), DOCA_SUCCESS);
    EXPECT_GE(first.counter, before);
    EXPECT_LE(first.counter, now(CLOCK_MONOTONIC_RAW));
    ASSERT_EQ(doca_clock_get_timestamp(clock, DOCA_CLOCK_HOST_COUNTER_CYCLES, &first), DOCA_SUCCESS);
    do {
        ASSERT_EQ(doca_clock_get_timestamp(clock, DOCA_CLOCK_HOST_COUNTER_CYCLES, &second), DOCA_SUCCESS);
        ASSERT_GE(second.counter, first.counter);
    } while (second.counter == first.counter);
}

TEST_F(ClockTest, two_clocks_at_the_same_moment)
{
    doca_clock_timespec_t host{}, nic{};
    std::uint64_t accuracy = 0;
    ASSERT_EQ(doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_MONOTONIC_RAW, DOCA_CLOCK_NIC_FREE_RUNNING, &host,
                                            &nic, &accuracy),
              DOCA_SUCCESS);
    EXPECT_GE(accuracy, 1u);
    // On the software device both are the same clock, which is read for the device after it is read for the host.
    EXPECT_GE(nic.counter, ns_of(host.ts));
    EXPECT_LE(nic.counter, ns_of(host.ts) + accuracy);
}

TEST_F(ClockTest, what_is_no_clock_is_refused_and_changes_nothing)
{
    doca_clock_timespec_t host{.counter = 7}, nic{.counter = 7};
    std::uint64_t accuracy = 7;
    const LogCapture log;
    for (const std::uint64_t type : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{0x80}, ~std::uint64_t{0}})
        EXPECT_EQ(doca_clock_get_timestamp(clock, type, &nic), DOCA_ERROR_INVALID_VALUE);
    EXPECT_TRUE(log.has("clock_type 0x80 is not a clock")) << log.text();
    EXPECT_EQ(doca_clock_get_timestamp(clock, DOCA_CLOCK_NIC_DPA_TIMER, &nic), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_NIC_REAL_TIME, DOCA_CLOCK_NIC_FREE_RUNNING, &host, &nic,
                                            &accuracy),
              DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_REAL_TIME, DOCA_CLOCK_HOST_MONOTONIC, &host, &nic,
                                            &accuracy),
              DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_REAL_TIME, DOCA_CLOCK_NIC_DPA_TIMER, &host, &nic,
                                            &accuracy),
              DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(host.counter, 7u);
    EXPECT_EQ(nic.counter, 7u);
    EXPECT_EQ(accuracy, 7u);
}

TEST_F(ClockTest, its_device_stays_open)
{
    EXPECT_EQ(doca_dev_close(dev), DOCA_ERROR_IN_USE);
}

} // namespace
