// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sync_event_queue.hpp"

#include <doca_log.h>

#include "../core/workq.hpp"

DOCA_LOG_REGISTER(DOCA_SYNC_EVENT_QUEUE);

namespace opendoca {

doca_error_t SyncEventQueue::create(Counter &counter, doca_workq &workq, std::shared_ptr<JobQueue> &queue)
{
    std::unique_ptr<SyncEventQueue> created(new SyncEventQueue(counter, workq));
    const doca_error_t status = counter.create_waits(workq, *created, created->waits_);
    if (status == DOCA_SUCCESS)
        queue = std::move(created);
    return status;
}

doca_error_t SyncEventQueue::submit(const doca_job &base) noexcept
{
    switch (base.type) {
    case DOCA_SYNC_EVENT_JOB_WAIT_GT: {
        const auto &job = reinterpret_cast<const doca_sync_event_job_wait &>(base);
        return waits_->wait(base, {job.value, job.mask});
    }
    case DOCA_SYNC_EVENT_JOB_GET:
        return get(reinterpret_cast<const doca_sync_event_job_get &>(base));
    case DOCA_SYNC_EVENT_JOB_UPDATE_SET:
        return set(reinterpret_cast<const doca_sync_event_job_update_set &>(base));
    case DOCA_SYNC_EVENT_JOB_UPDATE_ADD:
        return add(reinterpret_cast<const doca_sync_event_job_update_add &>(base));
    default:
        DOCA_LOG_ERR("job type %d is not one of sync events'", base.type);
        return DOCA_ERROR_INVALID_VALUE;
    }
}

// A full queue is not worth a message: programs drain it and try again.

doca_error_t SyncEventQueue::get(const doca_sync_event_job_get &job) noexcept
{
    if (job.value == nullptr) {
        DOCA_LOG_ERR("the job has no place for the counter's value");
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (workq_.is_full())
        return DOCA_ERROR_NO_MEMORY;
    std::uint64_t value = 0;
    const doca_error_t result = counter_.get(value);
    if (result == DOCA_SUCCESS)
        *job.value = value;
    workq_.complete_at_once(job.base, *this, result);
    return DOCA_SUCCESS;
}

doca_error_t SyncEventQueue::set(const doca_sync_event_job_update_set &job) noexcept
{
    if (workq_.is_full())
        return DOCA_ERROR_NO_MEMORY;
    workq_.complete_at_once(job.base, *this, counter_.set(job.value));
    return DOCA_SUCCESS;
}

doca_error_t SyncEventQueue::add(const doca_sync_event_job_update_add &job) noexcept
{
    if (workq_.is_full())
        return DOCA_ERROR_NO_MEMORY;
    std::uint64_t fetched = 0;
    const doca_error_t result = counter_.add(job.value, fetched);
    if (result == DOCA_SUCCESS && job.fetched != nullptr)
        *job.fetched = fetched;
    workq_.complete_at_once(job.base, *this, result);
    return DOCA_SUCCESS;
}

} // namespace opendoca
