// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "message_sender.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>

#include "../../../base/guard.hpp"
#include "../../../log/log.hpp"
#include "../../../objects/mmap.hpp"
#include "../../cursor.hpp"
#include "../process/read_once.hpp"
#include "one_sided.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_RDMA_MESSAGES);

namespace opendoca::soft {

namespace {

constexpr std::size_t max_receive_memories = 64; ///< exports in the cache of one connection
/// The most receives that find_receives() counts at once. May exceed the queue's size: an entry that comes round again
/// has the state word of another number, which ends the search.
constexpr std::uint32_t max_receives_ahead = 16;
/// Bytes up to which a message goes to a slot if one is free: two memcpys cost less than to access its receive's
/// memory.
constexpr std::size_t longest_for_any_slot = 1024;

} // namespace

doca_error_t MessageSender::send_message(const Request &request) noexcept
{
    if (const doca_error_t status = check_peer(); status != DOCA_SUCCESS)
        return status;
    const std::uint32_t length = request.plan.length;
    if (!is_ahead(credits_.posted, credits_.next_message) && !find_receives())
        return DOCA_ERROR_AGAIN;
    // The data of a WRITE_IMM goes to the memory of the request: its message only consumes a receive.
    if (request.opcode == Opcode::write_with_immediate) {
        if (const doca_error_t status = execute_read_or_write(*this, request); status != DOCA_SUCCESS)
            return status;
        return deliver(MessageKind::placed, request);
    }
    if (length != 0 && data_of(*request.local) < length) {
        LOG_ERR("the data section of a buffer was changed while its message of %u bytes was queued", length);
        return DOCA_ERROR_IO_FAILED;
    }
    if (length <= cell_capacity && length <= credits_.shortest && is_ahead(credits_.posted, credits_.next_message))
        return deliver(MessageKind::in_cell, request);
    if (length <= longest_for_any_slot && length <= credits_.shortest &&
        is_ahead(credits_.posted, credits_.next_message) && has_slot()) {
        return deliver(MessageKind::in_slot, request);
    }
    return send_long(request);
}

/// Refreshes the credits from the peer's page. Counts the posted receives from that of the next message on; if the
/// peer's receives are shared, the free cells. Returns whether there is credit for the next message.
bool MessageSender::find_receives() noexcept
{
    if (peer().shares_receives()) {
        // Acquire: pairs with the stores in receive_into_posted(), receive_short_into_shared() and
        // receive_into_shared(): the cells may be reused.
        credits_.posted = peer().page().num_taken.load(std::memory_order_acquire) + peer().recv_queue_size();
        credits_.shortest = UINT32_MAX;
        return is_ahead(credits_.posted, credits_.next_message);
    }
    std::uint32_t number = credits_.next_message;
    std::uint32_t room = UINT32_MAX;
    for (; number - credits_.next_message < max_receives_ahead; ++number) {
        const ReceiveEntry &entry = peer().entry(number);
        // Acquire: pairs with the stores in receive() and post_shared_receive(), so that the entry is complete.
        if (entry.state.load(std::memory_order_acquire) != state_of(number, ReceiveState::posted))
            break;
        room = std::min(room, read_once(entry.capacity));
    }
    if (number == credits_.next_message)
        return false;
    credits_.posted = number;
    credits_.shortest = room;
    return true;
}

/// Returns whether the slot of the next message is free. Loads the peer's page only if the last count is too low.
bool MessageSender::has_slot() noexcept
{
    // Acquire: pairs with the store in receive_into_posted(), after which the peer does not read the slot any more.
    if (credits_.next_message - peer_taken_ >= peer().num_slots())
        peer_taken_ = peer().page().num_taken.load(std::memory_order_acquire);
    return credits_.next_message - peer_taken_ < peer().num_slots();
}

/// Returns whether a message of @p length bytes for the receive of @p entry costs less in a slot than placed.
bool MessageSender::suits_slot(const ReceiveEntry &entry, std::uint32_t length) noexcept
{
    if (length > slot_size || !has_slot())
        return false;
    if (length <= longest_for_any_slot)
        return true;
    // A copy by the kernel costs more than two copies in user space, up to the size of a slot.
    ReceiveSegment segment;
    std::memcpy(&segment, entry.segments(), sizeof(segment));
    const RemoteMemory *memory = nullptr;
    return read_once(entry.num_segments) != 0 && import_segment(segment, memory) == DOCA_SUCCESS &&
           memory->reach() == RemoteMemory::Reach::process;
}

/// Sends a message that needs the receive's entry: it fits no cell, or may exceed a posted receive
/// (SendCredits::shortest). If the peer's receives are shared and no slot can hold it, sends a rendezvous request
/// first, which is answered by the entry with the next number. AGAIN until that is posted.
doca_error_t MessageSender::send_long(const Request &request) noexcept
{
    const std::uint32_t length = request.plan.length;
    if (peer().shares_receives() && !has_sent_rendezvous_request_) {
        if (length <= slot_size && has_slot())
            return deliver(MessageKind::in_slot, request);
        write_message(MessageKind::rendezvous_request, request);
    }
    ReceiveEntry &entry = peer().entry(credits_.next_message);
    std::uint64_t state = entry.state.load(std::memory_order_acquire);
    if (state != state_of(credits_.next_message, ReceiveState::posted))
        return DOCA_ERROR_AGAIN; // withdrawn just now, or not posted yet
    if (const std::uint32_t room = read_once(entry.capacity); length > room) {
        LOG_ERR("the message has %u bytes, but its receive has a capacity of %u bytes", length, room);
        write_message(MessageKind::too_long, request);
        return DOCA_ERROR_FULL;
    }
    if (length <= cell_capacity)
        return deliver(MessageKind::in_cell, request);
    if (suits_slot(entry, length)) {
        return deliver(MessageKind::in_slot, request);
    }
    // Claims the memory. Pairs with the same operation in flush_receives(): one of the two fails. Acquire: the owner's
    // earlier accesses to the memory happened before. On failure the owner has withdrawn the receive.
    if (!entry.state.compare_exchange_strong(state, state_of(credits_.next_message, ReceiveState::placing),
                                             std::memory_order_acq_rel))
        return DOCA_ERROR_AGAIN;
    const doca_error_t status = place(entry, request);
    write_message(status == DOCA_SUCCESS ? MessageKind::placed : MessageKind::failed, request);
    return status;
}

/// Copies the message to the buffers of the claimed receive. The segments come from the peer: each one is checked
/// against its export.
doca_error_t MessageSender::place(ReceiveEntry &entry, const Request &request) noexcept
{
    const std::uint32_t num_segments = std::min(read_once(entry.num_segments), peer().chain_length());
    const std::size_t total = request.plan.length;
    Cursor src = Cursor::over_data(*request.local);
    std::size_t left = total;
    for (std::uint32_t i = 0; i < num_segments && left != 0; ++i) {
        ReceiveSegment segment;
        std::memcpy(&segment, &entry.segments()[i], sizeof(segment)); // once: it is checked, then used
        const RemoteMemory *memory = nullptr;
        if (const doca_error_t status = import_segment(segment, memory); status != DOCA_SUCCESS)
            return status;
        auto *remote = reinterpret_cast<std::byte *>(segment.addr);
        for (std::size_t room = segment.length; room != 0 && left != 0;) {
            src.skip_empty();
            const std::size_t length = std::min({room, left, src.left()});
            const doca_error_t status = copier().copy(memory, remote, nullptr, src.addr(), length, total);
            if (status != DOCA_SUCCESS)
                return status;
            src.advance(length);
            remote += length;
            room -= length;
            left -= length;
        }
    }
    if (left != 0) {
        LOG_ERR("the buffers of a receive of process %d are smaller than its capacity", process()->pid());
        return DOCA_ERROR_IO_FAILED;
    }
    return DOCA_SUCCESS;
}

/// Finds the peer's memory of @p segment in the cache, or imports it. IO_FAILED, after a log line, if the peer has not
/// exported it or if it is outside of the export.
doca_error_t MessageSender::import_segment(const ReceiveSegment &segment, const RemoteMemory *&memory) noexcept
{
    return guarded([&] {
        auto existing =
            std::ranges::find_if(receive_memories_, [&](const auto &other) { return other->entry() == segment.entry; });
        // The export's entry is in use by a later export.
        if (existing != receive_memories_.end() && (*existing)->generation() != segment.generation) {
            receive_memories_.erase(existing);
            existing = receive_memories_.end();
        }
        if (existing == receive_memories_.end()) {
            if (receive_memories_.size() == max_receive_memories)
                receive_memories_.erase(receive_memories_.begin());
            std::unique_ptr<RemoteMemory> fresh;
            const doca_error_t status =
                RemoteMemory::reach_receive(process(), segment.entry, segment.generation, fresh);
            if (status != DOCA_SUCCESS) {
                LOG_ERR("the memory of a receive of process %d cannot be accessed", process()->pid());
                return DOCA_ERROR_IO_FAILED;
            }
            existing = receive_memories_.insert(receive_memories_.end(), std::move(fresh));
        }
        if (!(*existing)->range().contains(reinterpret_cast<const std::byte *>(segment.addr), segment.length)) {
            LOG_ERR("a receive of process %d is outside of its memory map", process()->pid());
            return DOCA_ERROR_IO_FAILED;
        }
        memory = existing->get();
        return DOCA_SUCCESS;
    });
}

/// Writes the next message and publishes it. Copies its data if @p kind is in_cell or in_slot.
void MessageSender::write_message(MessageKind kind, const Request &request) noexcept
{
    MessageCell &cell = peer().cell(credits_.next_message);
    const std::uint32_t length = request.plan.length;
    if ((kind == MessageKind::in_cell || kind == MessageKind::in_slot) && length != 0) {
        std::byte *to = kind == MessageKind::in_cell ? cell.data : peer().slot(credits_.next_message);
        std::size_t left = length;
        for (const doca_buf *buf = request.local; left != 0; buf = buf->next) {
            const std::size_t part = std::min(left, buf->data_len);
            std::memcpy(to, buf->data, part);
            to += part;
            left -= part;
        }
    }
    publish_message(cell, {.length = length, .immediate = request.immediate, .received = received_of(request.opcode)},
                    kind);
}

/// Logs why a message was not delivered. Returns CONNECTION_RESET.
doca_error_t MessageSender::explain_undelivered() const noexcept
{
    (void)diagnose_peer();
    return DOCA_ERROR_CONNECTION_RESET;
}

/// Writes the message, and returns the result of its operation.
doca_error_t MessageSender::deliver(MessageKind kind, const Request &request) noexcept
{
    const std::uint32_t number = credits_.next_message;
    write_message(kind, request);
    return was_delivered(number) ? DOCA_SUCCESS : explain_undelivered();
}

bool MessageSender::can_send() const noexcept
{
    // Messages need a receive, or, if the peer's receives are shared, a free cell. The acquire loads pair with the
    // stores in the peer's receive() and receive_into_posted().
    const std::uint32_t number = credits_.next_message;
    if (peer().shares_receives() && !has_sent_rendezvous_request_)
        return is_ahead(peer().page().num_taken.load(std::memory_order_acquire) + peer().recv_queue_size(), number);
    return peer().entry(number).state.load(std::memory_order_acquire) == state_of(number, ReceiveState::posted);
}

} // namespace opendoca::soft
