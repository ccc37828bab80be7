// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Directories in shared memory: arrays of entries that processes take and give back, and that other processes take over
// from a process that was killed. `owner` of an entry is the word of a ProcessId, or 0 while the entry is free. Taking
// an entry is one exchange of `owner`, so a process that dies cannot leave an entry half taken.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "process.hpp"

namespace opendoca::soft {

/// Takes an entry that is free or of an ended process; returns null if there is none. The caller must clear what
/// the previous owner has left, and must not rely on other processes seeing it cleared.
template <typename Entry, std::size_t size>
[[nodiscard]] Entry *take_entry(Entry (&entries)[size]) noexcept
{
    const ProcessId self = ProcessId::self();
    if (self.is_nobody())
        return nullptr;
    for (const bool from_the_dead : {false, true}) {
        for (Entry &entry : entries) {
            // Acquire, here and below: pairs with the release in release_entry().
            std::uint64_t owner = entry.owner.load(std::memory_order_acquire);
            if ((owner != 0) == from_the_dead && (!from_the_dead || life_of(ProcessId(owner)) == Life::ended) &&
                entry.owner.compare_exchange_strong(owner, self.word(), std::memory_order_acq_rel))
                return &entry;
        }
    }
    return nullptr;
}

/// Has no effect on an entry of another process, such as one that a forked child has inherited from its parent.
template <typename Entry>
void release_entry(Entry &entry) noexcept
{
    std::uint64_t owner = ProcessId::self().word();
    entry.owner.compare_exchange_strong(owner, 0, std::memory_order_release, std::memory_order_relaxed);
}

/// Raises the count of entries that were ever taken, if necessary.
inline void raise_to(std::atomic<std::uint32_t> &count, std::uint32_t value) noexcept
{
    std::uint32_t seen = count.load(std::memory_order_relaxed);
    while (seen < value && !count.compare_exchange_weak(seen, value, std::memory_order_seq_cst)) {
    }
}

} // namespace opendoca::soft
