// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <infiniband/verbs.h>

#include "../../engine/completion_queue.hpp"
#include "../queue_pair.hpp"

namespace opendoca::verbs {

class VerbsDevice;
class VerbsQueuePair;

/// A shared receive queue of the device. The Operation of a receive has this object as its source until a message
/// arrives, and then the queue pair at which it has arrived. If a connection fails while it fills a receive, that
/// receive may stay in flight until flush(), since devices need not report it. Used by the thread of the completion
/// queue.
class OPENDOCA_INTERNAL VerbsReceiveQueue final : public ReceiveQueue {
public:
    [[nodiscard]] static doca_error_t create(const VerbsDevice &device, CompletionQueue &completions,
                                             std::uint32_t size, std::uint32_t chain_length,
                                             std::unique_ptr<ReceiveQueue> &created);

    [[nodiscard]] doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept override;
    /// Completes all receives. It first ends the connections, and posts no more receives: the device does not return
    /// posted ones, so no message may arrive any more.
    void flush() noexcept override;
    /// Noticed by its connections.
    [[nodiscard]] bool has_lost_device() const noexcept override;
    void check_for_failure() noexcept override;

    [[nodiscard]] bool is_flushed() const noexcept { return is_flushed_; }
    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    /// Returns the verbs object, which its last user destroys.
    [[nodiscard]] const std::shared_ptr<ibv_srq> &queue() const noexcept { return queue_; }

    // For queue pairs; by the thread of the completion queue.

    void add(std::uint32_t number, VerbsQueuePair &queue_pair) { queue_pairs_[number] = &queue_pair; }
    void remove(std::uint32_t number) noexcept;
    /// Returns the queue pair with this QPN; null if it is not attached, which cannot be for a completion: a queue pair
    /// is reset and its completions are taken before it is removed.
    [[nodiscard]] VerbsQueuePair *find(std::uint32_t number) const noexcept;
    /// Records that a receive has completed.
    void receive_completed() noexcept { --num_in_flight_; }

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
    std::uint32_t num_in_flight_ = 0; ///< posted receives that have not completed; at most size_
    std::shared_ptr<ibv_srq> queue_;  ///< shared with the queue pairs on it: a verbs SRQ must outlive them
    std::vector<ibv_sge> segments_;   ///< scatter/gather list of the receive that is being posted
    std::unordered_map<std::uint32_t, VerbsQueuePair *> queue_pairs_; ///< by queue pair number
    bool is_flushed_ = false;                                         ///< set by flush(); permanent
    bool is_device_lost_ = false; ///< noticed by a queue pair that was removed since; permanent
};

} // namespace opendoca::verbs
