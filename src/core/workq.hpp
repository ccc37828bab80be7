// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>
#include <vector>

#include <doca_ctx.h>

#include "ctx.hpp"
#include "job.hpp"
#include "unique_fd.hpp"

/// Jobs of one thread: submitted to any context that was added, retrieved in one place. All memory is taken
/// at creation and when a context is added.
struct OPENDOCA_INTERNAL doca_workq {
    explicit doca_workq(std::uint32_t depth);
    doca_workq(const doca_workq &) = delete;
    doca_workq &operator=(const doca_workq &) = delete;

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept
    {
        const std::uint32_t id = job.ctx->id();
        if (id < num_queues_ && queues_[id] != nullptr) [[likely]]
            return queues_[id]->submit(job);
        return not_on_queue(*job.ctx);
    }

    [[nodiscard]] doca_error_t retrieve(doca_event &event) noexcept
    {
        // Without a call that returns, this needs no stack. A program that submits one job that ends in submit for each
        // one that it retrieves never lets the queue run empty: contexts get their turn all the same.
        if (head_ == tail_ || head_ % retrievals_per_turn == retrievals_per_turn - 1)
            return progress_and_retrieve(event);
        return retrieve_next(event);
    }

    /// As many jobs as the queue is deep, less what is reserved, were submitted and not retrieved.
    [[nodiscard]] bool is_full() const noexcept { return num_pending_ + (tail_ - head_) == limit_; }

    /// For a job that takes time. Null when the queue is full.
    [[nodiscard]] opendoca::JobSlot *take_slot(const doca_job &job, opendoca::JobQueue &queue) noexcept;

    /// The job of @p slot has ended; the slot is kept until it was retrieved.
    void complete(opendoca::JobSlot &slot, doca_error_t result) noexcept
    {
        --num_pending_;
        append(slot.type, result, slot.user_data, *slot.queue, reinterpret_cast<std::uintptr_t>(&slot));
        if (is_armed_) [[unlikely]]
            wake();
    }

    /// For a job that ends in submit. The queue must not be full.
    void complete_at_once(const doca_job &job, opendoca::JobQueue &queue, doca_error_t result) noexcept
    {
        complete_unarmed(job, queue, result);
        if (is_armed_) [[unlikely]]
            wake();
    }

    /// The same on a queue that is not armed.
    void complete_unarmed(const doca_job &job, opendoca::JobQueue &queue, doca_error_t result) noexcept
    {
        queue.job_submitted();
        append(job.type, result, job.user_data, queue, 0);
    }

    /// The same on any queue, for a job whose result JobQueue::write_result() makes of @p detail, a number of
    /// 63 bits. Not while is_submitting_inner().
    void complete_with(const doca_job &job, opendoca::JobQueue &queue, doca_error_t result,
                       std::uint64_t detail) noexcept
    {
        queue.job_submitted();
        append(job.type, result, job.user_data, queue, detail << 1 | 1);
        if (is_armed_) [[unlikely]]
            wake();
    }

    /// The end of the job that is being submitted is not the user's.
    [[nodiscard]] bool is_submitting_inner() const noexcept { return is_submitting_inner_; }

    /// Keeps room for @p count jobs at the same time, which then come by submit_inner() and signal(). False
    /// when there is not enough.
    [[nodiscard]] bool reserve(std::uint64_t count) noexcept;
    void give_back(std::uint64_t count) noexcept { limit_ += static_cast<std::uint32_t>(count); }
    /// Submits a job whose end is not the user's. One that ends in submit is not told to @p inner but
    /// returned.
    [[nodiscard]] opendoca::InnerSubmit submit_inner(const doca_job &job, opendoca::InnerJob &inner) noexcept;
    /// Lets @p inner be told an end in retrieve, in the order of completions, though no context has done
    /// anything.
    void signal(opendoca::InnerJob &inner, opendoca::JobQueue &queue) noexcept;
    /// Inner jobs that have ended in retrieve, as who started them says. Wraps around.
    [[nodiscard]] std::uint32_t num_inner_ends() const noexcept { return num_inner_ends_; }
    void inner_job_ended() noexcept { ++num_inner_ends_; }
    /// From now on, @p queue's progress() is called, whatever needs_progress() says. Does not allocate.
    void poll(opendoca::JobQueue &queue) noexcept;

