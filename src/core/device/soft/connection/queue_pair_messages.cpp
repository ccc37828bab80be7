// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// SEND, WRITE_IMM and RECV. Message n meets receive n. A short message travels in its cell, one of
// medium length in a slot beside it; for a longer one the sender takes the receive and fills its buffers,
// then says so in the cell. That the receive is there, the sender mostly knows from the last message that
// came the other way.
#include <algorithm>
#include <cstring>

#include "../../../log.hpp"
#include "../../../mmap.hpp"
#include "../../cursor.hpp"
#include "../process/read_once.hpp"
#include "queue_pair.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_RDMA_MESSAGES);

namespace opendoca::soft {

namespace {

constexpr std::size_t cell_room = sizeof(MessageCell::data);
constexpr std::size_t max_receive_memories = 64;
constexpr std::uint32_t look_ahead = 16; ///< receives; queues that are shorter end it by themselves
/// Up to here a copy into a slot and one out of it cost less than the way to the receive's memory.
constexpr std::size_t longest_for_slots = 1024;

/// Whether counter @p a is ahead of @p b; both wrap around.
bool is_ahead(std::uint32_t a, std::uint32_t b) noexcept
{
    return static_cast<std::int32_t>(a - b) > 0;
}

} // namespace

doca_error_t SoftQueuePair::send(Tag tag, const doca_buf *src, TransferPlan plan, Immediate immediate) noexcept
{
    Work work{};
    work.local = const_cast<doca_buf *>(src);
    work.transfer = {plan, immediate.value_or(0)};
    const Opcode opcode = immediate ? Opcode::send_with_immediate : Opcode::send;
    // Fast path: a short message, for a receive that we know of.
    if (plan.length <= cell_room && plan.length <= known_room_ && is_ahead(known_posted_, next_message_) &&
        can_end_at_once() && check_peer() == DOCA_SUCCESS) [[likely]] {
        end_at_once(tag, deliver(opcode, MessageKind::in_cell, work), 0);
        return DOCA_SUCCESS;
    }
    return start(tag, opcode, work);
}

doca_error_t SoftQueuePair::send_message(Opcode opcode, const Work &work) noexcept
{
    if (const doca_error_t status = check_peer(); status != DOCA_SUCCESS)
        return status;
    const std::uint32_t length = work.transfer.plan.length;
    if (!is_ahead(known_posted_, next_message_) && !find_receives())
        return DOCA_ERROR_AGAIN;
    if (opcode == Opcode::write_with_immediate) {
        if (const doca_error_t status = transfer(opcode, work); status != DOCA_SUCCESS)
            return status;
        return deliver(opcode, MessageKind::placed, work);
    }
    if (length != 0 && data_of(*work.local) < length) {
        LOG_ERR("the data section of a buffer was changed while its message of %u bytes waited", length);
        return DOCA_ERROR_IO_FAILED;
    }
    if (length <= cell_room && length <= known_room_ && is_ahead(known_posted_, next_message_))
        return deliver(opcode, MessageKind::in_cell, work);
    if (length <= longest_for_slots && length <= known_room_ && is_ahead(known_posted_, next_message_) &&
        has_slot()) {
        return deliver(opcode, MessageKind::in_slot, work);
    }
    return send_long(opcode, work);
}

/// Looks for the receive of the next message, and while it is there, for those behind it.
bool SoftQueuePair::find_receives() noexcept
{
    std::uint32_t number = next_message_;
    std::uint32_t room = UINT32_MAX;
    for (; number - next_message_ < look_ahead; ++number) {
        const ReceiveEntry &entry = peer_->entry(number);
        // Acquire: pairs with the store in receive().
        if (entry.ticket.load(std::memory_order_acquire) != ticket_of(number, Turn::posted))
            break;
        room = std::min(room, entry.room);
    }
    if (number == next_message_)
        return false;
    known_posted_ = number;
    known_room_ = room;
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
    return entry.num_segments != 0 && reach_segment(segment, memory) == DOCA_SUCCESS &&
           memory->reach() == RemoteMemory::Reach::process;
}

/// A message that is too long for a cell, or perhaps for the receive.
doca_error_t SoftQueuePair::send_long(Opcode opcode, const Work &work) noexcept
{
    const std::uint32_t length = work.transfer.plan.length;
    ReceiveEntry &entry = peer_->entry(next_message_);
    std::uint64_t ticket = entry.ticket.load(std::memory_order_acquire);
    if (ticket != ticket_of(next_message_, Turn::posted))
        return DOCA_ERROR_AGAIN; // withdrawn just now
    if (const std::uint32_t room = entry.room; length > room) {
        LOG_ERR("the message has %u bytes, and the receive that it meets takes %u", length, room);
        put_message(opcode, MessageKind::too_long, work);
        return DOCA_ERROR_FULL;
    }
    if (length <= cell_room)
        return deliver(opcode, MessageKind::in_cell, work);
    if (suits_slot(entry, length)) {
        return deliver(opcode, MessageKind::in_slot, work);
    }
    // Acquire and release: the owner touches the memory before and after, never meanwhile.
    if (!entry.ticket.compare_exchange_strong(ticket, ticket_of(next_message_, Turn::placing),
                                              std::memory_order_acq_rel))
        return DOCA_ERROR_AGAIN;
    const doca_error_t status = place(entry, work);
    put_message(opcode, status == DOCA_SUCCESS ? MessageKind::placed : MessageKind::failed, work);
    return status;
}

/// Copies the message into the buffers of the receive.
doca_error_t SoftQueuePair::place(ReceiveEntry &entry, const Work &work) noexcept
{
    const std::uint32_t num_segments = std::min(entry.num_segments, peer_->chain_length());
    const std::size_t total = work.transfer.plan.length;
    Cursor src = Cursor::over_data(*work.local);
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
        LOG_ERR("the receive of process %d has less memory than it says", process_->pid());
        return DOCA_ERROR_IO_FAILED;
    }
    return DOCA_SUCCESS;
}

