// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <doca_sync_event.h>

#include "../../core/device/counter.hpp"
#include "../../core/v2/job_queue.hpp"

namespace opendoca::v2 {

/// A sync event's jobs of one work queue. All but waits end in submit.
class SyncEventJobs final : public JobQueue {
public:
    [[nodiscard]] static doca_error_t create(Counter &counter, CompletionQueue &completions,
                                             std::unique_ptr<JobQueue> &queue);

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override { return submit_tagged(job, tag_of(job)); }
    [[nodiscard]] doca_error_t submit_tagged(const doca_job &job, Tag tag) noexcept override;
    [[nodiscard]] Source &source() noexcept override { return *waits_; }

private:
    SyncEventJobs(Counter &counter, CompletionQueue &completions) noexcept
        : counter_(counter),
          completions_(completions)
    {
    }

    // Not inline, so that callers jump to them and set up no stack frame for all of them.
    [[gnu::noinline]] [[nodiscard]] doca_error_t wait(const doca_sync_event_job_wait &job, Tag tag) noexcept;
    [[gnu::noinline]] [[nodiscard]] doca_error_t get(const doca_sync_event_job_get &job, Tag tag) noexcept;
    [[gnu::noinline]] [[nodiscard]] doca_error_t set(const doca_sync_event_job_update_set &job, Tag tag) noexcept;
    [[gnu::noinline]] [[nodiscard]] doca_error_t add(const doca_sync_event_job_update_add &job, Tag tag) noexcept;

    Counter &counter_;
    CompletionQueue &completions_;
    std::unique_ptr<CounterWaits> waits_;
};

} // namespace opendoca::v2
