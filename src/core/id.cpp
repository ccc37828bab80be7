// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "id.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace opendoca {

namespace {

struct Taken {
    std::mutex lock;
    std::vector<bool> numbers;
};

/// Never destroyed: objects may outlive what is destroyed at the end of the program.
Taken &taken()
{
    static auto *const instance = new Taken;
    return *instance;
}

} // namespace

Id::Id()
{
    Taken &all = taken();
    const std::lock_guard guard(all.lock);
    const auto free = std::ranges::find(all.numbers, false);
    number_ = static_cast<std::uint32_t>(free - all.numbers.begin());
    if (free == all.numbers.end())
        all.numbers.push_back(true);
    else
        *free = true;
}

Id::~Id()
{
    Taken &all = taken();
    const std::lock_guard guard(all.lock);
    all.numbers[number_] = false;
}

} // namespace opendoca
