// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the driver checks before it pins memory: that every page is there with the protection it needs, and how much a
// process may lock.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs.hpp"

namespace card_test {
namespace {

const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

/// Mapped pages.
struct Pages {
    Pages(std::size_t size, int protection, int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, int fd = -1)
        : bytes(size),
          start(static_cast<std::uint8_t *>(mmap(nullptr, size, protection, flags, fd, 0)))
    {
        EXPECT_NE(start, MAP_FAILED) << std::strerror(errno);
    }
    ~Pages() { munmap(start, bytes); }
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;
    std::size_t bytes;
    std::uint8_t *start;
};

class Registration : public testing::Test {
protected:
    Device device{"mlx5_0"};

    /// An errno, or 0.
    int try_to_register(void *start, std::size_t length, int rights = all_rights)
    {
        const Owned<ibv_mr> mr(ibv_reg_mr(device.pd.get(), start, length, rights));
        return mr == nullptr ? errno : 0;
    }
    /// The same of a user memory of DEVX.
    int try_user_memory(void *start, std::size_t length, std::uint32_t rights = IBV_ACCESS_LOCAL_WRITE)
    {
        const Owned<mlx5dv_devx_umem> memory(mlx5dv_devx_umem_reg(device.context.get(), start, length, rights));
        return memory == nullptr ? errno : 0;
    }
};

TEST_F(Registration, OfNoBytesIsInvalid)
{
    const Pages pages(page, PROT_READ | PROT_WRITE);
    EXPECT_EQ(try_to_register(pages.start, 0), EINVAL);
    EXPECT_EQ(try_user_memory(pages.start, 0), EINVAL);
}

TEST_F(Registration, OfARangeThatWrapsAroundIsInvalid)
{
    const Pages pages(page, PROT_READ | PROT_WRITE);
    EXPECT_EQ(try_to_register(pages.start, ~std::size_t{0} - 8), EINVAL);
    EXPECT_EQ(try_to_register(pages.start, ~std::size_t{0} - reinterpret_cast<std::uintptr_t>(pages.start)), EINVAL);
}

TEST_F(Registration, NeedsPagesToBeWritableForEachRightThatWrites)
{
    const Pages pages(2 * page, PROT_READ);
    EXPECT_EQ(try_to_register(pages.start, 2 * page, 0), 0);
    EXPECT_EQ(try_to_register(pages.start, 2 * page, IBV_ACCESS_REMOTE_READ), 0);
    EXPECT_EQ(try_to_register(pages.start, 2 * page, IBV_ACCESS_LOCAL_WRITE), EFAULT);
    EXPECT_EQ(try_to_register(pages.start, 2 * page, IBV_ACCESS_MW_BIND), EFAULT);
    EXPECT_EQ(try_user_memory(pages.start, page), EFAULT);
    EXPECT_EQ(try_user_memory(pages.start, page, 0), 0);
    static constexpr char text[] = "a constant of the program";
    EXPECT_EQ(try_to_register(const_cast<char *>(text), sizeof(text)), EFAULT);
}

TEST_F(Registration, NeedsPagesToBeReadable)
{
    const Pages pages(page, PROT_NONE);
    EXPECT_EQ(try_to_register(pages.start, page, 0), EFAULT);
}

TEST_F(Registration, LooksAtEachPageOfALargeRange)
{
    constexpr std::size_t large = std::size_t{4} << 30;
    const Pages pages(large, PROT_READ | PROT_WRITE);
    ASSERT_EQ(mprotect(pages.start + large / 2 + 3 * page, page, PROT_READ), 0);
    const bool has_no_limit = try_to_register(pages.start, large, 0) == 0;
    if (!has_no_limit)
        GTEST_SKIP() << "this user may not lock so much memory";
    EXPECT_EQ(try_to_register(pages.start, large), EFAULT) << "one page is read-only";
    EXPECT_EQ(try_to_register(pages.start, large / 2 + 3 * page), 0) << "those before it";
    ASSERT_EQ(munmap(pages.start + large / 2 + 3 * page, page), 0);
    EXPECT_EQ(try_to_register(pages.start, large, 0), EFAULT) << "a hole";
    EXPECT_EQ(try_to_register(pages.start + large / 2 + 4 * page, page), 0) << "those behind it";
}

TEST_F(Registration, OfAFileStopsAtItsEnd)
{
    const int fd = memfd_create("file", 0);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(ftruncate(fd, static_cast<off_t>(2 * page)), 0);
    {
        const Pages pages(4 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
        EXPECT_EQ(try_to_register(pages.start, 2 * page), 0);
        EXPECT_EQ(try_to_register(pages.start, 2 * page + 1), EFAULT);
    }
    close(fd);
}

TEST_F(Registration, AgainForWritingChecksThePages)
{
    const Pages pages(3 * page, PROT_READ);
    ASSERT_EQ(munmap(pages.start + 2 * page, page), 0);
    const Owned<ibv_mr> mr(ibv_reg_mr(device.pd.get(), pages.start, 2 * page, 0));
    ASSERT_NE(mr, nullptr);
    constexpr int access = IBV_REREG_MR_CHANGE_ACCESS, range = IBV_REREG_MR_CHANGE_TRANSLATION;
    errno = 0;
    EXPECT_NE(ibv_rereg_mr(mr.get(), access, nullptr, nullptr, 0, all_rights), 0);
    EXPECT_EQ(errno, EFAULT);
    EXPECT_NE(ibv_rereg_mr(mr.get(), range, nullptr, pages.start + page, 2 * page, 0), 0) << "the last is not there";
    ASSERT_EQ(mprotect(pages.start, 2 * page, PROT_READ | PROT_WRITE), 0);
    EXPECT_EQ(ibv_rereg_mr(mr.get(), access, nullptr, nullptr, 0, all_rights), 0);
}

TEST_F(Registration, KeepsTheOffsetInAPage)
{
    const Pages pages(2 * page, PROT_READ | PROT_WRITE);
    const auto named = [&](std::uint64_t address) {
        const Owned<ibv_mr> mr(ibv_reg_mr_iova(device.pd.get(), pages.start + 64, 64, address, IBV_ACCESS_LOCAL_WRITE));
        return mr == nullptr ? errno : 0;
    };
    EXPECT_EQ(named(64), 0);
    EXPECT_EQ(named(0x7000000 + 64), 0);
    EXPECT_EQ(named(0), EINVAL);
}

TEST_F(Registration, RightsThatThereAreNot)
{
    const Pages pages(page, PROT_READ | PROT_WRITE);
    EXPECT_EQ(try_to_register(pages.start, page, IBV_ACCESS_REMOTE_ATOMIC), EINVAL) << "without the local one";
    EXPECT_EQ(try_to_register(pages.start, page, IBV_ACCESS_LOCAL_WRITE | 1 << 15), EINVAL);
    EXPECT_EQ(try_to_register(pages.start, page, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND), EOPNOTSUPP);
    EXPECT_EQ(try_to_register(pages.start, page, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING), 0);
}

/// In a process of its own, without CAP_IPC_LOCK and with a limit of locked memory.
class LockedMemory : public testing::Test {
protected:
    static constexpr std::size_t limit = 1 << 20;

    static void limit_locked_memory(std::size_t bytes)
    {
        ASSERT_TRUE(drop_capability(CAP_IPC_LOCK)) << std::strerror(errno);
        rlimit now{};
        ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &now), 0);
        now.rlim_cur = bytes;
        ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &now), 0);
    }
    template <typename Function>
    static void in_another_process(Function &&function)
    {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            function();
            _exit(HasFailure() ? 1 : 0);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "see above";
    }
};

