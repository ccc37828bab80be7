// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "completion_events.hpp"

#include <algorithm>

#include "../../engine/completion_queue.hpp"
#include "completions.hpp"

namespace opendoca::verbs {

doca_error_t CompletionEvents::attach(CompletionQueue &completions) noexcept
{
    if (!completions.is_event_driven())
        return DOCA_SUCCESS;
    completions_ = &completions;
    // The failure descriptor is watched in all states, armed or not: a device that has failed delivers no completion
    // event that could wake the waiter.
    doca_error_t status = source_.make_failure_fd();
    if (status == DOCA_SUCCESS && source_.failure_fd() >= 0) {
        status = completions.watch(source_.failure_fd());
        watches_failures_ = status == DOCA_SUCCESS;
    }
    return status == DOCA_SUCCESS ? watch_channel() : status;
}

void CompletionEvents::detach() noexcept
{
    unwatch_channel();
    unwatch_failures();
    completions_ = nullptr;
}

doca_error_t CompletionEvents::watch_channel() noexcept
{
    if (is_watching_channel_)
        return DOCA_SUCCESS;
    (void)source_.take_events(); // events of earlier requests must not wake the waiter
    max_pending_events_ = 0;
    const doca_error_t status = completions_->watch(source_.event_fd());
    is_watching_channel_ = status == DOCA_SUCCESS;
    return status;
}

void CompletionEvents::unwatch_channel() noexcept
{
    if (is_watching_channel_)
        completions_->unwatch(source_.event_fd());
    is_watching_channel_ = false;
}

bool CompletionEvents::arm(bool only_solicited) noexcept
{
    // disarm() may have stopped watching the channel.
    if (watch_channel() != DOCA_SUCCESS)
        return false;
    // Counted before the request, and also if the request fails: the count must be an upper bound. Requests that
    // coalesce into one event only make it larger.
    ++max_pending_events_;
    return source_.request_event(only_solicited);
}

void CompletionEvents::disarm() noexcept
{
    // A request without an event is still pending in the device, and its event would make the descriptor readable while
    // the queue is not armed. The channel is not watched until the next arm(), which discards that event.
    max_pending_events_ -= std::min(source_.take_events(), max_pending_events_);
    if (max_pending_events_ != 0)
        unwatch_channel();
}

void CompletionEvents::unwatch_failures() noexcept
{
    if (watches_failures_)
        completions_->unwatch(source_.failure_fd());
    watches_failures_ = false;
}

} // namespace opendoca::verbs
