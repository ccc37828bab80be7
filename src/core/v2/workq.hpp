// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>

#include <doca_ctx.h>

#include "ctx.hpp"
#include "job_queue.hpp"

/// The jobs of one thread: submitted to any context that the work queue was added to, and retrieved in one place. A
/// completion queue that takes a doca_job and gives a doca_event. Owned by the program; only its thread may use it.
struct OPENDOCA_INTERNAL doca_workq {
    explicit doca_workq(std::uint32_t depth) : completions(depth) {}
    doca_workq(const doca_workq &) = delete;
    doca_workq &operator=(const doca_workq &) = delete;

    /// Submits a job, to any context that the work queue was added to. Returns NO_MEMORY without a credit; then nothing
    /// has changed.
    [[nodiscard]] doca_error_t submit_by_id(const doca_job &job) noexcept;

    /// Fast path: retrieves the completion of a successful job that has its event as tag.
    [[nodiscard]] doca_error_t retrieve(doca_event &event) noexcept
    {
        // The ring is empty, so the pollables are polled; a registered retriever does that and fills the event in one
        // virtual call.
        if (completions.is_empty()) [[unlikely]] {
            if (retriever_ != nullptr && completions.polls_only(*retriever_polls_))
                return retriever_->retrieve(event);
            return poll(event);
        }
        const std::uint32_t position = completions.position();
        const opendoca::Completion &first = completions.first_at(position);
        // One branch for two rare cases: the tag is not a plain event, or the job has failed.
        if ((opendoca::v2::kind_of(first.tag) | first.status) != 0) [[unlikely]]
            return retrieve_with_result(event, first);
        opendoca::v2::store_tag(event, first.tag);
        event.result.u64 = DOCA_SUCCESS;
        completions.drop_at(position);
        return DOCA_SUCCESS;
    }

    // The uncommon cases of JobQueue::retrieve().

    /// Retrieves the first completion, if there is one.
    [[nodiscard]] doca_error_t retrieve_queued(doca_event &event) noexcept;
    /// Retrieves a successful operation that completes to a handler instead of the program.
    [[nodiscard]] doca_error_t retrieve_operation(opendoca::Operation &operation, doca_event &event) noexcept;

    /// Lets @p queue retrieve by its own retrieve() while @p pollable is all that is polled and nothing waits: the
    /// short path of small copies (core/device/small_copies.hpp). There is one such queue; a later one replaces it, and
    /// when that is removed there is none.
    void set_retriever(opendoca::v2::JobQueue &queue, const opendoca::Pollable &pollable) noexcept
    {
        retriever_ = &queue;
        retriever_polls_ = &pollable;
    }
    void remove_retriever(const opendoca::v2::JobQueue &queue) noexcept
    {
        if (retriever_ != &queue)
            return;
        retriever_ = nullptr;
        retriever_polls_ = nullptr;
    }

    [[nodiscard]] bool has_contexts() const noexcept { return num_contexts_ != 0; }
    [[nodiscard]] doca_error_t set_event_driven(bool enable);
    /// Sets the smallest depth. Grows, but never shrinks. Returns BAD_STATE if it would have to grow and the work queue
    /// is on a context.
    [[nodiscard]] doca_error_t set_min_depth(std::uint32_t depth);
    /// Returns INVALID_VALUE, after a log line, for a depth of 0 or more than the limit.
    [[nodiscard]] static doca_error_t check_depth(std::uint32_t depth) noexcept;

    /// Returns what @p ctx does for this work queue, or null if it was not added to @p ctx.
    [[nodiscard]] opendoca::v2::JobQueue *queue_of(const doca_ctx &ctx) const noexcept { return queue_of(ctx.id()); }
    [[nodiscard]] opendoca::v2::JobQueue *queue_of(std::uint32_t id) const noexcept
    {
        return id < num_queues_ ? queues_[id] : nullptr;
    }
    /// Add and remove the data path of a context or graph. attach() throws std::bad_alloc.
    void attach(std::uint32_t id, opendoca::v2::JobQueue &queue);
    void detach(std::uint32_t id) noexcept;
    /// Logs why a job cannot be submitted to @p ctx, and returns the error.
    [[nodiscard]] static doca_error_t not_on_queue(const doca_ctx &ctx) noexcept;

    opendoca::CompletionQueue completions;

private:
    [[nodiscard]] doca_error_t poll(doca_event &event) noexcept;
    [[nodiscard]] doca_error_t retrieve_first(doca_event &event) noexcept;
    /// Retrieves the first completion, @p first, if it is of a job that has succeeded within its submit and has a
    /// result; else calls retrieve_first(). Both are tail calls, which need no stack frame.
    [[gnu::always_inline]] [[nodiscard]] doca_error_t retrieve_with_result(doca_event &event,
                                                                           const opendoca::Completion &first) noexcept
    {
        // Loaded again: keeping both would take registers and moves in the common case.
        const std::uint64_t kind_and_type = __atomic_load_n(&first.tag.a, __ATOMIC_RELAXED);
        const std::uint32_t status = __atomic_load_n(&first.status, __ATOMIC_RELAXED);
        if (kind_and_type >> 32 != opendoca::v2::has_result >> 32 || status != DOCA_SUCCESS || !completions.try_drop())
            return retrieve_first(event);
        opendoca::v2::store_tag(event, first.tag); // valid until the next submission
        return static_cast<const opendoca::v2::JobQueue *>(first.source->owner)->write_success(first.length, event);
    }
    [[nodiscard]] doca_error_t dispatch(const opendoca::Ended &ended, doca_event &event) noexcept;
    [[nodiscard]] static doca_error_t fill(doca_event &event, const opendoca::Tag &tag, const opendoca::Source &source,
                                           doca_error_t status, const opendoca::Result &result) noexcept;

    opendoca::v2::JobQueue *retriever_ = nullptr;         ///< see set_retriever()
    const opendoca::Pollable *retriever_polls_ = nullptr; ///< what retriever_ polls; null if there is none
    /// By the id of the context or graph; null where none was added.
    std::unique_ptr<opendoca::v2::JobQueue *[]> queues_;
    std::uint32_t num_queues_ = 0;   ///< size of queues_
    std::uint32_t num_contexts_ = 0; ///< contexts and graphs that the work queue was added to
};
