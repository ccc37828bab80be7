// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "receive_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "../../log/log.hpp"
#include "device.hpp"
#include "queue_pair.hpp"
#include "segments.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_RECEIVES);

namespace opendoca::verbs {

/// Creates the SRQ with ibv_create_srq() in the device's protection domain, since its queue pairs may be on different
/// verbs completion queues with different parent domains.
doca_error_t VerbsReceiveQueue::create(const VerbsDevice &device, CompletionQueue &completions, std::uint32_t size,
                                       std::uint32_t chain_length, std::unique_ptr<ReceiveQueue> &created)
{
    if (!device.port().can.rdma.shared_receives) {
        LOG_ERR("connections of device %s cannot share receives", device.port().name.c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    std::unique_ptr<VerbsReceiveQueue> fresh(new VerbsReceiveQueue(device, completions, size, chain_length));
    ibv_srq_init_attr attributes{};
    attributes.attr.max_wr = size;
    attributes.attr.max_sge = chain_length;
    Handle<ibv_srq> queue(ibv_create_srq(&device.pd(), &attributes));
    if (queue == nullptr) {
        LOG_ERR("creating a queue of %u shared receives, of %u segments, on device %s: %s", size, chain_length,
                device.port().name.c_str(), std::strerror(errno));
        return errno == ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_DRIVER;
    }
    fresh->queue_ = std::move(queue);
    created = std::move(fresh);
    return DOCA_SUCCESS;
}

/// Returns SHUTDOWN after flush(). The completion arrives on the verbs completion queue of the queue pair that takes
/// the receive.
doca_error_t VerbsReceiveQueue::receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept
{
    if (is_flushed_)
        return DOCA_ERROR_SHUTDOWN;
    if (num_in_flight_ == size_ || completions_.is_full())
        return DOCA_ERROR_NO_MEMORY;
    Operation &operation = completions_.begin(tag, *this);
    VerbsQueuePair::describe_shared_receive(operation, dst, plan);
    ibv_recv_wr request{};
    request.wr_id = reinterpret_cast<std::uintptr_t>(&operation);
    request.sg_list = segments_.data();
    request.num_sge = gather(device_, dst, plan, false, segments_);
    ibv_recv_wr *bad = nullptr;
    if (const int error = ibv_post_srq_recv(queue_.get(), &request, &bad); error != 0) {
        LOG_ERR("posting a shared receive: %s", std::strerror(error));
        completions_.release(operation);
        return DOCA_ERROR_DRIVER;
    }
    ++num_in_flight_;
    return DOCA_SUCCESS;
}

VerbsQueuePair *VerbsReceiveQueue::find(std::uint32_t number) const noexcept
{
    const auto found = queue_pairs_.find(number);
    return found != queue_pairs_.end() ? found->second : nullptr;
}

bool VerbsReceiveQueue::has_lost_device() const noexcept
{
    return is_device_lost_ || std::ranges::any_of(queue_pairs_, [](const auto &entry) {
               return entry.second->poller().has_lost_device();
           });
}

/// Usually all queue pairs have the same poller.
void VerbsReceiveQueue::check_for_failure() noexcept
{
    const ConnectionPoller *checked = nullptr;
    for (const auto &[number, queue_pair] : queue_pairs_) {
        ConnectionPoller &poller = queue_pair->poller();
        if (std::exchange(checked, &poller) != &poller)
            poller.check_for_failure();
    }
}

void VerbsReceiveQueue::remove(std::uint32_t number) noexcept
{
    const VerbsQueuePair *const removed = find(number);
    is_device_lost_ = is_device_lost_ || (removed != nullptr && removed->poller().has_lost_device());
    queue_pairs_.erase(number);
}

void VerbsReceiveQueue::flush() noexcept
{
    is_flushed_ = true; // receives that are still posted must not be used by a message any more
    // Each failed connection is moved to ERR and its completions are taken, so that receives that messages have already
    // filled complete with success.
    for (const auto &[number, queue_pair] : queue_pairs_) {
        if (queue_pair->may_be_connected())
            queue_pair->poller().fail(*queue_pair, DOCA_ERROR_SHUTDOWN);
    }
    // Operations that are left: still in the SRQ, or taken by a queue pair that failed before its completion came. No
    // queue pair can take or fill one any more.
    completions_.each_operation_of(*this, [this](Operation &operation) {
        if (operation.status == Operation::in_flight)
            completions_.done(operation, DOCA_ERROR_SHUTDOWN, {});
    });
    num_in_flight_ = 0;
}

} // namespace opendoca::verbs
