// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The shared page of a sync event: its counter and the list of its waiters. Each event has one sealed memfd, which
// importers map.
//
// process/wake.hpp describes how updates wake waiters without losing a wake-up. The data in that protocol is the
// counter, which both sides access by sequentially consistent operations. If the counter lies in the program's own
// memory, updates and the waiter's last check are made under `lock` instead, which orders them in the same way.
//
// A process waits for another one only for `lock`, which is taken over from a holder that has ended. A process that is
// killed leaves at most an entry, which another process takes over. Each process with the page can write anything to
// it, so an index or a count from it is checked before use.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "../process/wake.hpp"

namespace opendoca::soft {

inline constexpr char counter_page_name[] = "opendoca-sync-event";
inline constexpr char counter_magic[8] = {'O', 'D', 'C', 'O', 'U', 'N', 'T', 'R'};
inline constexpr std::uint32_t counter_version = 4; ///< of the layout; an import requires the same one
inline constexpr std::uint32_t max_waiters = 63;   ///< event-driven work queues; their bits leave one for counter_ended
inline constexpr std::uint32_t max_importers = 64; ///< imported handles
inline constexpr std::uint32_t max_targets = 4;    ///< distinct conditions of one work queue that wakers can check

/// A bit of CounterPage::waiter_mask: the owner has destroyed the event.
inline constexpr std::uint64_t counter_ended = std::uint64_t{1} << 63;

/// The entry of a work queue that may block until the counter reaches one of its targets. Owned by the process of the
/// work queue, whose thread writes it; wakers only read it and reset `state`. Two cache lines, so that a waker's access
/// does not disturb the neighbours.
struct alignas(128) WaiterEntry {
    std::atomic<std::uint64_t> owner; ///< a ProcessId
    SleepState state;
    /// The number of valid targets; if above max_targets, each value wakes. While the entry is armed, targets are only
    /// added or made easier to reach.
    std::atomic<std::uint32_t> num_targets;
    struct Target {
        std::atomic<std::uint64_t> first; ///< of a WaitCondition, like the next two
        std::atomic<std::uint64_t> count;
        std::atomic<std::uint64_t> mask;
    };
    std::array<Target, max_targets> targets;
};

/// One handle that was created from an export. A process with several handles has several entries.
struct ImporterEntry {
    std::atomic<std::uint64_t> owner; ///< a ProcessId
};

/// The shared memory of one sync event, created by its owner. Fields that are written by different processes are in
/// different pairs of cache lines, as processors prefetch the neighbour of a line.
struct CounterPage {
    // Constant after creation.
    char magic[8];
    std::uint32_t version;
    std::uint32_t size;                 ///< sizeof(CounterPage)
    std::uint64_t word_addr;            ///< the counter's address in the owner's memory; 0 if it is `word`
    std::uint32_t has_remote_publisher; ///< a bool: only importers update the counter

    alignas(128) std::uint64_t word; ///< the counter, unless it is in the program's memory
    /// A bit for each entry of `waiters` that was armed since it was taken, and counter_ended. Changes rarely, so that
    /// it stays in the caches of the updating processors.
    alignas(128) std::atomic<std::uint64_t> waiter_mask;
    alignas(128) std::atomic<std::uint64_t> lock;          ///< a ProcessLock
    alignas(128) std::atomic<std::uint32_t> num_importers; ///< one more than the highest index that was ever taken
    ImporterEntry importers[max_importers];
    WaiterEntry waiters[max_waiters];
};

} // namespace opendoca::soft
