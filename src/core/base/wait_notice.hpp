// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <optional>

namespace opendoca {

/// Decides when a wait has lasted so long that the user should be informed. Belongs to the thread that waits, which
/// logs what it waits for. At most one notice until reset().
class WaitNotice {
public:
    /// Returns true once, a second after the first call. Called repeatedly during the wait.
    [[nodiscard]] bool is_due() noexcept
    {
        if (was_due_)
            return false;
        const auto now = std::chrono::steady_clock::now();
        if (!since_)
            since_ = now;
        was_due_ = now - *since_ >= std::chrono::seconds(1);
        return was_due_;
    }

    /// Ends the wait. The next one begins with the next call of is_due().
    void end_wait() noexcept { since_.reset(); }
    /// Does the same, before a wait for something else, which gets a notice of its own.
    void reset() noexcept { *this = WaitNotice(); }

private:
    std::optional<std::chrono::steady_clock::time_point> since_;
    bool was_due_ = false;
};

} // namespace opendoca
