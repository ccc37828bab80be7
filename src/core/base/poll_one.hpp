// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <poll.h>

namespace opendoca {

/// Blocks until one of @p events of @p fd, for up to @p timeout; signals do not shorten it. Returns the events that
/// have occurred, or 0 after a timeout. Also returns 0 if the kernel has no memory.
[[nodiscard]] inline short poll_one(int fd, short events, std::chrono::milliseconds timeout) noexcept
{
    using Clock = std::chrono::steady_clock;
    pollfd one = {.fd = fd, .events = events, .revents = 0};
    const Clock::time_point begin = Clock::now();
    std::chrono::milliseconds left = timeout;
    for (;;) {
        const int count = poll(&one, 1, static_cast<int>(left.count()));
        if (count >= 0 || errno != EINTR)
            return count == 1 ? one.revents : short{0};
        // Interrupted by a signal. Rounded up, so that the total is never shorter than the timeout.
        const auto over = Clock::now() - begin;
        left = std::max(std::chrono::ceil<std::chrono::milliseconds>(timeout - over), std::chrono::milliseconds(0));
    }
}

} // namespace opendoca
