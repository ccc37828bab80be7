// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <doca_pe.h>

#include "../engine/operation.hpp"
#include "../guard.hpp"

struct doca_ctx;

namespace opendoca::v3 {

class TaskPool;

/// Receives completions in place of a program's callbacks: a graph those of its nodes, a context those of tasks that it
/// has submitted itself.
class OPENDOCA_INTERNAL CompletionHandler {
public:
    /// Called inside doca_pe_progress().
    virtual void ended(const Ended &ended) noexcept = 0;

    /// The object's address, with a bit that distinguishes it from the address of a task.
    [[nodiscard]] WordTag tag() noexcept { return {reinterpret_cast<std::uintptr_t>(this) | bit}; }
    [[nodiscard]] static bool is_of_one(const Tag &tag) noexcept { return (tag.a & bit) != 0; }
    [[nodiscard]] static CompletionHandler &of(const Tag &tag) noexcept
    {
        return *reinterpret_cast<CompletionHandler *>(tag.a & ~bit);
    }

protected:
    ~CompletionHandler() = default;

private:
    static constexpr std::uintptr_t bit = 1;
};

enum class TaskState : std::uint32_t {
    free,         ///< in its pool
    owned,        ///< the program's: allocated, and not submitted
    submitted,    ///< until its callback is called
    with_result,  ///< submitted, of a pool that has_results
    with_handler, ///< submitted, with a CompletionHandler in place of the callbacks
    abandoned,    ///< submitted and then freed: its completion returns it to its pool and is not reported
};

} // namespace opendoca::v3

/// One operation of a context, which the program fills in, submits, gets back in a callback, and may submit again.
/// Libraries derive their types of tasks from it; it comes first in them.
struct doca_task {
    doca_ctx *ctx;
    opendoca::v3::TaskPool *pool;
    doca_data user_data;
    doca_error_t status; ///< written together with the state, in one piece
    opendoca::v3::TaskState state;
    union {
        doca_task *next;                          ///< of a free one
        opendoca::v3::CompletionHandler *handler; ///< of one that is submitted with_handler
    };

    // How it is submitted to the device, and comes back.
    [[nodiscard]] opendoca::WordTag tag() noexcept { return {reinterpret_cast<std::uintptr_t>(this)}; }
    [[nodiscard]] static doca_task &of(const opendoca::Tag &tag) noexcept
    {
        return *reinterpret_cast<doca_task *>(tag.a);
    }
};

namespace opendoca::v3 {

/// Libraries' callback types differ in the type of the task, which begins with its doca_task.
using TaskCallback = doca_task_completion_cb_t;

/// The configuration of one type of tasks, which a program sets while the context is idle.
struct TaskConf {
    TaskCallback succeeded = nullptr;
    TaskCallback failed = nullptr;
    std::uint32_t count = 0;
};

/// The tasks of one type of a running context. All memory is taken at its creation, when the context starts.
class OPENDOCA_INTERNAL TaskPool {
public:
    /// @p gives_results: set_result() is called. @p with_fast_path: submit() gives a task that it refuses back itself,
    /// by not_taken().
    TaskPool(doca_ctx &owner, const TaskConf &as_told, bool gives_results = false, bool with_fast_path = false) noexcept
        : ctx(owner),
          conf(as_told),
          has_results(gives_results),
          has_fast_path(with_fast_path),
          state_when_submitted(gives_results ? TaskState::with_result : TaskState::submitted)
    {
    }
    TaskPool(const TaskPool &) = delete;
    TaskPool &operator=(const TaskPool &) = delete;
    virtual ~TaskPool();

    /// Gives @p task to the device; its end comes with task.tag(). There is a credit for it on the context's
    /// completion queue. What is wrong with it is the status of its end; only what the program may try again is
    /// refused: AGAIN, and nothing has changed.
    [[nodiscard]] virtual doca_error_t submit(doca_task &task) noexcept = 0;
    /// The same while the pool is not on its fast path, for which submit() may be made.
    [[nodiscard]] virtual doca_error_t submit_off_fast_path(doca_task &task) noexcept { return submit(task); }
    /// Whether @p task is one that can succeed. INVALID_VALUE when that can be ruled out now.
    [[nodiscard]] virtual doca_error_t check(const doca_task &task) const noexcept;
    /// @p task has succeeded. Only where there are results. The answer is its status: a result can be one that the
    /// program has no room for.
    [[nodiscard]] virtual doca_error_t set_result(doca_task &task, const Ended &ended) noexcept;

    /// Null when all are out.
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
    /// The rest of @p task stays as it is until it is taken again: programs read it.
    void give_back(doca_task &task) noexcept
    {
        task.state = TaskState::free;
        task.next = free_;
        free_ = &task;
    }

    doca_ctx &ctx;
    const TaskConf conf;
    const bool has_results;
    bool has_fast_path;
    const TaskState state_when_submitted;

    // The context's.
    bool is_on_fast_path = false; ///< it is running, nobody sleeps on its completion queue, and the pool has_fast_path
    // In flight is what was submitted and has not ended, which it has when its callback has returned. One counter that
    // goes up and down with each task would make each wait for the other.
    std::size_t num_submitted = 0;
    std::size_t num_ended = 0;

    /// @p task was refused with @p status: it is the program's again.
    [[gnu::cold]] doca_error_t not_taken(doca_task &task, doca_error_t status) noexcept;

protected:
    void add(doca_task &task) noexcept
    {
        task.ctx = &ctx;
        task.pool = this;
        give_back(task);
    }

private:
    doca_task *free_ = nullptr; ///< a stack: the one used last is the warmest
};

/// A pool of tasks of the type @p Task, which has only public members.
template <typename Task>
class PoolOf : public TaskPool {
public:
    PoolOf(doca_ctx &owner, const TaskConf &as_told, bool gives_results = false, bool with_fast_path = false)
        : TaskPool(owner, as_told, gives_results, with_fast_path),
          tasks_(std::make_unique<Task[]>(as_told.count))
    {
        for (std::uint32_t i = as_told.count; i-- != 0;)
            add(tasks_[i]);
    }

private:
    std::unique_ptr<Task[]> tasks_;
};

} // namespace opendoca::v3
