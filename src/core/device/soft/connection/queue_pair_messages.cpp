// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// SEND, WRITE_IMM and RECV. Message n meets receive n. A short message travels in its cell, one of
// medium length in a slot beside it; for a longer one the sender takes the receive and fills its buffers,
// then says so in the cell. That the receive is there, the sender mostly knows from the last message that
// came the other way.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>

#include "../../../log.hpp"
#include "../../../mmap.hpp"
#include "../../cursor.hpp"
#include "../memory/copy.hpp"
#include "../process/read_once.hpp"
#include "queue_pair.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_RDMA_MESSAGES);

namespace opendoca::soft {

namespace {

constexpr std::size_t max_receive_memories = 64;
constexpr std::uint32_t look_ahead = 16; ///< receives; queues that are shorter end it by themselves
/// Up to here a copy into a slot and one out of it cost less than the way to the receive's memory.
constexpr std::size_t longest_for_slots = 1024;

/// Returns the kind of message that the receiver of a request with @p opcode gets.
Received received_of(Opcode opcode) noexcept
{
    if (opcode == Opcode::send)
        return Received::send;
    return opcode == Opcode::send_with_immediate ? Received::send_with_immediate : Received::write_with_immediate;
}

} // namespace

/// Publishes message next_message_, with its bytes in @p cell, to the peer.
[[gnu::always_inline]] inline void SoftQueuePair::announce(MessageCell &cell, const Result &result,
                                                           MessageKind kind) noexcept
{
    const std::uint32_t number = next_message_++;
    has_asked_ = kind == MessageKind::asks;
    cell.length = result.length;
    cell.immediate = result.immediate;
    cell.received = static_cast<std::uint16_t>(result.received);
    cell.kind = kind;
    cell.num_posted = shared_ != nullptr ? first_receive_ + recv_queue_size_ : next_receive_;
    cell.shortest_receive = shared_ != nullptr ? UINT32_MAX : has_receives() ? shortest_posted_ : 0;
    // Release: a peer that loads the number sees the message.
    cell.sequence.store(number + 1, std::memory_order_release);
    tell_peer(wants_messages);
}

/// Whether the peer takes message @p number, which was put while it may just have been turning away, for all that its
/// state said.
[[gnu::always_inline]] inline bool SoftQueuePair::was_delivered(std::uint32_t number) const noexcept
{
    // First the message, then this look; the peer's fail() makes the barrier for both, or what tell_peer()
    // has exchanged does. Acquire: after the peer's close is seen, all that it took before is visible.
    const QueuePairPage &page = peer_->page();
    return page.accepts.load(std::memory_order_acquire) == own_->id() ||
           is_ahead(page.num_taken.load(std::memory_order_relaxed), number);
}

doca_error_t SoftQueuePair::post_message(Tag tag, const Request &request) noexcept
{
    // Fast path: a short message from one buffer, for a receive that is posted as far as known here.
    const TransferPlan plan = request.plan;
    if (plan.length <= cell_capacity && !plan.is_list && plan.length <= known_shortest_ &&
        is_ahead(known_posted_, next_message_) && can_end_at_once() && is_peer_there()) [[likely]] {
        const std::uint32_t number = next_message_;
        MessageCell &cell = peer_->cell(number);
        if (plan.length != 0)
            copy_short(cell.data, request.local->data, plan.length);
        announce(cell, {.length = plan.length, .immediate = request.immediate, .received = received_of(request.opcode)},
                 MessageKind::in_cell);
        end_at_once(tag, was_delivered(number) ? DOCA_SUCCESS : explain_undelivered(), 0);
        return DOCA_SUCCESS;
    }
    return post_any(tag, request);
}

doca_error_t SoftQueuePair::send_message(const Request &request) noexcept
{
    if (const doca_error_t status = check_peer(); status != DOCA_SUCCESS)
        return status;
    const std::uint32_t length = request.plan.length;
    if (!is_ahead(known_posted_, next_message_) && !find_receives())
        return DOCA_ERROR_AGAIN;
    if (request.opcode == Opcode::write_with_immediate) {
        if (const doca_error_t status = transfer(request); status != DOCA_SUCCESS)
            return status;
        return deliver(MessageKind::placed, request);
    }
    if (length != 0 && data_of(*request.local) < length) {
        LOG_ERR("the data section of a buffer was changed while its message of %u bytes waited", length);
        return DOCA_ERROR_IO_FAILED;
    }
    if (length <= cell_capacity && length <= known_shortest_ && is_ahead(known_posted_, next_message_))
        return deliver(MessageKind::in_cell, request);
    if (length <= longest_for_slots && length <= known_shortest_ && is_ahead(known_posted_, next_message_) &&
        has_slot()) {
        return deliver(MessageKind::in_slot, request);
    }
    return send_long(request);
}

/// Looks for the receive of the next message, and while it is there, for those behind it. Where the peer's receives
/// are shared, what counts is room for messages.
bool SoftQueuePair::find_receives() noexcept
{
    if (peer_->shares_receives()) {
        // Acquire: pairs with the store in take_message().
        known_posted_ = peer_->page().num_taken.load(std::memory_order_acquire) + peer_->recv_queue_size();
        known_shortest_ = UINT32_MAX;
        return is_ahead(known_posted_, next_message_);
    }
    std::uint32_t number = next_message_;
    std::uint32_t room = UINT32_MAX;
    for (; number - next_message_ < look_ahead; ++number) {
        const ReceiveEntry &entry = peer_->entry(number);
        // Acquire: pairs with the store in receive().
        if (entry.state.load(std::memory_order_acquire) != state_of(number, ReceiveState::posted))
            break;
        room = std::min(room, read_once(entry.capacity));
    }
    if (number == next_message_)
        return false;
    known_posted_ = number;
    known_shortest_ = room;
    return true;
}

/// Whether the slot of the next message is free.
bool SoftQueuePair::has_slot() noexcept
{
    // Acquire: pairs with the store in take_message().
    if (next_message_ - known_taken_ >= peer_->num_slots())
        known_taken_ = peer_->page().num_taken.load(std::memory_order_acquire);
    return next_message_ - known_taken_ < peer_->num_slots();
}

/// Whether a message of @p length bytes for the receive of @p entry is better sent in a slot than placed.
bool SoftQueuePair::suits_slot(const ReceiveEntry &entry, std::uint32_t length) noexcept
{
    if (length > slot_size || !has_slot())
        return false;
    if (length <= longest_for_slots)
        return true;
    // Memory that only the kernel can copy to is far.
    ReceiveSegment segment;
    std::memcpy(&segment, entry.segments(), sizeof(segment));
    const RemoteMemory *memory = nullptr;
    return read_once(entry.num_segments) != 0 && reach_segment(segment, memory) == DOCA_SUCCESS &&
           memory->reach() == RemoteMemory::Reach::process;
}

/// A message that is too long for a cell, or perhaps for the receive.
doca_error_t SoftQueuePair::send_long(const Request &request) noexcept
{
    const std::uint32_t length = request.plan.length;
    if (peer_->shares_receives() && !has_asked_) {
        if (length <= slot_size && has_slot())
            return deliver(MessageKind::in_slot, request);
        put_message(MessageKind::asks, request);
    }
    ReceiveEntry &entry = peer_->entry(next_message_);
    std::uint64_t state = entry.state.load(std::memory_order_acquire);
    if (state != state_of(next_message_, ReceiveState::posted))
        return DOCA_ERROR_AGAIN; // withdrawn just now, or not posted yet
    if (const std::uint32_t room = read_once(entry.capacity); length > room) {
        LOG_ERR("the message has %u bytes, and the receive that it meets takes %u", length, room);
        put_message(MessageKind::too_long, request);
        return DOCA_ERROR_FULL;
    }
    if (length <= cell_capacity)
        return deliver(MessageKind::in_cell, request);
    if (suits_slot(entry, length)) {
        return deliver(MessageKind::in_slot, request);
    }
    // Acquire and release: the owner touches the memory before and after, never meanwhile.
    if (!entry.state.compare_exchange_strong(state, state_of(next_message_, ReceiveState::placing),
                                             std::memory_order_acq_rel))
        return DOCA_ERROR_AGAIN;
    const doca_error_t status = place(entry, request);
    put_message(status == DOCA_SUCCESS ? MessageKind::placed : MessageKind::failed, request);
    return status;
}

/// Copies the message into the buffers of the receive.
doca_error_t SoftQueuePair::place(ReceiveEntry &entry, const Request &request) noexcept
{
    const std::uint32_t num_segments = std::min(read_once(entry.num_segments), peer_->chain_length());
    const std::size_t total = request.plan.length;
    Cursor src = Cursor::over_data(*request.local);
    std::size_t left = total;
    for (std::uint32_t i = 0; i < num_segments && left != 0; ++i) {
        ReceiveSegment segment;
        std::memcpy(&segment, &entry.segments()[i], sizeof(segment)); // once: it is checked, then used
        const RemoteMemory *memory = nullptr;
        if (const doca_error_t status = reach_segment(segment, memory); status != DOCA_SUCCESS)
            return status;
        auto *there = reinterpret_cast<std::byte *>(segment.addr);
        for (std::size_t room = segment.length; room != 0 && left != 0;) {
            src.skip_empty();
            const std::size_t length = std::min({room, left, src.left()});
            const doca_error_t status = poller_->copier.copy(memory, there, nullptr, src.addr(), length, total);
            if (status != DOCA_SUCCESS)
                return status;
            src.advance(length);
            there += length;
            room -= length;
            left -= length;
        }
    }
    if (left != 0) {
        LOG_ERR("the receive of process %d has less memory than it announced", process_->pid());
        return DOCA_ERROR_IO_FAILED;
    }
    return DOCA_SUCCESS;
}

doca_error_t SoftQueuePair::reach_segment(const ReceiveSegment &segment, const RemoteMemory *&memory) noexcept
{
    return guarded([&] {
        auto known =
            std::ranges::find_if(receive_memories_, [&](const auto &other) { return other->entry() == segment.entry; });
        if (known != receive_memories_.end() && (*known)->generation() != segment.generation) {
            receive_memories_.erase(known);
            known = receive_memories_.end();
        }
        if (known == receive_memories_.end()) {
            if (receive_memories_.size() == max_receive_memories)
                receive_memories_.erase(receive_memories_.begin());
            std::unique_ptr<RemoteMemory> fresh;
            const doca_error_t status = RemoteMemory::reach_receive(process_, segment.entry, segment.generation, fresh);
            if (status != DOCA_SUCCESS) {
                LOG_ERR("the memory of the receive that process %d has posted can't be reached", process_->pid());
                return DOCA_ERROR_IO_FAILED;
            }
            known = receive_memories_.insert(receive_memories_.end(), std::move(fresh));
        }
        if (!(*known)->range().contains(reinterpret_cast<const std::byte *>(segment.addr), segment.length)) {
            LOG_ERR("the receive that process %d has posted is outside of its memory map", process_->pid());
            return DOCA_ERROR_IO_FAILED;
        }
        memory = known->get();
        return DOCA_SUCCESS;
    });
}

/// Puts message next_message_, and if it is in_cell or in_slot, its bytes.
void SoftQueuePair::put_message(MessageKind kind, const Request &request) noexcept
{
    MessageCell &cell = peer_->cell(next_message_);
    const std::uint32_t length = request.plan.length;
    if ((kind == MessageKind::in_cell || kind == MessageKind::in_slot) && length != 0) {
        std::byte *to = kind == MessageKind::in_cell ? cell.data : peer_->slot(next_message_);
        std::size_t left = length;
        for (const doca_buf *buf = request.local; left != 0; buf = buf->next) {
            const std::size_t part = std::min(left, buf->data_len);
            std::memcpy(to, buf->data, part);
            to += part;
            left -= part;
        }
    }
    announce(cell, {.length = length, .immediate = request.immediate, .received = received_of(request.opcode)}, kind);
}

doca_error_t SoftQueuePair::explain_undelivered() const noexcept
{
    (void)explain_peer();
    return DOCA_ERROR_CONNECTION_RESET;
}

doca_error_t SoftQueuePair::deliver(MessageKind kind, const Request &request) noexcept
{
    const std::uint32_t number = next_message_;
    put_message(kind, request);
    return was_delivered(number) ? DOCA_SUCCESS : explain_undelivered();
}

} // namespace opendoca::soft
