// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "region_attempts.hpp"

#include "../../../base/guard.hpp"
#include "../../../log/log.hpp"
#include "../../host/peer_timeout.hpp"
#include "queue_pair_mapping.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_REGION);

namespace opendoca::soft {

doca_error_t RegionAttempts::map(QueuePairMapping &peer) noexcept
{
    using Clock = std::chrono::steady_clock;
    if (state_ != State::due)
        return is_deferred() ? DOCA_ERROR_AGAIN : DOCA_ERROR_NO_MEMORY;
    const doca_error_t status = guarded([&] { return peer.open_region(); });
    if (status != DOCA_ERROR_NO_MEMORY)
        return status;
    const Clock::time_point now = Clock::now();
    if (first_failure_ == Clock::time_point())
        first_failure_ = now;
    if (now - first_failure_ < std::chrono::duration<double>(peer_timeout())) {
        state_ = State::deferred;
        return DOCA_ERROR_AGAIN;
    }
    LOG_ERR("descriptors or memory to map the messages of process %d have lacked for %.3g s: the connection ends",
            peer.process()->pid(), peer_timeout());
    state_ = State::given_up;
    return status;
}

} // namespace opendoca::soft
