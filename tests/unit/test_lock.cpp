// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A lock that two processes share, of which one can't look into the other.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "../../src/core/device/soft/process/lock.hpp"
#include "../../src/core/device/soft/process/sealed_page.hpp"

using namespace opendoca::soft;

namespace {

constexpr std::size_t size = 4096;
constexpr auto named = SealedPage::Writers::all_named;
constexpr SealedPage::Expected expected = {"page of a test", size, size, named};

/// A forked process, which may not look into those that it can't be looked into by: not root's.
class Other {
public:
    explicit Other(const std::function<int(const Other &)> &run, bool sees_locks = true)
    {
        int down[2], up[2];
        EXPECT_EQ(pipe2(down, O_CLOEXEC), 0);
        EXPECT_EQ(pipe2(up, O_CLOEXEC), 0);
        pid_ = fork();
        const bool is_parent = pid_ != 0;
        in_ = is_parent ? up[0] : down[0];
        out_ = is_parent ? down[1] : up[1];
        close(is_parent ? up[1] : down[1]);
        close(is_parent ? down[0] : up[0]);
        if (is_parent)
            return;
        // As some containers do.
        if (!sees_locks &&
            (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
             mount("/dev/null", "/proc/locks", nullptr, MS_BIND, nullptr) != 0))
            _exit(0);
        constexpr uid_t nobody = 65534;
        if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setresgid(nobody, nobody, nobody) != 0 ||
                               setresuid(nobody, nobody, nobody) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0))
            _exit(2);
        _exit(run(*this));
    }
    Other(const Other &) = delete;
    Other &operator=(const Other &) = delete;
    ~Other()
    {
        close(in_);
        close(out_);
        int status = -1;
        EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
        EXPECT_EQ(status, 0);
    }

    void tell(int value) const { EXPECT_EQ(write(out_, &value, sizeof(value)), static_cast<ssize_t>(sizeof(value))); }
    [[nodiscard]] int hear() const
    {
        int value = -1;
        return read(in_, &value, sizeof(value)) == sizeof(value) ? value : -1;
    }
    [[nodiscard]] bool says_within(int milliseconds) const
    {
        pollfd ready = {.fd = in_, .events = POLLIN, .revents = 0};
        return poll(&ready, 1, milliseconds) == 1;
    }
    [[nodiscard]] pid_t pid() const { return pid_; }

private:
    pid_t pid_ = -1;
    int in_ = -1;
    int out_ = -1;
};

std::atomic<std::uint64_t> &word_of(const SealedPage &page)
{
    return *static_cast<std::atomic<std::uint64_t> *>(page.start());
}

} // namespace

TEST(ProcessLockTest, AHolderThatCantBeLookedIntoKeepsIt)
{
    for (const auto &[is_makers, sees_locks] : {std::pair(true, true), {false, true}, {false, false}}) {
        SCOPED_TRACE(is_makers ? "the maker of the page holds it" : "who has opened the page holds it");
        SCOPED_TRACE(sees_locks ? "" : "the list of locks is empty");
        const auto hold = [](const Other &parent, const SealedPage &page) {
            std::optional<ProcessLock> lock(std::in_place, word_of(page), ProcessId::self());
            prctl(PR_SET_DUMPABLE, 0);
            parent.tell(0);
            (void)parent.hear();
            lock.reset();
            (void)parent.hear(); // as long as the other one needs the page
            return 0;
        };
        const auto take = [](const Other &parent, const SealedPage &page) {
            parent.tell(0);
            (void)parent.hear(); // that the other one holds it
            const ProcessLock lock(word_of(page), ProcessId::self());
            parent.tell(1);
            (void)parent.hear();
            return 0;
        };
        const Other maker(
            [&, is_holder = is_makers](const Other &parent) {
                std::shared_ptr<SealedPage> page;
                if (SealedPage::create("test", size, named, page) != DOCA_SUCCESS)
                    return 1;
                parent.tell(page->fd());
                (void)parent.hear(); // that it was opened
                return is_holder ? hold(parent, *page) : take(parent, *page);
            },
            sees_locks);
        const int fd = maker.hear();
        if (fd < 0)
            GTEST_SKIP() << "not permitted to hide the list of locks";
        const Other opener([&, is_holder = is_makers, pid = maker.pid()](const Other &parent) {
            std::shared_ptr<SealedPage> page;
            if (SealedPage::open(pid, fd, expected, page) != DOCA_SUCCESS)
                return 1;
            parent.tell(0);
            (void)parent.hear();
            return is_holder ? take(parent, *page) : hold(parent, *page);
        });
        ASSERT_EQ(opener.hear(), 0);
        const Other &holder = is_makers ? maker : opener, &taker = is_makers ? opener : maker;
        holder.tell(0);
        ASSERT_EQ(holder.hear(), 0);
        taker.tell(0);
        ASSERT_EQ(taker.hear(), 0);
        taker.tell(0);
        EXPECT_FALSE(taker.says_within(1000)) << "the lock is another's";
        holder.tell(0);
        EXPECT_TRUE(taker.says_within(10000));
        taker.tell(0);
        holder.tell(0);
    }
}

