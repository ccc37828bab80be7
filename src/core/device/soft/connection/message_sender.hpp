// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "../memory/copy.hpp"
#include "../memory/importer.hpp"
#include "message_receiver.hpp"

namespace opendoca::soft {

/// The sending side of a SoftQueuePair, of which it is a base: SEND and WRITE_IMM. It derives from the receive side
/// because each message carries credits for the opposite direction (see MessageCell), so the sender rarely has to load
/// the peer's receive entries. Used by the thread of the work queue. Invariant: message n is sent before n + 1.
///
/// A short message is sent eagerly in its cell, one of medium length in the slot with the same number. For a longer one
/// the sender claims the entry of the receive, copies the data to its buffers, and then publishes the message in the
/// cell. If the peer's receives are shared, no entry is posted before the sender has sent a rendezvous request (see
/// MessageKind).
class OPENDOCA_INTERNAL MessageSender : public MessageReceiver {
protected:
    using MessageReceiver::MessageReceiver;

    /// Sends a message of any length, by the cheapest way that its receive allows. AGAIN if there is no receive for it
    /// yet.
    [[nodiscard]] doca_error_t send_message(const Request &request) noexcept;
    /// Returns whether there is a receive of at least @p length bytes for the next message.
    [[nodiscard]] bool has_credit_for(std::uint32_t length) noexcept
    {
        return (is_ahead(credits_.posted, credits_.next_message) || find_receives()) && length <= credits_.shortest;
    }
    /// Fast path: sends a short message from one buffer, and returns the result of its operation.
    [[nodiscard]] doca_error_t send_now(const Request &request) noexcept;
    /// Returns whether send_message() would find a receive. The peer must be connected.
    [[nodiscard]] bool can_send() const noexcept;

private:
    [[nodiscard]] bool find_receives() noexcept;
    [[nodiscard]] bool has_slot() noexcept;
    [[nodiscard]] bool suits_slot(const ReceiveEntry &entry, std::uint32_t length) noexcept;
    [[nodiscard]] doca_error_t send_long(const Request &request) noexcept;
    [[nodiscard]] doca_error_t place(ReceiveEntry &entry, const Request &request) noexcept;
    [[nodiscard]] doca_error_t import_segment(const ReceiveSegment &segment, const RemoteMemory *&memory) noexcept;
    void write_message(MessageKind kind, const Request &request) noexcept;
    void publish_message(MessageCell &cell, const Result &result, MessageKind kind) noexcept;
    [[nodiscard]] bool was_delivered(std::uint32_t number) const noexcept;
    [[gnu::cold]] [[nodiscard]] doca_error_t explain_undelivered() const noexcept;
    [[nodiscard]] doca_error_t deliver(MessageKind kind, const Request &request) noexcept;
    /// Returns the kind of message that the receiver of a request with @p opcode gets.
    [[nodiscard]] static Received received_of(Opcode opcode) noexcept
    {
        if (opcode == Opcode::send)
            return Received::send;
        return opcode == Opcode::send_with_immediate ? Received::send_with_immediate : Received::write_with_immediate;
    }

    std::uint32_t peer_taken_ = 0;             ///< the number of messages that the peer has received
    bool has_sent_rendezvous_request_ = false; ///< the last message was a rendezvous request
    /// A cache of the exports in which the peer's receives lie, oldest first.
    std::vector<std::unique_ptr<RemoteMemory>> receive_memories_;
};

/// Publishes the next message to the peer. @p cell is its cell, in which the caller has stored the data, if any. Also
/// passes the credits for the opposite direction.
[[gnu::always_inline]] inline void MessageSender::publish_message(MessageCell &cell, const Result &result,
                                                                  MessageKind kind) noexcept
{
    const std::uint32_t number = credits_.next_message++;
    has_sent_rendezvous_request_ = kind == MessageKind::rendezvous_request;
    cell.length = result.length;
    cell.immediate = result.immediate;
    cell.received = static_cast<std::uint16_t>(result.received);
    cell.kind = kind;
    store_credits(cell);
    // Release: pairs with the peer's load in has_message_arrived(), so that the cell, slot and placed data are visible.
    cell.sequence.store(number + 1, std::memory_order_release);
    notify_peer(message_event);
}

/// Returns whether message @p number completes with SUCCESS: the peer has received it, or sees it when it closes the
/// connection. It then still receives the message, unless its receives are shared and have run out: see
/// SoftQueuePair::fail(). False if the peer closed the connection at the same time without having received the message.
[[gnu::always_inline]] inline bool MessageSender::was_delivered(std::uint32_t number) const noexcept
{
    // Loaded after the message was stored. Pairs with the peer's fail(), which stores `connected_to` and then loads the
    // cells: its heavy_barrier(), or the full_barrier() in notify_peer(), orders the store before this load. Acquire:
    // after a close() is seen, the final num_taken is visible; unless the head has become another queue pair's.
    const QueuePairPage &page = peer().page();
    return page.connected_to.load(std::memory_order_acquire) == link_id() ||
           (is_ahead(page.num_taken.load(std::memory_order_acquire), number) && peer().is_current());
}

[[gnu::always_inline]] inline doca_error_t MessageSender::send_now(const Request &request) noexcept
{
    const std::uint32_t number = credits_.next_message;
    const std::uint32_t length = request.plan.length;
    MessageCell &cell = peer().cell(number);
    if (length != 0)
        copy_short(cell.data, request.local->data, length);
    publish_message(cell, {.length = length, .immediate = request.immediate, .received = received_of(request.opcode)},
                    MessageKind::in_cell);
    return was_delivered(number) ? DOCA_SUCCESS : explain_undelivered();
}

} // namespace opendoca::soft
