// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Clocks of a device, and of this machine.
#include <algorithm>
#include <cstdint>
#include <limits>

#include <time.h>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include <doca_clock.h>

#include "../log/log.hpp"
#include "../objects/dev.hpp"
#include "call.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CLOCK);

using opendoca::DeviceClock;
using opendoca::v3::call;

/// The clocks of a device. Owned by the program; a use of the device. Constant, and therefore thread-safe.
struct doca_clock {
    explicit doca_clock(doca_dev &dev) : use(opendoca::use(dev)) {}

    const opendoca::DeviceUse use;
};

namespace {

constexpr std::uint64_t nic_clocks = DOCA_CLOCK_NIC_FREE_RUNNING | DOCA_CLOCK_NIC_REAL_TIME | DOCA_CLOCK_NIC_DPA_TIMER;

/// Returns whether @p type is exactly one bit of the enumeration.
bool is_clock(std::uint64_t type)
{
    return type >= DOCA_CLOCK_NIC_FREE_RUNNING && type <= DOCA_CLOCK_HOST_MONOTONIC_RAW && (type & (type - 1)) == 0;
}

std::uint64_t now_in_ns() noexcept
{
    timespec now{};
    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Returns the counter of this CPU that its timers use. Its frequency is constant on all CPUs of the last decade.
std::uint64_t read_cycles() noexcept
{
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    std::uint64_t count = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
    return now_in_ns();
#endif
}

/// Reads one clock. @p type is one that is_clock() accepts.
doca_error_t read_clock(const doca_dev &dev, std::uint64_t type, doca_clock_timespec_t &timestamp) noexcept
{
    switch (type) {
    case DOCA_CLOCK_NIC_FREE_RUNNING:
        return dev.device().read_clock(DeviceClock::free_running, timestamp.counter);
    case DOCA_CLOCK_NIC_REAL_TIME: {
        std::uint64_t ns = 0;
        const doca_error_t status = dev.device().read_clock(DeviceClock::real_time, ns);
        if (status == DOCA_SUCCESS)
            timestamp.ts = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
        return status;
    }
    case DOCA_CLOCK_HOST_COUNTER_CYCLES:
        timestamp.counter = read_cycles();
        return DOCA_SUCCESS;
    case DOCA_CLOCK_HOST_REAL_TIME:
        (void)clock_gettime(CLOCK_REALTIME, &timestamp.ts);
        return DOCA_SUCCESS;
    case DOCA_CLOCK_HOST_MONOTONIC:
        (void)clock_gettime(CLOCK_MONOTONIC, &timestamp.ts);
        return DOCA_SUCCESS;
    case DOCA_CLOCK_HOST_MONOTONIC_RAW:
        (void)clock_gettime(CLOCK_MONOTONIC_RAW, &timestamp.ts);
        return DOCA_SUCCESS;
    default:
        return DOCA_ERROR_NOT_SUPPORTED; // the timer of a DPA
    }
}

/// Does the same, with a log message on failure.
doca_error_t read_or_log(const doca_dev &dev, std::uint64_t type, doca_clock_timespec_t &timestamp)
{
    const doca_error_t status = read_clock(dev, type, timestamp);
    if (status != DOCA_SUCCESS)
        LOG_ERR("device %s has no clock 0x%llx", dev.description().c_str(), static_cast<unsigned long long>(type));
    return status;
}

doca_error_t refuse_type(const char *parameter, std::uint64_t type)
{
    LOG_ERR("%s 0x%llx is not a clock that can be used here", parameter, static_cast<unsigned long long>(type));
    return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t answer(const doca_devinfo *devinfo, bool opendoca::Capabilities::*has_clock)
{
    if (devinfo == nullptr)
        return opendoca::refuse_null();
    return devinfo->function->can.*has_clock ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

} // namespace

doca_error_t doca_clock_create(struct doca_dev *dev, struct doca_clock **clock)
{
    return call({dev, clock}, [&] {
        const opendoca::Capabilities &can = dev->function().can;
        if (!can.free_running_clock && !can.real_time_clock) {
            LOG_ERR("device %s has no clock that can be read", dev->description().c_str());
            return DOCA_ERROR_NOT_SUPPORTED;
        }
        *clock = new doca_clock(*dev);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_clock_destroy(struct doca_clock *clock)
{
    return call({clock}, [&] { delete clock; });
}

doca_error_t doca_clock_cap_nic_free_running_is_supported(const struct doca_devinfo *devinfo)
{
    return answer(devinfo, &opendoca::Capabilities::free_running_clock);
}

doca_error_t doca_clock_cap_nic_real_time_is_supported(const struct doca_devinfo *devinfo)
{
    return answer(devinfo, &opendoca::Capabilities::real_time_clock);
}

doca_error_t doca_clock_cap_nic_dpa_timer_is_supported(const struct doca_devinfo *devinfo)
{
    return devinfo == nullptr ? opendoca::refuse_null() : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_clock_get_timestamp(const struct doca_clock *clock, uint64_t clock_type,
                                      union doca_clock_timespec_t *timestamp)
{
    return call({clock, timestamp}, [&] {
        if (!is_clock(clock_type))
            return refuse_type("clock_type", clock_type);
        doca_clock_timespec_t read{};
        const doca_error_t status = read_or_log(*clock->use, clock_type, read);
        if (status == DOCA_SUCCESS)
            *timestamp = read;
        return status;
    });
}

doca_error_t doca_clock_get_crosstimestamp(const struct doca_clock *clock, uint64_t primary_clock, uint64_t nic_clock,
                                           union doca_clock_timespec_t *primary_timestamp,
                                           union doca_clock_timespec_t *nic_timestamp, uint64_t *accuracy)
{
    return call({clock, primary_timestamp, nic_timestamp, accuracy}, [&] {
        if (!is_clock(primary_clock) || (primary_clock & nic_clocks) != 0)
            return refuse_type("primary_clock", primary_clock);
        if (!is_clock(nic_clock) || (nic_clock & nic_clocks) == 0)
            return refuse_type("nic_clock", nic_clock);
        // Of several pairs the one that was read in the shortest time: an interruption between two readings spoils one.
        constexpr int num_attempts = 8;
        std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
        doca_clock_timespec_t primary{}, nic{};
        for (int i = 0; i != num_attempts; ++i) {
            const std::uint64_t begin = now_in_ns();
            if (const doca_error_t status = read_or_log(*clock->use, primary_clock, primary); status != DOCA_SUCCESS)
                return status;
            if (const doca_error_t status = read_or_log(*clock->use, nic_clock, nic); status != DOCA_SUCCESS)
                return status;
            const std::uint64_t took = now_in_ns() - begin;
            if (took < best) {
                best = took;
                *primary_timestamp = primary;
                *nic_timestamp = nic;
            }
        }
        *accuracy = std::max<std::uint64_t>(best, 1);
        return DOCA_SUCCESS;
    });
}