/// Locks of different peers may share a word of this process.
TEST(ProcessLockTest, TryWithDoesNotWait)
{
    alignas(size) static std::atomic<std::uint64_t> word{0};
    ProcessId self;
    ASSERT_EQ(ProcessId::find_out(self), DOCA_SUCCESS);
    int num_calls = 0;
    EXPECT_TRUE(ProcessLock::try_with(word, self, [&] {
        EXPECT_EQ(word, self.word());
        EXPECT_FALSE(ProcessLock::try_with(word, self, [] { ADD_FAILURE() << "the lock is held by this process"; }));
        ++num_calls;
    }));
    EXPECT_EQ(word, 0u);
    word = self.word() + 1; // another process
    EXPECT_FALSE(ProcessLock::try_with(word, self, [] { ADD_FAILURE() << "the lock is held by another process"; }));
    EXPECT_EQ(word, self.word() + 1);
    word = 0;
    EXPECT_TRUE(ProcessLock::try_with(word, self, [&] { ++num_calls; }));
    EXPECT_EQ(num_calls, 2);
}

TEST(ProcessLockTest, WaitForOneLockDoesNotBlockTheOthers)
{
    const auto words_of = [](const SealedPage &page) { return &word_of(page); };
    const Other holder([&](const Other &parent) {
        std::shared_ptr<SealedPage> page;
        if (SealedPage::create("test", size, named, page) != DOCA_SUCCESS)
            return 1;
        std::optional<ProcessLock> lock(std::in_place, words_of(*page)[0], ProcessId::self());
        parent.tell(page->fd());
        (void)parent.hear();
        lock.reset();
        (void)parent.hear();
        return 0;
    });
    const int fd = holder.hear();
    const Other user([&, pid = holder.pid()](const Other &parent) {
        std::shared_ptr<SealedPage> page;
        if (SealedPage::open(pid, fd, expected, page) != DOCA_SUCCESS)
            return 1;
        std::thread waiter([&] { const ProcessLock lock(words_of(*page)[0], ProcessId::self()); });
        usleep(50'000);
        for (int i = 0; i != 100; ++i)
            const ProcessLock lock(words_of(*page)[1], ProcessId::self());
        parent.tell(0);
        waiter.join();
        parent.tell(0);
        return 0;
    });
    EXPECT_TRUE(user.says_within(10000)) << "it waits for a lock that nobody has";
    holder.tell(0);
    EXPECT_EQ(user.hear(), 0);
    EXPECT_EQ(user.hear(), 0);
    holder.tell(0);
}

/// A peer's, which does not end with it.
TEST(SealedPageTest, APageThatIsLockedForOneAloneIsRefusedForGood)
{
    const opendoca::UniqueFd theirs(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(ftruncate(theirs.get(), size), 0);
    ASSERT_EQ(fcntl(theirs.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    ASSERT_EQ(flock(theirs.get(), LOCK_EX | LOCK_NB), 0);
    std::shared_ptr<SealedPage> page;
    EXPECT_EQ(SealedPage::open(getpid(), theirs.get(), expected, page), DOCA_ERROR_INVALID_VALUE);
    ASSERT_EQ(flock(theirs.get(), LOCK_UN), 0);
    EXPECT_EQ(SealedPage::open(getpid(), theirs.get(), expected, page), DOCA_SUCCESS);
}

TEST(SealedPageTest, APageInHugePagesIsRefused)
{
    constexpr std::size_t huge = std::size_t{2} << 20;
    const opendoca::UniqueFd theirs(
        memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB | 21U << 26)); // of 2 MiB
    if (!theirs.is_open())
        GTEST_SKIP() << "the kernel has no huge pages";
    ASSERT_EQ(ftruncate(theirs.get(), huge), 0);
    ASSERT_EQ(fcntl(theirs.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    std::shared_ptr<SealedPage> page;
    EXPECT_EQ(SealedPage::open(getpid(), theirs.get(), {"page of a test", size, huge, SealedPage::Writers::all}, page),
              DOCA_ERROR_INVALID_VALUE); // not for want of such pages
}

TEST(SealedPageTest, OnlyPagesWhoseUsersWaitForEachOtherHaveALock)
{
    const auto num_locks = [](const SealedPage &page) {
        struct stat info {};
        EXPECT_EQ(fstat(page.fd(), &info), 0);
        const std::string end = ":" + std::to_string(info.st_ino) + " 0 EOF";
        std::ifstream locks("/proc/locks");
        int count = 0;
        for (std::string line; std::getline(locks, line);)
            count += line.find(" FLOCK ") != std::string::npos && line.ends_with(end);
        return count;
    };
    for (const auto &[writers, count] : {std::pair(SealedPage::Writers::all, 0), std::pair(named, 1)}) {
        std::shared_ptr<SealedPage> page, again;
        ASSERT_EQ(SealedPage::create("test", size, writers, page), DOCA_SUCCESS);
        EXPECT_EQ(num_locks(*page), count);
        ASSERT_EQ(SealedPage::open(getpid(), page->fd(), {"page of a test", size, size, writers}, again), DOCA_SUCCESS);
        EXPECT_EQ(again, page);
        EXPECT_EQ(num_locks(*page), count);
    }
}
