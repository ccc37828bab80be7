// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "lock.hpp"

#include <chrono>

#include <sched.h>

#include "mapping.hpp"

namespace opendoca::soft {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t spins_per_yield = 64;
constexpr std::uint32_t yields_per_look = 256; ///< between two checks whether the holder is alive
/// Between two checks whether a living holder has mapped the page.
constexpr std::chrono::milliseconds between_looks_at_mappings{100};

bool takes_soon(std::atomic<std::uint64_t> &word, ProcessId self) noexcept
{
    for (std::uint32_t spin = 0; spin < spins_per_yield; ++spin) {
        std::uint64_t holder = 0;
        if (word.load(std::memory_order_relaxed) == 0 &&
            word.compare_exchange_weak(holder, self.word(), std::memory_order_acquire))
            return true;
    }
    sched_yield();
    return false;
}

} // namespace

constinit ProcessLock::OwnWord ProcessLock::own_words_[num_own_words];

void ProcessLock::wait(ProcessId self, bool is_first) noexcept
{
    if (!is_first)
        wait_for_own_threads(self);
    Clock::time_point next_look = Clock::now() + between_looks_at_mappings;
    for (std::uint32_t yields = 1; !takes_soon(word_, self); ++yields) {
        if (yields % yields_per_look != 0)
            continue;
        std::uint64_t holder = word_.load(std::memory_order_relaxed);
        if (holder == 0)
            continue;
        bool is_nobodys = life_of(ProcessId(holder)) == Life::ended;
        if (const Clock::time_point now = Clock::now(); !is_nobodys && now >= next_look) {
            is_nobodys = has_certainly_not_mapped(ProcessId(holder), &word_);
            next_look = now + between_looks_at_mappings;
        }
        if (is_nobodys && word_.compare_exchange_strong(holder, self.word(), std::memory_order_acquire))
            return;
        // Other threads of this process may wait for other locks with trusted holders.
        own_word_.store(0, std::memory_order_release);
        sched_yield();
        wait_for_own_threads(self);
    }
}

void ProcessLock::wait_for_own_threads(ProcessId self) noexcept
{
    for (std::uint32_t yields = 1; !takes_soon(own_word_, self); ++yields) {
        if (yields % yields_per_look != 0)
            continue;
        // A forked child has none of the threads that its parent had.
        std::uint64_t thread = own_word_.load(std::memory_order_relaxed);
        if (thread != 0 && thread != self.word() &&
            own_word_.compare_exchange_strong(thread, self.word(), std::memory_order_acquire))
            return;
    }
}

} // namespace opendoca::soft
