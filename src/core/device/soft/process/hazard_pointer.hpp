// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Hazard pointers: how a process revokes an export while other processes may be in the middle of a copy, at no cost to
// their copies. An importer announces the export in its hazard pointer, then checks that the export's generation is
// unchanged. The exporter changes the generation, then checks the hazard pointers. At least one of them sees the store
// of the other: see barrier.hpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "barrier.hpp"

namespace opendoca::soft {

inline constexpr std::uint32_t max_hazard_pointers = 4096;

/// The exports that one queue of a process is copying from or to. Only that queue writes it; the exporter reads it.
struct alignas(64) HazardPointer {
    std::atomic<std::uint32_t> in_use; ///< source export + 1, and destination export + 1 in the upper half; a futex
    std::atomic<std::uint64_t> owner;  ///< a ProcessId

    /// Announces exports with a full barrier: for a process that cannot use light_barrier().
    void announce_with_barrier(std::uint32_t marks) noexcept
    {
        in_use.exchange(marks, std::memory_order_seq_cst); // pairs with revoke()'s change of the generation
    }
    /// Announces exports, before the check of the generation. Pairs with the heavy_barrier() in revoke().
    void announce(std::uint32_t marks) noexcept
    {
        in_use.store(marks, std::memory_order_relaxed);
        light_barrier();
    }
    /// Called after the last access and before a check of the generation; if that has changed, wake_revoker() must
    /// follow.
    void withdraw(std::uint32_t marks_left) noexcept
    {
        // Release: pairs with the load in revoke(). Orders the accesses to the memory before this store.
        in_use.store(marks_left, std::memory_order_release);
        light_barrier();
    }
    [[gnu::cold]] void wake_revoker() noexcept;
};

/// The hazard pointers in this process's own page that its own queues hold, when it imports from itself. Kept in
/// private memory, because other processes can write anything to the page.
class OwnHazardPointers {
public:
    /// Removes all entries: for a new page of this process, for example after a fork.
    static void clear() noexcept;
    /// Called once for each queue, between taking the entry and giving it back.
    static void add(std::uint32_t index) noexcept;
    static void remove(std::uint32_t index) noexcept;
    [[nodiscard]] static bool has(std::uint32_t index) noexcept;
};

/// The page that a process shares, writable, with those that import from it. The exporter trusts only one fact in it:
/// that a hazard pointer is in use, and that only for a process that has the page mapped.
struct HazardPage {
    std::atomic<std::uint32_t> num_pointers; ///< the number of pointers that were ever taken
    /// The word of a ProcessLock, which is held during an RDMA atomic on the exporter's memory.
    alignas(64) std::atomic<std::uint64_t> atomic_lock;
    HazardPointer pointers[max_hazard_pointers];

    /// Takes a hazard pointer for a queue. Returns null if all are taken.
    [[nodiscard]] HazardPointer *take() noexcept;

    [[nodiscard]] std::uint32_t index_of(const HazardPointer &pointer) const noexcept
    {
        return static_cast<std::uint32_t>(&pointer - pointers);
    }

    /// Ends export @p number of generation @p generation, and returns when no process accesses it any more.
    /// Called by the process that created the page. Ignores processes that have died during an access, and those that
    /// have not mapped the page.
    void revoke(std::atomic<std::uint64_t> &generation, std::uint32_t number) noexcept;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(HazardPointer) == 64);

} // namespace opendoca::soft
