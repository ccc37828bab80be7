// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Two processes that each store one word and then load the other's: one of the two must see what the other has
// stored. That needs a barrier between store and load on both sides. Here the side that acts often has none that
// costs anything, because the side that acts seldom makes it for both, by membarrier(2).
#pragma once

#include <atomic>

namespace opendoca::soft {

/// Lets other processes make this one's barriers for it. False where the kernel can't.
[[nodiscard]] bool allow_barriers_by_others() noexcept;

/// Whether this process can make barriers for others.
[[nodiscard]] bool can_make_barriers() noexcept;

/// The frequent side's, between its store and its load, where both of the above hold. Pairs with
/// barrier_for_all().
inline void barrier_by_others() noexcept
{
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// The seldom side's, between its store and its load: a full barrier here, and in every process that allows it. Pairs
/// with barrier_by_others(), and with the full barrier of a frequent side that can't have its own made.
void barrier_for_all() noexcept;

} // namespace opendoca::soft
