// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What models of DOCA 3.0 know of contexts and tasks, whatever the library: when calls are answered how, and that
// callbacks come inside doca_pe_progress() alone, once for each task in flight.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include "../../conformance/v3/objects.hpp"
#include "../model.hpp"

namespace doca_test {

class TasksModel;

struct CtxModel {
    TasksModel *test = nullptr;
    doca_ctx *ctx = nullptr;
    doca_ctx_states state = DOCA_CTX_STATE_IDLE;
    std::size_t allocated = 0, in_flight = 0; ///< tasks; those in flight are allocated as well

    [[nodiscard]] bool is_idle() const { return state == DOCA_CTX_STATE_IDLE; }
    [[nodiscard]] bool is_running() const { return state == DOCA_CTX_STATE_RUNNING; }
};

struct TaskModel {
    CtxModel *ctx = nullptr;
    doca_task *task = nullptr;
    bool is_in_flight = false;
    int num_ends = 0; ///< since it was submitted
};

class TasksModel : public testing::TestWithParam<std::string>, protected Model<doca_error_get_name> {
protected:
    void SetUp() override { must(doca_pe_create(pe.out())); }

    /// An idle context, which is connected to the engine.
    void adopt(CtxModel &model, doca_ctx *ctx)
    {
        model.test = this;
        model.ctx = ctx;
        model.state = DOCA_CTX_STATE_IDLE;
        must(doca_ctx_set_user_data(ctx, {.ptr = &model}));
        must(doca_ctx_set_state_changed_cb(ctx, changed));
        must(doca_pe_connect_ctx(pe, ctx));
    }
    /// @p wanted: of an idle one.
    bool start(CtxModel &model, doca_error_t wanted = DOCA_SUCCESS)
    {
        const bool is_started =
            answers("ctx_start", doca_ctx_start(model.ctx), unless(!model.is_idle(), DOCA_ERROR_BAD_STATE, wanted));
        if (is_started && !model.is_running())
            complain("what was started runs");
        return is_started;
    }
    void stop(CtxModel &model)
    {
        const bool is_idle = model.is_idle();
        const bool waits = model.allocated != 0 || model.state == DOCA_CTX_STATE_STOPPING;
        (void)answers("ctx_stop", doca_ctx_stop(model.ctx), unless(!is_idle && waits, DOCA_ERROR_IN_PROGRESS));
        if (!is_idle && model.state != (waits ? DOCA_CTX_STATE_STOPPING : DOCA_CTX_STATE_IDLE))
            complain("a stop leads to another state");
    }
    void check_counts(const CtxModel &model)
    {
        std::size_t count = 99;
        if (answers("get_num_inflight", doca_ctx_get_num_inflight_tasks(model.ctx, &count), DOCA_SUCCESS)) {
            EXPECT_EQ(count, model.in_flight) << where();
        }
        EXPECT_EQ(state_of(model.ctx), model.state) << where();
    }

    /// Whether a new task of @p model may be allocated: @p is_empty, its pool.
    [[nodiscard]] static doca_error_t alloc(const CtxModel &model, bool is_empty)
    {
        return unless(!model.is_running(), DOCA_ERROR_BAD_STATE, unless(is_empty, DOCA_ERROR_NO_MEMORY));
    }
    void allocated(TaskModel &task, CtxModel &ctx, doca_task *made)
    {
        task = {&ctx, made};
        ++ctx.allocated;
    }
    void free(TaskModel &task)
    {
        doca_task_free(task.task);
        task.task = nullptr;
        --task.ctx->allocated;
    }
    bool submit(TaskModel &task)
    {
        task.num_ends = 0;
        task.is_in_flight =
            answers("task_submit", doca_task_submit(task.task), unless(!task.ctx->is_running(), DOCA_ERROR_BAD_STATE));
        task.ctx->in_flight += task.is_in_flight ? 1 : 0;
        return task.is_in_flight;
    }
    /// What the callbacks of a task call first.
    void ended(TaskModel &task, bool has_succeeded)
    {
        if (!is_in_progress || !task.is_in_flight)
            complain("a callback of a task that is not in flight, or outside of doca_pe_progress()");
        if (has_succeeded != (doca_task_get_status(task.task) == DOCA_SUCCESS))
            complain("the callback is not the one of the task's status");
        task.is_in_flight = false;
        --task.ctx->in_flight;
        ++num_ends;
        ++num_callbacks;
    }
    /// @p must: there is something to do, at the latest after @p patience.
    void progress(bool must, std::chrono::seconds patience = {})
    {
        num_callbacks = 0;
        is_in_progress = true;
        bool has_progressed = doca_pe_progress(pe) != 0;
        for (const auto end = std::chrono::steady_clock::now() + patience;
             !has_progressed && must && std::chrono::steady_clock::now() < end; std::this_thread::yield())
            has_progressed = doca_pe_progress(pe) != 0;
        is_in_progress = false;
        if (num_callbacks != 0 && !has_progressed)
            complain("progress is what callbacks tell of");
        if (must && !has_progressed)
            complain("there was something to do");
    }

    DevHandle dev = open_device(GetParam());
    PeHandle pe;
    bool is_in_progress = false;
    int num_callbacks = 0; ///< of the last progress
    std::uint64_t num_ends = 0;

private:
    static void changed(const doca_data data, doca_ctx *ctx, doca_ctx_states before, doca_ctx_states next)
    {
        auto &model = *static_cast<CtxModel *>(data.ptr);
        TasksModel &test = *model.test;
        ++test.num_callbacks;
        if (before != model.state || state_of(ctx) != next)
            test.complain("a context changes from a state that it does not have");
        if (next == DOCA_CTX_STATE_IDLE && model.allocated != 0)
            test.complain("a context is idle that has tasks");
        model.state = next;
    }
};

} // namespace doca_test
