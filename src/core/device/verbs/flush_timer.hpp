// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <cstdint>

#include "../host/peer_timeout.hpp"

namespace opendoca::verbs {

/// Determines that a flush has waited too long for completions, which the device must have lost. Owned by the queue
/// that is flushed, and used by its thread. It needs no thread of its own: the program polls while it waits.
class FlushTimer {
public:
    /// Returns whether no operation has completed for the time that a peer may be silent. To be called repeatedly while
    /// @p num_left operations are in flight.
    [[nodiscard]] bool has_expired(std::uint32_t num_left)
    {
        const std::chrono::duration<double> timeout(peer_timeout());
        // A long pause between two calls restarts the measurement: completions were not polled meanwhile, so their
        // absence means nothing.
        const auto now = std::chrono::steady_clock::now();
        if (num_left != num_left_ || now - last_check_ > timeout) {
            num_left_ = num_left;
            last_progress_ = now;
        }
        last_check_ = now;
        return now - last_progress_ > timeout;
    }
    void restart() noexcept { num_left_ = 0; }

private:
    std::uint32_t num_left_ = 0; ///< operations in flight at the last call; 0 before the first one
    std::chrono::steady_clock::time_point last_progress_; ///< time of the last completion, or of the first call
    std::chrono::steady_clock::time_point last_check_;    ///< time of the previous call
};

} // namespace opendoca::verbs
