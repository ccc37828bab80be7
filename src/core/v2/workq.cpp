// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Work queues: what is off the fast path of submit and retrieve (workq.hpp), and the C functions. Functions off the
// fast path are not inlined, so that the common job saves no registers for them.
#include "workq.hpp"

#include <algorithm>
#include <cstdint>

#include "../log/log.hpp"
#include "call.hpp"

OPENDOCA_LOG_SOURCE(DOCA_WORKQ);

using opendoca::Ended;
using opendoca::Operation;
using opendoca::Result;
using opendoca::Source;
using opendoca::Tag;
using opendoca::v2::call;
using opendoca::v2::CompletionHandler;
using opendoca::v2::JobQueue;

namespace {

constexpr std::uint32_t max_depth = 65536; ///< jobs

} // namespace

/// Submits to a context that has several work queues, or to which this one was not added.
[[gnu::noinline]] doca_error_t doca_workq::submit_by_id(const doca_job &job) noexcept
{
    JobQueue *const queue = queue_of(*job.ctx);
    return queue != nullptr ? queue->submit(job) : not_on_queue(*job.ctx);
}

[[gnu::noinline]] doca_error_t doca_workq::not_on_queue(const doca_ctx &ctx) noexcept
{
    if (!ctx.is_started()) {
        LOG_ERR("the job's context is not started");
        return DOCA_ERROR_BAD_STATE;
    }
    LOG_ERR("the job's context was not added to this work queue");
    return DOCA_ERROR_NOT_FOUND;
}

/// Makes the event of a program's own job. Returns what retrieve returns.
[[gnu::always_inline]] inline doca_error_t doca_workq::fill(doca_event &event, const Tag &tag, const Source &source,
                                                            doca_error_t status, const Result &result) noexcept
{
    opendoca::v2::store_tag(event, tag);
    if ((tag.a & opendoca::v2::has_result) != 0)
        static_cast<JobQueue *>(source.owner)->write_result(event.type, status, result, event);
    else
        event.result.u64 = status;
    // Programs find the reason in the event's result.
    return status == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
}

/// Polls the completion queue's pollables. The ring must be empty.
[[gnu::noinline]] doca_error_t doca_workq::poll(doca_event &event) noexcept
{
    Operation *const operation = completions.poll();
    if (operation == nullptr)
        return retrieve_queued(event);
    if ((operation->tag.a & opendoca::v2::has_handler) != 0) [[unlikely]]
        return retrieve_operation(*operation, event);
    (void)fill(event, operation->tag, *operation->source, DOCA_SUCCESS, operation->result());
    completions.release(*operation);
    return DOCA_SUCCESS;
}

doca_error_t doca_workq::retrieve_queued(doca_event &event) noexcept
{
    return completions.is_empty() ? DOCA_ERROR_AGAIN : retrieve_first(event);
}

[[gnu::noinline]] doca_error_t doca_workq::retrieve_operation(Operation &operation, doca_event &event) noexcept
{
    const Ended ended = {operation.tag, operation.source, DOCA_SUCCESS, operation.result()};
    // Released before the handler is called, which may submit with the credit.
    completions.release(operation);
    return dispatch(ended, event);
}

/// Retrieves completions of any kind, in order, until one is for the program.
[[gnu::noinline]] doca_error_t doca_workq::retrieve_first(doca_event &event) noexcept
{
    doca_error_t status = DOCA_ERROR_AGAIN;
    while (status == DOCA_ERROR_AGAIN && !completions.is_empty()) {
        const opendoca::Completion &first = completions.first();
        // The common completion is read in place: nothing is submitted before it is dropped.
        if (!first.has_operation() && (first.tag.a & opendoca::v2::has_handler) == 0) [[likely]] {
            status = fill(event, first.tag, *first.source, static_cast<doca_error_t>(first.status), {first.length});
            completions.drop();
            return status;
        }
        Ended ended;
        (void)completions.pop(ended);
        status = dispatch(ended, event);
    }
    return status;
}

[[gnu::always_inline]] inline doca_error_t doca_workq::dispatch(const Ended &ended, doca_event &event) noexcept
{
    if ((ended.tag.a & opendoca::v2::has_handler) != 0) [[unlikely]]
        return CompletionHandler::of(ended.tag).ended(ended, event);
    return fill(event, ended.tag, *ended.source, ended.status, ended.result);
}

doca_error_t doca_workq::set_event_driven(bool enable)
{
    if (enable == completions.is_event_driven())
        return DOCA_SUCCESS;
    // The sources of its contexts were created for the present mode.
    if (has_contexts()) {
        LOG_ERR("event-driven mode can't be changed: contexts and graphs on the work queue: %u", num_contexts_);
        return DOCA_ERROR_BAD_STATE;
    }
    return completions.set_event_driven(enable);
}

