// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <doca_sync_event.h>

#include "../core/device/counter.hpp"
#include "../core/job.hpp"

namespace opendoca {

/// A sync event's jobs of one work queue. All but waits end in submit.
class SyncEventQueue final : public JobQueue {
public:
    [[nodiscard]] static doca_error_t create(Counter &counter, doca_workq &workq,
                                             std::shared_ptr<JobQueue> &queue);

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override;
    void progress() noexcept override { waits_->progress(); }
    [[nodiscard]] bool needs_progress() const noexcept override { return true; }
    [[nodiscard]] bool arm() noexcept override { return waits_->arm(); }
    void disarm() noexcept override { waits_->disarm(); }
    void cancel() noexcept override { waits_->cancel(); }

private:
    SyncEventQueue(Counter &counter, doca_workq &workq) noexcept : counter_(counter), workq_(workq) {}

    [[nodiscard]] doca_error_t get(const doca_sync_event_job_get &job) noexcept;
    [[nodiscard]] doca_error_t set(const doca_sync_event_job_update_set &job) noexcept;
    [[nodiscard]] doca_error_t add(const doca_sync_event_job_update_add &job) noexcept;

    Counter &counter_;
    doca_workq &workq_;
    std::unique_ptr<CounterWaits> waits_;
};

} // namespace opendoca
