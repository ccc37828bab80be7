// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <doca_sync_event.h>

#include "../../core/device/counter.hpp"
#include "../../core/v2/job_queue.hpp"

namespace opendoca::v2 {

/// The jobs of one sync event on one work queue. Jobs other than waits are carried out in the submit and complete at
/// once; a wait completes when the counter meets its condition. Owned by the context; used by the thread of the work
/// queue. The counter must outlive it.
class SyncEventJobs final : public JobQueue {
public:
    /// Creates the queue together with its asynchronous waits, which can fail.
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

    // Not inlined, so that submit_tagged() only jumps to one of them and needs no stack frame.
    [[gnu::noinline]] [[nodiscard]] doca_error_t wait(const doca_sync_event_job_wait &job, Tag tag) noexcept;
    [[gnu::noinline]] [[nodiscard]] doca_error_t get(const doca_sync_event_job_get &job, Tag tag) noexcept;
    [[gnu::noinline]] [[nodiscard]] doca_error_t set(const doca_sync_event_job_update_set &job, Tag tag) noexcept;
    [[gnu::noinline]] [[nodiscard]] doca_error_t add(const doca_sync_event_job_update_add &job, Tag tag) noexcept;

    Counter &counter_; ///< of the event; thread-safe
    CompletionQueue &completions_;
    std::unique_ptr<CounterWaits> waits_; ///< also the source of the completions of the other jobs
};

} // namespace opendoca::v2
