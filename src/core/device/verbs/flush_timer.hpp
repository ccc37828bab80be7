// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <cstdint>

#include "reliable_connection.hpp"

namespace opendoca::verbs {

/// Determines that a flush has waited too long for completions, which the device must have lost. Used by one thread.
class FlushTimer {
public:
    /// Returns whether no operation has completed for the time that a peer may be silent. To be called repeatedly while
    /// @p num_left operations are in flight.
    [[nodiscard]] bool has_expired(std::uint32_t num_left)
    {
        const std::chrono::duration<double> patience(peer_patience());
        const auto now = std::chrono::steady_clock::now();
        if (num_left != num_left_ || now - asked_at_ > patience) {
            num_left_ = num_left;
            last_end_ = now;
        }
        asked_at_ = now;
        return now - last_end_ > patience;
    }
    void restart() noexcept { num_left_ = 0; }

private:
    std::uint32_t num_left_ = 0;
    std::chrono::steady_clock::time_point last_end_; ///< time of the last completion, or of the first call
    std::chrono::steady_clock::time_point asked_at_;
};

} // namespace opendoca::verbs
