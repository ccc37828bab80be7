// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <cstdint>

#include "reliable_connection.hpp"

namespace opendoca::verbs {

/// Tells when a flush is to wait no longer for the device: it has lost completions.
class FlushTimer {
public:
    /// To be called again and again while @p num_left operations are in flight: whether none has ended for as long as a
    /// peer may be silent.
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
    std::chrono::steady_clock::time_point last_end_; ///< or begin of the flush
    std::chrono::steady_clock::time_point asked_at_;
};

} // namespace opendoca::verbs
