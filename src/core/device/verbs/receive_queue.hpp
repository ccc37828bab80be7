// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include <infiniband/verbs.h>

#include "../../engine/completion_queue.hpp"
#include "../queue_pair.hpp"

namespace opendoca::verbs {

class VerbsDevice;
class VerbsQueuePair;

/// A shared receive queue of the device. A receive is its own until a message has come, and the queue pair's from then on.
/// One that is being filled when its connection fails may stay until flush(): a device need not tell of it.
class OPENDOCA_INTERNAL VerbsReceiveQueue final : public ReceiveQueue {
public:
    [[nodiscard]] static doca_error_t create(const VerbsDevice &device, CompletionQueue &completions, std::uint32_t size,
                                             std::uint32_t chain_length, std::unique_ptr<ReceiveQueue> &created);

    [[nodiscard]] doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept override;
    /// Ends the connections as well, and takes no more receives: the device gives none back, so no message may come any
    /// more.
    void flush() noexcept override;

    [[nodiscard]] bool is_flushed() const noexcept { return is_flushed_; }
    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    /// Its last user destroys it.
    [[nodiscard]] const std::shared_ptr<ibv_srq> &queue() const noexcept { return queue_; }

    // Of the thread of the completion queue, as the rest.

    void add(std::uint32_t number, VerbsQueuePair &queue_pair) { queue_pairs_[number] = &queue_pair; }
    void remove(std::uint32_t number) noexcept { queue_pairs_.erase(number); }
    /// The one that a completion tells the number of, or null.
    [[nodiscard]] VerbsQueuePair *find(std::uint32_t number) const noexcept;
    /// One has ended.
    void ended() noexcept { --num_; }

private:
    VerbsReceiveQueue(const VerbsDevice &device, CompletionQueue &completions, std::uint32_t size,
                      std::uint32_t chain_length)
        : device_(device),
          completions_(completions),
          size_(size),
          segments_(chain_length)
    {
    }

    const VerbsDevice &device_;
    CompletionQueue &completions_;
    const std::uint32_t size_;
    std::uint32_t num_ = 0; ///< in flight
    std::shared_ptr<ibv_srq> queue_;
    std::vector<ibv_sge> segments_; ///< of the receive that is being posted
    std::unordered_map<std::uint32_t, VerbsQueuePair *> queue_pairs_; ///< by their numbers
    bool is_flushed_ = false;
};

} // namespace opendoca::verbs
