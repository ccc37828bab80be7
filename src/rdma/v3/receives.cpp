// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "receives.hpp"

#include <algorithm>
#include <cstdint>

namespace opendoca::v3 {

doca_error_t Receives::create(Device &device, CompletionQueue &completions, std::uint32_t count,
                              std::uint32_t chain_length, std::unique_ptr<Receives> &made)
{
    const bool is_shared = device.function().can.rdma.shared_receives;
    std::unique_ptr<Receives> fresh(new Receives(completions, is_shared ? 0 : count));
    if (is_shared) {
        // An instance without receive tasks still needs a queue to create its queue pairs with.
        const doca_error_t status =
            device.create_receive_queue(completions, std::max(count, 1U), chain_length, fresh->shared_);
        if (status != DOCA_SUCCESS)
            return status;
    }
    made = std::move(fresh);
    return DOCA_SUCCESS;
}

/// With shared receives the queue pair was created with the receive queue, so nothing is left to do.
void Receives::attach(QueuePair &queue_pair) noexcept
{
    if (shared_ != nullptr || (single_ != nullptr && single_ != &queue_pair))
        return;
    single_ = &queue_pair;
    // In the order in which the program submitted them. A receive that is refused stays pending: the queue is full or
    // the connection has failed.
    auto next = pending_.begin();
    while (next != pending_.end() && single_->is_connected() &&
           single_->receive(next->tag, next->dst, next->plan) == DOCA_SUCCESS)
        ++next;
    pending_.erase(pending_.begin(), next);
}

/// Receives that the connection had are flushed with it. Those that were never posted stay for the next connection that
/// connects.
void Receives::detach(const QueuePair &queue_pair) noexcept
{
    if (single_ == &queue_pair)
        single_ = nullptr;
}

/// Posts a receive to the attached connection, or keeps it until there is one.
doca_error_t Receives::receive_on_single(Tag tag, doca_buf *dst, TransferPlan plan) noexcept
{
    // Not past pending receives, which messages have to fill first.
    if (single_ != nullptr && single_->is_connected() && pending_.empty())
        return single_->receive(tag, dst, plan);
    if (pending_.size() == pending_.capacity())
        return DOCA_ERROR_NO_MEMORY;
    pending_.push_back({tag, dst, plan});
    return DOCA_SUCCESS;
}

void Receives::flush(Source &source) noexcept
{
    if (shared_ != nullptr)
        shared_->flush();
    // The completion queue has space for them: it is as deep as the context has tasks.
    for (const Pending &each : pending_)
        completions_.done(each.tag, source, DOCA_ERROR_SHUTDOWN);
    pending_.clear();
}

} // namespace opendoca::v3
