// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// An asymmetric fence between two processes that each store one word and then load the other's: at least one of them
// must see the other's store. That needs a full barrier between the store and the load on both sides. Here the frequent
// side has only a compiler barrier, because membarrier(2) of the rare side makes a barrier in both processes.
#pragma once

#include <atomic>

namespace opendoca::soft {

/// Registers this process, so that heavy_barrier() in other processes includes it. Returns false if the kernel cannot.
[[nodiscard]] bool allow_barriers_by_others() noexcept;

/// Returns whether heavy_barrier() of this process includes other processes.
[[nodiscard]] bool can_make_barriers() noexcept;

/// The frequent side of an asymmetric fence: only a compiler barrier; the other side's membarrier() does the rest.
/// Called between the store and the load. Pairs with heavy_barrier(). Enough only if allow_barriers_by_others() is true
/// in this process and can_make_barriers() in the other.
inline void light_barrier() noexcept
{
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// A full barrier of this thread, which orders its stores before its later loads.
inline void full_barrier() noexcept
{
    __sync_synchronize(); // as a fence of <atomic>, of which g++ with the thread sanitizer warns
}

/// The rare side of an asymmetric fence: a full barrier in this process and in each registered one. Called between the
/// store and the load. Pairs with light_barrier(), or with a full barrier on a frequent side for which that is not
/// enough.
void heavy_barrier() noexcept;

} // namespace opendoca::soft
