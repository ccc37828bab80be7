// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The states of a context. Changes of state that the program has not requested itself are made inside
// doca_pe_progress().
#include "ctx.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "../log/log.hpp"
#include "pe.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CTX);

using opendoca::Ended;
using opendoca::v3::TaskPool;
using opendoca::v3::TaskState;
using opendoca::v3::TaskTypeBase;

doca_ctx::doca_ctx(doca_dev *dev) noexcept
{
    if (dev != nullptr)
        dev_ = opendoca::use(*dev);
}

doca_ctx::~doca_ctx()
{
    // The progress engine counts its contexts: it cannot be destroyed while one exists.
    if (pe_ != nullptr)
        pe_->disconnected();
}

doca_error_t doca_ctx::on_stop() noexcept
{
    return DOCA_SUCCESS;
}

std::uint32_t doca_ctx::num_own_operations() const noexcept
{
    return 0;
}

bool doca_ctx::stops_on_failure_of(const doca_task &) const noexcept
{
    return false;
}

bool doca_ctx::on_progress() noexcept
{
    return false;
}

doca_error_t doca_ctx::check_idle(doca_error_t if_not) const noexcept
{
    if (is_idle())
        return DOCA_SUCCESS;
    const char *const state = state_ == DOCA_CTX_STATE_STARTING  ? "starting"
                              : state_ == DOCA_CTX_STATE_RUNNING ? "running"
                                                                 : "stopping";
    LOG_ERR("the context has to be idle: it is %s, with %zu tasks that are not freed", state, num_allocated_);
    return if_not;
}

