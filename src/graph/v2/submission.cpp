// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "submission.hpp"

#include <utility>

#include "instance.hpp"

namespace opendoca {

doca_error_t Submission::begin(GraphQueue &queue, const doca_data &data) noexcept
{
    queue_ = &queue;
    user_data_of_event_ = data;
    top_.begin(*this, nullptr, 0);
    // Jobs are submitted here, so that their errors are the return value of submit. Callbacks are called inside
    // retrieve only.
    if (const doca_error_t status = top_.start_context_roots(); status != DOCA_SUCCESS) {
        top_.is_in_flight_ = false;
        return status;
    }
    queue.instance_began();
    if (top_.has_ready_nodes() || top_.is_finished()) {
        add_ready(top_);
        signal();
    } else if (top_.has_blocked_nodes()) {
        add_blocked(top_);
        queue.wait(*this);
    }
    return DOCA_SUCCESS;
}

doca_error_t Submission::advance(doca_event &event) noexcept
{
    // Each completion may have freed space in a context, so all blocked nodes are retried.
    while (blocked_ != nullptr)
        [[unlikely]]
        {
            doca_graph_instance &instance = *blocked_;
            remove_blocked(instance);
            add_ready(instance);
        }
    while (ready_ != nullptr) {
        doca_graph_instance &instance = *std::exchange(ready_, ready_->next_ready_);
        instance.is_ready_ = false;
        instance.run();
        if (instance.has_blocked_nodes())
            add_blocked(instance);
        else
            remove_blocked(instance);
        if (&instance != &top_ && instance.is_finished())
            add_ready(instance.end_in_parent());
    }
    if (blocked_ != nullptr) [[unlikely]]
        queue_->wait(*this);
    // A pending signal still refers to the run: its completion ends the run.
    if (!top_.is_finished() || is_signalled_)
        return DOCA_ERROR_AGAIN;
    return complete(event);
}

void Submission::retry() noexcept
{
    bool is_anything_ready = false, is_anything_blocked = false;
    for (doca_graph_instance *instance = blocked_; instance != nullptr; instance = instance->next_blocked_) {
        instance->retry_blocked();
        is_anything_ready = is_anything_ready || instance->has_ready_nodes() || instance->is_finished();
        is_anything_blocked = is_anything_blocked || instance->has_blocked_nodes();
    }
    if (is_anything_ready)
        signal();
    if (is_anything_blocked)
        queue_->wait(*this);
}

doca_error_t Submission::ended(const Ended &, doca_event &event) noexcept
{
    (void)workq().completions.reserve(1); // takes back the credit that signal() has used
    is_signalled_ = false;
    return advance(event);
}

doca_error_t Submission::complete(doca_event &event) noexcept
{
    queue_->stop_waiting(*this);
    queue_->instance_ended();
    // All credits, including that of the signal.
    workq().completions.release_credits(top_.num_credits());
    top_.is_in_flight_ = false;
    event.type = DOCA_GRAPH_JOB;
    event.user_data = user_data_of_event_;
    event.result.u64 = top_.status();
    return top_.status() == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
}

void Submission::signal() noexcept
{
    if (std::exchange(is_signalled_, true))
        return;
    // The signal uses the credit that num_credits() reserves for it.
    workq().completions.release_credits(1);
    workq().completions.done(tag(), *queue_, DOCA_SUCCESS);
}

void Submission::add_ready(doca_graph_instance &instance) noexcept
{
    if (!std::exchange(instance.is_ready_, true))
        instance.next_ready_ = std::exchange(ready_, &instance);
}

void Submission::add_blocked(doca_graph_instance &instance) noexcept
{
    if (!std::exchange(instance.is_blocked_, true))
        instance.next_blocked_ = std::exchange(blocked_, &instance);
}

void Submission::remove_blocked(doca_graph_instance &instance) noexcept
{
    if (!std::exchange(instance.is_blocked_, false))
        return;
    doca_graph_instance **at = &blocked_;
    while (*at != &instance)
        at = &(*at)->next_blocked_;
    *at = instance.next_blocked_;
}

} // namespace opendoca
