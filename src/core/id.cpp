// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "id.hpp"

#include <cstddef>
#include <mutex>
#include <vector>

#include "fork.hpp"

namespace opendoca {

namespace {

struct Numbers {
    ForkSafeMutex lock;
    const ForkRegistration fork_registration{lock, LockRank::numbers};
    std::uint32_t num_used = 0;      ///< ever: all below were given out
    std::vector<std::uint32_t> free; ///< of those; has room for all
};

/// Never destroyed: objects may outlive what is destroyed at the end of the program.
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
