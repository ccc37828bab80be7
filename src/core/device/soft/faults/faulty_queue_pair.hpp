// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <memory>

#include "../connection/queue_pair.hpp"
#include "fault_plan.hpp"

namespace opendoca::soft {

/// A connection with planned faults. A failed job ends the connection, as on any device. Used by the thread of its
/// completion queue.
class FaultyQueuePair final : public SoftQueuePair {
public:
    FaultyQueuePair(const SoftDevice &device, const QueuePairSettings &settings, std::atomic<ConnectionState> &state,
                    std::shared_ptr<FaultPlan> plan)
        : SoftQueuePair(device, settings, state),
          faults_(std::move(plan))
    {
    }

    [[nodiscard]] doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept override
    {
        return unless_faulty(tag, [&] { return SoftQueuePair::receive(tag, dst, plan); });
    }
    [[nodiscard]] doca_error_t post(Tag tag, const Request &request) noexcept override
    {
        return unless_faulty(tag, [&] { return SoftQueuePair::post(tag, request); });
    }

private:
    /// Calls @p submit unless a fault applies to the job.
    template <typename Submit>
    [[nodiscard]] doca_error_t unless_faulty(Tag tag, Submit submit) noexcept
    {
        // Checked here as well, since a job that is failed needs a credit for its completion.
        if (completions_->is_full() || faults_->injects(Fault::full, Jobs::rdma))
            return DOCA_ERROR_NO_MEMORY;
        if (faults_->injects(Fault::peer, Jobs::rdma))
            // Completes the job with the error, and ends the connection.
            complete_now(tag, DOCA_ERROR_CONNECTION_RESET, 0);
        else if (faults_->injects(Fault::job, Jobs::rdma))
            complete_now(tag, DOCA_ERROR_IO_FAILED, 0);
        else
            return submit();
        return DOCA_SUCCESS;
    }

    const std::shared_ptr<FaultPlan> faults_;
};

} // namespace opendoca::soft
