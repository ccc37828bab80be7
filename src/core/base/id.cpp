// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "id.hpp"

#include <cstddef>
#include <mutex>
#include <vector>

#include "../process/fork.hpp"

namespace opendoca {

namespace {

/// The numbers of this process. Invariant: each number below num_used is either that of an existing Id or in `free`.
struct Numbers {
    ForkSafeMutex lock;
    const ForkRegistration fork_registration{lock, LockRank::numbers};
    std::uint32_t num_used = 0;      ///< one more than the highest number that was ever used
    std::vector<std::uint32_t> free; ///< the numbers below that are not in use; has the capacity for all of them
};

/// Never destroyed: objects of the program may be destroyed after the destructors of this library.
Numbers &numbers = *new Numbers;

} // namespace

Id::Id()
{
    const std::lock_guard guard(numbers.lock);
    if (!numbers.free.empty()) {
        number_ = numbers.free.back();
        numbers.free.pop_back();
        return;
    }
    if (numbers.free.capacity() == numbers.num_used)
        numbers.free.reserve(std::size_t{2} * numbers.num_used + 64); // so that ~Id() allocates nothing
    number_ = numbers.num_used++;
}

Id::~Id()
{
    const std::lock_guard guard(numbers.lock);
    numbers.free.push_back(number_);
}

} // namespace opendoca
