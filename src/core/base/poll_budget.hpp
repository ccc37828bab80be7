// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <ctime>

namespace opendoca {

/// Decides at which of many idle polls a system call is due, such as a check whether a peer is still alive: at every
/// `max_polls`-th one, so that a busy loop is not slowed down, and at the first one that finds `max_milliseconds`
/// passed since the last, so that a program which pauses between two polls notices as well.
///
/// The clock is read once in `polls_per_clock` polls: a program that pauses for 10 ms notices within 0.4 s by the
/// default. All other polls cost one decrement and one branch. Belongs to the thread that polls.
template <std::uint32_t max_polls, std::int64_t max_milliseconds = 100, std::uint32_t polls_per_clock = 32>
class PollBudget {
    static_assert(max_polls % polls_per_clock == 0);

public:
    /// Counts one idle poll. Returns true if the call is due; then the budget starts anew.
    [[nodiscard]] bool is_spent() noexcept { return --polls_until_clock_ == 0 && check_clock(); }
    /// Starts the budget anew, because the call was made for another reason.
    void restart() noexcept { *this = PollBudget(); }

private:
    // Cold, so that the common poll saves no registers for it.
    [[gnu::noinline, gnu::cold]] bool check_clock() noexcept
    {
        timespec now_in_parts{};
        (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now_in_parts); // a few ms old, and a tenth of the cost
        const std::int64_t now = now_in_parts.tv_sec * std::int64_t{1000} + now_in_parts.tv_nsec / 1'000'000;
        polls_until_clock_ = polls_per_clock;
        num_polls_ += polls_per_clock;
        if (start_ == unknown)
            start_ = now;
        if (num_polls_ < max_polls && now - start_ < max_milliseconds)
            return false;
        num_polls_ = 0;
        start_ = now;
        return true;
    }

    static constexpr std::int64_t unknown = -1;

    std::uint32_t polls_until_clock_ = polls_per_clock;
    std::uint32_t num_polls_ = 0;  ///< polls since the start, as of the last reading of the clock
    std::int64_t start_ = unknown; ///< ms
};

} // namespace opendoca