doca_error_t doca_workq::check_depth(std::uint32_t depth) noexcept
{
    if (depth != 0 && depth <= max_depth)
        return DOCA_SUCCESS;
    LOG_ERR("a work queue is 1 to %u jobs deep, not %u", max_depth, depth);
    return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_workq::set_min_depth(std::uint32_t depth)
{
    if (const doca_error_t status = check_depth(depth); status != DOCA_SUCCESS || depth <= completions.depth())
        return status;
    if (has_contexts()) {
        LOG_ERR("the depth can't be changed: contexts and graphs on the work queue: %u", num_contexts_);
        return DOCA_ERROR_BAD_STATE;
    }
    completions.set_depth(depth);
    return DOCA_SUCCESS;
}

void doca_workq::attach(std::uint32_t id, JobQueue &queue)
{
    // Ids are small and are used again, so a table is short; it at least doubles when it grows.
    if (id >= num_queues_) {
        const std::uint32_t size = std::max(id + 1, 2 * num_queues_);
        auto queues = std::make_unique<JobQueue *[]>(size);
        std::copy_n(queues_.get(), num_queues_, queues.get());
        queues_ = std::move(queues);
        num_queues_ = size;
    }
    queues_[id] = &queue;
    ++num_contexts_;
}

void doca_workq::detach(std::uint32_t id) noexcept
{
    queues_[id] = nullptr;
    --num_contexts_;
}

doca_error_t doca_workq_create(uint32_t depth, struct doca_workq **workq)
{
    return call({workq}, [&] {
        const doca_error_t status = doca_workq::check_depth(depth);
        if (status == DOCA_SUCCESS)
            *workq = new doca_workq(depth);
        return status;
    });
}

doca_error_t doca_workq_destroy(struct doca_workq *workq)
{
    return call({workq}, [&] {
        // Contexts and graphs refer to the work queue until they are removed from it.
        if (workq->has_contexts()) {
            LOG_ERR("the work queue is still on a context, or has a graph");
            return DOCA_ERROR_IN_USE;
        }
        delete workq;
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_workq_submit(struct doca_workq *workq, const struct doca_job *job)
{
    // Hot path: no call(), so that the common job needs no stack frame. A null work queue serves no context.
    if (job == nullptr || job->ctx == nullptr) [[unlikely]]
        return opendoca::refuse_null();
    if (job->ctx->serves_first(workq)) [[likely]]
        return job->ctx->first_queue().submit(*job);
    return workq != nullptr ? workq->submit_by_id(*job) : opendoca::refuse_null();
}

doca_error_t doca_workq_progress_retrieve(struct doca_workq *workq, struct doca_event *ev, int)
{
    // The flags argument has no defined bit; it is ignored.
    if (workq == nullptr || ev == nullptr) [[unlikely]]
        return opendoca::refuse_null();
    return workq->retrieve(*ev);
}

static doca_error_t check_event_driven(const doca_workq &workq) noexcept
{
    if (workq.completions.is_event_driven()) [[likely]]
        return DOCA_SUCCESS;
    LOG_ERR("event-driven mode is off");
    return DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_workq_event_handle_arm(struct doca_workq *workq)
{
    if (workq == nullptr) [[unlikely]]
        return opendoca::refuse_null();
    const doca_error_t status = check_event_driven(*workq);
    if (status == DOCA_SUCCESS) [[likely]]
        // The program polls once more after this, and then blocks: see CompletionQueue::arm().
        workq->completions.arm();
    return status;
}

doca_error_t doca_workq_event_handle_clear(struct doca_workq *workq, doca_event_handle_t handle)
{
    if (workq == nullptr) [[unlikely]]
        return opendoca::refuse_null();
    if (const doca_error_t status = check_event_driven(*workq); status != DOCA_SUCCESS)
        return status;
    // Checked, as a program that clears another descriptor would wait forever.
    if (handle != workq->completions.event_handle()) {
        LOG_ERR("%d is not this work queue's event handle, which is %d", handle, workq->completions.event_handle());
        return DOCA_ERROR_INVALID_VALUE;
    }
    return workq->completions.clear();
}

doca_error_t doca_workq_get_depth(const struct doca_workq *workq, uint32_t *depth)
{
    return call({workq, depth}, [&] { *depth = workq->completions.depth(); });
}

doca_error_t doca_workq_get_event_driven_enable(struct doca_workq *workq, uint8_t *enabled)
{
    return call({workq, enabled}, [&] { *enabled = workq->completions.is_event_driven(); });
}

doca_error_t doca_workq_get_event_handle(struct doca_workq *workq, doca_event_handle_t *handle)
{
    return call({workq, handle}, [&] {
        const doca_error_t status = check_event_driven(*workq);
        if (status == DOCA_SUCCESS)
            *handle = workq->completions.event_handle();
        return status;
    });
}

doca_error_t doca_workq_set_event_driven_enable(struct doca_workq *workq, uint8_t enable)
{
    return call({workq}, [&] { return workq->set_event_driven(enable != 0); });
}

doca_error_t doca_workq_set_event_handle(struct doca_workq *workq, doca_event_handle_t, uintptr_t)
{
    return call({workq}, [] {
        LOG_ERR("handing in an event handle exists on Windows only");
        return DOCA_ERROR_NOT_SUPPORTED;
    });
}
