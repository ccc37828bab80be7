// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "receives.hpp"

#include <algorithm>

#include "../../core/guard.hpp"

namespace opendoca::v3 {

doca_error_t Receives::create(Device &device, CompletionQueue &completions, std::uint32_t count,
                              std::uint32_t chain_length, std::unique_ptr<Receives> &made)
{
    std::unique_ptr<Receives> fresh(new Receives(completions));
    if (device.function().can.rdma.shared_receives) {
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
    while (!waiting_.empty() && only_->is_connected()) {
        const Waiting first = waiting_.front();
        if (only_->receive(first.tag, first.dst, first.plan) != DOCA_SUCCESS)
            break;
        waiting_.pop_front();
    }
    return true;
}

void Receives::take_from(const QueuePair &queue_pair) noexcept
{
    if (only_ == &queue_pair)
        only_ = nullptr;
}

doca_error_t Receives::receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept
{
    if (shared_ != nullptr)
        return shared_->receive(tag, dst, plan);
    if (only_ != nullptr && only_->is_connected() && waiting_.empty())
        return only_->receive(tag, dst, plan);
    return guarded([&] {
        waiting_.push_back({tag, dst, plan});
        return DOCA_SUCCESS;
    });
}

void Receives::flush(Source &source) noexcept
{
    if (shared_ != nullptr)
        shared_->flush();
    for (; !waiting_.empty(); waiting_.pop_front())
        completions_.done(waiting_.front().tag, source, DOCA_ERROR_SHUTDOWN);
}

} // namespace opendoca::v3
