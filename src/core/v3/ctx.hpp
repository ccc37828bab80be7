// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <doca_ctx.h>

#include "../dev.hpp"
#include "../fork.hpp"
#include "../wait_notice.hpp"
#include "../weak_address.hpp"
#include "member.hpp"
#include "task.hpp"

namespace opendoca::v3 {

class TaskTypeBase;

} // namespace opendoca::v3

/// The base of every library's object: a device, the states between start and stop, and tasks. Belongs to the thread
/// of its progress engine.
///
/// A context. It has a completion queue of its own, which is as deep as the context has tasks and so never fills up.
/// The context becomes idle when no task is left, neither in flight nor allocated, and the library has reported that it
/// has stopped.
struct OPENDOCA_INTERNAL doca_ctx : opendoca::v3::Member {
    doca_ctx(const doca_ctx &) = delete;
    doca_ctx &operator=(const doca_ctx &) = delete;

    // What a program asks for.

    [[nodiscard]] doca_error_t connect(doca_pe &pe);
    [[nodiscard]] doca_error_t start();
    [[nodiscard]] doca_error_t stop() noexcept;
    [[nodiscard]] doca_ctx_states state() const noexcept { return state_; }
    void arm() noexcept override;
    void clear() noexcept override;
    [[nodiscard]] bool is_idle() const noexcept { return state_ == DOCA_CTX_STATE_IDLE; }
    [[nodiscard]] bool is_running() const noexcept { return state_ == DOCA_CTX_STATE_RUNNING; }
    /// @p if_not, with a message, unless the context is idle: the only state in which it is configured and destroyed.
    [[nodiscard]] doca_error_t check_idle(doca_error_t if_not) const noexcept;
    [[nodiscard]] std::size_t num_in_flight() const noexcept override;
    /// Where the context is, for graphs, which may outlive it.
    [[nodiscard]] std::shared_ptr<const doca_ctx *const> share_address() const { return address_.share(*this); }

    doca_data user_data{};
    doca_ctx_state_changed_callback_t state_changed = nullptr;

    // Tasks.

    /// Fast path. Only tail calls, so the compiler needs no stack frame.
    [[nodiscard]] static doca_error_t submit(doca_task &task) noexcept
    {
        opendoca::v3::TaskPool &pool = *task.pool;
        if (!pool.is_on_fast_path || task.state != opendoca::v3::TaskState::owned) [[unlikely]]
            return task.ctx->submit_any(task, pool.state_when_submitted);
        task.state = pool.state_when_submitted;
        ++pool.num_submitted;
        return pool.submit(task);
    }
    /// The same as submit(), with @p handler in place of the program's callbacks.
    [[nodiscard]] doca_error_t submit_for(opendoca::v3::CompletionHandler &handler, doca_task &task) noexcept;
    void free(doca_task &task) noexcept;

protected:
    /// @p dev is null for a context that needs none.
    explicit doca_ctx(doca_dev *dev) noexcept;
    /// It is idle.
    ~doca_ctx() override;

    [[nodiscard]] doca_dev *dev() const noexcept { return dev_.get(); }

    // Implemented by each library.

    /// Creates what the tasks need; completions() is there. SUCCESS: running; IN_PROGRESS: started() or
    /// start_failed() will be called. Otherwise on_idle() undoes what was done.
    [[nodiscard]] virtual doca_error_t on_start() = 0;
    /// Ends what may never end by itself. SUCCESS: what is in flight ends by itself now; IN_PROGRESS: and the library
    /// will call stopped(). Also called of a context that is still starting.
    [[nodiscard]] virtual doca_error_t on_stop() noexcept;
    /// Gives up what on_start() has created.
    virtual void on_idle() noexcept = 0;
    /// Operations in flight that are not tasks.
    [[nodiscard]] virtual std::uint32_t num_own_operations() const noexcept;
    /// Whether the failure of a task ends the context.
    [[nodiscard]] virtual bool ends_with(const doca_task &task) const noexcept;
    /// Where asks_for_progress(true) was said, or asks_for_progress_at() of what is set now: what else
    /// doca_pe_progress() has to do for this context when no operation has ended, or while many do, see ends_wait().
    /// True when something was done. It may end the context: nothing may follow started(), start_failed(), stopped()
    /// and fail() but the return.
    [[nodiscard]] virtual bool on_progress() noexcept;

    /// Called in on_progress(): returns whether completions may be unreported to the program.
    [[nodiscard]] bool ends_wait() const noexcept { return ends_wait_; }

    // Called by each library.

    void asks_for_progress(bool asks) noexcept;
    /// Until it is idle. Spares contexts that have nothing to do a call at each poll.
    void asks_for_progress_at(const std::atomic<bool> &news) noexcept { news_ = &news; }
    void started() noexcept;
    void start_failed() noexcept;
    void stopped() noexcept;
    /// Something happened that ends the context: as if the program had stopped it. Nothing unless it is running.
    void fail() noexcept;

private:
    friend class opendoca::v3::TaskTypeBase;
    friend class opendoca::v3::Member;