/// For life: a context never changes its progress engine, and so its thread.
doca_error_t doca_ctx::connect(doca_pe &pe)
{
    if (pe_ != nullptr) {
        LOG_ERR("the context is connected to a progress engine already");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    pe_ = &pe;
    pe.connected();
    return DOCA_SUCCESS;
}

/// A start that fails leaves the context as it was.
doca_error_t doca_ctx::start()
{
    if (const doca_error_t status = check_idle(DOCA_ERROR_BAD_STATE); status != DOCA_SUCCESS)
        return status;
    if (pe_ == nullptr) {
        LOG_ERR("the context is not connected to a progress engine");
        return DOCA_ERROR_NOT_CONNECTED;
    }
    // Every task and internal operation has a credit, so a submit never finds the completion queue full.
    std::uint32_t depth = num_own_operations();
    for (TaskTypeBase *type : types_) {
        depth += type->conf().count;
        // Tasks of the last run stay readable until here: programs read results of tasks that they have freed.
        type->set_pool(nullptr);
    }
    join(depth);
    num_allocated_ = 0;
    const doca_error_t status = opendoca::guarded([&] { return on_start(); });
    if (status == DOCA_SUCCESS || status == DOCA_ERROR_IN_PROGRESS) {
        change(DOCA_CTX_STATE_IDLE, status == DOCA_SUCCESS ? DOCA_CTX_STATE_RUNNING : DOCA_CTX_STATE_STARTING);
        return status;
    }
    on_idle();
    leave();
    return status;
}

void doca_ctx::started() noexcept
{
    change(state_, DOCA_CTX_STATE_RUNNING);
}

void doca_ctx::start_failed() noexcept
{
    is_derived_done_ = true;
    become_idle(state_);
}

doca_error_t doca_ctx::stop() noexcept
{
    if (pe_ == nullptr) {
        LOG_ERR("the context is not connected to a progress engine");
        return DOCA_ERROR_NOT_CONNECTED;
    }
    if (is_idle())
        return DOCA_SUCCESS; // programs that clean up do not query the state before
    if (state_ == DOCA_CTX_STATE_STOPPING && creator_.is_current())
        return DOCA_ERROR_IN_PROGRESS;
    const doca_ctx_states before = state_;
    // A forked child's copy: no operation completes in it, and no callback is to be called.
    if (!creator_.is_current()) {
        set_state(DOCA_CTX_STATE_STOPPING);
        num_allocated_ = 0;
        become_idle(before);
        return DOCA_SUCCESS;
    }
    begin_stop();
    // Only if no other task is in flight: their callbacks must not be called inside of the stop.
    if (num_abandoned_ != 0 && num_abandoned_ == num_in_flight())
        drop_abandoned();
    if (is_at_rest()) {
        become_idle(before);
        return DOCA_SUCCESS;
    }
    change(before, DOCA_CTX_STATE_STOPPING);
    return DOCA_ERROR_IN_PROGRESS;
}

void doca_ctx::fail() noexcept
{
    if (!is_running())
        return;
    // The context becomes idle later, even if nothing is in flight: the caller may be in the middle of a completion.
    begin_stop();
    change(DOCA_CTX_STATE_RUNNING, DOCA_CTX_STATE_STOPPING);
}

/// The flag is cleared before on_stop(), so that nothing inside of it can make the context idle. on_stop() must not
/// call stopped() either: it returns SUCCESS if nothing is left.
void doca_ctx::begin_stop() noexcept
{
    is_derived_done_ = false;
    wait_for_frees_.reset();
    completions().resume();
    set_state(DOCA_CTX_STATE_STOPPING);
    is_derived_done_ = on_stop() == DOCA_SUCCESS;
    // A stopping context is polled in any case: see has_silent_work().
    is_poll_requested_ = true;
}

void doca_ctx::stopped() noexcept
{
    is_derived_done_ = true;
    settle();
}

/// Programs free tasks in flight that they no longer need, and expect the following stop to complete at once.
void doca_ctx::drop_abandoned() noexcept
{
    // Keeps settle() from making the context idle before the loop has ended.
    const bool is_derived_done = std::exchange(is_derived_done_, false);
    while (num_in_flight() != 0 && deliver_one()) {
    }
    is_derived_done_ = is_derived_done;
}

void doca_ctx::settle() noexcept
{
    if (state_ == DOCA_CTX_STATE_STOPPING && is_at_rest())
        become_idle(state_);
}

[[gnu::noinline]] bool doca_ctx::settle_context_of(TaskPool &pool) noexcept
{
    pool.ctx.settle();
    return true;
}

bool doca_ctx::is_at_rest() const noexcept
{
    return is_derived_done_ && num_in_flight() == 0 && num_allocated_ == 0;
}

void doca_ctx::become_idle(doca_ctx_states before) noexcept
{
    // Before leave(): on_idle() may still use the completion queue.
    on_idle();
    leave();
    is_poll_requested_ = is_progress_requested_ = false;
    progress_flag_ = &never_set;
    is_flag_own_ = false;
    change(before, DOCA_CTX_STATE_IDLE);
}

/// The program may destroy the context in its callback, so nothing follows a change to IDLE.
void doca_ctx::change(doca_ctx_states before, doca_ctx_states next) noexcept
{
    set_state(next);
    if (state_changed != nullptr)
        state_changed(user_data, this, before, next);
}

void doca_ctx::set_state(doca_ctx_states state) noexcept
{
    state_ = state;
    update_fast_path();
}

void doca_ctx::parked_changed() noexcept
{
    update_fast_path();
}

bool doca_ctx::can_park() const noexcept
{
    return !is_poll_requested_ && (progress_flag_ == &never_set || (is_flag_own_ && !is_progress_flag_set()));
}

/// The fast path does not check whether the completion queue has to be woken, so it is off while the progress engine is
/// armed and while the context is parked.
void doca_ctx::update_fast_path() noexcept
{
    const bool is_wanted = is_running() && !pe_->is_armed() && !is_parked();
    for (const TaskTypeBase *type : types_) {
        if (TaskPool *const pool = type->pool())
            pool->is_on_fast_path = is_wanted && pool->has_fast_path;
    }
}

void doca_ctx::arm() noexcept
{
    update_fast_path();
    Member::arm();
}

void doca_ctx::clear() noexcept
{
    Member::clear();
    update_fast_path();
}

std::size_t doca_ctx::num_in_flight() const noexcept
{
    std::size_t sum = 0;
    for (const TaskTypeBase *type : types_) {
        if (const TaskPool *const pool = type->pool())
            sum += pool->num_submitted - pool->num_returned;
    }
    return sum;
}

void doca_ctx::set_progress_requested(bool is_requested) noexcept
{
    is_progress_requested_ = is_requested;
    if (is_requested)
        completions().resume();
    // A stopping context needs the calls to detect that nothing is left.
    is_poll_requested_ = is_requested || state_ == DOCA_CTX_STATE_STOPPING;
}

bool doca_ctx::progress_more() noexcept
{
    if (has_silent_work()) {
        become_idle(state_);
        return true;
    }
    if (state_ == DOCA_CTX_STATE_STOPPING)
        log_allocated_tasks();
    return (is_progress_requested_ || is_progress_flag_set()) && on_progress();
}

/// A program that keeps a task allocated would wait forever.
void doca_ctx::log_allocated_tasks() noexcept
{
    if (num_allocated_ != 0 && num_in_flight() == 0 && wait_for_frees_.is_due())
        LOG_WARN("the context is stopping, and becomes idle when the program has freed the last of its %zu tasks",
                 num_allocated_);
}

bool doca_ctx::has_silent_work() const noexcept
{
    return state_ == DOCA_CTX_STATE_STOPPING && is_at_rest();
}

doca_error_t doca_ctx::submit_any(doca_task &task, TaskState state) noexcept
{
    if (!is_running() || task.state != TaskState::owned) [[unlikely]]
        return refuse(task);
    completions().resume();
    TaskPool &pool = *task.pool;
    task.state = state;
    ++pool.num_submitted;
    const doca_error_t status = pool.submit_off_fast_path(task);
    return status == DOCA_SUCCESS ? status : pool.undo_submit(task, status);
}

[[gnu::cold]] doca_error_t doca_ctx::refuse(doca_task &task) noexcept
{
    if (task.state != TaskState::owned) {
        LOG_ERR("task %p is in flight, or was freed", static_cast<void *>(&task));
        return DOCA_ERROR_BAD_STATE;
    }
    LOG_ERR("the context of task %p is not running", static_cast<void *>(&task));
    task.status = DOCA_ERROR_BAD_STATE;
    return DOCA_ERROR_BAD_STATE;
}

void doca_ctx::free(doca_task &task) noexcept
{
    switch (task.state) {
    case TaskState::owned:
        --num_allocated_;
        task.pool->put_back(task);
        if (has_silent_work())
            completions().wake_if_waiting(); // the program is blocked until the context is idle
        return;
    case TaskState::submitted:
    case TaskState::with_result:
        --num_allocated_;
        ++num_abandoned_;
        task.state = TaskState::abandoned;
        task.pool->abandoned(task);
        return;
    case TaskState::with_handler:
        LOG_ERR("task %p is in a graph that runs: it can't be freed", static_cast<void *>(&task));
        return;
    case TaskState::free:
    case TaskState::abandoned:
        LOG_ERR("task %p was freed before", static_cast<void *>(&task));
    }
}

void doca_ctx::task_ended(doca_task &task, const Ended &ended) noexcept
{
    doca_error_t status = ended.status;
    // Also for tasks freed in flight: a receive reports its connection as established. Called a second time if the
    // program has freed the task inside the first call (see Member::deliver()).
    if (status == DOCA_SUCCESS && task.pool->has_results)
        status = task.pool->set_result(task, ended);
    task.status = status;
    if (task.state == TaskState::abandoned) {
        task.pool->put_back(task);
        --num_abandoned_;
        (void)callback_returned(*task.pool);
        return;
    }
    const bool has_handler = std::exchange(task.state, TaskState::owned) == TaskState::with_handler;
    // Before the callback, so that the program finds the context stopping in it.
    if (status != DOCA_SUCCESS && stops_on_failure_of(task))
        fail();
    if (has_handler)
        std::exchange(task.handler, nullptr)->ended(status);
    else if (status == DOCA_SUCCESS)
        task.pool->conf.succeeded(&task, task.user_data, user_data);
    else
        task.pool->conf.failed(&task, task.user_data, user_data);
    (void)callback_returned(*task.pool);
}
