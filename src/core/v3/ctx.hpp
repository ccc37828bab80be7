// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <doca_ctx.h>

#include "../base/wait_notice.hpp"
#include "../base/weak_address.hpp"
#include "../objects/dev.hpp"
#include "../process/fork.hpp"
#include "member.hpp"
#include "task.hpp"

namespace opendoca::v3 {

class TaskTypeBase;

} // namespace opendoca::v3

/// The base of every library's object: a device, the states between start and stop, and tasks. Owned by the program;
/// used by the thread of its progress engine.
/// It has a completion queue of its own, as deep as the context has tasks, so the queue never overflows. The context
/// becomes idle when no task is in flight or allocated and the library has reported that it has stopped. Nothing
/// touches a context after its callback has reported idle, since the program may have destroyed it.
struct OPENDOCA_INTERNAL doca_ctx : opendoca::v3::Member {
    doca_ctx(const doca_ctx &) = delete;
    doca_ctx &operator=(const doca_ctx &) = delete;

    // Requests of the program.

    /// Connects the context to its progress engine, for life. NOT_PERMITTED if it is connected already.
    [[nodiscard]] doca_error_t connect(doca_pe &pe);
    /// Returns SUCCESS when the context runs, IN_PROGRESS if that takes time, or the library's error; the context is
    /// then idle.
    [[nodiscard]] doca_error_t start();
    /// Returns SUCCESS when the context is idle, IN_PROGRESS if tasks are in flight or allocated or the library needs
    /// time.
    [[nodiscard]] doca_error_t stop() noexcept;
    [[nodiscard]] doca_ctx_states state() const noexcept { return state_; }
    /// Event-driven mode; the fast path of the pools is off while the progress engine is armed.
    void arm() noexcept override;
    void clear() noexcept override;
    [[nodiscard]] bool is_idle() const noexcept { return state_ == DOCA_CTX_STATE_IDLE; }
    [[nodiscard]] bool is_running() const noexcept { return state_ == DOCA_CTX_STATE_RUNNING; }
    /// Returns @p if_not, after a log line, unless the context is idle: the only state in which it is configured and
    /// destroyed.
    [[nodiscard]] doca_error_t check_idle(doca_error_t if_not) const noexcept;
    /// Returns the number of tasks whose callbacks have not returned.
    [[nodiscard]] std::size_t num_in_flight() const noexcept override;
    /// Returns a pointer to the context that becomes null when the context is destroyed. For graphs, which may outlive
    /// it.
    [[nodiscard]] std::shared_ptr<const doca_ctx *const> share_address() const { return address_.share(*this); }

    doca_data user_data{};
    doca_ctx_state_changed_callback_t state_changed = nullptr;

    // Tasks.

    /// Fast path. Makes only tail calls, so the compiler needs no stack frame.
    [[nodiscard]] static doca_error_t submit(doca_task &task) noexcept
    {
        return submit_in_state(task, task.pool->state_when_submitted);
    }
    /// Executes @p task at once, without a callback, if its pool can do so. Returns false, without any change, if it
    /// has to be submitted.
    [[nodiscard]] static bool execute_at_once(doca_task &task) noexcept
    {
        opendoca::v3::TaskPool &pool = *task.pool;
        if (!pool.is_on_fast_path || task.state != opendoca::v3::TaskState::owned || !pool.execute_at_once(task))
            return false;
        task.status = DOCA_SUCCESS;
        return true;
    }
    /// Like submit(), with @p handler in place of the program's callbacks.
    [[nodiscard]] static doca_error_t submit_for(opendoca::v3::CompletionHandler &handler, doca_task &task) noexcept
    {
        // The handler of a task in flight must not change. Such a task is refused.
        if (task.state == opendoca::v3::TaskState::owned)
            task.handler = &handler;
        return submit_in_state(task, opendoca::v3::TaskState::with_handler);
    }
    /// Frees a task. One in flight is abandoned: its completion frees it, and no callback is called.
    void free(doca_task &task) noexcept;

protected:
    /// @p dev is null for a context without a device.
    explicit doca_ctx(doca_dev *dev) noexcept;
    /// The context must be idle.
    ~doca_ctx() override;

    [[nodiscard]] doca_dev *dev() const noexcept { return dev_.get(); }

    // Implemented by the derived class of each library (doca_dma, doca_rdma, ...). All are called by the thread of the
    // progress engine.

