// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "lock.hpp"

#include <sched.h>

namespace opendoca::soft {

namespace {

constexpr std::uint32_t spins_per_yield = 64;
constexpr std::uint32_t yields_per_look = 256; ///< at whether the holder lives

} // namespace

void ProcessLock::wait(ProcessId self) noexcept
{
    for (std::uint32_t yields = 1;; ++yields) {
        for (std::uint32_t spin = 0; spin < spins_per_yield; ++spin) {
            std::uint64_t holder = 0;
            if (word_.load(std::memory_order_relaxed) == 0 &&
                word_.compare_exchange_weak(holder, self.word(), std::memory_order_acquire))
                return;
        }
        sched_yield();
        if (yields % yields_per_look != 0)
            continue;
        std::uint64_t holder = word_.load(std::memory_order_relaxed);
        if (holder != 0 && life_of(ProcessId(holder)) == Life::ended &&
            word_.compare_exchange_strong(holder, self.word(), std::memory_order_acquire))
            return;
    }
}

} // namespace opendoca::soft
