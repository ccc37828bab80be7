// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../../core/device/device.hpp"
#include "../../core/device/queue_pair.hpp"
#include "../../core/engine/completion_queue.hpp"

namespace opendoca::v3 {

/// The receives of an instance. On a device with shared receive queues all connections share one, and any of them may
/// fill any receive. On other devices they belong to one connection at a time: the first that connects while no other
/// has them. One that connected meanwhile gets none, also later.
/// Owned by a doca_rdma while its context is not idle, destroyed after the queue pairs, and used by the thread of its
/// progress engine.
class Receives {
public:
    /// Creates space for @p count receives of up to @p chain_length buffers each.
    [[nodiscard]] static doca_error_t create(Device &device, CompletionQueue &completions, std::uint32_t count,
                                             std::uint32_t chain_length, std::unique_ptr<Receives> &made);

    /// Returns the receive queue with which queue pairs are created, or null if the device has none.
    [[nodiscard]] ReceiveQueue *shared() const noexcept { return shared_.get(); }
    /// Returns whether the device was lost, see ReceiveQueue; always false if the device has no shared receive queues.
    [[nodiscard]] bool has_lost_device() const noexcept { return shared_ != nullptr && shared_->has_lost_device(); }
    /// Reads what the device has reported, as a ReceiveQueue does.
    void check_for_failure() noexcept
    {
        if (shared_ != nullptr)
            shared_->check_for_failure();
    }
    /// Called once, when @p queue_pair is connected. If receives are not shared and no other connection has them, they
    /// belong to it from now on, and those that were submitted before are posted to it.
    void attach(QueuePair &queue_pair) noexcept;
    /// Called when @p queue_pair is flushed: the next connection that connects can be attached.
    void detach(const QueuePair &queue_pair) noexcept;

    /// Posts a receive. NO_MEMORY if all receives are in use.
    [[nodiscard]] doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept
    {
        return shared_ != nullptr ? shared_->receive(tag, dst, plan) : receive_on_single(tag, dst, plan);
    }
    /// Completes the receives that no connection will fill any more, with SHUTDOWN and @p source as their source. All
    /// connections must be flushed.
    void flush(Source &source) noexcept;

private:
    [[nodiscard]] doca_error_t receive_on_single(Tag tag, doca_buf *dst, TransferPlan plan) noexcept;

    /// A receive that was posted while no connection was attached.
    struct Pending {
        Tag tag;
        doca_buf *dst;
        TransferPlan plan;
    };

    Receives(CompletionQueue &completions, std::uint32_t count) : completions_(completions) { pending_.reserve(count); }

    CompletionQueue &completions_;
    std::unique_ptr<ReceiveQueue> shared_; ///< null if the device has no shared receive queues
    QueuePair *single_ = nullptr;  ///< the connection that has the receives, or null; always null if they are shared
    std::vector<Pending> pending_; ///< oldest first; capacity for all tasks is reserved, so posting allocates nothing
};

} // namespace opendoca::v3
