// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "pinned_pages.hpp"

#include <atomic>
#include <cinttypes>
#include <cstdint>

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_PINNED_PAGES);

namespace opendoca::soft {

namespace {

constexpr int pid_bits = 22; ///< the kernel's largest process number is 2^22

/// The pages that this process has counted, and in the lowest bits its number. In a forked child the number is still
/// that of the parent, and the pages are then not the child's. Relaxed: it guards no other data.
std::atomic<std::uint64_t> counted{0};

std::uint64_t pages_of(std::uint64_t word, pid_t self) noexcept
{
    const bool is_own = (word & ((std::uint64_t{1} << pid_bits) - 1)) == static_cast<std::uint64_t>(self);
    return is_own ? word >> pid_bits : 0;
}

/// Changes the count of this process by a function of the count, unless that returns a number above @p limit. Returns
/// whether the count was changed.
template <typename Change>
bool change_count(pid_t self, std::uint64_t limit, Change change) noexcept
{
    std::uint64_t word = counted.load(std::memory_order_relaxed);
    for (;;) {
        const std::uint64_t pages = change(pages_of(word, self));
        if (pages > limit)
            return false;
        if (counted.compare_exchange_weak(word, pages << pid_bits | static_cast<std::uint64_t>(self),
                                          std::memory_order_relaxed))
            return true;
    }
}

/// Returns whether the calling thread may lock memory without a limit.
bool has_ipc_lock() noexcept
{
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
    return syscall(SYS_capget, &header, data) == 0 && (data[0].effective >> CAP_IPC_LOCK & 1) != 0;
}

} // namespace

PinnedPages::~PinnedPages()
{
    if (count_ != 0 && owner_ == getpid())
        (void)change_count(owner_, UINT64_MAX, [&](std::uint64_t pages) { return pages - count_; });
}

doca_error_t PinnedPages::pin(const MemoryRange &range, const DeviceFunction &function) noexcept
{
    const auto page_size = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const auto first = reinterpret_cast<std::uintptr_t>(range.addr) / page_size;
    const auto last = (reinterpret_cast<std::uintptr_t>(range.addr) + range.len - 1) / page_size;
    const std::uint64_t count = last - first + 1;
    rlimit limit{};
    const bool is_limited =
        getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && !has_ipc_lock();
    const std::uint64_t most = is_limited ? limit.rlim_cur / page_size : UINT64_MAX >> pid_bits;
    const pid_t self = getpid();
    if (!change_count(self, most, [&](std::uint64_t pages) { return pages + count; })) {
        LOG_ERR("registering [%p, +%zu) with device %s: %" PRIu64 " KiB more than the %" PRIu64 " KiB that are pinned "
                "exceed the limit of locked memory (ulimit -l) of %" PRIu64 " KiB, and the process has no CAP_IPC_LOCK "
                "(strict: locked-memory)",
                static_cast<void *>(range.addr), range.len, function.description().c_str(), count * page_size / 1024,
                pages_of(counted.load(std::memory_order_relaxed), self) * page_size / 1024,
                static_cast<std::uint64_t>(limit.rlim_cur) / 1024);
        return limit.rlim_cur == 0 ? DOCA_ERROR_DRIVER : DOCA_ERROR_NO_MEMORY;
    }
    count_ = count;
    owner_ = self;
    return DOCA_SUCCESS;
}

} // namespace opendoca::soft
