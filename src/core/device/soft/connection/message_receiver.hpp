// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "../memory/copy.hpp"
#include "../process/read_once.hpp"
#include "peer_connection.hpp"
#include "receive_queue.hpp"

namespace opendoca::soft {

/// The receive side of a SoftQueuePair, of which it is a base: its receives, and the messages that have arrived. Used
/// by the thread of the work queue. Invariant: with own receives, message n goes into receive n.
///
/// If receives are shared, the receive is chosen when the message arrives. For a long message the sender then sends a
/// rendezvous request first; a shared receive is moved to this object's ring, and its entry is posted, so that the
/// sender can place the data.
class OPENDOCA_INTERNAL MessageReceiver : public PeerConnection {
public:
    [[nodiscard]] doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept override;

    // Used by the SoftReceiveQueue: its list of connections that have a message but no receive for it.

    MessageReceiver *next_without_receive = nullptr; ///< the next one in the list
    bool is_without_receive = false;                 ///< true while this connection is in the list

protected:
    MessageReceiver(const SoftDevice &device, const QueuePairSettings &settings, std::atomic<ConnectionState> &state);

    /// Called after an own receive was posted where there was none.
    virtual void await_message() noexcept = 0;

    /// Returns the shared receive queue, or null if receives are not shared.
    [[nodiscard]] SoftReceiveQueue *shared_receives() const noexcept { return shared_receives_; }
    /// Returns whether this queue pair holds receives. If receives are shared, it holds at most one: the one for
    /// which the peer is to place the next message.
    [[nodiscard]] bool has_receives() const noexcept { return first_receive_ != next_receive_; }
    [[nodiscard]] bool has_message_arrived() const noexcept
    {
        // Acquire: pairs with the peer's store in MessageSender::publish_message(), so that the cell and the data are
        // visible.
        return own().cell(first_receive_).sequence.load(std::memory_order_acquire) == first_receive_ + 1;
    }
    /// Returns whether a message has arrived and there is a receive for it.
    [[nodiscard]] bool can_receive() const noexcept
    {
        return (has_receives() || (shared_receives_ != nullptr && shared_receives_->has_receive())) &&
               has_message_arrived();
    }
    /// Receives the message that has arrived, into the first receive or, if receives are shared, into the next one of
    /// the shared queue. Returns false if there is no such receive or message.
    [[nodiscard]] bool receive_next() noexcept
    {
        if (!has_receivable_message())
            return false;
        if (!has_receives()) [[unlikely]]
            return receive_into_shared();
        (void)receive_into_posted(false);
        return true;
    }
    /// Receives the message that has arrived into the first receive and completes it. If @p returns_operation is set, a
    /// successful operation is returned instead of completed. A failed one ends the connection.
    Operation *receive_into_posted(bool returns_operation) noexcept;
    /// Receives the message that has arrived into @p receive, which was taken from the shared queue. Returns what
    /// receive_into_posted() returns.
    Operation *receive_into(Operation &receive, bool returns_operation) noexcept;
    // Fast paths: receive the message that has arrived into the first receive, or into the next shared one, and return
    // it. They return null without any change if unpack_short() does not handle the message.
    [[nodiscard]] Operation *receive_short_into_posted() noexcept;
    [[nodiscard]] Operation *receive_short_into_shared() noexcept;
    /// Returns whether the message that has arrived is the peer's rendezvous request: it has no data, and its answer is
    /// a posted receive.
    [[nodiscard]] bool is_rendezvous_request() const noexcept
    {
        return read_once(own().cell(first_receive_).kind) == MessageKind::rendezvous_request;
    }
    /// Returns whether a message with data waits for a shared receive. Its sender may have completed it, so the loss of
    /// the peer is handled only after it was received.
    [[nodiscard]] bool has_unmatched_message() const noexcept;
    /// Called when messages or shared receives have run out. If a message is left, adds this connection to the list for
    /// the next shared receives; if a receive is left, schedules a check of the first connection in the list. Does
    /// nothing if connections are polled directly: each poll checks them all.
    void wait_for_shared_receive() noexcept;
    /// Gives up the first receive, which has no message: completes an own one with @p status, and returns a shared one
    /// to its queue, for a message of another connection.
    void give_up_first(doca_error_t status) noexcept;
    /// Flushes the receives of this queue pair. Messages that have arrived for them are received first, because their
    /// sender may have completed them. A receive that the peer is filling stays until the peer has finished or ended;
    /// this is then to be called again.
    void flush_receives() noexcept;

    /// Stores in @p cell which messages of the peer this side can receive.
    void store_credits(MessageCell &cell) const noexcept
    {
        // If receives are shared, the credits are free cells, and any length is accepted: the receive is chosen on
        // arrival.
        cell.num_posted = shared_receives_ != nullptr ? first_receive_ + recv_queue_size_ : next_receive_;
        cell.shortest_receive = shared_receives_ != nullptr ? UINT32_MAX : has_receives() ? shortest_posted_ : 0;
    }

