// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <doca_error.h>

#include "../state/device_state.hpp"
#include "fault_plan.hpp"

namespace opendoca::soft {

/// What an object of a faulty device knows of its function: whether the object is lost by a reset or a removal, and
/// whether the port is up. Made with the object, which is usable until the next reset. Thread-safe.
class DeviceLife {
public:
    DeviceLife(FunctionState &function, std::shared_ptr<FaultPlan> plan) noexcept
        : function_(function),
          plan_(std::move(plan)),
          num_resets_(function.num_resets.load(std::memory_order_relaxed))
    {
    }

    /// Returns whether the device was reset or removed since the object was made.
    [[nodiscard]] bool is_lost() const noexcept
    {
        return function_.num_resets.load(std::memory_order_relaxed) != num_resets_;
    }
    [[nodiscard]] bool is_port_down() const noexcept { return function_.is_port_down(); }
    /// Counts a job of @p jobs, and lets happen to the device what the plan has for it. Returns SUCCESS, or IO_FAILED
    /// if the object is lost.
    [[nodiscard]] doca_error_t begin_job(Jobs jobs) noexcept
    {
        if (plan_->injects(Fault::reset, jobs))
            function_.reset();
        if (plan_->injects(Fault::remove, jobs))
            function_.remove();
        if (plan_->injects(Fault::port_down, jobs))
            function_.set_port(true);
        return is_lost() ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
    }
    [[nodiscard]] FaultPlan &plan() const noexcept { return *plan_; }

private:
    FunctionState &function_;
    const std::shared_ptr<FaultPlan> plan_;
    const std::uint32_t num_resets_;
};

} // namespace opendoca::soft