    [[nodiscard]] doca_error_t submit_any(doca_task &task, opendoca::v3::TaskState state) noexcept;
    [[nodiscard]] static doca_error_t refuse(doca_task &task) noexcept;

    [[nodiscard]] bool progress_more() noexcept override;
    [[nodiscard]] bool has_more() const noexcept override;
    void task_ended(doca_task &task, const opendoca::Ended &ended) noexcept override;
    void drop_abandoned() noexcept;
    /// After the callback of a task of @p pool. May make the context idle, and the program may destroy it then. Always
    /// true, so that callers can return this result.
    static bool callback_returned(opendoca::v3::TaskPool &pool) noexcept
    {
        ++pool.num_ended;
        return pool.is_on_fast_path ? true : settle_context_of(pool);
    }
    static bool settle_context_of(opendoca::v3::TaskPool &pool) noexcept;
    void settle() noexcept;
    [[nodiscard]] bool is_at_rest() const noexcept;
    void tell_of_kept_tasks() noexcept;
    void begin_stop() noexcept;
    void become_idle(doca_ctx_states before) noexcept;
    void change(doca_ctx_states before, doca_ctx_states next) noexcept;
    void set_state(doca_ctx_states state) noexcept;
    void set_fast_path(bool is_wanted) noexcept;

    const opendoca::HomeProcess home_;
    std::size_t num_allocated_ = 0; ///< out of their pools and not freed
    std::size_t num_abandoned_ = 0; ///< of those in flight
    doca_ctx_states state_ = DOCA_CTX_STATE_IDLE;
    bool is_library_done_ = false; ///< while STOPPING
    bool has_own_progress_ = false;
    opendoca::WaitNotice wait_for_frees_; ///< of a program that polls a stopping context
    opendoca::DeviceUse dev_;
    std::vector<opendoca::v3::TaskTypeBase *> types_;
    mutable opendoca::WeakAddress<const doca_ctx> address_;
};

namespace opendoca::v3 {

/// The end that most tasks have.
inline bool Member::succeed(doca_task &task) noexcept
{
    TaskPool &pool = *task.pool;
    task.status = DOCA_SUCCESS;
    task.state = TaskState::owned;
    pool.conf.succeeded(&task, task.user_data, task.ctx->user_data);
    return doca_ctx::callback_returned(pool);
}

/// A type of tasks of a context, as a member of it. See TaskType.
class OPENDOCA_INTERNAL TaskTypeBase {
public:
    explicit TaskTypeBase(doca_ctx &ctx) : ctx_(ctx) { ctx.types_.push_back(this); }
    TaskTypeBase(const TaskTypeBase &) = delete;
    TaskTypeBase &operator=(const TaskTypeBase &) = delete;

    [[nodiscard]] const TaskConf &conf() const noexcept { return conf_; }
    /// From on_start(): the pool of a type that is_configured().
    void set_pool(std::unique_ptr<TaskPool> pool) noexcept
    {
        pool_ = std::move(pool);
        was_short_ = false;
    }
    [[nodiscard]] TaskPool *pool() const noexcept { return pool_.get(); }
    [[nodiscard]] bool is_configured() const noexcept { return conf_.count != 0; }

protected:
    /// @p if_not_idle is the library's code for a context that is not idle.
    [[nodiscard]] doca_error_t set_conf(const TaskConf &conf, std::uint32_t most, doca_error_t if_not_idle) noexcept;
    [[nodiscard]] doca_error_t take(doca_data user_data, doca_task *&task) noexcept;

    doca_ctx &ctx_;

private:
    [[gnu::cold]] void explain_shortage() noexcept;

    TaskConf conf_;
    bool was_short_ = false;         ///< since the start: all tasks were in use when one more was wanted
    std::unique_ptr<TaskPool> pool_; ///< from start until the next one: programs read tasks that they have freed
};

/// What a library's object has for each type of tasks: @p Task, with callbacks of type @p Callback.
template <typename Task, typename Callback>
class TaskType : public TaskTypeBase {
public:
    using TaskTypeBase::TaskTypeBase;

    /// For X_task_T_set_conf(). At most @p most tasks.
    [[nodiscard]] doca_error_t configure(Callback succeeded, Callback failed, std::uint32_t count, std::uint32_t most,
                                         doca_error_t if_not_idle) noexcept
    {
        return set_conf({reinterpret_cast<TaskCallback>(succeeded), reinterpret_cast<TaskCallback>(failed), count},
                        most, if_not_idle);
    }
    /// For X_task_T_alloc_init(): the library fills in the rest. BAD_STATE unless running, NO_MEMORY when all are out.
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