TEST_F(LockedMemory, IsLimitedOverAllRegistrations)
{
    in_another_process([] {
        Device device("mlx5_0");
        limit_locked_memory(limit);
        const Pages pages(2 * limit, PROT_READ | PROT_WRITE);
        const int rights = all_rights;
        const auto add = [&](std::size_t bytes) {
            return Owned<ibv_mr>(ibv_reg_mr(device.pd.get(), pages.start, bytes, rights));
        };
        EXPECT_EQ(add(limit + 1), nullptr);
        EXPECT_EQ(errno, ENOMEM);
        // The device's own queues count, too: less than half of the limit here.
        Owned<ibv_mr> first = add(limit / 2);
        ASSERT_NE(first, nullptr);
        errno = 0;
        EXPECT_EQ(add(limit / 2), nullptr) << "the same pages again count again";
        EXPECT_EQ(errno, ENOMEM);
        Device other("mlx5_1");
        errno = 0;
        EXPECT_EQ(Owned<ibv_mr>(ibv_reg_mr(other.pd.get(), pages.start, limit / 2, rights)), nullptr)
            << "of the process, not of the device";
        EXPECT_EQ(errno, ENOMEM);
        first.reset();
        EXPECT_NE(add(limit / 2), nullptr) << "what was deregistered counts no more";
    });
}

