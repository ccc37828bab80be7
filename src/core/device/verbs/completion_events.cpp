// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "completion_events.hpp"

#include "../../workq.hpp"
#include "reliable_connection.hpp"

namespace opendoca::verbs {

doca_error_t CompletionEvents::attach(doca_workq &workq) noexcept
{
    if (!workq.is_event_driven())
        return DOCA_SUCCESS;
    workq_ = &workq;
    return listen();
}

void CompletionEvents::detach() noexcept
{
    ignore();
    workq_ = nullptr;
}

doca_error_t CompletionEvents::listen() noexcept
{
    if (is_listening_)
        return DOCA_SUCCESS;
    (void)connection_.take_events(); // of the time when nobody listened
    const doca_error_t status = workq_->watch(connection_.event_fd());
    is_listening_ = status == DOCA_SUCCESS;
    return status;
}

void CompletionEvents::ignore() noexcept
{
    if (is_listening_)
        workq_->unwatch(connection_.event_fd());
    is_listening_ = false;
}

bool CompletionEvents::arm(bool only_solicited) noexcept
{
    return listen() == DOCA_SUCCESS && connection_.request_event(only_solicited);
}

void CompletionEvents::disarm() noexcept
{
    if (!connection_.take_events())
        ignore(); // the event that was asked for may still come
}

} // namespace opendoca::verbs
