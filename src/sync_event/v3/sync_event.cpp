// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sync_event_tasks.hpp"

using opendoca::v3::SyncEventTasks;
using opendoca::v3::TaskType;

namespace {

/// Creates the pool of one type of tasks, if the program uses that type.
template <typename Task, typename Callback>
void add_pool(TaskType<Task, Callback> &type, doca_sync_event &event, opendoca::CounterWaits &waits)
{
    if (type.is_configured())
        type.set_pool(std::make_unique<SyncEventTasks<Task>>(event, type.conf(), event.event.counter(), waits));
}

} // namespace

/// If a later step fails, the base class calls on_idle(), which undoes the start of the event.
doca_error_t doca_sync_event::on_start()
{
    doca_error_t status = event.start_asynchronous();
    if (status == DOCA_SUCCESS)
        status = event.counter().create_waits(completions(), waits_);
    if (status != DOCA_SUCCESS)
        return status;
    add_pool(get, *this, *waits_);
    add_pool(notify_set, *this, *waits_);
    add_pool(notify_add, *this, *waits_);
    add_pool(wait_eq, *this, *waits_);
    add_pool(wait_neq, *this, *waits_);
    add_pool(wait_gt, *this, *waits_);
    return DOCA_SUCCESS;
}

/// Completes waits with SHUTDOWN: their conditions may never be met. Other tasks have completed in their submit.
doca_error_t doca_sync_event::on_stop() noexcept
{
    waits_->flush();
    return DOCA_SUCCESS;
}

/// The counter stays, so the event can be started again.
void doca_sync_event::on_idle() noexcept
{
    waits_.reset();
    event.stop_asynchronous(false);
}