doca_error_t SoftQueuePair::reach_segment(const ReceiveSegment &segment, const RemoteMemory *&memory) noexcept
{
    return guarded([&] {
        auto known = std::ranges::find_if(receive_memories_,
                                          [&](const auto &other) { return other->entry() == segment.entry; });
        if (known != receive_memories_.end() && (*known)->generation() != segment.generation) {
            receive_memories_.erase(known);
            known = receive_memories_.end();
        }
        if (known == receive_memories_.end()) {
            if (receive_memories_.size() == max_receive_memories)
                receive_memories_.erase(receive_memories_.begin());
            std::unique_ptr<RemoteMemory> fresh;
            const doca_error_t status =
                RemoteMemory::reach_receive(process_, segment.entry, segment.generation, fresh);
            if (status != DOCA_SUCCESS) {
                LOG_ERR("the memory of the receive that process %d has posted can't be reached",
                             process_->pid());
                return DOCA_ERROR_IO_FAILED;
            }
            known = receive_memories_.insert(receive_memories_.end(), std::move(fresh));
        }
        if (!(*known)->range().contains(reinterpret_cast<const std::byte *>(segment.addr), segment.length)) {
            LOG_ERR("the receive that process %d has posted is outside of its memory map",
                         process_->pid());
            return DOCA_ERROR_IO_FAILED;
        }
        memory = known->get();
        return DOCA_SUCCESS;
    });
}

/// What the receiver is told of a message.
Received SoftQueuePair::received_of(Opcode opcode) noexcept
{
    switch (opcode) {
    case Opcode::send:
        return Received::send;
    case Opcode::send_with_immediate:
        return Received::send_with_immediate;
    default:
        return Received::write_with_immediate;
    }
}

