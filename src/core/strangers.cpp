// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "strangers.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

#include "log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_STRANGERS);

namespace opendoca {

bool may_tell_of_strangers() noexcept
{
    constexpr std::uint32_t most = 20; // in a minute
    static std::atomic<std::int64_t> minute{-1};
    static std::atomic<std::uint32_t> count{0};
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    const std::int64_t now = std::chrono::floor<std::chrono::minutes>(time).count();
    if (minute.exchange(now, std::memory_order_relaxed) != now)
        count.store(0, std::memory_order_relaxed);
    const std::uint32_t number = count.fetch_add(1, std::memory_order_relaxed);
    if (number == most)
        LOG_ERR("there is more to say of clients: nothing is said of them for the rest of a minute");
    return number < most;
}

} // namespace opendoca
