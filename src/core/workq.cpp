// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "workq.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <doca_log.h>

#include "guard.hpp"

DOCA_LOG_REGISTER(DOCA_WORKQ);

using opendoca::guarded;

namespace {

constexpr std::uint32_t max_depth = 65536;

/// Marks the slots of inner jobs, in the place of write_result.
void end_inside(const opendoca::JobSlot &, doca_error_t, doca_event &) {}

/// The end of @p slot's job goes to @p inner.
void take_over(opendoca::JobSlot &slot, opendoca::InnerJob &inner) noexcept
{
    inner.write_result = slot.write_result;
    inner.user_data = slot.user_data;
    slot.write_result = end_inside;
    slot.user_data.ptr = &inner;
}

} // namespace

doca_workq::doca_workq(std::uint32_t depth)
    : room_(depth),
      depth_(depth),
      slots_(std::make_unique_for_overwrite<opendoca::JobSlot[]>(depth))
{
    const std::size_t ring_size = (depth / stretch + 1) * stretch;
    ring_ = std::make_unique_for_overwrite<opendoca::Completion[]>(ring_size);
    ring_begin_ = ring_.get();
    ring_end_ = ring_begin_ + ring_size;
    head_ = tail_ = ring_begin_;
    stretch_end_ = ring_begin_ + stretch;
    free_ = nullptr;
    for (std::uint32_t i = depth; i-- != 0; free_ = &slots_[i])
        slots_[i].owner = free_;
}

opendoca::JobSlot *doca_workq::take_slot(const doca_job &job, opendoca::JobQueue &queue) noexcept
{
    if (is_full())
        return nullptr;
    opendoca::JobSlot &slot = take_free_slot(job, queue);
    slot.write_result = nullptr;
    return &slot;
}

std::uint32_t doca_workq::in_flight(const opendoca::JobQueue &queue) const noexcept
{
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i != depth_; ++i)
        count += std::atomic_ref(slots_[i].owner).load(std::memory_order_relaxed) == &queue ? 1 : 0;
    for (opendoca::Completion *done = head(), *const end = tail(); done != end; done = after(done))
        count += std::atomic_ref(done->queue).load(std::memory_order_relaxed) == &queue ? 1 : 0;
    return count;
}

/// From the end of one, on the ring.
void doca_workq::begin_stretch() noexcept
{
    opendoca::Completion *const begin = stretch_end_ == ring_end_ ? ring_begin_ : stretch_end_;
    head_.store(begin, std::memory_order_relaxed);
    stretch_end_ = begin + stretch;
    is_turn_due_ = true;
}

inline void doca_workq::progress() noexcept
{
    is_turn_due_ = false;
    for (opendoca::JobQueue *queue : polled_)
        queue->progress();
}

/// The last thing that a retrieve does.
[[gnu::noinline]] doca_error_t doca_workq::end_stretch() noexcept
{
    begin_stretch();
    progress();
    return DOCA_SUCCESS;
}

[[gnu::noinline]] doca_error_t doca_workq::retrieve_any(doca_event &event) noexcept
{
    if (is_empty() || is_turn_due_)
        progress();
    return give_waiting(event);
}

[[gnu::noinline]] doca_error_t doca_workq::give_waiting(doca_event &event) noexcept
{
    return is_empty() ? DOCA_ERROR_AGAIN : give_first(event);
}

/// There is a completion.
[[gnu::always_inline]] inline doca_error_t doca_workq::give_first(doca_event &event) noexcept
{
    const opendoca::Completion &done = *head();
    const doca_error_t result = done.result;
    if (done.has_slot()) {
        opendoca::JobSlot &slot = pop_slot();
        if (slot.write_result != nullptr)
            return give_special(slot, result, event);
        event.type = slot.type;
        event.user_data = slot.user_data;
        event.result.u64 = result;
    } else {
        event.type = done.type;
        event.user_data = done.user_data;
        if (done.has_detail())
            done.queue->write_result(done.origin >> 1, result, event);
        else
            event.result.u64 = result;
        pop();
    }
    return result == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
}

/// For results that are no doca_error_t, and inner jobs. Goes on until there is something for the user.
[[gnu::noinline]] doca_error_t doca_workq::give_special(opendoca::JobSlot &first, doca_error_t result,
                                                        doca_event &event) noexcept
{
    opendoca::JobSlot *slot = &first;
    while (slot->write_result == end_inside) {
        --room_;
        auto &inner = *static_cast<opendoca::InnerJob *>(slot->user_data.ptr);
        if (const doca_error_t status = inner.ended(*slot, result, event); status != DOCA_ERROR_AGAIN)
            return status;
        if (is_empty()) // contexts are given a chance once in a call
            return DOCA_ERROR_AGAIN;
        const opendoca::Completion &done = *head();
        if (!done.has_slot() || done.slot().write_result == nullptr)
            return give_first(event);
        result = done.result;
        slot = &pop_slot();
    }
    event.type = slot->type;
    event.user_data = slot->user_data;
    slot->write_result(*slot, result, event);
    return result == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
}