/// Tells the peer of message next_message_, and if it is in_cell or in_slot, hands it over.
void SoftQueuePair::put_message(Opcode opcode, MessageKind kind, const Work &work) noexcept
{
    const std::uint32_t number = next_message_++;
    MessageCell &cell = peer_->cell(number);
    const std::uint32_t length = work.transfer.plan.length;
    if ((kind == MessageKind::in_cell || kind == MessageKind::in_slot) && length != 0) {
        std::byte *to = kind == MessageKind::in_cell ? cell.data : peer_->slot(number);
        std::size_t left = length;
        for (const doca_buf *buf = work.local; left != 0; buf = buf->next) {
            const std::size_t part = std::min(left, buf->data_len);
            std::memcpy(to, buf->data, part);
            to += part;
            left -= part;
        }
    }
    cell.length = length;
    cell.immediate = work.transfer.immediate;
    cell.received = static_cast<std::uint16_t>(received_of(opcode));
    cell.kind = kind;
    cell.num_posted = next_receive_;
    cell.room = has_receives() ? least_room_ : 0;
    // Release: who sees the number sees the message.
    cell.sequence.store(number + 1, std::memory_order_release);
    tell_peer(wants_messages);
}

/// Puts a message that the peer may just be turning away, for all that its ticket says.
doca_error_t SoftQueuePair::deliver(Opcode opcode, MessageKind kind, const Work &work) noexcept
{
    const std::uint32_t number = next_message_;
    put_message(opcode, kind, work);
    // First the message, then this look; the peer's fail() makes the barrier for both, or what tell_peer()
    // has exchanged does. Acquire: who sees that the peer has closed sees what it has taken before.
    const EndpointPage &page = peer_->page();
    if (page.accepts.load(std::memory_order_acquire) == own_->id() ||
        is_ahead(page.num_taken.load(std::memory_order_relaxed), number)) [[likely]]
        return DOCA_SUCCESS;
    (void)explain_peer();
    return DOCA_ERROR_CONNECTION_RESET;
}

doca_error_t SoftQueuePair::receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept
{
    if (next_receive_ - first_receive_ == recv_queue_size_ || completions_->is_full() || !may_wait())
        return DOCA_ERROR_NO_MEMORY;
    const std::uint32_t number = next_receive_;
    ReceiveEntry &entry = own_->entry(number);
    const Receive receive = {dst, plan};
    if (plan.length > cell_room) {
        const doca_error_t status = guarded([&] { return post_segments(entry, receive); });
        if (status != DOCA_SUCCESS)
            return status;
    }
    const bool is_first = !has_waiting_operations();
    Operation &operation = completions_->begin(tag, *this);
    operation.payload<Receive>() = receive;
    receives_[number & (recv_queue_size_ - 1)] = &operation;
    entry.room = plan.length;
    least_room_ = has_receives() ? std::min(least_room_, plan.length) : plan.length;
    next_receive_ = number + 1;
    // Release: who sees the ticket sees the segments, and what the program has done with the memory.
    entry.ticket.store(ticket_of(number, Turn::posted), std::memory_order_release);
    tell_peer(wants_receives);
    if (has_doorbells_ && is_first) [[unlikely]]
        began_to_wait();
    return DOCA_SUCCESS;
}

doca_error_t SoftQueuePair::post_segments(ReceiveEntry &entry, const Receive &receive)
{
    std::uint32_t count = 0;
    for (const doca_buf *buf = receive.dst; buf != nullptr; buf = buf->next) {
        const std::size_t room = receive.plan.overwrites ? buf->data_len : buf->tailroom();
        if (room == 0)
            continue;
        const ExportDescriptor *found = nullptr;
        auto &key = static_cast<SoftKey &>(*buf->mmap->key_for(device_));
        if (const doca_error_t status = key.export_for_receives(found); status != DOCA_SUCCESS)
            return status;
        const std::byte *const start = buf->data + (receive.plan.overwrites ? 0 : buf->data_len);
        entry.segments()[count++] = {
            .addr = reinterpret_cast<std::uintptr_t>(start),
            .generation = found->generation,
            .length = static_cast<std::uint32_t>(std::min<std::size_t>(room, UINT32_MAX)),
            .entry = found->entry,
        };
    }
    entry.num_segments = count;
    return DOCA_SUCCESS;
}