    [[nodiscard]] std::uint32_t depth() const noexcept { return depth_; }
    [[nodiscard]] bool is_event_driven() const noexcept { return is_event_driven_; }
    [[nodiscard]] bool is_armed() const noexcept { return is_armed_; }
    [[nodiscard]] bool has_contexts() const noexcept { return num_contexts_ != 0; }
    [[nodiscard]] int event_handle() const noexcept { return handle_.get(); }
    [[nodiscard]] doca_error_t set_event_driven(bool enable) noexcept;
    [[nodiscard]] doca_error_t arm() noexcept;
    [[nodiscard]] doca_error_t clear() noexcept;
    /// Makes the handle of an armed queue readable: there is something to retrieve, or for progress() to do.
    void wake() noexcept;

    /// Adds a descriptor to the event handle, or takes it away. Only in event-driven mode.
    [[nodiscard]] doca_error_t watch(int fd) noexcept;
    void unwatch(int fd) noexcept;

    /// What @p ctx does for this queue, or null when it was not added.
    [[nodiscard]] opendoca::JobQueue *queue_of(const doca_ctx &ctx) const noexcept
    {
        return queue_of(ctx.id());
    }
    [[nodiscard]] opendoca::JobQueue *queue_of(std::uint32_t id) const noexcept
    {
        return id < num_queues_ ? queues_[id] : nullptr;
    }
    void attach(std::uint32_t id, opendoca::JobQueue &queue);
    void detach(std::uint32_t id, opendoca::JobQueue &queue) noexcept;

private:
    static constexpr std::uint32_t retrievals_per_turn = 64;

    [[gnu::noinline]] [[nodiscard]] static doca_error_t not_on_queue(const doca_ctx &ctx) noexcept;

    void append(int type, doca_error_t result, doca_data user_data, opendoca::JobQueue &queue,
                std::uintptr_t origin) noexcept
    {
        // Field by field: copying a temporary would read in one piece what was just written in several, and
        // stall.
        opendoca::Completion &done = completions_[tail_++ & mask_];
        done.type = type;
        done.result = result;
        done.user_data = user_data;
        done.queue = &queue;
        done.origin = origin;
    }
    /// There is a completion.
    [[nodiscard]] doca_error_t retrieve_next(doca_event &event) noexcept
    {
        const opendoca::Completion &done = completions_[head_ & mask_];
        if (done.origin != 0)
            return retrieve_slot(event);
        const doca_error_t result = done.result;
        event.type = done.type;
        event.user_data = done.user_data;
        event.result.u64 = result;
        done.queue->job_retrieved();
        ++head_;
        return result == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
    }
    [[nodiscard]] doca_error_t retrieve_slot(doca_event &event) noexcept;
    [[nodiscard]] doca_error_t give_detail(const opendoca::Completion &done, doca_event &event) noexcept;
    [[nodiscard]] doca_error_t give_slot(const opendoca::Completion &done, doca_event &event) noexcept;
    [[nodiscard]] doca_error_t retrieve_special(opendoca::JobSlot &slot, doca_error_t result,
                                                doca_event &event) noexcept;
    [[nodiscard]] doca_error_t progress_and_retrieve(doca_event &event) noexcept;
    opendoca::JobSlot &pop_slot(const opendoca::Completion &done) noexcept
    {
        opendoca::JobSlot &slot = done.slot();
        done.queue->job_retrieved();
        ++head_;
        free_[num_free_++] = slot.number; // nobody takes it before it was read
        return slot;
    }
    [[nodiscard]] doca_error_t take_back() noexcept;

    // What submit and retrieve use, in one cache line.
    alignas(64) std::unique_ptr<opendoca::Completion[]> completions_; ///< a ring
    std::uint32_t mask_;
    std::uint32_t head_ = 0;
    std::uint32_t tail_ = 0;
    std::uint32_t num_pending_ = 0; ///< slots whose jobs have not ended
    std::uint32_t
        limit_; ///< the depth, less what is reserved for inner jobs, plus those of them that are in flight
    std::uint32_t num_inner_ends_ = 0;
    bool is_armed_ = false;
    bool is_event_driven_ = false;
    bool is_submitting_inner_ = false;
    bool is_written_ = false;   ///< the descriptor that wake() writes
    bool is_wake_held_ = false; ///< the next wake() is only to be noted, by setting this to false
    std::unique_ptr<opendoca::JobQueue *[]> queues_; ///< by the id of the context or graph
    std::uint32_t num_queues_ = 0;
    std::vector<opendoca::JobQueue *> polled_;
    std::unique_ptr<opendoca::JobSlot[]> slots_;
    std::unique_ptr<std::uint32_t[]> free_; ///< a stack: the slot used last is the warmest
    std::uint32_t num_free_;
    std::uint32_t num_contexts_ = 0; ///< and graphs
    const std::uint32_t depth_;
    opendoca::UniqueFd event_fd_; ///< for completions that this thread makes
    opendoca::UniqueFd handle_;   ///< an epoll of it and of what job queues watch
};