bool doca_workq::reserve(std::uint64_t count) noexcept
{
    if (count > room_)
        return false;
    room_ -= static_cast<std::uint32_t>(count);
    return true;
}

opendoca::InnerSubmit doca_workq::submit_inner(const doca_job &job, opendoca::InnerJob &inner) noexcept
{
    using enum opendoca::InnerSubmit::Stage;
    const opendoca::Completion *const tail_before = tail();
    opendoca::JobSlot *const free_before = free_;
    is_wake_held_ = is_armed_; // the end of an inner job is nothing to wake up for
    ++room_;
    is_submitting_inner_ = true;
    opendoca::InnerSubmit outcome{pending, DOCA_SUCCESS};
    opendoca::JobQueue *const queue = queue_of(*job.ctx);
    const doca_error_t status = queue != nullptr ? queue->submit_inner(job) : not_on_queue(*job.ctx);
    is_submitting_inner_ = false;
    if (status != DOCA_SUCCESS) {
        // There is room here. A context without jobs in flight has no other reason to be full, and never will
        // have room.
        const bool is_full = status == DOCA_ERROR_NO_MEMORY && in_flight(*queue) != 0;
        outcome = {is_full ? full : refused, status};
        --room_;
    } else if (free_ != free_before) {
        take_over(*free_before, inner);
    } else {
        outcome = {ended, take_back()};
        --room_;
    }
    if (is_armed_ && !is_wake_held_ && (outcome.stage != ended || tail() != tail_before))
        wake();
    is_wake_held_ = false;
    return outcome;
}

/// Removes the completion of the job that has ended in submit just now.
doca_error_t doca_workq::take_back() noexcept
{
    // Others that have ended in the meantime have slots.
    opendoca::Completion *at = before(tail());
    while (at->has_slot())
        [[unlikely]] at = before(at);
    const doca_error_t result = at->result;
    opendoca::Completion *const last = before(tail());
    for (; at != last; at = after(at))
        [[unlikely]] *at = *after(at);
    tail_.store(last, std::memory_order_relaxed);
    ++room_;
    return result;
}

void doca_workq::signal(opendoca::InnerJob &inner, opendoca::JobQueue &queue) noexcept
{
    ++room_;
    opendoca::JobSlot &slot = take_free_slot({}, queue);
    slot.write_result = nullptr;
    take_over(slot, inner);
    complete(slot, DOCA_SUCCESS);
}

void doca_workq::poll(opendoca::JobQueue &queue) noexcept
{
    if (std::ranges::find(polled_, &queue) != polled_.end())
        return;
    polled_.push_back(&queue); // attach() has made room
    remember_only_polled();
}

void doca_workq::remember_only_polled() noexcept
{
    only_polled_ = polled_.size() == 1 ? polled_.front() : nullptr;
}

/// The context has several work queues, or not this one.
[[gnu::noinline]] doca_error_t doca_workq::submit_by_id(const doca_job &job) noexcept
{
    opendoca::JobQueue *const queue = queue_of(*job.ctx);
    return queue != nullptr ? queue->submit(job) : not_on_queue(*job.ctx);
}

doca_error_t doca_workq::not_on_queue(const doca_ctx &ctx) noexcept
{
    if (!ctx.is_started()) {
        DOCA_LOG_ERR("the job's context is not started");
        return DOCA_ERROR_BAD_STATE;
    }
    DOCA_LOG_ERR("the job's context was not added to this work queue");
    return DOCA_ERROR_NOT_FOUND;
}