    /// The credits for messages to the peer. Lower bounds of the peer's current values: they come with its messages, or
    /// the sender loads them from its page when they are used up.
    struct SendCredits {
        std::uint32_t next_message = 0; ///< the number of the next message to the peer
        std::uint32_t posted = 0;       ///< messages with smaller numbers may be sent: MessageCell::num_posted
        std::uint32_t shortest = 0;     ///< bytes that each of these may have: MessageCell::shortest_receive
    };
    SendCredits credits_;
    doca_error_t flush_status_ = DOCA_ERROR_SHUTDOWN; ///< with which operations end that the connection flushes

private:
    [[nodiscard]] Operation *&receive_of(std::uint32_t number) noexcept { return receives_[number & receive_mask_]; }
    /// Returns whether the next message has arrived and can be received. False after a message that could not be
    /// received.
    [[nodiscard]] bool has_receivable_message() const noexcept { return has_message_arrived() && !has_lost_message_; }
    [[nodiscard]] bool receive_into_shared() noexcept;
    [[nodiscard]] doca_error_t post_shared_receive(Operation &operation) noexcept;
    void take_credits(const MessageCell &cell) noexcept;
    [[nodiscard]] bool unpack_short(const MessageCell &cell, Operation &operation) noexcept;
    [[nodiscard]] doca_error_t unpack(const std::byte *data, MessageKind kind, const Receive &receive,
                                      const Result &result) noexcept;
    void give_up(Operation &operation, doca_error_t status) noexcept;

    const std::uint32_t recv_queue_size_;     ///< a power of two
    const std::uint32_t receive_mask_;        ///< the size of receives_ - 1
    SoftReceiveQueue *const shared_receives_; ///< null unless receives are shared
    bool has_lost_message_ = false;           ///< a message has arrived that its receive could not hold
    /// Posted receives: a ring of recv_queue_size_ elements, or of one if receives are shared: for the receive of
    /// message first_receive_. Not initialized, so that the pages of a large queue are only touched if it is used.
    std::unique_ptr<Operation *[]> receives_;
    std::uint32_t first_receive_ = 0;   ///< the oldest receive, and the next message
    std::uint32_t next_receive_ = 0;    ///< the next receive to be posted
    std::uint32_t shortest_posted_ = 0; ///< the smallest capacity of the receives posted since the ring was last empty
};

/// Takes over the credits that came with a message. Ignores values that are older than the current ones, or that exceed
/// the peer's queue: the peer can write anything.
[[gnu::always_inline]] inline void MessageReceiver::take_credits(const MessageCell &cell) noexcept
{
    if (const std::uint32_t posted = read_once(cell.num_posted);
        is_ahead(posted, credits_.posted) && posted - credits_.next_message <= peer().recv_queue_size()) {
        credits_.posted = posted;
        credits_.shortest = read_once(cell.shortest_receive);
    }
}

/// Receives the message of @p cell into @p operation, if its data is in the cell and fits the receive's first buffer.
/// Otherwise returns false without any change, as for 0 bytes: the receive may then have no buffer.
[[gnu::always_inline]] inline bool MessageReceiver::unpack_short(const MessageCell &cell, Operation &operation) noexcept
{
    const std::uint32_t length = read_once(cell.length);
    const std::uint16_t received = read_once(cell.received);
    const Receive &receive = operation.payload<Receive>();
    if (read_once(cell.kind) != MessageKind::in_cell ||
        received > static_cast<std::uint16_t>(Received::send_with_immediate) || length - 1 >= cell_capacity ||
        length > receive.plan.length || receive.plan.overwrites || length > receive.dst->tailroom())
        return false;
    copy_short(receive.dst->data + receive.dst->data_len, cell.data, length);
    receive.dst->data_len += length;
    operation.length = length;
    operation.message = {read_once(cell.immediate), static_cast<Received>(received)};
    take_credits(cell);
    return true;
}

[[gnu::always_inline]] inline Operation *MessageReceiver::receive_short_into_posted() noexcept
{
    Operation &operation = *receive_of(first_receive_);
    if (!unpack_short(own().cell(first_receive_), operation))
        return nullptr;
    // Release: as in receive_into_posted().
    own().page().num_taken.store(++first_receive_, std::memory_order_release);
    return &operation;
}

[[gnu::always_inline]] inline Operation *MessageReceiver::receive_short_into_shared() noexcept
{
    if (!unpack_short(own().cell(first_receive_), shared_receives_->first()))
        return nullptr;
    Operation &operation = shared_receives_->take(*this);
    next_receive_ = ++first_receive_;
    // Release: pairs with the loads in MessageSender::find_receives() and has_slot(), after which the peer reuses the
    // cell.
    own().page().num_taken.store(first_receive_, std::memory_order_release);
    notify_peer(receive_event); // one more free cell
    return &operation;
}

} // namespace opendoca::soft
