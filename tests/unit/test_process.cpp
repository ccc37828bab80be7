// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Who this process is, and whether another one is still there, of which the first thread is ending and others are not
// yet.
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "../../src/core/device/soft/process/process.hpp"

using namespace opendoca::soft;

namespace {

/// A process whose first thread has ended. The other one ends it when it is told to.
class HalfEnded {
public:
    HalfEnded()
    {
        int ends[2];
        EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
        pid_ = fork();
        if (pid_ == 0) {
            close(ends[1]);
            std::thread([in = ends[0]] {
                char byte;
                (void)!read(in, &byte, 1);
                _exit(0);
            }).detach();
            syscall(SYS_exit, 0); // this thread alone
        }
        close(ends[0]);
        end_ = ends[1];
        while (fields().find(" Z ") == std::string::npos && pid_ > 0)
            std::this_thread::yield();
        std::string text = fields();
        for (int field = 3; field != 22; ++field)
            text.erase(0, text.find(' ', 1));
        id_ = ProcessId(pid_, std::stoull(text));
    }
    ~HalfEnded()
    {
        end();
        waitpid(pid_, nullptr, 0);
    }
    void end()
    {
        if (end_ != -1)
            close(std::exchange(end_, -1));
    }
    [[nodiscard]] ProcessId id() const { return id_; }

private:
    /// Of /proc/PID/stat, from the third on.
    [[nodiscard]] std::string fields() const
    {
        std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
        std::string text;
        std::getline(file, text);
        return text.substr(text.rfind(')') + 1);
    }

    pid_t pid_ = -1;
    int end_ = -1;
    ProcessId id_;
};

/// On a busy machine what was killed takes longer to give its memory back than one would wait for anything else.
TEST(ProcessWatchTest, AProcessThatIsEndingIsWaitedFor)
{
    HalfEnded process;
    ProcessWatch watch;
    ASSERT_EQ(watch.open(process.id()), DOCA_SUCCESS);
    EXPECT_FALSE(watch.has_ended());
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300)); // what the kernel takes
        process.end();
    });
    EXPECT_TRUE(watch.is_ending());
    later.join();
}

/// A forked child has not asked yet who it is.
TEST(ProcessIdTest, ProcessWithoutIdentitySharesNothing)
{
    const pid_t child = fork();
    if (child == 0) {
        rlimit before{};
        getrlimit(RLIMIT_NOFILE, &before);
        const rlimit none = {0, before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &none);
        ProcessId self;
        const bool is_refused = ProcessId::find_out(self) == DOCA_ERROR_NO_MEMORY && self.is_nobody() &&
                                life_of(ProcessId(getpid(), 1)) == Life::unknown;
        setrlimit(RLIMIT_NOFILE, &before);
        const bool is_known =
            ProcessId::find_out(self) == DOCA_SUCCESS && self.pid() == getpid() && life_of(self) == Life::alive;
        setrlimit(RLIMIT_NOFILE, &none);
        _exit(is_refused && is_known && ProcessId::self() == self ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST(ProcessWatchTest, AProcessWhoseFirstThreadAloneHasEndedIsNotWaitedForForEver)
{
    const HalfEnded process;
    ProcessWatch watch;
    ASSERT_EQ(watch.open(process.id()), DOCA_SUCCESS);
    EXPECT_FALSE(watch.is_ending());
}

volatile std::sig_atomic_t num_signals = 0;
constexpr int most_signals = 2000;

TEST(ProcessWatchTest, SignalsDoNotProlongAWait)
{
    const HalfEnded process;
    ProcessWatch watch;
    ASSERT_EQ(watch.open(process.id()), DOCA_SUCCESS);
    struct sigaction action {
    }, before{};
    action.sa_handler = [](int) {
        num_signals = num_signals + 1;
        const itimerval none{};
        if (num_signals == most_signals)
            setitimer(ITIMER_REAL, &none, nullptr);
    };
    ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
    const itimerval each = {{0, 5000}, {0, 5000}};
    ASSERT_EQ(setitimer(ITIMER_REAL, &each, nullptr), 0);
    EXPECT_FALSE(watch.is_ending());
    const itimerval none{};
    setitimer(ITIMER_REAL, &none, nullptr);
    sigaction(SIGALRM, &before, nullptr);
    EXPECT_LT(num_signals, most_signals) << "it waited until no more came";
}

} // namespace
