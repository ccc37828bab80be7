// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The receiving side of messages. With own receives, message n goes into receive n. If receives are shared, the receive
// is chosen when the message arrives. For a long message the sender then sends a rendezvous request first; a shared
// receive is moved to this queue pair's ring, and its entry is posted, so that the sender can place the data.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "../../../log/log.hpp"
#include "../../cursor.hpp"
#include "../memory/copy.hpp"
#include "../process/read_once.hpp"
#include "queue_pair.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_RDMA_RECEIVES);

namespace opendoca::soft {

/// Posts a receive: describes it in the shared entry, then publishes it. No change if it fails.
doca_error_t SoftQueuePair::receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept
{
    if (shared_receives_ != nullptr)
        return DOCA_ERROR_UNEXPECTED;
    if (next_receive_ - first_receive_ == recv_queue_size_ || completions_->is_full() || !ensure_peer_watched())
        return DOCA_ERROR_NO_MEMORY;
    const std::uint32_t number = next_receive_;
    ReceiveEntry &entry = own_->entry(number);
    // A shorter receive is never placed, so its memory need not be exported.
    if (plan.length > cell_capacity) {
        const doca_error_t status = guarded([&] { return post_segments(device_, entry, {dst, plan}); });
        if (status != DOCA_SUCCESS)
            return status;
    }
    const bool is_first = !needs_polling();
    Operation &operation = completions_->begin(tag, *this);
    operation.payload<Receive>() = {dst, plan};
    receive_of(number) = &operation;
    entry.capacity = plan.length;
    shortest_posted_ = has_receives() ? std::min(shortest_posted_, plan.length) : plan.length;
    next_receive_ = number + 1;
    // Release: pairs with the peer's loads in find_receives() and send_long(), which see the segments, and after which
    // the peer's accesses to the memory follow the program's.
    entry.state.store(state_of(number, ReceiveState::posted), std::memory_order_release);
    notify_peer(receive_event);
    if (has_doorbells_ && is_first) [[unlikely]]
        begin_waiting();
    return DOCA_SUCCESS;
}

/// Receives the message that has arrived into the next shared receive, or posts that receive to answer a rendezvous
/// request. Returns false if there is no shared receive.
bool SoftQueuePair::receive_into_shared() noexcept
{
    if (shared_receives_ == nullptr || !shared_receives_->has_receive())
        return false;
    Operation &operation = shared_receives_->take(*this);
    if (!is_rendezvous_request()) {
        (void)receive_into(operation, false);
        return true;
    }
    // The request is complete. Release: pairs with the load in find_receives(), after which the peer reuses the cell.
    own_->page().num_taken.store(++first_receive_, std::memory_order_release);
    next_receive_ = first_receive_;
    if (const doca_error_t status = post_shared_receive(operation); status != DOCA_SUCCESS) {
        completions_->done(operation, status, {});
        fail();
    }
    return true;
}

/// Takes over the credits that came with a message. Ignores values that are older than the current ones, or that exceed
/// the peer's queue: the peer can write anything.
[[gnu::always_inline]] inline void SoftQueuePair::update_peer_receives(const MessageCell &cell) noexcept
{
    if (const std::uint32_t posted = read_once(cell.num_posted);
        is_ahead(posted, peer_posted_) && posted - next_message_ <= peer_->recv_queue_size()) {
        peer_posted_ = posted;
        peer_shortest_ = read_once(cell.shortest_receive);
    }
}

/// Fast path: receives the message into the next shared receive, if the data is in the cell and fits the receive's
/// first buffer. Otherwise returns null without any change, as for 0 bytes: the receive may then have no buffer.
[[gnu::always_inline]] inline Operation *SoftQueuePair::receive_short_into_shared() noexcept
{
    const MessageCell &cell = own_->cell(first_receive_);
    const std::uint32_t length = read_once(cell.length);
    const std::uint16_t received = read_once(cell.received);
    Operation &operation = shared_receives_->first();
    const Receive &receive = operation.payload<Receive>();
    if (read_once(cell.kind) != MessageKind::in_cell ||
        received > static_cast<std::uint16_t>(Received::send_with_immediate) || length == 0 || length > cell_capacity ||
        length > receive.plan.length || receive.plan.overwrites || length > receive.dst->tailroom())
        return nullptr;
    copy_short(receive.dst->data + receive.dst->data_len, cell.data, length);
    receive.dst->data_len += length;
    (void)shared_receives_->take(*this);
    operation.length = length;
    operation.message = {read_once(cell.immediate), static_cast<Received>(received)};
    update_peer_receives(cell);
    next_receive_ = ++first_receive_;
    // Release: pairs with the loads in find_receives() and has_slot(), after which the peer reuses the cell.
    own_->page().num_taken.store(first_receive_, std::memory_order_release);
    notify_peer(receive_event); // one more free cell
    return &operation;
}

/// Does the same as poll_one() if receives are shared.
Operation *SoftQueuePair::poll_one_shared() noexcept
{
    // A connection that has ended receives no more messages: fail() has received those for which there were receives.
    if (!is_connected())
        return nullptr;
    if (!has_message_arrived()) {
        if (has_lost_peer()) [[unlikely]]
            handle_peer_loss();
        return nullptr;
    }
    if (!has_receives() && shared_receives_->has_receive()) [[likely]] {
        if (Operation *const taken = receive_short_into_shared()) [[likely]]
            return taken;
        if (!is_rendezvous_request())
            return receive_into(shared_receives_->take(*this), true);
    }
    progress();
    return nullptr;
}

/// Receives the message that has arrived into @p receive, which was taken from the shared queue. Returns what
/// receive_into_posted() returns.
Operation *SoftQueuePair::receive_into(Operation &receive, bool returns_operation) noexcept
{
    next_receive_ = first_receive_ + 1;
    receive_of(first_receive_) = &receive;
    Operation *const taken = receive_into_posted(returns_operation);
    notify_peer(receive_event); // one more free cell
    return taken;
}

bool SoftQueuePair::is_rendezvous_request() const noexcept
{
    return read_once(own_->cell(first_receive_).kind) == MessageKind::rendezvous_request;
}

bool SoftQueuePair::has_unmatched_message() const noexcept
{
    return shared_receives_ != nullptr && !has_receives() && !shared_receives_->has_receive() &&
           has_message_arrived() &&
           !is_rendezvous_request(); // its sender has not completed it, and can no longer place the data
}

/// Called when messages or shared receives have run out. If a message is left, adds this connection to the list for the
/// next shared receives; if a receive is left, schedules a check of the first connection in the list. Does nothing if
/// connections are polled directly: each poll checks them all.
void SoftQueuePair::wait_for_shared_receive() noexcept
{
    if (!poller_->polls_by_doorbells())
        return;
    // A connection that has ended receives no more messages, and must not delay the next receive of others.
    if (is_connected() && !has_receives() && !shared_receives_->has_receive() && has_message_arrived())
        shared_receives_->add_without_receive(*this);
    shared_receives_->check_first_without_receive();
}

/// Posts @p operation, a shared receive, for this connection only: the sender of the next message places the data in
/// its memory. Fails like post_segments(); the caller then completes the operation.
doca_error_t SoftQueuePair::post_shared_receive(Operation &operation) noexcept
{
    const Receive receive = operation.payload<Receive>();
    ReceiveEntry &entry = own_->entry(next_receive_);
    const doca_error_t status = guarded([&] { return post_segments(device_, entry, receive); });
    if (status != DOCA_SUCCESS)
        return status;
    receive_of(next_receive_) = &operation;
    entry.capacity = receive.plan.length;
    // Release: pairs with the peer's load in send_long(), as in receive().
    entry.state.store(state_of(next_receive_++, ReceiveState::posted), std::memory_order_release);
    notify_peer(receive_event);
    return DOCA_SUCCESS;
}

/// Receives the message that has arrived into the first receive and completes it. If @p returns_operation is set, a
/// successful operation is returned instead of completed. A failed one ends the connection.
Operation *SoftQueuePair::receive_into_posted(bool returns_operation) noexcept
{
    const std::uint32_t number = first_receive_;
    const MessageCell &cell = own_->cell(number);
    Operation &operation = *receive_of(number);
    const Receive &receive = operation.payload<Receive>();
    const MessageKind kind = read_once(cell.kind);
    Result result = {.length = read_once(cell.length),
                     .immediate = read_once(cell.immediate),
                     .received = static_cast<Received>(read_once(cell.received))};
    update_peer_receives(cell);
    const std::byte *const data = kind == MessageKind::in_cell ? cell.data : own_->slot(number);
    const doca_error_t status = unpack(data, kind, receive, result);
    if (status != DOCA_SUCCESS) [[unlikely]]
        result = {}; // nothing has been received
    first_receive_ = number + 1;
    // Release: pairs with the loads in has_slot() and find_receives(), after which the peer reuses the slot and the
    // cell.
    own_->page().num_taken.store(first_receive_, std::memory_order_release);
    if (returns_operation && status == DOCA_SUCCESS) {
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

/// Copies the data of a message to its receive, unless the sender has placed it, and extends the data sections of the
/// buffers. @p result comes from the peer's cell and is checked first.
doca_error_t SoftQueuePair::unpack(const std::byte *data, MessageKind kind, const Receive &receive,
                                   const Result &result) noexcept
{
    const std::uint32_t length = result.length;
    if (kind == MessageKind::failed)
        return DOCA_ERROR_IO_FAILED; // the peer has logged the reason
    // Kinds above `failed` are invalid here: receive_into_shared() handles rendezvous requests.
    static_assert(MessageKind::too_long < MessageKind::failed && MessageKind::rendezvous_request > MessageKind::failed);
    const bool is_write = result.received == Received::write_with_immediate;
    const bool is_here = kind == MessageKind::in_cell || kind == MessageKind::in_slot;
    if (result.received > Received::write_with_immediate || kind > MessageKind::failed ||
        (is_here && (is_write || length > (kind == MessageKind::in_cell ? cell_capacity : slot_size)))) {
        LOG_ERR("the peer has sent an invalid message");
        return DOCA_ERROR_IO_FAILED;
    }
    if (is_write || length == 0)
        return DOCA_SUCCESS;
    doca_buf *const first = receive.dst; // null if the plan has 0 bytes
    if (is_here && length <= receive.plan.length && !receive.plan.overwrites && length <= first->tailroom())
        [[likely]] {
        std::memcpy(first->data + first->data_len, data, length);
        first->data_len += length;
        return DOCA_SUCCESS;
    }
    if (kind == MessageKind::too_long || length > receive.plan.length ||
        length > room_of(*receive.dst, receive.plan.overwrites)) {
        LOG_ERR("a message of %u bytes does not fit its receive of %u bytes", length, receive.plan.length);
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

/// Gives up a receive that has no message: completes an own one with @p status, and returns a shared one to its queue,
/// for a message of another connection.
void SoftQueuePair::give_up_receive(Operation &operation, doca_error_t status) noexcept
{
    if (shared_receives_ != nullptr)
        shared_receives_->put_back(operation);
    else
        completions_->done(operation, status, {});
}

/// Flushes the receives of this queue pair. Messages that have arrived for them are received first, because their
/// sender may have completed them. A receive that the peer is filling stays until the peer has finished or ended;
/// flush_all() then tries again.
void SoftQueuePair::flush_receives() noexcept
{
    while (has_receives()) {
        if (has_receivable_message()) {
            (void)receive_into_posted(false);
            continue;
        }
        const std::uint32_t number = first_receive_;
        std::uint64_t state = state_of(number, ReceiveState::posted);
        // Withdraws the receive. Pairs with the claim in send_long(): if it fails, the peer is writing to the memory.
        // Acquire: the program's next accesses to the memory follow what the peer wrote before it ended.
        if (!own_->entry(number).state.compare_exchange_strong(state, state_of(number, ReceiveState::withdrawn),
                                                               std::memory_order_acq_rel) &&
            !has_message_arrived() && check_peer() != DOCA_ERROR_CONNECTION_RESET)
            return;
        if (has_receivable_message())
            continue; // it arrived after the first check
        first_receive_ = number + 1;
        give_up_receive(*receive_of(number), DOCA_ERROR_SHUTDOWN);
    }
}

} // namespace opendoca::soft
