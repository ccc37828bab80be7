// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sync_event_jobs.hpp"

#include <cstdint>

#include "../../core/log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SYNC_EVENT_JOBS);

namespace opendoca::v2 {

doca_error_t SyncEventJobs::create(Counter &counter, CompletionQueue &completions, std::unique_ptr<JobQueue> &queue)
{
    std::unique_ptr<SyncEventJobs> created(new SyncEventJobs(counter, completions));
    const doca_error_t status = counter.create_waits(completions, created->waits_);
    if (status == DOCA_SUCCESS)
        queue = std::move(created);
    return status;
}

/// The job types share a doca_job as their first member. A job of another type is refused.
doca_error_t SyncEventJobs::submit_tagged(const doca_job &base, Tag tag) noexcept
{
    switch (base.type) {
    case DOCA_SYNC_EVENT_JOB_WAIT_GT:
        return wait(reinterpret_cast<const doca_sync_event_job_wait &>(base), tag);
    case DOCA_SYNC_EVENT_JOB_GET:
        return get(reinterpret_cast<const doca_sync_event_job_get &>(base), tag);
    case DOCA_SYNC_EVENT_JOB_UPDATE_SET:
        return set(reinterpret_cast<const doca_sync_event_job_update_set &>(base), tag);
    case DOCA_SYNC_EVENT_JOB_UPDATE_ADD:
        return add(reinterpret_cast<const doca_sync_event_job_update_add &>(base), tag);
    default:
        LOG_ERR("job type %d is not one of sync events'", base.type);
        return DOCA_ERROR_INVALID_VALUE;
    }
}

doca_error_t SyncEventJobs::wait(const doca_sync_event_job_wait &job, Tag tag) noexcept
{
    // A job has one relation only: DOCA 2.2 waits for a greater value.
    return waits_->wait(tag, WaitCondition::greater(job.value, job.mask));
}

// The jobs below complete in their submit. NO_MEMORY without a log line if the completion queue is full: programs
// retrieve completions and retry. An error of the counter is the status of the completion.

doca_error_t SyncEventJobs::get(const doca_sync_event_job_get &job, Tag tag) noexcept
{
    if (job.value == nullptr) {
        LOG_ERR("the job has no address for the counter's value");
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY;
    completions_.done(tag, *waits_, counter_.get(*job.value));
    return DOCA_SUCCESS;
}

/// A subscriber that waits is woken by the counter itself.
doca_error_t SyncEventJobs::set(const doca_sync_event_job_update_set &job, Tag tag) noexcept
{
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY;
    completions_.done(tag, *waits_, counter_.set(job.value));
    return DOCA_SUCCESS;
}

doca_error_t SyncEventJobs::add(const doca_sync_event_job_update_add &job, Tag tag) noexcept
{
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY;
    std::uint64_t fetched = 0; // the program's word is written only on success
    const doca_error_t result = counter_.add(job.value, fetched);
    if (result == DOCA_SUCCESS && job.fetched != nullptr)
        *job.fetched = fetched;
    completions_.done(tag, *waits_, result);
    return DOCA_SUCCESS;
}

} // namespace opendoca::v2
