// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The receiving side of messages. Where receives are shared, a message gets its receive when it is taken; only one
// that its sender is to place asks for it first.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "../../../log.hpp"
#include "../../cursor.hpp"
#include "../memory/copy.hpp"
#include "../process/read_once.hpp"
#include "queue_pair.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_RDMA_RECEIVES);

namespace opendoca::soft {

doca_error_t SoftQueuePair::receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept
{
    if (shared_ != nullptr)
        return DOCA_ERROR_UNEXPECTED;
    if (next_receive_ - first_receive_ == recv_queue_size_ || completions_->is_full() || !may_wait())
        return DOCA_ERROR_NO_MEMORY;
    const std::uint32_t number = next_receive_;
    ReceiveEntry &entry = own_->entry(number);
    if (plan.length > cell_capacity) {
        const doca_error_t status = guarded([&] { return post_segments(device_, entry, {dst, plan}); });
        if (status != DOCA_SUCCESS)
            return status;
    }
    const bool is_first = !has_waiting_operations();
    Operation &operation = completions_->begin(tag, *this);
    operation.payload<Receive>() = {dst, plan};
    receive_of(number) = &operation;
    entry.capacity = plan.length;
    shortest_posted_ = has_receives() ? std::min(shortest_posted_, plan.length) : plan.length;
    next_receive_ = number + 1;
    // Release: a peer that loads the state sees the segments and the program's earlier accesses to the memory.
    entry.state.store(state_of(number, ReceiveState::posted), std::memory_order_release);
    tell_peer(wants_receives);
    if (has_doorbells_ && is_first) [[unlikely]]
        began_to_wait();
    return DOCA_SUCCESS;
}

/// Receives the message that has arrived into the next shared receive. Returns false if there is none.
bool SoftQueuePair::take_shared() noexcept
{
    if (shared_ == nullptr || !shared_->has_receive())
        return false;
    Operation &operation = shared_->take(*this);
    if (!is_question_there()) {
        (void)take_by(operation, false);
        return true;
    }
    own_->page().num_taken.store(++first_receive_, std::memory_order_release); // pairs with find_receives()
    next_receive_ = first_receive_;
    if (const doca_error_t status = post_for_one(operation); status != DOCA_SUCCESS) {
        completions_->done(operation, status, {});
        fail();
    }
    return true;
}

/// Stores what the sender of a message reports of its own receives.
[[gnu::always_inline]] inline void SoftQueuePair::note_peers_receives(const MessageCell &cell) noexcept
{
    if (const std::uint32_t posted = read_once(cell.num_posted);
        is_ahead(posted, known_posted_) && posted - next_message_ <= peer_->recv_queue_size()) {
        known_posted_ = posted;
        known_shortest_ = read_once(cell.shortest_receive);
    }
}

/// Fast path: the message that has come is in its cell, and the next of the shared receives has a first buffer with
/// room for it. Null, and nothing has changed, when it is not so.
[[gnu::always_inline]] inline Operation *SoftQueuePair::take_short() noexcept
{
    const MessageCell &cell = own_->cell(first_receive_);
    const std::uint32_t length = read_once(cell.length);
    const std::uint16_t received = read_once(cell.received);
    Operation &operation = shared_->first();
    const Receive &receive = operation.payload<Receive>();
    if (read_once(cell.kind) != MessageKind::in_cell ||
        received > static_cast<std::uint16_t>(Received::send_with_immediate) || length - 1 >= cell_capacity ||
        length > receive.plan.length || receive.plan.overwrites || length > receive.dst->tailroom())
        return nullptr;
    copy_short(receive.dst->data + receive.dst->data_len, cell.data, length);
    receive.dst->data_len += length;
    (void)shared_->take(*this);
    operation.length = length;
    operation.message = {read_once(cell.immediate), static_cast<Received>(received)};
    note_peers_receives(cell);
    next_receive_ = ++first_receive_;
    // Release: pairs with the loads in find_receives() and has_slot().
    own_->page().num_taken.store(first_receive_, std::memory_order_release);
    tell_peer(wants_receives); // there is room for one more receive
    return &operation;
}

/// As poll_one(), where receives are shared.
Operation *SoftQueuePair::poll_shared() noexcept
{
    // A connection that has ended receives no more messages: its sender was notified.
    if (!is_connected())
        return nullptr;
    if (!is_message_there()) {
        if (has_lost_peer()) [[unlikely]]
            lose_peer();
        return nullptr;
    }
    if (!has_receives() && shared_->has_receive()) [[likely]] {
        if (Operation *const taken = take_short()) [[likely]]
            return taken;
        if (!is_question_there())
            return take_by(shared_->take(*this), true);
    }
    progress();
    return nullptr;
}

/// The message that has come is that of @p receive, a shared one.
Operation *SoftQueuePair::take_by(Operation &receive, bool hands_out) noexcept
{
    next_receive_ = first_receive_ + 1;
    receive_of(first_receive_) = &receive;
    Operation *const taken = take_message(hands_out);
    tell_peer(wants_receives); // there is room for one more receive
    return taken;
}

bool SoftQueuePair::is_question_there() const noexcept
{
    return read_once(own_->cell(first_receive_).kind) == MessageKind::asks;
}

bool SoftQueuePair::has_unmet_message() const noexcept
{
    return shared_ != nullptr && !has_receives() && !shared_->has_receive() && is_message_there() &&
           !is_question_there(); // the data of such a message was lost with the peer
}

/// No more messages or receives to match. A peer that is polled anyway needs no notification.
void SoftQueuePair::share_receives() noexcept
{
    if (!poller_->needs_rings())
        return;
    // A connection that has ended receives no more messages, and must not keep the next receive from others.
    if (is_connected() && !has_receives() && !shared_->has_receive() && is_message_there())
        shared_->starve(*this);
    shared_->feed();
}

/// The next message is placed in the memory of @p operation by its sender.
doca_error_t SoftQueuePair::post_for_one(Operation &operation) noexcept
{
    const Receive receive = operation.payload<Receive>();
    ReceiveEntry &entry = own_->entry(next_receive_);
    const doca_error_t status = guarded([&] { return post_segments(device_, entry, receive); });
    if (status != DOCA_SUCCESS)
        return status;
    receive_of(next_receive_) = &operation;
    entry.capacity = receive.plan.length;
    // Release: as in receive().
    entry.state.store(state_of(next_receive_++, ReceiveState::posted), std::memory_order_release);
    tell_peer(wants_receives);
    return DOCA_SUCCESS;
}

/// Completes the first receive, which has its message. With @p hands_out, a success is returned instead of completed.
Operation *SoftQueuePair::take_message(bool hands_out) noexcept
{
    const std::uint32_t number = first_receive_;
    const MessageCell &cell = own_->cell(number);
    Operation &operation = *receive_of(number);
    const Receive &receive = operation.payload<Receive>();
    const MessageKind kind = read_once(cell.kind);
    Result result = {.length = read_once(cell.length),
                     .immediate = read_once(cell.immediate),
                     .received = static_cast<Received>(read_once(cell.received))};
    note_peers_receives(cell);
    const std::byte *const data = kind == MessageKind::in_cell ? cell.data : own_->slot(number);
    const doca_error_t status = unpack(data, kind, receive, result);
    if (status != DOCA_SUCCESS) [[unlikely]]
        result = {}; // nothing has been received
    first_receive_ = number + 1;
    // Release: pairs with the load in has_slot().
    own_->page().num_taken.store(first_receive_, std::memory_order_release);
    if (hands_out && status == DOCA_SUCCESS) {
        operation.length = result.length;
        operation.message = {result.immediate, result.received};
        return &operation;
    }
    completions_->done(operation, status, result);
    if (status != DOCA_SUCCESS) [[unlikely]] {
        has_lost_message_ = true;
        fail();
    }
    return nullptr;
}

doca_error_t SoftQueuePair::unpack(const std::byte *data, MessageKind kind, const Receive &receive,
                                   const Result &result) noexcept
{
    const std::uint32_t length = result.length;
    if (kind == MessageKind::failed)
        return DOCA_ERROR_IO_FAILED; // the peer has logged the reason
    const bool is_write = result.received == Received::write_with_immediate;
    const bool is_here = kind == MessageKind::in_cell || kind == MessageKind::in_slot;
    if (result.received > Received::write_with_immediate || kind > MessageKind::failed ||
        (is_here && (is_write || length > (kind == MessageKind::in_cell ? cell_capacity : slot_size)))) {
        LOG_ERR("the peer has put something into its message that is none");
        return DOCA_ERROR_IO_FAILED;
    }
    if (is_write || length == 0)
        return DOCA_SUCCESS;
    doca_buf *const first = receive.dst; // null where the plan has no length
    if (is_here && length <= receive.plan.length && !receive.plan.overwrites && length <= first->tailroom())
        [[likely]] {
        std::memcpy(first->data + first->data_len, data, length);
        first->data_len += length;
        return DOCA_SUCCESS;
    }
    if (kind == MessageKind::too_long || length > receive.plan.length ||
        length > room_of(*receive.dst, receive.plan.overwrites)) {
        LOG_ERR("a message of %u bytes has come, and the receive takes %u", length, receive.plan.length);
        return DOCA_ERROR_FULL;
    }
    if (is_here) {
        Cursor dst = Cursor::over_destination(*receive.dst, receive.plan.overwrites);
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

/// Of a receive that no message has filled.
void SoftQueuePair::end_unmet(Operation &operation, doca_error_t status) noexcept
{
    if (shared_ != nullptr)
        shared_->give_back(operation);
    else
        completions_->done(operation, status, {});
}

/// Flushes the receives. One that the peer is filling stays until the peer has finished or ended.
void SoftQueuePair::flush_receives() noexcept
{
    while (has_receives()) {
        if (has_message()) {
            (void)take_message(false);
            continue;
        }
        const std::uint32_t number = first_receive_;
        std::uint64_t state = state_of(number, ReceiveState::posted);
        // Acquire: what the peer has written to the memory before it went happened before.
        if (!own_->entry(number).state.compare_exchange_strong(state, state_of(number, ReceiveState::withdrawn),
                                                               std::memory_order_acq_rel) &&
            !is_message_there() && check_peer() != DOCA_ERROR_CONNECTION_RESET)
            return;
        if (has_message())
            continue;
        first_receive_ = number + 1;
        end_unmet(*receive_of(number), DOCA_ERROR_SHUTDOWN);
    }
}

} // namespace opendoca::soft
