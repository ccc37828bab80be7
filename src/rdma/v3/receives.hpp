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

/// The receives of an instance. Where the device's connections can share receives, all do. On an RDMA device without
/// shared receive queues they are the first connection's that is there, and a second one has none.
class Receives {
public:
    /// @p count: at most so many, of lists of @p chain_length.
    [[nodiscard]] static doca_error_t create(Device &device, CompletionQueue &completions, std::uint32_t count,
                                             std::uint32_t chain_length, std::unique_ptr<Receives> &made);

    /// What a connection's queue pair is made with, or null.
    [[nodiscard]] ReceiveQueue *shared() const noexcept { return shared_.get(); }
    /// Moves a connection that has receives of its own to the shared ones; returns whether it uses them now.
    bool give_to(QueuePair &queue_pair) noexcept;
    void take_from(const QueuePair &queue_pair) noexcept;

    [[nodiscard]] doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept
    {
        return shared_ != nullptr ? shared_->receive(tag, dst, plan) : receive_for_one(tag, dst, plan);
    }
    /// Ends what no message can meet any more. Its connections have been flushed.
    void flush(Source &source) noexcept;

private:
    [[nodiscard]] doca_error_t receive_for_one(Tag tag, doca_buf *dst, TransferPlan plan) noexcept;

    struct Waiting {
        Tag tag;
        doca_buf *dst;
        TransferPlan plan;
    };

    Receives(CompletionQueue &completions, std::uint32_t count) : completions_(completions) { waiting_.reserve(count); }

    CompletionQueue &completions_;
    std::unique_ptr<ReceiveQueue> shared_;
    QueuePair *only_ = nullptr;
    std::vector<Waiting> waiting_; ///< for the connection; has room for all tasks
};

} // namespace opendoca::v3
