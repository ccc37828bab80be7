// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The barrier that one side makes for both, when the kernel has no memory for it.
#include <cerrno>
#include <cstdarg>
#include <vector>

#include <dlfcn.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>

#include <gtest/gtest.h>

#include "../../src/core/device/soft/process/barrier.hpp"

namespace {

int num_expedited_to_fail = 0, num_global_to_fail = 0;
std::vector<long> commands; ///< of membarrier, but for queries

bool fails(long command)
{
    int &left = command == MEMBARRIER_CMD_GLOBAL_EXPEDITED ? num_expedited_to_fail : num_global_to_fail;
    commands.push_back(command);
    return left > 0 && left-- > 0;
}

} // namespace

/// In place of libc's.
extern "C" long syscall(long number, ...) noexcept
{
    static auto *const original =
        reinterpret_cast<long (*)(long, long, long, long, long, long, long)>(dlsym(RTLD_NEXT, "syscall"));
    va_list rest;
    va_start(rest, number);
    long words[6];
    for (long &word : words)
        word = va_arg(rest, long);
    va_end(rest);
    const bool is_barrier =
        number == SYS_membarrier && (words[0] == MEMBARRIER_CMD_GLOBAL_EXPEDITED || words[0] == MEMBARRIER_CMD_GLOBAL);
    if (is_barrier && fails(words[0])) {
        errno = ENOMEM;
        return -1;
    }
    return original(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

class BarrierTest : public testing::Test {
protected:
    void SetUp() override
    {
        if (!opendoca::soft::can_make_barriers())
            GTEST_SKIP() << "the kernel makes no barriers for others";
        commands.clear();
    }
};

TEST_F(BarrierTest, IsOneCallWhereNothingFails)
{
    opendoca::soft::heavy_barrier();
    EXPECT_EQ(commands, std::vector<long>{MEMBARRIER_CMD_GLOBAL_EXPEDITED});
}

TEST_F(BarrierTest, IsMadeByTheCommandThatNeedsNoMemory)
{
    num_expedited_to_fail = 1;
    opendoca::soft::heavy_barrier();
    EXPECT_EQ(commands, (std::vector<long>{MEMBARRIER_CMD_GLOBAL_EXPEDITED, MEMBARRIER_CMD_GLOBAL}));
}

TEST_F(BarrierTest, IsTriedAgainUntilItIsMade)
{
    num_expedited_to_fail = 3;
    num_global_to_fail = 3;
    opendoca::soft::heavy_barrier();
    ASSERT_EQ(commands.size(), 7u);
    EXPECT_EQ(commands.back(), MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}
