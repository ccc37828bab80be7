// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A context of DOCA 3.0 on a progress engine of its own, and the ends of its tasks.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <bench_api.hpp>

#include "../../common/doca.hpp"
#include "../patience.hpp"

namespace opendoca::tools {

/// Callbacks write down which task has ended; whoever polls takes the ends out one by one.
class TaskEngine {
public:
    TaskEngine()
    {
        doca_pe *pe = nullptr;
        must(doca_pe_create(&pe), "creating a progress engine");
        pe_.reset(pe);
    }

    [[nodiscard]] doca_pe *pe() const noexcept { return pe_.get(); }

    /// Starts @p ctx, whose tasks end by ended() and failed() of this engine.
    void start(doca_ctx *ctx, std::size_t max_tasks)
    {
        ends_.reserve(max_tasks);
        must(doca_pe_connect_ctx(pe_.get(), ctx), "connecting a context");
        must(doca_ctx_set_user_data(ctx, doca_data{.ptr = this}), "setting a context's user data");
        const doca_error_t status = doca_ctx_start(ctx);
        if (status != DOCA_ERROR_IN_PROGRESS)
            must(status, "starting a context");
        ctx_ = ctx;
        while (state() == DOCA_CTX_STATE_STARTING)
            (void)doca_pe_progress(pe_.get());
    }

    /// Ends what runs, gives back the tasks, and waits until the context is idle.
    void stop(std::vector<doca_task *> &tasks)
    {
        if (ctx_ == nullptr)
            return;
        (void)doca_ctx_stop(ctx_);
        for (std::size_t left = 1; left != 0;) {
            (void)doca_pe_progress(pe_.get());
            if (doca_pe_get_num_inflight_tasks(pe_.get(), &left) != DOCA_SUCCESS)
                break;
        }
        for (doca_task *const task : tasks)
            doca_task_free(task);
        tasks.clear();
        while (state() == DOCA_CTX_STATE_STOPPING)
            (void)doca_pe_progress(pe_.get());
        ctx_ = nullptr;
    }

    /// For callbacks.
    static void ended(doca_data task_data, doca_data ctx_data)
    {
        static_cast<TaskEngine *>(ctx_data.ptr)->ends_.push_back(task_data.u64);
    }
    static void failed(doca_task *task, doca_data task_data, doca_data ctx_data)
    {
        static_cast<TaskEngine *>(ctx_data.ptr)->status_ = doca_task_get_status(task);
        ended(task_data, ctx_data);
    }

    /// The user data of a task that has ended. While there is none, progresses, and calls @p idle whenever nothing
    /// happens. Throws when a task has failed.
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

    /// After a failure: waits until nothing is in flight, and forgets what has ended.
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
    [[nodiscard]] doca_ctx_states state() const
    {
        doca_ctx_states state = DOCA_CTX_STATE_IDLE;
        must(doca_ctx_get_state(ctx_, &state), "a context's state");
        return state;
    }

    Handle<doca_pe, doca_pe_destroy> pe_;
    doca_ctx *ctx_ = nullptr;
    std::vector<std::uint64_t> ends_;
    std::size_t next_ = 0; ///< of ends_, to be taken
    doca_error_t status_ = DOCA_SUCCESS;
};

} // namespace opendoca::tools
