// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Places in shared memory that processes take and give back, and that others take over from those that were
// killed. A place has `owner`, a process id or 0, and `started`, the owner's start time or 0.
#pragma once

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <span>

#include <unistd.h>

#include "process.hpp"

namespace opendoca::soft {

/// Whether the process that took the place has ended without giving it back. @p started is 0 for one that was
/// just taking it, or giving it back.
[[nodiscard]] inline bool is_dead(std::uint32_t owner, std::uint64_t started)
{
    const auto pid = static_cast<pid_t>(owner);
    return started == 0 ? kill(pid, 0) != 0 && errno == ESRCH : !is_running(pid, started);
}

/// A free place, or one of a process that was killed; null when there is neither. @p prepare cleans it up
/// before anybody else believes in it. For a page that processes share, in any order and at any point of
/// another's death.
template <typename Slot, typename Prepare>
[[nodiscard]] Slot *take_place(std::span<Slot> slots, Prepare prepare)
{
    const auto own_start = process_start_time(getpid());
    if (!own_start)
        return nullptr;
    for (const bool from_the_dead : {false, true}) {
        for (Slot &slot : slots) {
            std::uint32_t owner = slot.owner.load(std::memory_order_acquire);
            if ((owner != 0) != from_the_dead)
                continue;
            if (from_the_dead) {
                std::uint64_t started = slot.started.load(std::memory_order_acquire);
                // Nobody must see the new owner with the start time of the old one.
                if (!is_dead(owner, started) ||
                    !slot.started.compare_exchange_strong(started, 0, std::memory_order_acq_rel))
                    continue;
            }
            if (!slot.owner.compare_exchange_strong(owner, static_cast<std::uint32_t>(getpid()),
                                                    std::memory_order_acq_rel))
                continue;
            prepare(slot);
            slot.started.store(*own_start, std::memory_order_seq_cst); // what was prepared is seen with it
            return &slot;
        }
    }
    return nullptr;
}

template <typename Slot>
void give_back_place(Slot &slot) noexcept
{
    if (slot.owner.load(std::memory_order_relaxed) != static_cast<std::uint32_t>(getpid()))
        return; // a forked child ends: the place is its parent's
    slot.started.store(0, std::memory_order_relaxed);
    slot.owner.store(0, std::memory_order_release); // what was done at the place happened before
}

/// For a count of places that were ever taken.
inline void raise_to(std::atomic<std::uint32_t> &count, std::uint32_t value) noexcept
{
    std::uint32_t seen = count.load(std::memory_order_relaxed);
    while (seen < value && !count.compare_exchange_weak(seen, value, std::memory_order_seq_cst)) {
    }
}

} // namespace opendoca::soft
