// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sliced_queue.hpp"

#include <memory>
#include <utility>

namespace opendoca {

SlicedQueue::SlicedQueue(CompletionQueue &completions, std::unique_ptr<CompletionOrder> order)
    : completions_(completions),
      waiting_(std::make_unique<Operation *[]>(completions.depth())),
      order_(std::move(order))
{
    completions_.reserve_polled();
}

SlicedQueue::~SlicedQueue()
{
    completions_.stop_polling(*this);
    completions_.unreserve_polled();
}

void SlicedQueue::wait_and_discard() noexcept {}

void SlicedQueue::ended(Operation &) noexcept {}

Operation &SlicedQueue::append(Tag tag) noexcept
{
    Operation &operation = completions_.begin(tag, *this);
    waiting(num_waiting_) = &operation;
    if (num_waiting_++ == 0) {
        is_waiting_.store(true, std::memory_order_relaxed);
        completions_.start_polling(*this); // wakes a waiting queue
    }
    return operation;
}

void SlicedQueue::begin_oldest() noexcept
{
    if (num_waiting_ == 0 || is_in_progress_)
        return;
    // The chosen one changes places with the oldest.
    if (order_ != nullptr)
        std::swap(waiting(0), waiting(order_->next(num_waiting_)));
    is_in_progress_ = true;
    has_progressed_ = true;
    if (const doca_error_t status = begin(*waiting(0)); status != DOCA_ERROR_IN_PROGRESS)
        complete_oldest(status);
}

void SlicedQueue::progress() noexcept
{
    if (num_waiting_ == 0)
        return;
    if (!is_in_progress_)
        begin_oldest();
    if (is_in_progress_) {
        const doca_error_t status = advance();
        if (status == DOCA_ERROR_AGAIN)
            return;
        has_progressed_ = true;
        if (status != DOCA_ERROR_IN_PROGRESS)
            complete_oldest(status);
    }
    if (num_waiting_ != 0)
        completions_.wake_if_waiting(); // or the thread would block while there is work
}

void SlicedQueue::drop(const Tag &tag) noexcept
{
    const auto is_meant = [&](const Operation &operation) {
        return operation.tag.a == tag.a && operation.tag.b == tag.b;
    };
    std::uint32_t index = 0;
    while (index != num_waiting_ && !is_meant(*waiting(index)))
        ++index;
    if (index == num_waiting_)
        return;
    const bool was_in_progress = is_in_progress_;
    const bool was_flushing = std::exchange(is_flushing_, false);
    const bool is_oldest = index == 0;
    if (is_oldest && was_in_progress && !cancel())
        wait_and_discard();
    // Those before it move back by one, so that it can be completed as the oldest; they keep their order.
    Operation *const dropped = waiting(index);
    for (; index != 0; --index)
        waiting(index) = waiting(index - 1);
    waiting(0) = dropped;
    complete_oldest(DOCA_ERROR_SHUTDOWN);
    is_in_progress_ = was_in_progress && !is_oldest;
    is_flushing_ = was_flushing && !is_oldest;
    if (was_flushing && is_oldest)
        complete_all();
}

void SlicedQueue::flush() noexcept
{
    if (is_in_progress_ && !cancel())
        is_flushing_ = true;
    else
        complete_all();
}

void SlicedQueue::complete_all() noexcept
{
    while (num_waiting_ != 0)
        complete_oldest(DOCA_ERROR_SHUTDOWN);
}

void SlicedQueue::complete_oldest(doca_error_t status) noexcept
{
    Operation &operation = *waiting(0);
    first_waiting_ = (first_waiting_ + 1) % completions_.depth();
    is_in_progress_ = false;
    if (--num_waiting_ == 0) {
        is_waiting_.store(false, std::memory_order_relaxed);
        completions_.stop_polling(*this);
    }
    ended(operation);
    completions_.done(operation, status);
    if (std::exchange(is_flushing_, false))
        complete_all();
}

} // namespace opendoca
