// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "graph_queue.hpp"

#include <utility>

#include "submission.hpp"

namespace opendoca {

GraphQueue::GraphQueue(doca_workq &workq) : workq_(workq)
{
    // Reserved here, since wait() must not fail.
    workq_.completions.reserve_polled();
}

GraphQueue::~GraphQueue()
{
    workq_.completions.stop_polling(*this);
    workq_.completions.unreserve_polled();
}

// Jobs name a context, and no context has the number of a graph, so these two are never reached.

doca_error_t GraphQueue::submit(const doca_job &) noexcept
{
    return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t GraphQueue::submit_tagged(const doca_job &, Tag) noexcept
{
    return DOCA_ERROR_INVALID_VALUE;
}

void GraphQueue::progress() noexcept
{
    // The list is taken as a whole: a submission that is still blocked is added again, for the next poll.
    Submission *next = std::exchange(waiting_, nullptr);
    while (next != nullptr) {
        Submission &submission = *std::exchange(next, next->next_waiting_);
        submission.is_waiting_ = false;
        submission.signal();
    }
}

bool GraphQueue::arm() noexcept
{
    Submission *next = std::exchange(waiting_, nullptr);
    while (next != nullptr) {
        Submission &submission = *std::exchange(next, next->next_waiting_);
        submission.is_waiting_ = false;
        // Without a signal: arming must not create a completion for nothing, or the program would never block.
        submission.retry();
    }
    return false; // the results are in the completion queue
}

void GraphQueue::wait(Submission &submission) noexcept
{
    if (submission.is_waiting_)
        return;
    submission.is_waiting_ = true;
    submission.next_waiting_ = std::exchange(waiting_, &submission);
    workq_.completions.start_polling(*this);
}

void GraphQueue::stop_waiting(Submission &submission) noexcept
{
    if (!submission.is_waiting_)
        return;
    submission.is_waiting_ = false;
    Submission **at = &waiting_;
    while (*at != &submission)
        at = &(*at)->next_waiting_;
    *at = submission.next_waiting_;
}

} // namespace opendoca