    /// Creates what the tasks need; completions() exists. Returns SUCCESS if the context runs, or IN_PROGRESS if
    /// started() or start_failed() will be called. After any other status on_idle() is called to undo what was done.
    [[nodiscard]] virtual doca_error_t on_start() = 0;
    /// Flushes what might never complete by itself. Returns SUCCESS if everything in flight now completes by itself,
    /// IN_PROGRESS if the derived class will in addition call stopped(), in a later on_progress(). Must not call
    /// stopped() itself: it returns SUCCESS if nothing is left. Also called for a context that is still starting.
    [[nodiscard]] virtual doca_error_t on_stop() noexcept;
    /// Releases what on_start() has created.
    virtual void on_idle() noexcept = 0;
    /// Returns the number of operations, other than tasks, that the completion queue must have space for.
    [[nodiscard]] virtual std::uint32_t num_own_operations() const noexcept;
    /// Returns whether an error status of @p task stops the context. Default: no.
    [[nodiscard]] virtual bool stops_on_failure_of(const doca_task &task) const noexcept;
    /// Called by doca_pe_progress() when no completion is found, and now and then while many are (see
    /// completions_may_be_pending()), if set_progress_requested(true) was called or the flag of
    /// request_progress_while() is set. Returns true if it has done something. It may end the context: after started(),
    /// start_failed(), stopped() or fail() it must return at once.
    [[nodiscard]] virtual bool on_progress() noexcept;

    /// By default a context can be parked unless calls of on_progress() are requested. Overridden where the derived
    /// class wakes its completion queue whenever on_progress() has something to do.
    [[nodiscard]] bool can_park() const noexcept override;

    /// In on_progress(): true if completions may be left in the ring or on the device, so what they refer to must be
    /// kept.
    [[nodiscard]] bool completions_may_be_pending() const noexcept { return completions_may_be_pending_; }

    // Called by the derived class.

    /// Requests, or no longer requests, a call of on_progress() at each poll.
    void set_progress_requested(bool is_requested) noexcept;
    /// Requests on_progress() while @p flag is set (any thread may set it), until the context is idle. While it is
    /// clear and set_progress_requested(true) is not in effect, a poll costs one load and no virtual call.
    void request_progress_while(const std::atomic<bool> &flag) noexcept { progress_flag_ = &flag; }
    /// Does the same with a flag that only the context's own thread sets, and only for a task: unlike another flag, it
    /// does not keep the context from being parked while it is clear.
    void request_progress_while_own(const std::atomic<bool> &flag) noexcept
    {
        progress_flag_ = &flag;
        is_flag_own_ = true;
    }
    /// Reports the end of a start or stop that takes time.
    void started() noexcept;
    void start_failed() noexcept;
    void stopped() noexcept;
    /// Stops the context as if the program had done so, for example because a connection has failed. Does nothing
    /// unless the context is running.
    void fail() noexcept;

private:
    friend class opendoca::v3::TaskTypeBase;
    friend class opendoca::v3::Member;

    /// Submits a task, which has @p state until its completion is delivered.
    [[nodiscard]] static doca_error_t submit_in_state(doca_task &task, opendoca::v3::TaskState state) noexcept
    {
        opendoca::v3::TaskPool &pool = *task.pool;
        if (!pool.is_on_fast_path || task.state != opendoca::v3::TaskState::owned) [[unlikely]]
            return task.ctx->submit_any(task, state);
        task.state = state;
        ++pool.num_submitted;
        return pool.submit(task);
    }
    /// Submits a task that is not on the fast path, or refuses it. Not inlined: submit() needs no stack frame then.
    [[gnu::noinline]] [[nodiscard]] doca_error_t submit_any(doca_task &task, opendoca::v3::TaskState state) noexcept;
    /// Logs why a task cannot be submitted. Returns BAD_STATE.
    [[nodiscard]] static doca_error_t refuse(doca_task &task) noexcept;

    [[nodiscard]] bool progress_more() noexcept override;
    [[nodiscard]] bool has_silent_work() const noexcept override;
    void task_ended(doca_task &task, const opendoca::Ended &ended) noexcept override;
    /// Delivers completions until no task is in flight or no completion is left. All tasks in flight must be abandoned
    /// (stop() checks), so no callback of a task is called.
    void drop_abandoned() noexcept;
    /// Called after the callback of a task of @p pool. May make the context idle, and the program may destroy it then.
    /// Always returns true, so that callers can return this result.
    static bool callback_returned(opendoca::v3::TaskPool &pool) noexcept
    {
        ++pool.num_returned;
        return pool.is_on_fast_path ? true : settle_context_of(pool);
    }
    /// Makes a stopping context idle if nothing is left.
    static bool settle_context_of(opendoca::v3::TaskPool &pool) noexcept;
    void settle() noexcept;
    /// Returns whether nothing keeps a stopping context from becoming idle.
    [[nodiscard]] bool is_at_rest() const noexcept;
    /// Logs once per stop that tasks which are allocated but not in flight keep the context from becoming idle.
    void log_allocated_tasks() noexcept;
    /// Changes to STOPPING and flushes what the library has in flight.
    void begin_stop() noexcept;
    /// Releases everything and reports the change from @p before. The context may be destroyed when this returns.
    void become_idle(doca_ctx_states before) noexcept;
    /// Changes the state and calls the program's callback.
    void change(doca_ctx_states before, doca_ctx_states next) noexcept;
    void set_state(doca_ctx_states state) noexcept;
    void update_fast_path() noexcept;
    void parked_changed() noexcept override;

