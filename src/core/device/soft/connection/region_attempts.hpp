// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <cstdint>

#include <doca_error.h>

namespace opendoca::soft {

class QueuePairMapping;

/// The attempts of one end of a connection to map the message region of its peer. An attempt that fails for lack of
/// descriptors or memory is repeated until one fails that was made peer_timeout() or more after the first one. Owned by
/// a PeerConnection; belongs to the thread that owns it.
class RegionAttempts {
public:
    /// Maps the region of @p peer, which is not mapped. AGAIN if descriptors or memory lack: each further call does
    /// nothing until allow_retry(). NO_MEMORY, the first time after a log line, if they have lacked for too long.
    /// INVALID_VALUE if the peer has closed the connection meanwhile or lies. NOT_PERMITTED.
    [[nodiscard]] doca_error_t map(QueuePairMapping &peer) noexcept;
    /// Returns whether map() has returned AGAIN and waits for allow_retry().
    [[nodiscard]] bool is_deferred() const noexcept { return state_ == State::deferred; }
    void allow_retry() noexcept
    {
        if (is_deferred())
            state_ = State::due;
    }

private:
    enum class State : std::uint8_t { due, deferred, given_up };

    State state_ = State::due;
    std::chrono::steady_clock::time_point first_failure_{}; ///< zero before it
};

} // namespace opendoca::soft
