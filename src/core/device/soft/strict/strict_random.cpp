// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "strict_random.hpp"

#include <atomic>
#include <cstdint>

#include "strict.hpp"

namespace opendoca::soft {

StrictRandom StrictRandom::of_next_engine() noexcept
{
    // Relaxed: each engine takes a number of its own, and the numbers order nothing.
    static std::atomic<std::uint64_t> num_engines{0};
    // Not the constant of below(), by which the numbers of one seed would be those of the next, from the second on.
    return StrictRandom((seed() + 1) * 0xd1342543de82ef95U + num_engines.fetch_add(1, std::memory_order_relaxed));
}

std::uint64_t StrictRandom::seed() noexcept
{
    std::uint64_t seed = 1;
    (void)read_strict_seed(seed); // a wrong one has failed when devices were listed
    return seed;
}

/// SplitMix64: the state advances by a constant, and a mixing function makes the number of it.
std::uint32_t StrictRandom::below(std::uint32_t limit) noexcept
{
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return static_cast<std::uint32_t>(((x ^ (x >> 31)) >> 32) % limit);
}

} // namespace opendoca::soft
