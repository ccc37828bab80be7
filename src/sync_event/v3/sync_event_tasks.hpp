// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <concepts>
#include <cstdint>

#include "../../core/log.hpp"
#include "sync_event.hpp"

namespace opendoca::v3 {

/// Tasks of a sync event of one type. All but waits end in their submit.
template <typename Task>
class SyncEventTasks final : public PoolOf<Task> {
public:
    SyncEventTasks(doca_ctx &owner, const TaskConf &configuration, Counter &counter, CounterWaits &waits)
        : PoolOf<Task>(owner, configuration, false, true),
          counter_(counter),
          waits_(waits)
    {
    }

    [[nodiscard]] doca_error_t submit(doca_task &base) noexcept override
    {
        auto &task = static_cast<Task &>(base);
        if constexpr (requires { Task::condition; }) {
            const doca_error_t status = waits_.wait(task.tag(), Task::condition(task.value, task.mask));
            if (status != DOCA_SUCCESS)
                end(task, status);
        } else {
            end(task, carry_out(task));
        }
        return DOCA_SUCCESS;
    }

    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override
    {
        if constexpr (std::same_as<Task, doca_sync_event_task_get>)
            return check_get(static_cast<const Task &>(base));
        return DOCA_SUCCESS;
    }

private:
    void end(doca_task &task, doca_error_t status) noexcept
    {
        task.ctx->completions().done(task.tag(), waits_, status);
    }

    [[nodiscard]] static doca_error_t check_get(const doca_sync_event_task_get &task) noexcept
    {
        if (task.value != nullptr)
            return DOCA_SUCCESS;
        log(LogLevel::error, "DOCA_SYNC_EVENT_TASKS", __LINE__, "task %p has no place for the counter's value",
            static_cast<const void *>(&task));
        return DOCA_ERROR_INVALID_VALUE;
    }

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
        std::uint64_t fetched = 0;
        const doca_error_t status = counter_.add(task.value, fetched);
        if (status == DOCA_SUCCESS && task.fetched != nullptr)
            *task.fetched = fetched;
        return status;
    }

    Counter &counter_;
    CounterWaits &waits_;
};

} // namespace opendoca::v3
