// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>

#include "../connection/receive_queue.hpp"
#include "fault_plan.hpp"

namespace opendoca::soft {

/// Shared receives with planned faults. They belong to no connection, so no peer can seem to end here, and one that
/// fails ends no connection. Used by the thread of its completion queue.
class FaultyReceiveQueue final : public SoftReceiveQueue {
public:
    FaultyReceiveQueue(const SoftDevice &device, CompletionQueue &completions, std::uint32_t size,
                       std::shared_ptr<FaultPlan> plan)
        : SoftReceiveQueue(device, completions, size),
          faults_(std::move(plan))
    {
    }

    [[nodiscard]] doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept override
    {
        if (completions().is_full() || faults_->injects(Fault::full, Jobs::rdma))
            return DOCA_ERROR_NO_MEMORY;
        if (!faults_->injects(Fault::job, Jobs::rdma))
            return SoftReceiveQueue::receive(tag, dst, plan);
        completions().done(tag, *this, DOCA_ERROR_IO_FAILED);
        return DOCA_SUCCESS;
    }

private:
    const std::shared_ptr<FaultPlan> faults_;
};

} // namespace opendoca::soft
