// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "reserve.hpp"

#include <atomic>
#include <cstdint>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

namespace opendoca::soft {

namespace {

std::atomic<std::uint64_t> kept{0}; ///< two descriptors plus one, or 0
/// The thread that uses the reserve: the process id in the upper half, since a forked child has none of its parent's
/// threads, and the thread id below; or 0.
std::atomic<std::uint64_t> user{0};

constexpr int process_shift = 32;

[[nodiscard]] std::uint64_t this_thread() noexcept
{
    return static_cast<std::uint64_t>(getpid()) << process_shift | static_cast<std::uint32_t>(gettid());
}

} // namespace

bool DescriptorReserve::fill() noexcept
{
    if (kept.load(std::memory_order_relaxed) != 0)
        return true;
    const int error = errno;
    int ends[2];
    const bool is_made = pipe2(ends, O_CLOEXEC) == 0;
    if (is_made) {
        std::uint64_t none = 0;
        const std::uint64_t both =
            static_cast<std::uint64_t>(ends[0] + 1) << 32 | static_cast<std::uint32_t>(ends[1] + 1);
        if (!kept.compare_exchange_strong(none, both, std::memory_order_relaxed)) {
            close(ends[0]);
            close(ends[1]);
        }
    }
    errno = error;
    return is_made;
}

/// The wait is limited, since the other thread may have been stopped by a debugger. After it, or if a caller of this
/// function already uses the reserve, this thread continues without the reserve.
void ReserveUse::begin() noexcept
{
    if (is_user_)
        return;
    constexpr int max_yields = 64, max_sleeps = 100; // of a millisecond
    const std::uint64_t self = this_thread();
    for (int i = 0; i != max_yields + max_sleeps; ++i) {
        std::uint64_t other = user.load(std::memory_order_relaxed);
        if (other == self)
            return;
        // Acquire: pairs with the release in ~ReserveUse(), after which the descriptors of the reserve are open again.
        if ((other == 0 || other >> process_shift != self >> process_shift) &&
            user.compare_exchange_strong(other, self, std::memory_order_acquire)) {
            is_user_ = true;
            return;
        }
        if (i < max_yields)
            sched_yield();
        else
            poll(nullptr, 0, 1);
    }
}

/// Leaves errno as it is.
bool ReserveUse::give_up_reserve() const noexcept
{
    const std::uint64_t both = is_user_ ? kept.exchange(0, std::memory_order_relaxed) : 0;
    if (both == 0)
        return false;
    const int error = errno;
    close(static_cast<int>(both >> 32) - 1);
    close(static_cast<int>(both & 0xffffffff) - 1);
    errno = error;
    return true;
}

ReserveUse::~ReserveUse()
{
    if (!is_user_)
        return;
    DescriptorReserve::fill();
    user.store(0, std::memory_order_release);
}

} // namespace opendoca::soft
