// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Waits for sync events by tasks of DOCA 3.0: what sync_event_ways.hpp leaves to the generation.
#include <cstdint>
#include <memory>
#include <vector>

#include "../poller.hpp"
#include "../sync_event_ways.hpp"
#include "task_engine.hpp"

namespace opendoca::tools {

namespace {

/// Callbacks of the wait, which record its completion in the engine.
void wait_completed(doca_sync_event_task_wait_eq *, doca_data task_data, doca_data ctx_data)
{
    TaskEngine::ended(task_data, ctx_data);
}

void wait_failed(doca_sync_event_task_wait_eq *task, doca_data task_data, doca_data ctx_data)
{
    TaskEngine::failed(doca_sync_event_task_wait_eq_as_doca_task(task), task_data, ctx_data);
}

/// An event as a context of a progress engine. Owned by SignalPair::Ends and used by its thread; at most one wait is in
/// flight.
class EngineEvent final : public QueuedEvent {
public:
    explicit EngineEvent(doca_sync_event *event)
    {
        // "Equal" is enough: values increase by one, and the next signal follows the answer to this one.
        must(doca_sync_event_task_wait_eq_set_conf(event, wait_completed, wait_failed, 1), "configuring an event");
        engine_.start(doca_sync_event_as_ctx(event), 1);
        must(doca_sync_event_task_wait_eq_alloc_init(event, 0, UINT64_MAX, doca_data{}, &wait_), "allocating a wait");
        tasks_.push_back(doca_sync_event_task_wait_eq_as_doca_task(wait_));
    }

    void stop() override { engine_.stop(tasks_); }

    void await(std::uint64_t number) override
    {
        doca_sync_event_task_wait_eq_set_wait_val(wait_, number);
        must(doca_task_submit(tasks_.front()), "submitting a wait");
        (void)engine_.retrieve([this] { engine_.wait_for_event(); });
    }

private:
    TaskEngine engine_;
    doca_sync_event_task_wait_eq *wait_ = nullptr;
    std::vector<doca_task *> tasks_; ///< the wait, as stop() takes it
};

} // namespace

const char *const name_of_queued_wait = "wait task + epoll";

std::unique_ptr<QueuedEvent> start_queued(doca_sync_event *event)
{
    return std::make_unique<EngineEvent>(event);
}

} // namespace opendoca::tools
