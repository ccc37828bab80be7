// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Pools of tasks, and the C functions of tasks. Submitting is doca_ctx::submit() in ctx.hpp.
#include "task.hpp"

#include <utility>

#include "../log/log.hpp"
#include "call.hpp"
#include "ctx.hpp"

OPENDOCA_LOG_SOURCE(DOCA_TASK);

using opendoca::apply_to;
using opendoca::read_from;
using opendoca::refuse_null;
using opendoca::v3::TaskState;

namespace opendoca::v3 {

TaskPool::~TaskPool() = default;

doca_error_t TaskPool::check(const doca_task &) const noexcept
{
    return DOCA_SUCCESS;
}

doca_error_t TaskPool::undo_submit(doca_task &task, doca_error_t status) noexcept
{
    --num_submitted;
    task.state = TaskState::owned;
    task.status = status;
    return status;
}

doca_error_t TaskPool::set_result(doca_task &, const Ended &) noexcept
{
    return DOCA_SUCCESS;
}

doca_error_t TaskTypeBase::set_conf(const TaskConf &conf, std::uint32_t most, doca_error_t if_not_idle) noexcept
{
    if (conf.succeeded == nullptr || conf.failed == nullptr) {
        LOG_ERR("a callback of a type of tasks is NULL");
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const doca_error_t status = ctx_.check_idle(if_not_idle); status != DOCA_SUCCESS)
        return status;
    if (conf.count > most) {
        LOG_ERR("%u tasks are more than the %u that the device has room for", conf.count, most);
        return DOCA_ERROR_INVALID_VALUE;
    }
    conf_ = conf;
    return DOCA_SUCCESS;
}

doca_error_t TaskTypeBase::take(doca_data user_data, doca_task *&task) noexcept
{
    if (!ctx_.is_running()) [[unlikely]] {
        LOG_ERR("the context is not running: it has no tasks");
        return DOCA_ERROR_BAD_STATE;
    }
    doca_task *const taken = pool_ != nullptr ? pool_->take(user_data) : nullptr;
    if (taken == nullptr) [[unlikely]] {
        explain_shortage();
        return DOCA_ERROR_NO_MEMORY;
    }
    ++ctx_.num_allocated_;
    task = taken;
    return DOCA_SUCCESS;
}

/// A shortage is logged at debug level, once per start, as programs wait for a task and retry. A type that was never
/// configured is an error of the program, and is logged each time.
void TaskTypeBase::explain_shortage() noexcept
{
    if (conf_.count == 0)
        LOG_ERR("no tasks of this type were asked for before the context was started");
    else if (!std::exchange(was_short_, true))
        LOG_DBG(
            "all %u tasks of this type are in use, as many as were asked for: this is logged once until the next start",
            conf_.count);
}

} // namespace opendoca::v3

namespace {

/// A program queries a refused task for the cause. A task in flight keeps its status, as it is not the program's.
void note_cause(doca_task &task, doca_error_t cause) noexcept
{
    if (task.state == opendoca::v3::TaskState::owned)
        task.status = cause;
}

} // namespace

doca_error_t doca_task_submit(struct doca_task *task)
{
    if (task == nullptr) [[unlikely]]
        return refuse_null();
    return doca_ctx::submit(*task);
}

doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags)
{
    constexpr std::uint32_t known = DOCA_TASK_SUBMIT_FLAG_FLUSH | DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS;
    if (task == nullptr) [[unlikely]]
        return refuse_null();
    if ((flags & ~known) != 0) {
        LOG_ERR("submit flags 0x%x: the bits 0x%x are not defined", flags, flags & ~known);
        note_cause(*task, DOCA_ERROR_INVALID_VALUE);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return doca_ctx::submit(*task); // at once, and reported at once: what any flag allows
}

doca_error_t doca_task_try_submit(struct doca_task *task)
{
    if (task == nullptr)
        return refuse_null();
    // A task that is not the program's, and a context that does not run, are refused before the task is validated: what
    // validates may no longer exist.
    if (task->state != TaskState::owned || !task->ctx->is_running())
        return doca_ctx::submit(*task);
    // try_submit validates before anything is posted, unlike submit, which reports errors by the completion.
    if (const doca_error_t cause = task->pool->check(*task); cause != DOCA_SUCCESS) {
        note_cause(*task, cause); // doca_task_get_status() then returns the cause; nothing was submitted
        return DOCA_ERROR_INVALID_VALUE;
    }
    return doca_ctx::submit(*task);
}

void doca_task_free(struct doca_task *task)
{
    if (task != nullptr)
        task->ctx->free(*task);
}

doca_error_t doca_task_get_status(const struct doca_task *task)
{
    return task != nullptr ? task->status : refuse_null();
}

void doca_task_set_user_data(struct doca_task *task, union doca_data user_data)
{
    apply_to(task, [&] { task->user_data = user_data; });
}

union doca_data doca_task_get_user_data(const struct doca_task *task)
{
    return read_from(task, [&] { return task->user_data; });
}

struct doca_ctx *doca_task_get_ctx(const struct doca_task *task)
{
    return read_from(task, [&] { return task->ctx; });
}
