// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A sleeper and its waker: wake-ups are neither lost nor written to a stranger's pipe.
#include <algorithm>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "../../src/core/device/soft/process/wake.hpp"

using namespace opendoca::soft;

namespace {

bool is_readable(int fd)
{
    pollfd entry = {.fd = fd, .events = POLLIN, .revents = 0};
    return poll(&entry, 1, 0) == 1;
}

/// No descriptor can be opened for as long as it lives.
class NoDescriptors {
public:
    NoDescriptors()
    {
        EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
        const rlimit none = {0, before_.rlim_max};
        EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    }
    NoDescriptors(const NoDescriptors &) = delete;
    NoDescriptors &operator=(const NoDescriptors &) = delete;
    ~NoDescriptors() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }

private:
    rlimit before_{};
};

constexpr std::uint32_t wish = 1;

class WakeTest : public testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_EQ(sleeper.open(state), DOCA_SUCCESS);
        sleeper.lie_down(wish);
    }

    SleepState state{};
    SleepingSide sleeper;
    WakingSide waker;
};

} // namespace

TEST_F(WakeTest, ASleeperIsWokenOnceForWhatItWishes)
{
    waker.wake(state, wish << 1);
    EXPECT_FALSE(is_readable(sleeper.wake_fd()));
    waker.wake(state, wish);
    EXPECT_TRUE(is_readable(sleeper.wake_fd()));
    EXPECT_EQ(state.sleeping, 0u);
    EXPECT_TRUE(sleeper.get_up());
    waker.wake(state, wish);
    EXPECT_FALSE(is_readable(sleeper.wake_fd()));
}

TEST_F(WakeTest, WithoutDescriptorsItIsLeftToTheNextOne)
{
    {
        const NoDescriptors none;
        waker.wake(state, wish);
        EXPECT_FALSE(waker.signal(state, state.sleeping, wish)) << "the waker has to know";
    }
    EXPECT_FALSE(is_readable(sleeper.wake_fd()));
    EXPECT_NE(state.sleeping, 0u) << "nobody would ever wake it";
    waker.wake(state, wish);
    EXPECT_TRUE(is_readable(sleeper.wake_fd()));
}

TEST_F(WakeTest, APipeThatHasGotTheNumberGetsNothing)
{
    int strange[2];
    ASSERT_EQ(pipe2(strange, O_CLOEXEC | O_NONBLOCK), 0);
    ASSERT_EQ(dup3(strange[1], state.pipe_fd, O_CLOEXEC), state.pipe_fd); // the sleeper's own is gone
    waker.wake(state, wish);
    EXPECT_FALSE(is_readable(strange[0]));
    EXPECT_NE(state.sleeping, 0u);
    close(strange[0]);
    close(strange[1]);
}
