// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Waits for sync events by tasks of DOCA 3.0.
#include <cstdint>
#include <memory>
#include <vector>

#include "../poller.hpp"
#include "../sync_event_ways.hpp"
#include "task_engine.hpp"

namespace opendoca::tools {

namespace {

void came(doca_sync_event_task_wait_eq *, doca_data task_data, doca_data ctx_data)
{
    TaskEngine::ended(task_data, ctx_data);
}

void did_not_come(doca_sync_event_task_wait_eq *task, doca_data task_data, doca_data ctx_data)
{
    TaskEngine::failed(doca_sync_event_task_wait_eq_as_doca_task(task), task_data, ctx_data);
}

class EngineEvent final : public QueuedEvent {
public:
    explicit EngineEvent(doca_sync_event *event)
    {
        must(doca_sync_event_task_wait_eq_set_conf(event, came, did_not_come, 1), "configuring an event");
        engine_.start(doca_sync_event_as_ctx(event), 1);
        must(doca_sync_event_task_wait_eq_alloc_init(event, 0, UINT64_MAX, doca_data{}, &wait_), "allocating a wait");
        tasks_.push_back(doca_sync_event_task_wait_eq_as_doca_task(wait_));
    }

    void stop() override { engine_.stop(tasks_); }

    void await(std::uint64_t number) override
    {
        doca_sync_event_task_wait_eq_set_wait_val(wait_, number);
        must(doca_task_submit(tasks_.front()), "submitting a wait");
        (void)engine_.retrieve([this] { engine_.sleep(); });
    }

private:
    TaskEngine engine_;
    doca_sync_event_task_wait_eq *wait_ = nullptr;
    std::vector<doca_task *> tasks_;
};

} // namespace

const char *const name_of_queued_wait = "wait task + epoll";

std::unique_ptr<QueuedEvent> start_queued(doca_sync_event *event)
{
    return std::make_unique<EngineEvent>(event);
}

} // namespace opendoca::tools