doca_error_t doca_workq::set_event_driven(bool enable) noexcept
{
    if (enable == is_event_driven_)
        return DOCA_SUCCESS;
    if (has_contexts()) {
        DOCA_LOG_ERR("event-driven mode can't be changed: the work queue has %u contexts and graphs",
                     num_contexts_);
        return DOCA_ERROR_BAD_STATE;
    }
    if (enable && !handle_.is_open()) {
        // Both live as long as the queue: the handle never changes.
        opendoca::UniqueFd own(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        opendoca::UniqueFd handle(epoll_create1(EPOLL_CLOEXEC));
        if (!own.is_open() || !handle.is_open()) {
            DOCA_LOG_ERR("creating the event handle: %s", std::strerror(errno));
            return DOCA_ERROR_OPERATING_SYSTEM;
        }
        std::swap(handle_, handle);
        if (const doca_error_t status = watch(own.get()); status != DOCA_SUCCESS) {
            std::swap(handle_, handle);
            return status;
        }
        event_fd_ = std::move(own);
    }
    is_event_driven_ = enable;
    is_armed_ = false;
    return DOCA_SUCCESS;
}

doca_error_t doca_workq::watch(int fd) noexcept
{
    epoll_event interest = {.events = EPOLLIN, .data = {.fd = fd}};
    if (epoll_ctl(handle_.get(), EPOLL_CTL_ADD, fd, &interest) != 0) {
        DOCA_LOG_ERR("watching descriptor %d: %s", fd, std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    return DOCA_SUCCESS;
}

void doca_workq::unwatch(int fd) noexcept
{
    epoll_ctl(handle_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void doca_workq::wake() noexcept
{
    if (std::exchange(is_wake_held_, false))
        return; // submit_inner() sees to it
    is_armed_ = false;
    is_written_ = true;
    // The counter can't overflow: it is at most 1, since a queue that is not armed does not write.
    if (eventfd_write(event_fd_.get(), 1) != 0)
        DOCA_LOG_ERR("writing the event handle: %s", std::strerror(errno));
}

doca_error_t doca_workq::arm() noexcept
{
    is_armed_ = true;
    // First arm, then look: what waits already wakes at once, and what comes later is announced.
    bool is_ready = false;
    for (opendoca::JobQueue *queue : polled_)
        is_ready = queue->arm() || is_ready;
    if (is_armed_ && (is_ready || !is_empty()))
        wake();
    return DOCA_SUCCESS;
}

doca_error_t doca_workq::clear() noexcept
{
    is_armed_ = false;
    for (opendoca::JobQueue *queue : polled_)
        queue->disarm();
    if (!std::exchange(is_written_, false))
        return DOCA_SUCCESS; // what was readable was a job queue's
    eventfd_t count = 0;
    if (eventfd_read(event_fd_.get(), &count) != 0 && errno != EAGAIN) {
        DOCA_LOG_ERR("reading the event handle: %s", std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    return DOCA_SUCCESS;
}

void doca_workq::attach(std::uint32_t id, opendoca::JobQueue &queue)
{
    if (id >= num_queues_) {
        auto queues = std::make_unique<opendoca::JobQueue *[]>(id + 1);
        std::copy_n(queues_.get(), num_queues_, queues.get());
        queues_ = std::move(queues);
        num_queues_ = id + 1;
    }
    polled_.reserve(num_contexts_ + 1);
    if (queue.needs_progress())
        polled_.push_back(&queue);
    remember_only_polled();
    queues_[id] = &queue;
    ++num_contexts_;
}

void doca_workq::detach(std::uint32_t id, opendoca::JobQueue &queue) noexcept
{
    queues_[id] = nullptr;
    std::erase(polled_, &queue);
    remember_only_polled();
    --num_contexts_;
}

doca_error_t doca_workq_create(uint32_t depth, struct doca_workq **workq)
{
    if (workq == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    if (depth == 0 || depth > max_depth) {
        DOCA_LOG_ERR("a work queue is 1 to %u jobs deep, not %u", max_depth, depth);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return guarded([&] {
        *workq = new doca_workq(depth);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_workq_destroy(struct doca_workq *workq)
{
    if (workq == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    if (workq->has_contexts()) {
        DOCA_LOG_ERR("the work queue is still on a context, or has a graph");
        return DOCA_ERROR_IN_USE;
    }
    delete workq;
    return DOCA_SUCCESS;
}

doca_error_t doca_workq_submit(struct doca_workq *workq, const struct doca_job *job)
{
    return workq->submit(*job);
}

doca_error_t doca_workq_progress_retrieve(struct doca_workq *workq, struct doca_event *ev, int)
{
    return workq->retrieve(*ev);
}

doca_error_t doca_workq_event_handle_arm(struct doca_workq *workq)
{
    if (!workq->is_event_driven()) {
        DOCA_LOG_ERR("event-driven mode is off");
        return DOCA_ERROR_BAD_STATE;
    }
    return workq->arm();
}

doca_error_t doca_workq_event_handle_clear(struct doca_workq *workq, doca_event_handle_t handle)
{
    if (!workq->is_event_driven()) {
        DOCA_LOG_ERR("event-driven mode is off");
        return DOCA_ERROR_BAD_STATE;
    }
    if (handle != workq->event_handle()) {
        DOCA_LOG_ERR("%d is not this work queue's event handle, which is %d", handle, workq->event_handle());
        return DOCA_ERROR_INVALID_VALUE;
    }
    return workq->clear();
}

doca_error_t doca_workq_get_depth(const struct doca_workq *workq, uint32_t *depth)
{
    if (workq == nullptr || depth == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    *depth = workq->depth();
    return DOCA_SUCCESS;
}

doca_error_t doca_workq_get_event_driven_enable(struct doca_workq *workq, uint8_t *enabled)
{
    if (workq == nullptr || enabled == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    *enabled = workq->is_event_driven();
    return DOCA_SUCCESS;
}

doca_error_t doca_workq_get_event_handle(struct doca_workq *workq, doca_event_handle_t *handle)
{
    if (workq == nullptr || handle == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    if (!workq->is_event_driven()) {
        DOCA_LOG_ERR("event-driven mode is off");
        return DOCA_ERROR_BAD_STATE;
    }
    *handle = workq->event_handle();
    return DOCA_SUCCESS;
}

doca_error_t doca_workq_set_event_driven_enable(struct doca_workq *workq, uint8_t enable)
{
    return workq == nullptr ? DOCA_ERROR_INVALID_VALUE : workq->set_event_driven(enable != 0);
}

doca_error_t doca_workq_set_event_handle(struct doca_workq *workq, doca_event_handle_t, uintptr_t)
{
    if (workq == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    DOCA_LOG_ERR("handing in an event handle exists on Windows only");
    return DOCA_ERROR_NOT_SUPPORTED;
}
