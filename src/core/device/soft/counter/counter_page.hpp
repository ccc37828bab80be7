// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A sync event's counter and who sleeps until it changes: one sealed memfd for each event, which importers
// map.
//
// A lost wake-up is ruled out by the order of two words. Who updates writes the counter, then reads
// `sleeping` and the sleeper's `arming`; who goes to sleep writes `arming`, and the first time `sleeping`,
// then reads the counter. All are sequentially consistent, so that one of the two sees what the other has
// written. Where the counter is in the program's own memory, updates and that last look are made under
// `lock`, which orders them in the same way.
//
// A sleeper that was woken leaves nothing to be undone: it sleeps when `arming` and `woken` differ. No
// process waits for another but for `lock`, which is robust: whoever is killed leaves at most a place that
// the next one takes over.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pthread.h>

#include "../memory/export_page.hpp"

namespace opendoca::soft {

inline constexpr char counter_page_name[] = "opendoca-sync-event";
inline constexpr char counter_magic[8] = {'O', 'D', 'C', 'O', 'U', 'N', 'T', 'R'};
inline constexpr std::uint32_t counter_version = 1;
inline constexpr std::uint32_t max_sleepers = 63;
inline constexpr std::uint32_t max_importers = 64;
inline constexpr std::uint32_t max_targets = 4;

/// In CounterPage::sleeping: the owner has destroyed the event.
inline constexpr std::uint64_t counter_ended = std::uint64_t{1} << 63;

/// A work queue that may sleep until the counter reaches one of its targets.
struct alignas(128) Sleeper {
    std::atomic<std::uint32_t> owner;
    std::atomic<std::int32_t> wake_fd; ///< the owner's descriptor of the pipe's writing end
    std::atomic<std::uint64_t> started;
    std::atomic<std::uint64_t> tenure; ///< another number for each that takes this place
    std::atomic<std::uint64_t> arming; ///< odd while armed; another number each time
    std::atomic<std::uint64_t> woken;  ///< the arming for which the pipe was written, or an older one
    /// More than max_targets: whatever the value is. While armed, targets are only added or made easier to
    /// reach.
    std::atomic<std::uint32_t> num_targets;
    struct Target {
        std::atomic<std::uint64_t> value;
        std::atomic<std::uint64_t> mask;
    };
    std::array<Target, max_targets> targets;
};

/// A process with a handle that was made from an export.
struct ImporterPlace {
    std::atomic<std::uint32_t> owner;
    std::atomic<std::uint64_t> started;
};

struct CounterPage {
    char magic[8];
    std::uint32_t version;
    std::uint32_t size;
    std::uint64_t word_addr; ///< the counter's address in the owner's memory; 0 when it is @c word
    std::uint32_t owner;     ///< process id
    std::uint32_t has_remote_publisher;
    alignas(128) std::uint64_t word;
    /// A bit for each sleeper that was ever armed, and counter_ended. It hardly changes, so that updates have
    /// it in their cache.
    alignas(128) std::atomic<std::uint64_t> sleeping;
    alignas(128) pthread_mutex_t lock;
    alignas(128) std::atomic<std::uint32_t> num_importers; ///< places ever taken
    ImporterPlace importers[max_importers];
    Sleeper sleepers[max_sleepers];
};

/// What doca_sync_event_export_to_dpu gives: the page and, if the counter is not there, its word.
struct CounterDescriptor {
    ExportDescriptor page;
    ExportDescriptor word; ///< left out when the counter is in the page
};

static_assert(sizeof(CounterDescriptor) <= 256, "as for memory maps");

} // namespace opendoca::soft
