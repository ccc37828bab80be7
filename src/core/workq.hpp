// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
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
        if (job.ctx->serves_first(this)) [[likely]]
            return job.ctx->first_queue().submit(job);
        return submit_by_id(job);
    }

    /// What is common is done here, without a call that returns, and so without a stack.
    [[nodiscard]] doca_error_t retrieve(doca_event &event) noexcept
    {
        opendoca::Completion *const done = head();
        if (done == tail())
            return only_polled_ != nullptr ? only_polled_->retrieve(event, *this) : retrieve_any(event);
        if (done->origin != opendoca::Completion::well) [[unlikely]]
            return retrieve_any(event);
        Head head_of_event;
        std::memcpy(&head_of_event, done, sizeof(head_of_event));
        std::memcpy(&event, &head_of_event, sizeof(head_of_event));
        event.result.u64 = DOCA_SUCCESS;
        ++room_;
        if (done + 1 == stretch_end_) [[unlikely]]
            return end_stretch();
        head_.store(done + 1, std::memory_order_relaxed);
        return DOCA_SUCCESS;
    }

    /// As many jobs as the queue is deep, less what is reserved, were submitted and not retrieved.
    [[nodiscard]] bool is_full() const noexcept { return room_ == 0; }

    /// Jobs of @p queue that were submitted and not retrieved. Any thread may ask; the answer is exact when
    /// the work queue's is at rest.
    [[nodiscard]] std::uint32_t in_flight(const opendoca::JobQueue &queue) const noexcept;

    /// For a job that takes time. Null when the queue is full.
    [[nodiscard]] opendoca::JobSlot *take_slot(const doca_job &job, opendoca::JobQueue &queue) noexcept;
    /// The same when it is known not to be full; JobSlot::write_result is still to be set.
    [[gnu::always_inline]] [[nodiscard]] opendoca::JobSlot &take_free_slot(const doca_job &job,
                                                                           opendoca::JobQueue &queue) noexcept
    {
        --room_;
        opendoca::JobSlot &slot = *free_;
        free_ = static_cast<opendoca::JobSlot *>(slot.owner);
        slot.type = job.type;
        slot.user_data = job.user_data;
        std::atomic_ref(slot.owner).store(&queue, std::memory_order_relaxed);
        return slot;
    }

    /// The job of @p slot has ended; the slot is kept until it was retrieved.
    void complete(opendoca::JobSlot &slot, doca_error_t result) noexcept
    {
        opendoca::Completion &done = append();
        done.result = result;
        name_queue(done, nullptr);
        done.origin = reinterpret_cast<std::uintptr_t>(&slot);
        if (is_armed_) [[unlikely]]
            wake();
    }

    /// The job of @p slot was given out, or was not submitted after all, without complete().
    void release(opendoca::JobSlot &slot) noexcept
    {
        ++room_;
        free_slot(slot);
    }

    /// Calls @p action with each slot of jobs of @p queue that were not retrieved.
    template <typename Action>
    void each_slot_of(const opendoca::JobQueue &queue, Action action) noexcept
    {
        for (std::uint32_t i = 0; i != depth_; ++i) {
            if (slots_[i].owner == &queue)
                action(slots_[i]);
        }
    }

    /// Gives out the first completion. AGAIN when there is none.
    [[nodiscard]] doca_error_t give_waiting(doca_event &event) noexcept;

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
        using opendoca::Completion;
        end_in_submit(job, queue, result, result == DOCA_SUCCESS ? Completion::well : Completion::not_well);
    }

    /// The same on any queue, for a job whose result JobQueue::write_result() makes of @p detail, a number of
    /// 63 bits. Not while is_submitting_inner().
    void complete_with(const doca_job &job, opendoca::JobQueue &queue, doca_error_t result,
                       std::uint64_t detail) noexcept
    {
        end_in_submit(job, queue, result, detail << 1 | 1);
        if (is_armed_) [[unlikely]]
            wake();
    }

    /// The end of the job that is being submitted is not the user's.
    [[nodiscard]] bool is_submitting_inner() const noexcept { return is_submitting_inner_; }

    /// Keeps room for @p count jobs at the same time, which then come by submit_inner() and signal(). False
    /// when there is not enough.
    [[nodiscard]] bool reserve(std::uint64_t count) noexcept;
    void give_back(std::uint64_t count) noexcept { room_ += static_cast<std::uint32_t>(count); }
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
    static constexpr std::uint32_t stretch = 64; ///< completions

    /// The first 16 bytes of a completion, and of an event, whose gap then has the result: written in one
    /// piece and read in one piece, because a read of what was just written in several would stall.
    using Head [[gnu::vector_size(16)]] = std::uint64_t;
    static_assert(offsetof(doca_event, user_data) == 8 && sizeof(doca_event::type) == 4);
    static_assert(offsetof(opendoca::Completion, result) == 4 &&
                  offsetof(opendoca::Completion, user_data) == 8);
    static_assert(std::endian::native == std::endian::little);

    [[nodiscard]] doca_error_t submit_by_id(const doca_job &job) noexcept;
    [[gnu::noinline]] [[nodiscard]] static doca_error_t not_on_queue(const doca_ctx &ctx) noexcept;

    // The ring of completions. It has at least one that is not in use: where head and tail meet, there is
    // none. in_flight() reads it from other threads.

    [[nodiscard]] opendoca::Completion *head() const noexcept
    {
        return head_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] opendoca::Completion *tail() const noexcept
    {
        return tail_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool is_empty() const noexcept { return head() == tail(); }
    [[nodiscard]] opendoca::Completion *after(opendoca::Completion *done) const noexcept
    {
        return done + 1 == ring_end_ ? ring_begin_ : done + 1;
    }
    [[nodiscard]] opendoca::Completion *before(opendoca::Completion *done) const noexcept
    {
        return (done == ring_begin_ ? ring_end_ : done) - 1;
    }
    [[nodiscard]] opendoca::Completion &append() noexcept
    {
        opendoca::Completion *const done = tail();
        tail_.store(after(done), std::memory_order_relaxed);
        return *done;
    }
    static void name_queue(opendoca::Completion &done, opendoca::JobQueue *queue) noexcept
    {
        std::atomic_ref(done.queue).store(queue, std::memory_order_relaxed);
    }
    void end_in_submit(const doca_job &job, opendoca::JobQueue &queue, doca_error_t result,
                       std::uintptr_t origin) noexcept
    {
        --room_;
        opendoca::Completion &done = append();
        const Head head_of_event = {static_cast<std::uint32_t>(job.type) | static_cast<std::uint64_t>(result)
                                                                               << 32,
                                    job.user_data.u64};
        std::memcpy(&done, &head_of_event, sizeof(head_of_event));
        name_queue(done, &queue);
        done.origin = origin;
    }
    void pop() noexcept
    {
        ++room_;
        if (head() + 1 == stretch_end_) [[unlikely]]
            begin_stretch();
        else
            head_.store(head() + 1, std::memory_order_relaxed);
    }
    opendoca::JobSlot &pop_slot() noexcept
    {
        opendoca::JobSlot &slot = head()->slot();
        pop();
        free_slot(slot); // nobody takes it before it was read
        return slot;
    }
    void free_slot(opendoca::JobSlot &slot) noexcept
    {
        std::atomic_ref(slot.owner).store(free_, std::memory_order_relaxed);
        free_ = &slot;
    }

    // A program that submits one job that ends in submit for each one that it retrieves never lets the ring
    // run empty. Contexts get their turn all the same: after each stretch of it.

    void begin_stretch() noexcept;
    [[nodiscard]] doca_error_t end_stretch() noexcept;
    void progress() noexcept;
    void remember_only_polled() noexcept;

    [[nodiscard]] doca_error_t retrieve_any(doca_event &event) noexcept;
    [[nodiscard]] doca_error_t give_first(doca_event &event) noexcept;
    [[nodiscard]] doca_error_t give_special(opendoca::JobSlot &slot, doca_error_t result,
                                            doca_event &event) noexcept;
    [[nodiscard]] doca_error_t take_back() noexcept;

    // What submit and retrieve use, in one cache line.
    alignas(64) std::atomic<opendoca::Completion *> head_;
    std::atomic<opendoca::Completion *> tail_;
    opendoca::Completion *stretch_end_; ///< of the stretch that the head is in
    opendoca::Completion *ring_begin_;
    opendoca::Completion *ring_end_;
    std::unique_ptr<opendoca::JobQueue *[]> queues_; ///< by the id of the context or graph
    std::uint32_t num_queues_ = 0;
    /// For jobs: the depth, less those that were submitted and not retrieved, and less what is reserved for
    /// inner jobs that are not in flight.
    std::uint32_t room_;
    bool is_armed_ = false;
    bool is_turn_due_ = false;
    bool is_event_driven_ = false;
    bool is_submitting_inner_ = false;
    bool is_written_ = false;   ///< the descriptor that wake() writes
    bool is_wake_held_ = false; ///< the next wake() is only to be noted, by setting this to false
    opendoca::JobSlot *free_;   ///< a stack: the slot used last is the warmest
    opendoca::JobQueue *only_polled_ = nullptr; ///< of polled_, where it has one element
    std::vector<opendoca::JobQueue *> polled_;
    std::uint32_t num_inner_ends_ = 0;
    std::uint32_t num_contexts_ = 0; ///< and graphs
    const std::uint32_t depth_;
    std::unique_ptr<opendoca::JobSlot[]> slots_;
    std::unique_ptr<opendoca::Completion[]> ring_;
    opendoca::UniqueFd event_fd_; ///< for completions that this thread makes
    opendoca::UniqueFd handle_;   ///< an epoll of it and of what job queues watch
};
