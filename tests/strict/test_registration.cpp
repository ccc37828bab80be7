// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Strict mode: registered memory counts against the limit of locked memory.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../conformance/support/sanitizers.hpp"
#include "strict_fixture.hpp"

namespace doca_test {
namespace {

/// Takes CAP_IPC_LOCK from this thread and limits locked memory, as long as it lives.
class LockedMemoryLimit {
public:
    explicit LockedMemoryLimit(rlim_t bytes)
    {
        must_work(syscall(SYS_capget, &header_, before_));
        __user_cap_data_struct without[_LINUX_CAPABILITY_U32S_3];
        std::memcpy(without, before_, sizeof(without));
        without[0].effective &= ~(1U << CAP_IPC_LOCK);
        must_work(syscall(SYS_capset, &header_, without));
        must_work(getrlimit(RLIMIT_MEMLOCK, &limit_));
        const rlimit lower = {bytes, limit_.rlim_max};
        must_work(setrlimit(RLIMIT_MEMLOCK, &lower));
    }
    LockedMemoryLimit(const LockedMemoryLimit &) = delete;
    LockedMemoryLimit &operator=(const LockedMemoryLimit &) = delete;
    ~LockedMemoryLimit()
    {
        EXPECT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit_), 0);
        EXPECT_EQ(syscall(SYS_capset, &header_, before_), 0);
    }

private:
    static void must_work(long result)
    {
        if (result != 0)
            throw std::runtime_error(std::strerror(errno));
    }

    __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct before_[_LINUX_CAPABILITY_U32S_3]{};
    rlimit limit_{};
};

class StrictRegistration : public StrictTest {
protected:
    static constexpr std::size_t limit = std::size_t{1} << 20;
    static constexpr std::size_t page = std::size_t{1} << 12;

    void SetUp() override
    {
        void *const start = mmap(nullptr, 2 * limit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(start, MAP_FAILED);
        memory = {static_cast<std::byte *>(start), 2 * limit};
    }
    void TearDown() override { EXPECT_EQ(munmap(memory.data(), memory.size()), 0); }

    /// Starts @p mmap, which must not be started, with @p size bytes from @p offset on.
    [[nodiscard]] doca_error_t start(MmapHandle &mmap, std::size_t offset, std::size_t size) const
    {
        must(doca_mmap_create(mmap.out()));
        must(doca_mmap_add_dev(mmap, dev));
        must(doca_mmap_set_memrange(mmap, &memory[offset], size));
        return doca_mmap_start(mmap);
    }

    std::span<std::byte> memory;
};
INSTANTIATE_STRICT(StrictRegistration);

TEST_P(StrictRegistration, is_limited_over_all_memory_maps)
{
    const LockedMemoryLimit locked(limit);
    MmapHandle first, second;
    EXPECT_EQ(start(first, 0, limit / 2), DOCA_SUCCESS);
    EXPECT_EQ(start(second, limit / 2, limit / 2 + 1), is_strict() ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS);
    expect_rule("locked-memory");
    second.reset();
    EXPECT_EQ(start(second, limit / 2, limit / 2), DOCA_SUCCESS) << "what was refused does not count";
    first.reset();
    MmapHandle third;
    EXPECT_EQ(start(third, 0, limit / 2), DOCA_SUCCESS) << "what was destroyed does not count";
}

TEST_P(StrictRegistration, counts_whole_pages)
{
    const LockedMemoryLimit locked(2 * page);
    MmapHandle across, one;
    EXPECT_EQ(start(across, page - 1, 2), DOCA_SUCCESS) << "two pages";
    EXPECT_EQ(start(one, 0, 1), is_strict() ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS) << "one page more";
    expect_rule("locked-memory");
}

TEST_P(StrictRegistration, is_impossible_with_a_limit_of_0)
{
    const LockedMemoryLimit locked(0);
    MmapHandle mmap;
    EXPECT_EQ(start(mmap, 0, 1), is_strict() ? DOCA_ERROR_DRIVER : DOCA_SUCCESS);
    expect_rule("locked-memory");
}

/// Only where the test has the capability.
TEST_P(StrictRegistration, has_no_limit_with_the_capability)
{
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
    ASSERT_EQ(syscall(SYS_capget, &header, data), 0);
    if ((data[0].effective >> CAP_IPC_LOCK & 1) == 0)
        GTEST_SKIP() << "this process has no CAP_IPC_LOCK";
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &before), 0);
    const rlimit lower = {page, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &lower), 0);
    MmapHandle mmap;
    EXPECT_EQ(start(mmap, 0, limit), DOCA_SUCCESS);
    EXPECT_EQ(setrlimit(RLIMIT_MEMLOCK, &before), 0);
}

/// The kernel, too, counts for each process.
TEST_P(StrictRegistration, of_a_parent_does_not_count_for_its_child)
{
    if (is_sanitized)
        GTEST_SKIP() << "it forks";
    const LockedMemoryLimit locked(limit);
    MmapHandle of_parent;
    ASSERT_EQ(start(of_parent, 0, limit), DOCA_SUCCESS);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const DevHandle own = open_device("soft_p0");
        MmapHandle mmap;
        must(doca_mmap_create(mmap.out()));
        must(doca_mmap_add_dev(mmap, own));
        must(doca_mmap_set_memrange(mmap, memory.data(), limit));
        const bool is_good = doca_mmap_start(mmap) == DOCA_SUCCESS;
        of_parent.reset(); // its copy: has no effect on the parent
        _exit(is_good ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    MmapHandle more;
    EXPECT_EQ(start(more, limit, 1), is_strict() ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS);
}

} // namespace
} // namespace doca_test
