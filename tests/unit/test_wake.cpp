// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A sleeper and its waker: wake-ups are neither lost nor written to a stranger's pipe.
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
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

/// No descriptor can be opened for as long as it lives; or only those that are closed meanwhile.
class NoDescriptors {
public:
    explicit NoDescriptors(rlim_t limit = 0)
    {
        EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
        const rlimit none = {limit, before_.rlim_max};
        EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    }
    NoDescriptors(const NoDescriptors &) = delete;
    NoDescriptors &operator=(const NoDescriptors &) = delete;
    ~NoDescriptors() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }

private:
    rlimit before_{};
};

/// How often the next calls of a function fail, and how.
struct Failure {
    int times = 0;
    int error = 0;
    int spared = 0; ///< calls before those
    int done = 0;

    bool strikes()
    {
        if (times == 0 || spared-- > 0)
            return false;
        --times;
        ++done;
        errno = error;
        return true;
    }
};

Failure open_failure, write_failure;

} // namespace

/// In place of libc's.
extern "C" int open(const char *path, int flags, ...)
{
    static auto *const original = reinterpret_cast<int (*)(const char *, int, long)>(dlsym(RTLD_NEXT, "open"));
    va_list rest;
    va_start(rest, flags);
    const long mode = va_arg(rest, long);
    va_end(rest);
    return std::string(path).find("/fd/") != std::string::npos && open_failure.strikes() ? -1
                                                                                         : original(path, flags, mode);
}

extern "C" ssize_t write(int fd, const void *bytes, std::size_t size)
{
    static auto *const original =
        reinterpret_cast<ssize_t (*)(int, const void *, std::size_t)>(dlsym(RTLD_NEXT, "write"));
    return size == 1 && write_failure.strikes() ? -1 : original(fd, bytes, size);
}

