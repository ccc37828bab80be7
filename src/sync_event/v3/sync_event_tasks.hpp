// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <concepts>
#include <cstdint>

#include "../../core/log/log.hpp"
#include "sync_event.hpp"

namespace opendoca::v3 {

/// The tasks of one type of a sync event. Tasks other than waits are carried out in the submit and complete at once; a
/// wait completes when the counter meets its condition. Owned by its TaskType from the start to the next one; used by
/// the thread of the progress engine. The counter and the waits must outlive the tasks in flight.
template <typename Task>
class SyncEventTasks final : public PoolOf<Task> {
public:
    SyncEventTasks(doca_ctx &owner, const TaskConf &configuration, Counter &counter, CounterWaits &waits)
        : PoolOf<Task>(owner, configuration, false, true),
          counter_(counter),
          waits_(waits)
    {
    }

    /// Never refuses a task: an error becomes its completion, for which the completion queue has a credit.
    [[nodiscard]] doca_error_t submit(doca_task &base) noexcept override
    {
        auto &task = static_cast<Task &>(base);
        if constexpr (requires { Task::condition; }) {
            const doca_error_t status = waits_.wait(task.tag(), Task::condition(task.value, task.mask));
            if (status != DOCA_SUCCESS) // for example, the process that has the counter's memory has ended
                end(task, status);
        } else {
            end(task, carry_out(task));
        }
        return DOCA_SUCCESS;
    }

    /// Only a get can be invalid: every value, mask and null result pointer of the others is permitted.
    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override
    {
        if constexpr (std::same_as<Task, doca_sync_event_task_get>)
            return check_get(static_cast<const Task &>(base));
        return DOCA_SUCCESS;
    }

private:
    /// Completes a task in its own submit.
    void end(doca_task &task, doca_error_t status) noexcept
    {
        task.ctx->completions().done(task.tag(), waits_, status);
    }

    /// Returns INVALID_VALUE, after a log line, if @p task has no address for the value.
    [[nodiscard]] static doca_error_t check_get(const doca_sync_event_task_get &task) noexcept
    {
        if (task.value != nullptr)
            return DOCA_SUCCESS;
        log(LogLevel::error, "DOCA_SYNC_EVENT_TASKS", __LINE__, "task %p has no address for the counter's value",
            static_cast<const void *>(&task));
        return DOCA_ERROR_INVALID_VALUE;
    }

    // One overload for each type of tasks that completes in its submit.
    [[nodiscard]] doca_error_t carry_out(doca_sync_event_task_get &task) noexcept
    {
        if (const doca_error_t status = check_get(task); status != DOCA_SUCCESS)
            return status;
        return counter_.get(*task.value);
    }
    [[nodiscard]] doca_error_t carry_out(doca_sync_event_task_notify_set &task) noexcept
    {
        return counter_.set(task.value);
    }
    [[nodiscard]] doca_error_t carry_out(doca_sync_event_task_notify_add &task) noexcept
    {
        std::uint64_t fetched = 0; // the program's word is written only on success
        const doca_error_t status = counter_.add(task.value, fetched);
        if (status == DOCA_SUCCESS && task.fetched != nullptr)
            *task.fetched = fetched;
        return status;
    }

    Counter &counter_;    ///< the event's; thread-safe
    CounterWaits &waits_; ///< also the source of the completions of tasks that are not waits
};

} // namespace opendoca::v3
