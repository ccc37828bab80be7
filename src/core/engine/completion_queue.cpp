// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "completion_queue.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace opendoca {

CompletionQueue::CompletionQueue(std::uint32_t depth)
{
    set_depth(depth);
}

void CompletionQueue::set_depth(std::uint32_t depth)
{
    // Both are allocated before anything changes, so that a failure leaves the queue as it was. The ring's size is a
    // power of two for the mask; capacity_ limits its use to the depth.
    auto ring = std::make_unique_for_overwrite<Completion[]>(std::bit_ceil(depth));
    auto operations = std::make_unique_for_overwrite<Operation[]>(depth);
    head_ = tail_ = 0;
    mask_ = std::bit_ceil(depth) * step - 1;
    capacity_ = depth * step;
    depth_ = depth;
    ring_memory_ = std::move(ring);
    operations_ = std::move(operations);
    ring_ = ring_memory_.get();
    free_ = nullptr;
    for (std::uint32_t i = depth; i-- != 0; free_ = &operations_[i])
        operations_[i].source = reinterpret_cast<Source *>(free_);
}

bool CompletionQueue::pop(Ended &ended) noexcept
{
    if (is_empty())
        return false;
    const Completion &completion = first();
    if (!completion.has_operation()) {
        ended.tag = completion.tag;
        ended.source = completion.source;
        ended.status = static_cast<doca_error_t>(completion.status);
        ended.result = {completion.length};
        drop();
        return true;
    }
    Operation &operation = *completion.operation;
    ended.tag = operation.tag;
    ended.source = operation.source;
    ended.status = static_cast<doca_error_t>(operation.status);
    operation.read_result(ended.result);
    // Before free(), which reuses the source pointer as a link.
    if ((completion.status & Completion::notifies_source) != 0)
        operation.source->retrieved(operation);
    free(operation);
    drop();
    return true;
}

/// Counts Operations in operations_ (in flight or completed), and in the ring only completions without an Operation. A
/// free Operation never counts, as its source pointer is a link to another Operation.
std::uint32_t CompletionQueue::num_outstanding(const Source &source) const noexcept
{
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i != depth_; ++i)
        count += load(operations_[i].source) == &source ? 1 : 0;
    for (std::uint32_t i = load(head_), end = load(tail_); i != end; i += step) {
        const Completion &completion = at(i);
        count +=
            (load(completion.status) & Completion::with_operation) == 0 && load(completion.source) == &source ? 1 : 0;
    }
    return count;
}

/// Calls @p action with each polled object, which may remove itself from the list: when the last of its operations
/// completes, or nothing needs it any more.
template <typename Action>
void CompletionQueue::each_polled(Action action) noexcept
{
    for (std::size_t i = 0; i < polled_.size();) {
        Pollable *const pollable = polled_[i];
        action(*pollable);
        if (i < polled_.size() && polled_[i] == pollable)
            ++i;
    }
}

void CompletionQueue::progress() noexcept
{
    each_polled([](Pollable &pollable) { pollable.progress(); });
}

void CompletionQueue::reserve_polled()
{
    // The capacity is at least the number of reserved places, so that start_polling() cannot allocate.
    if (num_reserved_ == polled_.capacity())
        polled_.reserve(std::max<std::size_t>(2 * polled_.capacity(), 4));
    ++num_reserved_;
}

void CompletionQueue::start_polling(Pollable &pollable) noexcept
{
    if (std::ranges::find(polled_, &pollable) != polled_.end())
        return;
    polled_.push_back(&pollable);
    update_only_polled();
    wake_if_waiting(); // arm() was not called for this pollable: the waiter must poll it once
    if (listener_ != nullptr)
        listener_->polled_changed();
}

void CompletionQueue::stop_polling(Pollable &pollable) noexcept
{
    if (std::erase(polled_, &pollable) == 0)
        return;
    update_only_polled();
    if (listener_ != nullptr)
        listener_->polled_changed();
}

void CompletionQueue::update_only_polled() noexcept
{
    only_polled_ = polled_.size() == 1 ? polled_.front() : nullptr;
}

doca_error_t CompletionQueue::set_event_driven(bool enable)
{
    if (enable && events_ == nullptr) {
        // Created once and kept as long as the queue, so that the descriptor never changes.
        auto events = std::make_shared<EventHandle>();
        if (const doca_error_t status = events->open(); status != DOCA_SUCCESS)
            return status;
        events_ = std::move(events);
    }
    is_event_driven_ = enable;
    waiting_ &= ~armed;
    return DOCA_SUCCESS;
}

void CompletionQueue::wake() noexcept
{
    resume();
    // Stays armed if the write has failed, so that the next completion tries again.
    if (is_armed() && events_->wake())
        waiting_ &= ~armed;
}

bool CompletionQueue::park() noexcept
{
    if (!is_empty())
        return false;
    for (std::size_t i = 0; i != polled_.size(); ++i) {
        if (polled_[i]->park())
            continue;
        while (i-- != 0)
            polled_[i]->unpark();
        return false;
    }
    waiting_ |= parked;
    return true;
}

void CompletionQueue::unpark() noexcept
{
    waiting_ &= ~parked;
    for (Pollable *pollable : polled_)
        pollable->unpark();
    listener_->queue_resumed();
}

void CompletionQueue::arm() noexcept
{
    waiting_ |= armed;
    // Arms first and checks afterwards, so that no event between the two is lost.
    bool is_ready = false;
    each_polled([&](Pollable &pollable) { is_ready = pollable.arm() || is_ready; });
    // A pollable's arm() may have completed an operation and disarmed the queue by it.
    if (is_armed() && (is_ready || !is_empty()))
        wake();
}

doca_error_t CompletionQueue::clear() noexcept
{
    waiting_ &= ~armed;
    // Before the handle is cleared: a pollable's descriptor that stays readable keeps the handle readable.
    each_polled([](Pollable &pollable) { pollable.disarm(); });
    return events_->clear();
}

} // namespace opendoca
