// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../../engine/completion_queue.hpp"
#include "../../../objects/buf.hpp"
#include "../../../objects/mmap.hpp"
#include "../../queue_pair.hpp"
#include "../device.hpp"
#include "queue_pair_page.hpp"

namespace opendoca::soft {

class MessageReceiver;

/// The payload of a receive's Operation: the destination of the message.
struct Receive {
    doca_buf *dst;
    TransferPlan plan;
};

/// A shared receive queue (SRQ): the receives that several connections of one completion queue share. A message goes
/// into the oldest one when it arrives, by whichever connection. Owned by its creator, which outlives the queue pairs;
/// only the completion queue's thread may use it. Also holds the list of connections that have a message but no receive
/// for it.
class OPENDOCA_INTERNAL SoftReceiveQueue : public ReceiveQueue {
public:
    SoftReceiveQueue(const SoftDevice &device, CompletionQueue &completions, std::uint32_t size);

    /// Queues a receive. NO_MEMORY if the receive queue or the completion queue is full.
    [[nodiscard]] doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept override;
    /// Completes all receives without a message with SHUTDOWN.
    void flush() noexcept override { end_all(DOCA_ERROR_SHUTDOWN); }

    [[nodiscard]] bool has_receive() const noexcept { return num_ != 0; }
    /// Returns the oldest receive, which stays in the queue. There must be one.
    [[nodiscard]] Operation &first() noexcept { return *at(first_); }
    /// Removes the oldest receive, and makes it an operation of @p queue_pair. There must be one.
    [[nodiscard]] Operation &take(Source &queue_pair) noexcept
    {
        --num_;
        Operation &operation = *at(first_++);
        completions_.assign(operation, queue_pair);
        return operation;
    }
    /// Returns a receive that was taken but not filled to the head of the queue; flushes it if there is no room.
    void put_back(Operation &operation) noexcept;

    /// Adds @p connection, which has a message but no receive, to the end of the list, unless it is in the list: it is
    /// checked again when a receive is posted. For connections that are checked only when their peers ring.
    void add_without_receive(MessageReceiver &connection) noexcept;
    /// If there is a receive, schedules a check of the first connection in the list.
    void check_first_without_receive() noexcept
    {
        if (first_without_receive_ != nullptr && has_receive()) [[unlikely]]
            schedule_first_without_receive();
    }
    /// Removes @p connection, which has ended or is detached, from the list. If there is a receive, also
    /// schedules a check of the first connection: the receive may have been meant for the removed one.
    void remove_without_receive(MessageReceiver &connection) noexcept;

protected:
    [[nodiscard]] CompletionQueue &completions() const noexcept { return completions_; }
    /// Completes all receives without a message with @p status.
    void end_all(doca_error_t status) noexcept;

private:
    [[gnu::cold]] void schedule_first_without_receive() noexcept;
    /// Checks that senders can place a message in the memory of @p receive: each buffer's memory map must be
    /// exportable.
    [[nodiscard]] doca_error_t check_exports(const Receive &receive);
    [[nodiscard]] bool was_exported(const doca_mmap &map) const noexcept
    {
        const std::pair key(map.serial(), map.num_starts());
        return key == exported_[0] || key == exported_[1];
    }
    [[nodiscard]] bool were_all_exported(const doca_buf *list) const noexcept
    {
        while (list != nullptr && was_exported(*list->mmap))
            list = list->next;
        return list == nullptr;
    }

    [[nodiscard]] Operation *&at(std::uint32_t number) noexcept { return ring_[number & mask_]; }

    const SoftDevice &device_;
    CompletionQueue &completions_;
    /// The two memory maps that were found to be exported last, by doca_mmap's serial() and num_starts(): programs
    /// rarely use more for receives. A map that was stopped and started again has another num_starts().
    std::array<std::pair<std::uint64_t, std::uint32_t>, 2> exported_{};
    std::size_t last_exported_ = 0; ///< index in exported_ of the newer one
    const std::uint32_t size_;      ///< the number of receives that the program may post
    const std::uint32_t mask_;      ///< the size of ring_ - 1
    std::vector<Operation *> ring_; ///< its size is a power of two, at least size_
    std::uint32_t first_ = 0;       ///< the number of the oldest receive; wraps around
    std::uint32_t num_ = 0;         ///< the number of receives in the ring
    // The connections that have a message but no receive for it: a list through MessageReceiver::next_without_receive,
    // oldest first.
    MessageReceiver *first_without_receive_ = nullptr;
    MessageReceiver *last_without_receive_ = nullptr; ///< valid if first_without_receive_ is not null
};

/// Writes the SGEs of @p receive to @p entry, so that the peer can place a message in them. Exports the memory maps
/// that are not exported yet, which may allocate. @p entry is unusable after a failure. NOT_PERMITTED, NO_MEMORY and
/// others of SoftKey::export_for_receives().
[[nodiscard]] doca_error_t post_segments(const SoftDevice &device, ReceiveEntry &entry, const Receive &receive);

} // namespace opendoca::soft
