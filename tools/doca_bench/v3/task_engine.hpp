// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Contexts of DOCA 3.0 on a progress engine of their own, and the completions of their tasks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <bench_api.hpp>

#include "../../common/doca.hpp"
#include "../patience.hpp"
#include "../poller.hpp"

namespace opendoca::tools {

/// A progress engine, and the completions that its callbacks have recorded but the polling loop has not taken yet. All
/// contexts have the engine as their user data; a completion is represented by its task's user data. Used by one
/// thread, which also runs the callbacks. Recording never allocates: start() reserves space for all tasks.
class TaskEngine {
public:
    TaskEngine()
    {
        doca_pe *pe = nullptr;
        must(doca_pe_create(&pe), "creating a progress engine");
        pe_.reset(pe);
    }

    [[nodiscard]] doca_pe *pe() const noexcept { return pe_.get(); }

    /// Starts @p ctx, with ended() and failed() of this engine as the callbacks of its tasks. Calls @p meanwhile
    /// repeatedly while the start takes time.
    template <typename Meanwhile>
    void start(doca_ctx *ctx, std::size_t max_tasks, Meanwhile meanwhile)
    {
        max_tasks_ += max_tasks;
        ends_.reserve(max_tasks_);
        must(doca_pe_connect_ctx(pe_.get(), ctx), "connecting a context");
        must(doca_ctx_set_user_data(ctx, doca_data{.ptr = this}), "setting a context's user data");
        const doca_error_t status = doca_ctx_start(ctx);
        if (status != DOCA_ERROR_IN_PROGRESS)
            must(status, "starting a context");
        ctxs_.push_back(ctx);
        for (Patience patience; state_of(ctx) == DOCA_CTX_STATE_STARTING; patience.try_again()) {
            (void)doca_pe_progress(pe_.get());
            meanwhile();
        }
        if (state_of(ctx) != DOCA_CTX_STATE_RUNNING)
            throw std::runtime_error("a context has stopped while it was starting");
    }
    void start(doca_ctx *ctx, std::size_t max_tasks)
    {
        start(ctx, max_tasks, [] {});
    }

    /// Stops the contexts, waits until no task is in flight, frees @p tasks and waits until the contexts are idle.
    /// Calls the function @p meanwhile in each pass. Does nothing if no context was started.
    template <typename Meanwhile>
    void stop(std::vector<doca_task *> &tasks, Meanwhile meanwhile)
    {
        if (ctxs_.empty())
            return;
        for (doca_ctx *const ctx : ctxs_)
            (void)doca_ctx_stop(ctx);
        for (std::size_t left = 1; left != 0;) {
            (void)doca_pe_progress(pe_.get());
            meanwhile();
            if (doca_pe_get_num_inflight_tasks(pe_.get(), &left) != DOCA_SUCCESS)
                break;
        }
        for (doca_task *const task : tasks)
            doca_task_free(task);
        tasks.clear();
        while (std::ranges::any_of(ctxs_, [](doca_ctx *ctx) { return state_of(ctx) == DOCA_CTX_STATE_STOPPING; })) {
            (void)doca_pe_progress(pe_.get());
            meanwhile();
        }
        ctxs_.clear();
    }

    void stop(std::vector<doca_task *> &tasks)
    {
        stop(tasks, [] {});
    }

    /// Record a completion. Called by the callbacks of tasks, with the data that they were given.
    static void ended(doca_data task_data, doca_data ctx_data)
    {
        static_cast<TaskEngine *>(ctx_data.ptr)->ends_.push_back(task_data.u64);
    }
    // The task remains the caller's, so its status is copied.
    static void failed(doca_task *task, doca_data task_data, doca_data ctx_data)
    {
        static_cast<TaskEngine *>(ctx_data.ptr)->status_ = doca_task_get_status(task);
        ended(task_data, ctx_data);
    }

    /// Returns the user data of a task that has completed. Polls until there is one, and calls @p idle after each poll
    /// without progress. Throws if a task has failed.
    template <typename Idle>
    std::uint64_t retrieve(Idle idle)
    {
        while (next_ == ends_.size()) {
            ends_.clear();
            next_ = 0;
            if (doca_pe_progress(pe_.get()) == 0)
                idle();
        }
        if (status_ != DOCA_SUCCESS) [[unlikely]]
            throw_error(std::exchange(status_, DOCA_SUCCESS), "a task");
        return ends_[next_++];
    }

    /// Blocks until the engine has an event; for @c idle in event-driven mode. An event that came before the request
    /// makes the handle readable at once, so none is missed.
    void wait_for_event()
    {
        if (!poller_) {
            must(doca_pe_get_notification_handle(pe_.get(), &handle_), "getting the event handle");
            poller_.emplace(handle_);
        }
        must(doca_pe_request_notification(pe_.get()), "asking for an event");
        poller_->wait();
        must(doca_pe_clear_notification(pe_.get(), handle_), "clearing");
    }

    /// Waits until nothing is in flight, and discards all completions. Called after a failure, so that the next loop
    /// starts without them.
    void drain()
    {
        Patience patience;
        for (std::size_t left = 1; left != 0; patience.try_again()) {
            (void)doca_pe_progress(pe_.get());
            must(doca_pe_get_num_inflight_tasks(pe_.get(), &left), "counting tasks");
        }
        ends_.clear();
        next_ = 0;
        status_ = DOCA_SUCCESS;
    }

private:
    [[nodiscard]] static doca_ctx_states state_of(const doca_ctx *ctx)
    {
        doca_ctx_states state = DOCA_CTX_STATE_IDLE;
        must(doca_ctx_get_state(ctx, &state), "a context's state");
        return state;
    }

    Handle<doca_pe, doca_pe_destroy> pe_;
    std::vector<doca_ctx *> ctxs_; ///< in the order of start()
    std::size_t max_tasks_ = 0;    ///< tasks of all contexts
    doca_notification_handle_t handle_{};
    std::optional<Poller> poller_;       ///< created by the first wait
    std::vector<std::uint64_t> ends_;    ///< user data of completed tasks, in order
    std::size_t next_ = 0;               ///< index in ends_ of the next one to take
    doca_error_t status_ = DOCA_SUCCESS; ///< the last error that has not been thrown yet
};

} // namespace opendoca::tools
