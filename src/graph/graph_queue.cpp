// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "graph_queue.hpp"

#include <utility>

#include "../core/workq.hpp"
#include "submission.hpp"

namespace opendoca {

doca_error_t GraphQueue::submit(const doca_job &) noexcept
{
    return DOCA_ERROR_INVALID_VALUE; // no context has a graph's number
}

void GraphQueue::progress() noexcept
{
    num_ends_seen_ = workq_.num_inner_ends();
    Submission *next = std::exchange(waiting_, nullptr);
    while (next != nullptr) {
        Submission &submission = *std::exchange(next, next->next_waiting_);
        submission.is_waiting_ = false;
        submission.signal();
    }
}

bool GraphQueue::arm() noexcept
{
    // Room that the end of a user's job has made was offered by the retrieve that came after. Others end
    // unseen.
    return waiting_ != nullptr && num_ends_seen_ != workq_.num_inner_ends();
}

void GraphQueue::wait(Submission &submission) noexcept
{
    if (submission.is_waiting_)
        return;
    submission.is_waiting_ = true;
    submission.next_waiting_ = std::exchange(waiting_, &submission);
    workq_.poll(*this);
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
