// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>

#include <doca_ctx.h>

#include "ctx.hpp"
#include "job_queue.hpp"

/// Jobs of one thread: submitted to any context that was added, retrieved in one place. A completion queue,
/// with doca_job in and doca_event out.
struct OPENDOCA_INTERNAL doca_workq {
    explicit doca_workq(std::uint32_t depth) : completions(depth) {}
    doca_workq(const doca_workq &) = delete;
    doca_workq &operator=(const doca_workq &) = delete;

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept
    {
        if (job.ctx->serves_first(this)) [[likely]]
            return job.ctx->first_queue().submit(job);
        return submit_by_id(job);
    }

    /// Fast path: retrieves the completion of a successful job that has its event as tag.
    [[nodiscard]] doca_error_t retrieve(doca_event &event) noexcept
    {
        if (completions.is_empty()) [[unlikely]] {
            if (void *const retriever = completions.retriever())
                return static_cast<opendoca::v2::JobQueue *>(retriever)->retrieve(event);
            return poll(event);
        }
        const std::uint32_t position = completions.position();
        const opendoca::Completion &first = completions.first_at(position);
        if ((opendoca::v2::kind_of(first.tag) | first.status) != 0) [[unlikely]]
            return give_first(event);
        opendoca::v2::store_tag(event, first.tag);
        event.result.u64 = DOCA_SUCCESS;
        completions.drop_at(position);
        return DOCA_SUCCESS;
    }

    // For JobQueue::retrieve(), what is not common.

    /// Gives out the first completion, if there is one.
    [[nodiscard]] doca_error_t give_waiting(doca_event &event) noexcept;
    /// Retrieves a successful operation that completes to a handler instead of the program.
    [[nodiscard]] doca_error_t give_operation(opendoca::Operation &operation, doca_event &event) noexcept;

    [[nodiscard]] bool has_contexts() const noexcept { return num_contexts_ != 0; }
    [[nodiscard]] doca_error_t set_event_driven(bool enable);
    /// Grows, but never shrinks. BAD_STATE while it would have to grow and is on a context.
    [[nodiscard]] doca_error_t set_least_depth(std::uint32_t depth);
    [[nodiscard]] static doca_error_t check_depth(std::uint32_t depth) noexcept;

    /// What @p ctx does for this queue, or null when it was not added.
    [[nodiscard]] opendoca::v2::JobQueue *queue_of(const doca_ctx &ctx) const noexcept { return queue_of(ctx.id()); }
    [[nodiscard]] opendoca::v2::JobQueue *queue_of(std::uint32_t id) const noexcept
    {
        return id < num_queues_ ? queues_[id] : nullptr;
    }
    void attach(std::uint32_t id, opendoca::v2::JobQueue &queue);
    void detach(std::uint32_t id) noexcept;
    [[nodiscard]] static doca_error_t not_on_queue(const doca_ctx &ctx) noexcept;

    opendoca::CompletionQueue completions;

private:
    [[nodiscard]] doca_error_t submit_by_id(const doca_job &job) noexcept;
    [[nodiscard]] doca_error_t poll(doca_event &event) noexcept;
    [[nodiscard]] doca_error_t give_first(doca_event &event) noexcept;
    [[nodiscard]] doca_error_t give(const opendoca::Ended &ended, doca_event &event) noexcept;
    [[nodiscard]] static doca_error_t fill(doca_event &event, const opendoca::Tag &tag, const opendoca::Source &source,
                                           doca_error_t status, const opendoca::Result &result) noexcept;

    std::unique_ptr<opendoca::v2::JobQueue *[]> queues_; ///< by the id of the context or graph
    std::uint32_t num_queues_ = 0;
    std::uint32_t num_contexts_ = 0; ///< and graphs
};
