// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <optional>

namespace opendoca {

/// Logs what a caller waits for, once the wait has lasted so long that the user should be informed.
class WaitNotice {
public:
    /// To be asked again and again while waiting. True once: a second after the wait has begun.
    [[nodiscard]] bool is_due() noexcept
    {
        if (was_given_)
            return false;
        const auto now = std::chrono::steady_clock::now();
        if (!since_)
            since_ = now;
        was_given_ = now - *since_ >= std::chrono::seconds(1);
        return was_given_;
    }

    /// The wait is over; the next one begins when is_due() is asked next.
    void end_wait() noexcept { since_.reset(); }
    /// The next wait is for something else.
    void forget() noexcept { *this = WaitNotice(); }

private:
    std::optional<std::chrono::steady_clock::time_point> since_;
    bool was_given_ = false;
};

} // namespace opendoca