/// The first receive has its message.
void SoftQueuePair::take_message() noexcept
{
    const std::uint32_t number = first_receive_;
    const MessageCell &cell = own_->cell(number);
    Operation &operation = *receives_[number & (recv_queue_size_ - 1)];
    const Receive receive = operation.payload<Receive>();
    const MessageKind kind = read_once(cell.kind);
    Result result = {.length = read_once(cell.length),
                     .immediate = read_once(cell.immediate),
                     .received = static_cast<Received>(read_once(cell.received))};
    if (const std::uint32_t posted = read_once(cell.num_posted);
        is_ahead(posted, known_posted_) && posted - next_message_ <= peer_->recv_queue_size()) {
        known_posted_ = posted;
        known_room_ = read_once(cell.room);
    }
    const std::byte *const data = kind == MessageKind::in_cell ? cell.data : own_->slot(number);
    const doca_error_t status = unpack(data, kind, receive, result);
    if (status != DOCA_SUCCESS) [[unlikely]]
        result = {}; // nothing has been received
    first_receive_ = number + 1;
    // Release: pairs with the load in has_slot().
    own_->page().num_taken.store(first_receive_, std::memory_order_release);
    completions_->done(operation, status, result);
    if (status != DOCA_SUCCESS) [[unlikely]]
        fail();
}

doca_error_t SoftQueuePair::unpack(const std::byte *data, MessageKind kind, const Receive &receive,
                                   const Result &result) noexcept
{
    const std::uint32_t length = result.length;
    if (kind == MessageKind::failed)
        return DOCA_ERROR_IO_FAILED; // the peer has said why
    const bool is_write = result.received == Received::write_with_immediate;
    const bool is_here = kind == MessageKind::in_cell || kind == MessageKind::in_slot;
    if (result.received > Received::write_with_immediate || kind > MessageKind::failed ||
        (is_here && (is_write || length > (kind == MessageKind::in_cell ? cell_room : slot_size)))) {
        LOG_ERR("the peer has put something into its message that is none");
        return DOCA_ERROR_IO_FAILED;
    }
    if (is_write || length == 0)
        return DOCA_SUCCESS;
    if (kind == MessageKind::too_long || length > receive.plan.length ||
        length > room_of(*receive.dst, receive.plan.overwrites)) {
        LOG_ERR("a message of %u bytes has come, and the receive takes %u", length, receive.plan.length);
        return DOCA_ERROR_FULL;
    }
    if (is_here) {
        Cursor dst = Cursor::over_room(*receive.dst, receive.plan.overwrites);
        for (std::size_t done = 0; done != length;) {
            dst.skip_empty();
            const std::size_t part = std::min(length - done, dst.left());
            std::memcpy(dst.addr(), data + done, part);
            dst.advance(part);
            done += part;
        }
    }
    extend_data(*receive.dst, length, receive.plan.overwrites);
    return DOCA_SUCCESS;
}

/// Takes the receives back. One that the peer is just filling stays until it has done so, or has gone.
void SoftQueuePair::flush_receives() noexcept
{
    while (has_receives()) {
        if (is_message_there()) {
            take_message();
            continue;
        }
        const std::uint32_t number = first_receive_;
        std::uint64_t ticket = ticket_of(number, Turn::posted);
        // Acquire: what the peer has written to the memory before it went happened before.
        if (!own_->entry(number).ticket.compare_exchange_strong(ticket, ticket_of(number, Turn::withdrawn),
                                                                std::memory_order_acq_rel) &&
            !is_message_there() && check_peer() != DOCA_ERROR_CONNECTION_RESET)
            return;
        if (is_message_there())
            continue;
        first_receive_ = number + 1;
        completions_->done(*receives_[number & (recv_queue_size_ - 1)], DOCA_ERROR_SHUTDOWN, {});
    }
}

} // namespace opendoca::soft