    const opendoca::CreatorProcess creator_; ///< a forked child cannot wait for operations of its parent
    std::size_t num_allocated_ = 0;          ///< tasks that were allocated and not freed
    std::size_t num_abandoned_ = 0;          ///< tasks in flight that were freed
    doca_ctx_states state_ = DOCA_CTX_STATE_IDLE;
    bool is_derived_done_ = false;       ///< in state STOPPING: on_stop() has returned SUCCESS, or stopped() was called
    bool is_flag_own_ = false;           ///< see request_progress_while_own()
    bool is_progress_requested_ = false; ///< on_progress() is requested; is_poll_requested_ is also true while stopping
    opendoca::WaitNotice wait_for_frees_; ///< for a program that polls a stopping context with allocated tasks
    opendoca::DeviceUse dev_;             ///< keeps the device open; empty for a context without one
    /// The library's types of tasks, which are members of the derived class.
    std::vector<opendoca::v3::TaskTypeBase *> types_;
    mutable opendoca::WeakAddress<const doca_ctx> address_;
};

namespace opendoca::v3 {

/// The completion of most tasks: success, without a result.
inline bool Member::succeed(doca_task &task) noexcept
{
    TaskPool &pool = *task.pool;
    task.status = DOCA_SUCCESS;
    task.state = TaskState::owned;
    pool.conf.succeeded(&task, task.user_data, task.ctx->user_data);
    return doca_ctx::callback_returned(pool);
}

/// A type of tasks of a context, which is a member of the library's object. Registers itself with its context. Has the
/// configuration while the context is idle, and the pool from start on.
class OPENDOCA_INTERNAL TaskTypeBase {
public:
    explicit TaskTypeBase(doca_ctx &ctx) : ctx_(ctx) { ctx.types_.push_back(this); }
    TaskTypeBase(const TaskTypeBase &) = delete;
    TaskTypeBase &operator=(const TaskTypeBase &) = delete;

    [[nodiscard]] const TaskConf &conf() const noexcept { return conf_; }
    /// Called by on_start(): sets the pool of a type that is_configured().
    void set_pool(std::unique_ptr<TaskPool> pool) noexcept
    {
        pool_ = std::move(pool);
        was_short_ = false;
    }
    [[nodiscard]] TaskPool *pool() const noexcept { return pool_.get(); }
    [[nodiscard]] bool is_configured() const noexcept { return conf_.count != 0; }

protected:
    /// Sets the configuration. INVALID_VALUE for a null callback or more than @p most tasks; @p if_not_idle is the
    /// library's code for a context that is not idle.
    [[nodiscard]] doca_error_t set_conf(const TaskConf &conf, std::uint32_t most, doca_error_t if_not_idle) noexcept;
    /// Takes a task from the pool: see TaskType::alloc().
    [[nodiscard]] doca_error_t take(doca_data user_data, doca_task *&task) noexcept;

    doca_ctx &ctx_;

private:
    [[gnu::cold]] void explain_shortage() noexcept;

    TaskConf conf_;
    bool was_short_ = false;         ///< since the start a program has wanted a task while all were in use
    std::unique_ptr<TaskPool> pool_; ///< from start until the next one: programs read tasks that they have freed
};

/// A type of tasks @p Task, which derives from doca_task, with callbacks of type @p Callback.
template <typename Task, typename Callback>
class TaskType : public TaskTypeBase {
public:
    using TaskTypeBase::TaskTypeBase;

    /// Implements X_task_T_set_conf(), with at most @p most tasks.
    [[nodiscard]] doca_error_t configure(Callback succeeded, Callback failed, std::uint32_t count, std::uint32_t most,
                                         doca_error_t if_not_idle) noexcept
    {
        return set_conf({reinterpret_cast<TaskCallback>(succeeded), reinterpret_cast<TaskCallback>(failed), count},
                        most, if_not_idle);
    }
    /// Implements X_task_T_alloc_init(); the caller fills in the task's own fields. Returns BAD_STATE unless the
    /// context is running, and NO_MEMORY if all tasks are in use.
    [[nodiscard]] doca_error_t alloc(doca_data user_data, Task *&task) noexcept
    {
        doca_task *taken = nullptr;
        const doca_error_t status = take(user_data, taken);
        if (status == DOCA_SUCCESS)
            task = static_cast<Task *>(taken);
        return status;
    }
};

} // namespace opendoca::v3
