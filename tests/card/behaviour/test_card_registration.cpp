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
    EXPECT_EQ(try_to_register(pages.start, page, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING), 0);
}

constexpr int on_demand_rights = all_rights | IBV_ACCESS_ON_DEMAND;

/// Regions whose pages come and go.
class OnDemand : public Registration {
protected:
    /// Registers a range that need not be mapped.
    Owned<ibv_mr> add(void *start, std::size_t length, int rights = on_demand_rights)
    {
        const int not_constant = rights; // ibv_reg_mr() is a macro that chooses by constants
        return Owned<ibv_mr>(ibv_reg_mr(device.pd.get(), start, length, not_constant));
    }
    /// As the device reports it: not on InfiniBand.
    bool has_implicit_regions()
    {
        ibv_device_attr_ex attributes{};
        EXPECT_EQ(ibv_query_device_ex(device.context.get(), nullptr, &attributes), 0);
        return (attributes.odp_caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT) != 0;
    }
    static std::uint64_t address_of(const void *start) { return reinterpret_cast<std::uintptr_t>(start); }

    int advise(ibv_mr &mr, const void *start, std::uint32_t length, unsigned advice,
               std::uint32_t flags = IB_UVERBS_ADVISE_MR_FLAG_FLUSH, ibv_pd *pd = nullptr)
    {
        ibv_sge range{address_of(start), length, mr.lkey};
        ibv_advise_mr_advice wanted{};
        static_assert(sizeof(wanted) == sizeof(advice));
        std::memcpy(&wanted, &advice, sizeof(wanted)); // some are none
        return ibv_advise_mr(pd != nullptr ? pd : mr.pd, wanted, flags, &range, 1);
    }
};

TEST_F(OnDemand, PagesNeedNotExistUntilTheyAreUsed)
{
    Pages pages(2 * page, PROT_NONE);
    const Owned<ibv_mr> mr = add(pages.start, 2 * page);
    ASSERT_NE(mr, nullptr) << std::strerror(errno);
    Pair pair(device, device);
    Buffer source(device, 64, all_rights, 0x5a);
    pair.first.post(IBV_WR_RDMA_WRITE, *source.mr, address_of(pages.start), mr->rkey, 64);
    EXPECT_EQ(next_completion(*device.cq).status, IBV_WC_REM_ACCESS_ERR) << "not there yet";
    ASSERT_EQ(mprotect(pages.start, 2 * page, PROT_READ | PROT_WRITE), 0);
    Pair again(device, device);
    again.first.post(IBV_WR_RDMA_WRITE, *source.mr, address_of(pages.start) + page - 8, mr->rkey, 64);
    ibv_wc completion{};
    do // those of the first pair's second end, and of what was flushed
        completion = next_completion(*device.cq);
    while (completion.qp_num != again.first.get()->qp_num);
    EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
    EXPECT_EQ(pages.start[page - 9], 0);
    EXPECT_EQ(pages.start[page - 8], 0x5a);
    EXPECT_EQ(pages.start[page + 55], 0x5a);
}

TEST_F(OnDemand, TheWholeAddressSpaceIsOneRegion)
{
    const Owned<ibv_mr> all = add(nullptr, ~std::size_t{0});
    if (!has_implicit_regions()) {
        EXPECT_EQ(all, nullptr);
        EXPECT_EQ(errno, EINVAL);
        return;
    }
    ASSERT_NE(all, nullptr) << std::strerror(errno);
    Pages source(page, PROT_READ | PROT_WRITE), target(page, PROT_READ | PROT_WRITE);
    std::memset(source.start, 7, 32);
    Pair pair(device, device);
    ibv_mr named = *all; // post() takes its addresses from the region
    named.addr = source.start;
    pair.first.post(IBV_WR_RDMA_WRITE, named, address_of(target.start), all->rkey, 32);
    EXPECT_EQ(next_completion(*device.cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(std::memcmp(source.start, target.start, 32), 0);
}

TEST_F(OnDemand, RangesHaveToBeRanges)
{
    Pages pages(page, PROT_READ | PROT_WRITE);
    EXPECT_EQ(add(pages.start, 0), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(add(pages.start, ~std::size_t{0}), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(add(pages.start, page, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_REMOTE_WRITE), nullptr)
        << "without the local right";
    EXPECT_EQ(errno, EINVAL);
}

TEST_F(OnDemand, AdviceIsChecked)
{
    constexpr auto prefetch = IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH,
                   for_writing = IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE;
    Pages pages(2 * page, PROT_READ | PROT_WRITE);
    const Owned<ibv_mr> mr = add(pages.start, 2 * page),
                        for_reading = add(pages.start, page, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_REMOTE_READ),
                        pinned = add(pages.start, page, all_rights);
    ASSERT_TRUE(mr != nullptr && for_reading != nullptr && pinned != nullptr);
    EXPECT_EQ(advise(*mr, pages.start + page, static_cast<std::uint32_t>(page), for_writing), 0);
    EXPECT_EQ(advise(*mr, pages.start, 8, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, 0), 0);
    EXPECT_EQ(advise(*mr, pages.start + page, static_cast<std::uint32_t>(page) + 1, prefetch), EFAULT);
    EXPECT_EQ(advise(*mr, pages.start + page, static_cast<std::uint32_t>(page) + 1, prefetch, 0), 0)
        << "what is done later reports nothing";
    EXPECT_EQ(advise(*for_reading, pages.start, 8, prefetch), 0);
    EXPECT_EQ(advise(*for_reading, pages.start, 8, for_writing), EPERM);
    EXPECT_EQ(advise(*pinned, pages.start, 8, prefetch), ENOENT);
    const Owned<ibv_pd> other(ibv_alloc_pd(device.context.get()));
    EXPECT_EQ(advise(*mr, pages.start, 8, prefetch, IB_UVERBS_ADVISE_MR_FLAG_FLUSH, other.get()), EPERM);
    EXPECT_EQ(advise(*mr, pages.start, 8, 9), EOPNOTSUPP);
    EXPECT_EQ(advise(*mr, pages.start, 8, prefetch, 2), EINVAL);
}

TEST_F(OnDemand, CapabilitiesSayWhatThereIs)
{
    ibv_device_attr_ex attributes{};
    ASSERT_EQ(ibv_query_device_ex(device.context.get(), nullptr, &attributes), 0);
    ibv_port_attr port{};
    ASSERT_EQ(ibv_query_port(device.context.get(), 1, &port), 0);
    EXPECT_NE(attributes.odp_caps.general_caps & IBV_ODP_SUPPORT, 0u);
    EXPECT_EQ(has_implicit_regions(), port.link_layer == IBV_LINK_LAYER_ETHERNET);
    EXPECT_EQ(attributes.odp_caps.per_transport_caps.rc_odp_caps,
              IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
                  IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV);
    EXPECT_EQ(attributes.orig_attr.max_mcast_grp, 0) << "multicast is not modelled";
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
        const int on_demand = on_demand_rights;
        EXPECT_NE(Owned<ibv_mr>(ibv_reg_mr(device.pd.get(), pages.start, 2 * limit, on_demand)), nullptr)
            << "nothing is locked for it";
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