TEST_F(LockedMemory, IsNeededForQueues)
{
    in_another_process([] {
        Device device("mlx5_0");
        limit_locked_memory(limit);
        const Owned<ibv_cq> large(ibv_create_cq(device.context.get(), 1 << 16, nullptr, nullptr, 0));
        EXPECT_EQ(large, nullptr) << "4 MiB of entries";
        EXPECT_EQ(errno, ENOMEM);
        EXPECT_EQ(ibv_resize_cq(device.cq.get(), 1 << 16), ENOMEM);
        ibv_qp_init_attr wanted{};
        wanted.send_cq = wanted.recv_cq = device.cq.get();
        wanted.cap = {1 << 13, 1, 1, 1, 0};
        wanted.qp_type = IBV_QPT_RC;
        EXPECT_EQ(ibv_create_qp(device.pd.get(), &wanted), nullptr);
        EXPECT_EQ(errno, ENOMEM);
        ibv_srq_init_attr shared{};
        shared.attr = {32767, 2, 0};
        EXPECT_EQ(ibv_create_srq(device.pd.get(), &shared), nullptr);
        EXPECT_EQ(errno, ENOMEM);
        const Pages pages(limit, PROT_READ | PROT_WRITE);
        EXPECT_EQ(mlx5dv_devx_umem_reg(device.context.get(), pages.start, limit + 1, IBV_ACCESS_LOCAL_WRITE), nullptr);
        EXPECT_EQ(errno, ENOMEM);
        wanted.cap = {4, 4, 1, 1, 0};
        EXPECT_NE(Owned<ibv_qp>(ibv_create_qp(device.pd.get(), &wanted)), nullptr) << "a small one";
    });
}

TEST_F(LockedMemory, IsNotToBeHadWithALimitOfZero)
{
    in_another_process([] {
        Device device("mlx5_0");
        limit_locked_memory(0);
        const Pages pages(page, PROT_READ | PROT_WRITE);
        const int rights = all_rights;
        EXPECT_EQ(ibv_reg_mr(device.pd.get(), pages.start, page, rights), nullptr);
        EXPECT_EQ(errno, EPERM);
    });
}

TEST_F(LockedMemory, OfAChildIsItsOwn)
{
    in_another_process([] {
        Device device("mlx5_0");
        limit_locked_memory(limit);
        const Pages pages(limit, PROT_READ | PROT_WRITE);
        const int rights = all_rights;
        const Owned<ibv_mr> mine(ibv_reg_mr(device.pd.get(), pages.start, limit / 2, rights));
        ASSERT_NE(mine, nullptr);
        in_another_process([&] {
            Device own("mlx5_0");
            EXPECT_NE(ibv_reg_mr(own.pd.get(), pages.start, limit / 2, rights), nullptr);
        });
    });
}

TEST_F(LockedMemory, IsNotLimitedForTheCapableOnes)
{
    if (geteuid() != 0)
        GTEST_SKIP() << "only root has CAP_IPC_LOCK";
    in_another_process([] {
        Device device("mlx5_0");
        rlimit now{};
        ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &now), 0);
        now.rlim_cur = 0;
        ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &now), 0);
        const Pages pages(limit, PROT_READ | PROT_WRITE);
        const int rights = all_rights;
        EXPECT_NE(Owned<ibv_mr>(ibv_reg_mr(device.pd.get(), pages.start, limit, rights)), nullptr);
    });
}

// libibverbs asks RDMA netlink whether the kernel copies pinned pages at fork.
TEST(Fork, NeedsNoHelpOfLibibverbs)
{
    EXPECT_EQ(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
    Device device("mlx5_0");
    EXPECT_NE(device.context, nullptr);
}

} // namespace
} // namespace card_test
