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
// A process waits for another one only for `lock`, which is taken over from a dead holder. A process that is killed
// leaves at most an entry, which another process takes over.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "../process/wake.hpp"

namespace opendoca::soft {

inline constexpr char counter_page_name[] = "opendoca-sync-event";
inline constexpr char counter_magic[8] = {'O', 'D', 'C', 'O', 'U', 'N', 'T', 'R'};
inline constexpr std::uint32_t counter_version = 4;
inline constexpr std::uint32_t max_sleepers = 63;
inline constexpr std::uint32_t max_importers = 64;
inline constexpr std::uint32_t max_targets = 4;

/// A bit of CounterPage::sleeping: the owner has destroyed the event.
inline constexpr std::uint64_t counter_ended = std::uint64_t{1} << 63;

/// The entry of a work queue that may block until the counter reaches one of its targets.
struct alignas(128) Sleeper {
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

/// A process with a handle that was created from an export.
struct ImporterEntry {
    std::atomic<std::uint64_t> owner; ///< a ProcessId
};

struct CounterPage {
    char magic[8];
    std::uint32_t version;
    std::uint32_t size;
    std::uint64_t word_addr; ///< the counter's address in the owner's memory; 0 when it is @c word
    std::uint32_t has_remote_publisher;
    alignas(128) std::uint64_t word;
    /// A bit for each entry that was ever armed, and counter_ended. Changes rarely, so that it stays in the caches of
    /// the updating processors.
    alignas(128) std::atomic<std::uint64_t> sleeping;
    alignas(128) std::atomic<std::uint64_t> lock;          ///< a ProcessLock
    alignas(128) std::atomic<std::uint32_t> num_importers; ///< the number of entries that were ever taken
    ImporterEntry importers[max_importers];
    Sleeper sleepers[max_sleepers];
};

} // namespace opendoca::soft