namespace {

constexpr std::uint32_t wish = 1;

class WakeTest : public testing::Test {
protected:
    void SetUp() override
    {
        open_failure = write_failure = {};
        ASSERT_EQ(sleeper.open(state), DOCA_SUCCESS);
        sleeper.arm(wish);
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
    EXPECT_TRUE(sleeper.disarm());
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
    EXPECT_EQ(state.sleeping, 0u) << "it can't ever be woken, and nobody tries again";
    close(strange[0]);
    close(strange[1]);
}

/// With what fails, and how often.
class WakeInTroubleTest : public WakeTest, public testing::WithParamInterface<int> {};

INSTANTIATE_TEST_SUITE_P(of, WakeInTroubleTest, testing::Values(ENOMEM, EINTR, EAGAIN, EACCES, EMFILE),
                         [](const auto &each) { return std::string(strerrorname_np(each.param)); });

TEST_P(WakeInTroubleTest, WhatFailsOnceDelaysNoWakeUp)
{
    for (const int spared : {0, 1}) { // of the two opens
        open_failure = {.times = 1, .error = GetParam(), .spared = spared};
        write_failure = {.times = 1, .error = GetParam() == EAGAIN ? ENOBUFS : GetParam()}; // EAGAIN: the pipe is full
        WakingSide fresh;
        sleeper.arm(wish);
        EXPECT_TRUE(fresh.signal(state, state.sleeping, wish));
        EXPECT_EQ(open_failure.done, 1);
        EXPECT_EQ(write_failure.done, 1);
        EXPECT_EQ(state.sleeping, 0u);
        EXPECT_TRUE(sleeper.disarm());
    }
}

TEST_P(WakeInTroubleTest, WhatFailsAllTheTimeLeavesTheSleeperToTheNextOne)
{
    for (Failure *const failure : {&open_failure, &write_failure}) {
        if (failure == &write_failure && GetParam() == EAGAIN)
            continue;
        *failure = {.times = 1000, .error = GetParam()};
        EXPECT_FALSE(waker.signal(state, state.sleeping, wish));
        EXPECT_GT(failure->done, 1) << "it was not tried again";
        EXPECT_NE(state.sleeping, 0u);
        EXPECT_FALSE(is_readable(sleeper.wake_fd()));
        const int before = failure->done;
        EXPECT_FALSE(waker.signal(state, state.sleeping, wish));
        EXPECT_LE(failure->done, before + (GetParam() == EMFILE ? 2 : 1)) << "updates pay for it, as long as it fails";
        failure->times = 0;
        EXPECT_TRUE(waker.signal(state, state.sleeping, wish));
        EXPECT_TRUE(is_readable(sleeper.wake_fd()));
        EXPECT_TRUE(sleeper.disarm());
        sleeper.arm(wish);
    }
}

/// Each has a sleeper of its own, and the descriptors that are kept back are for one of them at a time.
TEST_F(WakeTest, ThreadsWithoutDescriptorsWakeAllTheSame)
{
    constexpr int num_threads = 4, rounds = 50;
    std::array<SleepState, num_threads> states{};
    std::array<SleepingSide, num_threads> sleepers;
    std::array<WakingSide, num_threads> wakers;
    for (int i = 0; i < num_threads; ++i)
        ASSERT_EQ(sleepers[i].open(states[i]), DOCA_SUCCESS);
    ASSERT_TRUE(DescriptorReserve::fill());
    std::barrier together(num_threads + 1);
    std::atomic<int> lost{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < num_threads; ++i)
        threads.emplace_back([&, i] {
            for (int round = 0; round < rounds; ++round) {
                together.arrive_and_wait();
                lost += wakers[i].signal(states[i], states[i].sleeping, wish) ? 0 : 1;
                together.arrive_and_wait();
            }
        });
    {
        const int next = dup(0);
        close(next);
        const NoDescriptors others(static_cast<rlim_t>(next));
        for (int round = 0; round < rounds; ++round) {
            for (SleepingSide &each : sleepers)
                each.arm(wish);
            together.arrive_and_wait();
            together.arrive_and_wait();
            for (SleepingSide &each : sleepers)
                EXPECT_TRUE(each.disarm()) << "in round " << round;
        }
        for (std::thread &thread : threads)
            thread.join();
    }
    EXPECT_EQ(lost, 0);
}

/// Its process has the same number, and none of its descriptors.
TEST_F(WakeTest, AProcessThatExecutesAnotherProgramIsGoneForGood)
{
    const pid_t child = fork();
    if (child == 0) {
        execlp("sleep", "sleep", "60", nullptr);
        _exit(1);
    }
    const std::string program = "/proc/" + std::to_string(child) + "/exe";
    std::string path;
    do {
        path.assign(256, 0);
        ASSERT_GT(readlink(program.c_str(), path.data(), path.size()), 0);
    } while (path.find("test_wake") != std::string::npos);
    // As the sleeper of a process that was this one's copy until then.
    std::uint64_t start_time = 0;
    {
        std::string text(1024, 0);
        const int fd = open(("/proc/" + std::to_string(child) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
        ASSERT_GT(read(fd, text.data(), text.size()), 0);
        close(fd);
        text.erase(0, text.rfind(')') + 1);
        for (int field = 3; field != 22; ++field)
            text.erase(0, text.find(' ', 1));
        start_time = std::stoull(text);
    }
    state.owner = ProcessId(child, start_time).word();
    ASSERT_EQ(life_of(ProcessId(child, start_time)), Life::alive);
    EXPECT_TRUE(waker.signal(state, state.sleeping, wish));
    EXPECT_EQ(state.sleeping, 0u) << "each update would look for it";
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

/// A waiter without a pipe could not be woken.
TEST(SleepingSideTest, OpenFailsWithoutDescriptors)
{
    SleepState state{};
    SleepingSide sleeper;
    {
        const NoDescriptors none;
        EXPECT_NE(sleeper.open(state), DOCA_SUCCESS);
        EXPECT_FALSE(sleeper.is_open());
    }
    EXPECT_EQ(sleeper.open(state), DOCA_SUCCESS);
    EXPECT_NE(state.pipe_inode, 0u);
    EXPECT_EQ(ProcessId(state.owner), ProcessId::self());
}
