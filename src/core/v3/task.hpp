// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <doca_pe.h>

#include "../base/guard.hpp"
#include "../engine/operation.hpp"

struct doca_ctx;

namespace opendoca::v3 {

class TaskPool;

/// Receives the completion of a task in place of the program's callbacks: a graph those of its nodes. Owned by that
/// graph; called by the thread of its progress engine. Must outlive its tasks in flight.
class OPENDOCA_INTERNAL CompletionHandler {
public:
    /// Called inside doca_pe_progress(), once per submission, with the status of the task.
    virtual void ended(doca_error_t status) noexcept = 0;

protected:
    ~CompletionHandler() = default;
};

/// State of a task. The task belongs to the program in state owned, to its pool in state free, and else to the context.
enum class TaskState : std::uint32_t {
    free,         ///< in its pool
    owned,        ///< the program's: allocated, and not submitted
    submitted,    ///< until its callback is called
    with_result,  ///< submitted, of a pool that has_results
    with_handler, ///< submitted, with a CompletionHandler in place of the callbacks
    abandoned,    ///< submitted and then freed: its completion returns it to its pool and is not reported
};

} // namespace opendoca::v3

/// One operation of a context: the program fills it in, submits it, gets it back in a callback, and may submit it
/// again. Libraries derive their types of tasks from it, as their first base. Owned by a TaskPool; its address does not
/// change.
struct doca_task {
    doca_ctx *ctx; ///< the context of the pool
    opendoca::v3::TaskPool *pool;
    doca_data user_data;
    doca_error_t status; ///< next to state, so that the compiler can merge both stores into one
    opendoca::v3::TaskState state;
    union {
        doca_task *next;                          ///< in state free: the next free task
        opendoca::v3::CompletionHandler *handler; ///< in state with_handler
    };

    /// The Tag of the task's operation: the task's address. A verbs device sees the Operation's address only (wr_id).
    [[nodiscard]] opendoca::WordTag tag() noexcept { return {reinterpret_cast<std::uintptr_t>(this)}; }
    [[nodiscard]] static doca_task &of(const opendoca::Tag &tag) noexcept
    {
        return *reinterpret_cast<doca_task *>(tag.a);
    }
};

namespace opendoca::v3 {

/// Stands for the callback types of all libraries, which differ only in the task's type, a struct that begins with a
/// doca_task. They are stored and called as this type.
using TaskCallback = doca_task_completion_cb_t;

/// The configuration of one type of tasks. The program sets it while the context is idle.
struct TaskConf {
    TaskCallback succeeded = nullptr;
    TaskCallback failed = nullptr;
    std::uint32_t count = 0; ///< 0 if the program does not use this type
};

/// The tasks of one type of a running context. Owned by the context's TaskType, used by the thread of the progress
/// engine. All memory is allocated at creation, when the context starts, so that submitting and completing allocate
/// nothing.
class OPENDOCA_INTERNAL TaskPool {
public:
    /// @p with_results: set_result() is called for each success. @p with_fast_path: submit() may be called
    /// directly, and calls undo_submit() itself before it returns an error.
    TaskPool(doca_ctx &owner, const TaskConf &configuration, bool with_results = false,
             bool with_fast_path = false) noexcept
        : ctx(owner),
          conf(configuration),
          has_results(with_results),
          has_fast_path(with_fast_path),
          state_when_submitted(with_results ? TaskState::with_result : TaskState::submitted)
    {
    }
    TaskPool(const TaskPool &) = delete;
    TaskPool &operator=(const TaskPool &) = delete;
    virtual ~TaskPool();

    /// Submits @p task; it completes with task.tag(). The context's completion queue has a credit for it. Errors
    /// complete the task. The only one returned is AGAIN: the device's queue is full, and nothing has changed. If
    /// has_fast_path, this function calls undo_submit() before it returns AGAIN, as doca_ctx::submit() makes a tail
    /// call to it; else doca_ctx::submit_any() does that.
    [[nodiscard]] virtual doca_error_t submit(doca_task &task) noexcept = 0;
    /// The same, called by doca_ctx::submit_any(), which calls undo_submit() itself on an error: this function must
    /// not. Overridden by pools whose submit() calls undo_submit().
    [[nodiscard]] virtual doca_error_t submit_off_fast_path(doca_task &task) noexcept { return submit(task); }
    /// Executes @p task at once, without a completion, for a graph. Returns false, without any change, if it has to be
    /// submitted. Called only if is_on_fast_path. Overridden by pools of tasks that take no time.
    [[nodiscard]] virtual bool execute_at_once(doca_task &) noexcept { return false; }
    /// Returns an error, after a log line, if @p task is certain to fail. try_submit() stores it as the task's status.
    [[nodiscard]] virtual doca_error_t check(const doca_task &task) const noexcept;
    /// Called when @p task has succeeded, if the pool has results. Returns the task's status: the result may not fit
    /// into the program's memory.
    [[nodiscard]] virtual doca_error_t set_result(doca_task &task, const Ended &ended) noexcept;
    /// Called when the program has freed @p task in flight: it may release the task's buffers next. Overridden by pools
    /// whose tasks use buffers after their submission without a device that does so.
    virtual void abandoned(doca_task &) noexcept {}

    /// Takes a task from the free list, or returns null if all are in use.
    [[nodiscard]] doca_task *take(doca_data user_data) noexcept
    {
        doca_task *const task = free_;
        if (task == nullptr) [[unlikely]]
            return nullptr;
        free_ = task->next;
        task->user_data = user_data;
        task->status = DOCA_SUCCESS;
        task->state = TaskState::owned;
        task->handler = nullptr;
        return task;
    }
    /// Gives a task back. Its other fields keep their values until it is taken again: programs read them.
    void put_back(doca_task &task) noexcept
    {
        task.state = TaskState::free;
        task.next = free_;
        free_ = &task;
    }

    doca_ctx &ctx;
    const TaskConf conf;
    const bool has_results;
    bool has_fast_path; ///< submit() may be called directly
    const TaskState state_when_submitted;

    /// Context runs and is not parked, progress engine not armed, and has_fast_path. Managed by the context, but a pool
    /// may leave its fast path for good (MemcpyTasks does after a failure).
    bool is_on_fast_path = false;
    // Managed by the context. A task is in flight from its submission until its callback has returned. Not a single
    // counter: submit and completion would both update it, and each update waits for the store of the one before, so
    // that chain would be twice as long.
    std::size_t num_submitted = 0;
    std::size_t num_returned = 0; ///< tasks whose callbacks have returned

    /// Undoes a submit of @p task that failed with @p status, and returns @p status: the counter and the task's state
    /// are as before it.
    [[gnu::cold]] doca_error_t undo_submit(doca_task &task, doca_error_t status) noexcept;

protected:
    /// Adds a task to the pool, free.
    void add(doca_task &task) noexcept
    {
        task.ctx = &ctx;
        task.pool = this;
        put_back(task);
    }

private:
    doca_task *free_ = nullptr; ///< free list, last in first out: the task used last is likely in the cache
};

/// A pool of tasks of type @p Task, which has only public members. Allocates them as one array.
template <typename Task>
class PoolOf : public TaskPool {
public:
    PoolOf(doca_ctx &owner, const TaskConf &configuration, bool with_results = false, bool with_fast_path = false)
        : TaskPool(owner, configuration, with_results, with_fast_path),
          tasks_(std::make_unique<Task[]>(configuration.count))
    {
        for (std::uint32_t i = configuration.count; i-- != 0;)
            add(tasks_[i]);
    }

private:
    std::unique_ptr<Task[]> tasks_;
};

} // namespace opendoca::v3
