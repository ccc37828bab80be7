// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "id.hpp"

#include <mutex>
#include <vector>

namespace opendoca {

namespace {

struct Numbers {
    std::mutex lock;
    std::uint32_t num_used = 0;      ///< ever: all below were given out
    std::vector<std::uint32_t> free; ///< of those; has room for all
};

/// Never destroyed: objects may outlive what is destroyed at the end of the program.
Numbers &numbers()
{
    static auto *const instance = new Numbers;
    return *instance;
}

} // namespace

Id::Id()
{
    Numbers &all = numbers();
    const std::lock_guard guard(all.lock);
    if (!all.free.empty()) {
        number_ = all.free.back();
        all.free.pop_back();
        return;
    }
    if (all.free.capacity() == all.num_used)
        all.free.reserve(std::size_t{2} * all.num_used + 64); // so that ~Id() allocates nothing
    number_ = all.num_used++;
}

Id::~Id()
{
    Numbers &all = numbers();
    const std::lock_guard guard(all.lock);
    all.free.push_back(number_);
}

} // namespace opendoca
