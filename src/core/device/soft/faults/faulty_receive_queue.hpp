// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>

#include "../connection/receive_queue.hpp"
#include "device_life.hpp"
#include "device_watch.hpp"
#include "fault_plan.hpp"

namespace opendoca::soft {

/// Shared receives with planned faults. They belong to no connection, so no peer can seem to end here, and one that
/// fails ends no connection. A reset of the device ends all of them. Used by the thread of its completion queue.
class FaultyReceiveQueue final : public SoftReceiveQueue, private WatchedObject {
public:
    FaultyReceiveQueue(const SoftDevice &device, CompletionQueue &completions, std::uint32_t size,
                       FunctionState &function, const std::shared_ptr<FaultPlan> &plan)
        : SoftReceiveQueue(device, completions, size),
          life_(function, plan)
    {
    }
    ~FaultyReceiveQueue() override
    {
        if (watch_ != nullptr)
            watch_->remove(*this);
    }

    /// Must follow the constructor.
    [[nodiscard]] doca_error_t open()
    {
        const doca_error_t status = DeviceWatch::of(completions(), watch_);
        if (status == DOCA_SUCCESS)
            watch_->add(*this);
        return status;
    }

    [[nodiscard]] doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept override
    {
        if (completions().is_full() || life_.plan().injects(Fault::full, Jobs::rdma))
            return DOCA_ERROR_NO_MEMORY;
        if (life_.begin_job(Jobs::rdma) == DOCA_SUCCESS && !life_.plan().injects(Fault::job, Jobs::rdma))
            return SoftReceiveQueue::receive(tag, dst, plan);
        completions().done(tag, *this, DOCA_ERROR_IO_FAILED);
        return DOCA_SUCCESS;
    }
    [[nodiscard]] bool has_lost_device() const noexcept override { return life_.is_lost(); }

private:
    void check_device() noexcept override
    {
        if (life_.is_lost())
            end_all(DOCA_ERROR_IO_FAILED);
    }

    DeviceLife life_;
    std::shared_ptr<DeviceWatch> watch_;
};

} // namespace opendoca::soft
