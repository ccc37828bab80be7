// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Waits for sync events by jobs of DOCA 2.2: what sync_event_ways.hpp leaves to the generation.
#include <cstdint>
#include <memory>
#include <optional>

#include "../../common/doca.hpp"
#include "../poller.hpp"
#include "../sync_event_ways.hpp"

namespace opendoca::tools {

namespace {

/// An event as the context of a work queue in event-driven mode. Owned by SignalPair::Ends and used by its thread; at
/// most one wait is in flight.
class WorkqEvent final : public QueuedEvent {
public:
    explicit WorkqEvent(doca_sync_event *event)
    {
        doca_ctx *const ctx = doca_sync_event_as_ctx(event);
        must(doca_ctx_start(ctx), "starting an event as a context");
        doca_workq *workq = nullptr;
        must(doca_workq_create(4, &workq), "creating a work queue");
        workq_.reset(workq);
        must(doca_workq_set_event_driven_enable(workq, 1), "turning on event-driven mode");
        must(doca_ctx_workq_add(ctx, workq), "adding a work queue");
        must(doca_workq_get_event_handle(workq, &handle_), "getting the event handle");
        poller_.emplace(handle_);
        job_.base = {.type = DOCA_SYNC_EVENT_JOB_WAIT_GT, .flags = DOCA_JOB_FLAGS_NONE, .ctx = ctx, .user_data = {}};
        job_.mask = UINT64_MAX;
    }

    void stop() override
    {
        (void)doca_ctx_workq_rm(job_.base.ctx, workq_.get());
        (void)doca_ctx_stop(job_.base.ctx);
    }

    void await(std::uint64_t number) override
    {
        // "Greater than" with values that increase by one.
        job_.value = number - 1;
        must(doca_workq_submit(workq_.get(), &job_.base), "submitting a wait");
        doca_event event{};
        doca_error_t status = DOCA_ERROR_AGAIN;
        // Arm, block, clear, retrieve: arming after the event has come makes the descriptor readable at once.
        for (;;) {
            must(doca_workq_event_handle_arm(workq_.get()), "arming");
            poller_->wait();
            must(doca_workq_event_handle_clear(workq_.get(), handle_), "clearing");
            status = doca_workq_progress_retrieve(workq_.get(), &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
            if (status != DOCA_ERROR_AGAIN)
                break;
        }
        must(status, "waiting for an event");
    }

private:
    Handle<doca_workq, doca_workq_destroy> workq_;
    doca_event_handle_t handle_ = -1;
    std::optional<Poller> poller_;
    doca_sync_event_job_wait job_{};
};

} // namespace

const char *const name_of_queued_wait = "wait job + epoll";

std::unique_ptr<QueuedEvent> start_queued(doca_sync_event *event)
{
    return std::make_unique<WorkqEvent>(event);
}

} // namespace opendoca::tools
