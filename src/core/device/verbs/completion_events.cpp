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
    doca_error_t status = from_.make_failure_fd();
    if (status == DOCA_SUCCESS && from_.failure_fd() >= 0) {
        status = completions.watch(from_.failure_fd());
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
    (void)from_.take_events(); // discard events from before the descriptor was watched
    requested_ = 0;
    const doca_error_t status = completions_->watch(from_.event_fd());
    is_watching_channel_ = status == DOCA_SUCCESS;
    return status;
}

void CompletionEvents::unwatch_channel() noexcept
{
    if (is_watching_channel_)
        completions_->unwatch(from_.event_fd());
    is_watching_channel_ = false;
}

bool CompletionEvents::arm(bool only_solicited) noexcept
{
    if (watch_channel() != DOCA_SUCCESS)
        return false;
    ++requested_;
    return from_.request_event(only_solicited);
}

void CompletionEvents::disarm() noexcept
{
    requested_ -= std::min(from_.take_events(), requested_);
    if (requested_ != 0)
        unwatch_channel();
}

void CompletionEvents::unwatch_failures() noexcept
{
    if (watches_failures_)
        completions_->unwatch(from_.failure_fd());
    watches_failures_ = false;
}

} // namespace opendoca::verbs
