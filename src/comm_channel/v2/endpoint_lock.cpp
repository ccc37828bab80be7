// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "endpoint_lock.hpp"

namespace opendoca::comm_channel {

namespace {

/// About ten microseconds: longer than most calls of an endpoint, shorter than a scheduler's slice.
constexpr int max_spins = 1000;

void relax() noexcept
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
}

} // namespace

void EndpointLock::wait() noexcept
{
    for (int i = 0; i != max_spins; ++i) {
        int expected = free;
        if (state_.load(std::memory_order_relaxed) == free &&
            state_.compare_exchange_weak(expected, held, std::memory_order_acquire, std::memory_order_relaxed))
            return;
        relax();
    }
    // Another waiter may be blocked, so a lock that is taken here stays marked as contended and unlock() wakes the next
    // waiter. Acquire: pairs with the release in unlock().
    while (state_.exchange(contended, std::memory_order_acquire) != free)
        state_.wait(contended, std::memory_order_relaxed);
}

} // namespace opendoca::comm_channel
