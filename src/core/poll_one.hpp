// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <poll.h>

namespace opendoca {

/// Waits for @p events of @p fd, up to @p patience, however many signals the program gets meanwhile. What has happened,
/// or 0; 0 also where the kernel has no memory for it.
[[nodiscard]] inline short poll_one(int fd, short events, std::chrono::milliseconds patience) noexcept
{
    using Clock = std::chrono::steady_clock;
    pollfd one = {.fd = fd, .events = events, .revents = 0};
    const Clock::time_point begin = Clock::now();
    std::chrono::milliseconds left = patience;
    for (;;) {
        const int count = poll(&one, 1, static_cast<int>(left.count()));
        if (count >= 0 || errno != EINTR)
            return count == 1 ? one.revents : short{0};
        const auto over = Clock::now() - begin;
        left = std::max(std::chrono::ceil<std::chrono::milliseconds>(patience - over), std::chrono::milliseconds(0));
    }
}

} // namespace opendoca
