// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>

#include "../connection/queue_pair.hpp"
#include "late_requests.hpp"

namespace opendoca::soft {

/// A connection of a strict device: reads, writes and atomics are carried out when the queue is polled or a message is
/// sent, in the order of submission. Used by the thread of its completion queue; connect() may run in another thread.
class StrictQueuePair final : public SoftQueuePair {
public:
    StrictQueuePair(const SoftDevice &device, const QueuePairSettings &settings, std::atomic<ConnectionState> &state)
        : SoftQueuePair(device, settings, state),
          late_(device)
    {
    }

    [[nodiscard]] doca_error_t post(Tag tag, const Request &request) noexcept override;
    /// Carries out what was submitted before, as without strict mode.
    void flush() noexcept override;

private:
    LateRequests late_;
};

} // namespace opendoca::soft
