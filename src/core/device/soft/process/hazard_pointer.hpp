// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Announce and revoke: how a process takes memory back from others that may be in the middle of a copy, without
// their paying for it. Who is about to touch an export says so in a hazard pointer, then looks whether the export's
// generation is still the one that it knows. Who revokes changes the generation, then looks at the hazard pointers. One
// of the two sees what the other has stored: see barrier.hpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "barrier.hpp"

namespace opendoca::soft {

inline constexpr std::uint32_t max_hazard_pointers = 4096;

/// Which exports one queue of a process is copying from or to. It has one writer.
struct alignas(64) HazardPointer {
    std::atomic<std::uint32_t> in_use; ///< source export + 1, and destination export + 1 in the upper half; a futex
    std::atomic<std::uint64_t> owner;  ///< a ProcessId

    /// Where the queue's process needs a barrier of its own.
    void announce_with_barrier(std::uint32_t marks) noexcept
    {
        in_use.exchange(marks, std::memory_order_seq_cst); // pairs with revoke()'s change of the generation
    }
    /// Before the look at the generation. Pairs with the barrier_for_all() in revoke().
    void announce(std::uint32_t marks) noexcept
    {
        in_use.store(marks, std::memory_order_relaxed);
        barrier_by_others();
    }
    /// After the last access, and before a look at the generation: where that has changed, wake_revoker() follows.
    void withdraw(std::uint32_t marks_left) noexcept
    {
        // Release: pairs with the load in revoke(). What was done to the memory happened before.
        in_use.store(marks_left, std::memory_order_release);
        barrier_by_others();
    }
    [[gnu::cold]] void wake_revoker() noexcept;
};

/// Which pointers of this process's own page its own queues have, as they do where it imports from itself. In its own
/// memory: the page may say anything.
class OwnHazardPointers {
public:
    /// For the process's new page: that of its parent was another one.
    static void clear() noexcept;
    /// Once for each queue, between taking the entry and giving it back.
    static void add(std::uint32_t index) noexcept;
    static void remove(std::uint32_t index) noexcept;
    [[nodiscard]] static bool has(std::uint32_t index) noexcept;
};

/// What those who import from a process share with it, and write to. The exporter believes nothing in it but that a
/// hazard pointer is in use, and that only of a process that has the page mapped.
struct HazardPage {
    std::atomic<std::uint32_t> num_pointers; ///< ever taken
    /// A ProcessLock: who carries out an RDMA atomic on the exporter's memory holds it.
    alignas(64) std::atomic<std::uint64_t> atomic_lock;
    HazardPointer pointers[max_hazard_pointers];

    /// One for a queue, or null when all are taken.
    [[nodiscard]] HazardPointer *take() noexcept;

    [[nodiscard]] std::uint32_t index_of(const HazardPointer &pointer) const noexcept
    {
        return static_cast<std::uint32_t>(&pointer - pointers);
    }

    /// For the process that has made the page. Ends export @p number, whose generation is in @p generation: returns when
    /// nobody touches it any more. Those who have died in the middle do not count, nor do those who have not mapped the
    /// page.
    void revoke(std::atomic<std::uint64_t> &generation, std::uint32_t number) noexcept;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(HazardPointer) == 64);

} // namespace opendoca::soft
