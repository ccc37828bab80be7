// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A sync event's counter and who sleeps until it changes: one sealed memfd for each event, which importers
// map.
//
// How those who update wake those who sleep is told in process/wake.hpp; the something that is stored is the
// counter, which both sides access by sequentially consistent operations. Where the counter is in the program's own
// memory, updates and the sleeper's last look are made under `lock`, which orders them in the same way.
//
// Nobody waits for another process but for `lock`, which is taken from the dead: whoever is killed leaves at most an
// entry that the next one takes over.
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

/// In CounterPage::sleeping: the owner has destroyed the event.
inline constexpr std::uint64_t counter_ended = std::uint64_t{1} << 63;

/// A work queue that may sleep until the counter reaches one of its targets.
struct alignas(128) Sleeper {
    std::atomic<std::uint64_t> owner; ///< a ProcessId
    SleepState state;
    /// More than max_targets: whatever the value is. While asleep, targets are only added or made easier to
    /// reach.
    std::atomic<std::uint32_t> num_targets;
    struct Target {
        std::atomic<std::uint64_t> first; ///< of a WaitCondition, as the others
        std::atomic<std::uint64_t> count;
        std::atomic<std::uint64_t> mask;
    };
    std::array<Target, max_targets> targets;
};

/// A process with a handle that was made from an export.
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
    /// A bit for each sleeper that ever slept, and counter_ended. It hardly changes, so that updates have
    /// it in their cache.
    alignas(128) std::atomic<std::uint64_t> sleeping;
    alignas(128) std::atomic<std::uint64_t> lock;          ///< a ProcessLock
    alignas(128) std::atomic<std::uint32_t> num_importers; ///< entries ever taken
    ImporterEntry importers[max_importers];
    Sleeper sleepers[max_sleepers];
};

} // namespace opendoca::soft
