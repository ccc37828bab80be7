// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <chrono>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include "../../src/core/base/poll_budget.hpp"

using opendoca::PollBudget;

namespace {

constexpr std::int64_t forever = std::int64_t{1} << 40; ///< ms

/// Polls until the budget is spent, with @p pause between two polls, and returns how many polls that took.
template <typename Budget>
std::uint32_t polls_until_spent(Budget &budget, std::chrono::milliseconds pause)
{
    std::uint32_t count = 1;
    for (; !budget.is_spent(); ++count) {
        if (pause.count() != 0)
            std::this_thread::sleep_for(pause);
    }
    return count;
}

} // namespace

TEST(PollBudget, IsSpentAfterItsPollsInABusyLoop)
{
    PollBudget<1024, forever> budget;
    EXPECT_EQ(polls_until_spent(budget, {}), 1024U);
    EXPECT_EQ(polls_until_spent(budget, {}), 1024U);
}

TEST(PollBudget, StartsAnewWhenRestarted)
{
    PollBudget<1024, forever> budget;
    for (int i = 0; i != 1000; ++i)
        EXPECT_FALSE(budget.is_spent());
    budget.restart();
    EXPECT_EQ(polls_until_spent(budget, {}), 1024U);
}

/// The pauses are what is tested. Longer ones, on a busy machine, take fewer polls.
TEST(PollBudget, IsSpentAfterItsTimeWhenTheProgramPausesBetweenPolls)
{
    PollBudget<4096> budget;
    EXPECT_LE(polls_until_spent(budget, std::chrono::milliseconds(10)), 64U) << "the first look at the clock starts it";
    EXPECT_EQ(polls_until_spent(budget, std::chrono::milliseconds(10)), 32U) << "the next one";
}
