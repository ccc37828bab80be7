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
        const doca_error_t status =
            device.create_receive_queue(completions, std::max(count, 1U), chain_length, fresh->shared_);
        if (status != DOCA_SUCCESS)
            return status;
    }
    made = std::move(fresh);
    return DOCA_SUCCESS;
}

bool Receives::give_to(QueuePair &queue_pair) noexcept
{
    if (shared_ != nullptr || (only_ != nullptr && only_ != &queue_pair))
        return shared_ != nullptr;
    only_ = &queue_pair;
    auto next = waiting_.begin();
    while (next != waiting_.end() && only_->is_connected() &&
           only_->receive(next->tag, next->dst, next->plan) == DOCA_SUCCESS)
        ++next;
    waiting_.erase(waiting_.begin(), next);
    return true;
}

void Receives::take_from(const QueuePair &queue_pair) noexcept
{
    if (only_ == &queue_pair)
        only_ = nullptr;
}

doca_error_t Receives::receive_for_one(Tag tag, doca_buf *dst, TransferPlan plan) noexcept
{
    if (only_ != nullptr && only_->is_connected() && waiting_.empty())
        return only_->receive(tag, dst, plan);
    if (waiting_.size() == waiting_.capacity())
        return DOCA_ERROR_NO_MEMORY;
    waiting_.push_back({tag, dst, plan});
    return DOCA_SUCCESS;
}

void Receives::flush(Source &source) noexcept
{
    if (shared_ != nullptr)
        shared_->flush();
    for (const Waiting &each : waiting_)
        completions_.done(each.tag, source, DOCA_ERROR_SHUTDOWN);
    waiting_.clear();
}

} // namespace opendoca::v3
