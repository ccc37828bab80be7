// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "lock.hpp"

#include <sched.h>

#include "process.hpp"

namespace opendoca::soft {

namespace {

constexpr std::uint32_t spins_per_yield = 64;
constexpr std::uint32_t yields_per_look = 256; ///< at whether the holder lives

/// Whether @p holder names a process that runs.
bool is_alive(std::uint64_t holder)
{
    const auto pid = static_cast<pid_t>(holder >> 32);
    const auto start_time = process_start_time(pid);
    return start_time && (*start_time & 0xffffffff) == (holder & 0xffffffff) && is_running(pid, *start_time);
}

} // namespace

void AtomicLock::wait(std::uint64_t self) noexcept
{
    for (std::uint32_t yields = 1;; ++yields) {
        for (std::uint32_t spin = 0; spin < spins_per_yield; ++spin) {
            std::uint64_t holder = 0;
            if (word_.load(std::memory_order_relaxed) == 0 &&
                word_.compare_exchange_weak(holder, self, std::memory_order_acquire))
                return;
        }
        sched_yield();
        if (yields % yields_per_look != 0)
            continue;
        std::uint64_t holder = word_.load(std::memory_order_relaxed);
        // Who died in the middle has left the 8 bytes either old or new.
        if (holder != 0 && !is_alive(holder) &&
            word_.compare_exchange_strong(holder, self, std::memory_order_acquire))
            return;
    }
}

} // namespace opendoca::soft
