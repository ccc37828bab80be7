// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "message_receiver.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "../../../base/guard.hpp"
#include "../../../log/log.hpp"
#include "../../cursor.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_RDMA_RECEIVES);

namespace opendoca::soft {

MessageReceiver::MessageReceiver(const SoftDevice &device, const QueuePairSettings &settings,
                                 std::atomic<ConnectionState> &state)
    : PeerConnection(device, settings, state),
      recv_queue_size_(settings.recv_queue_size),
      receive_mask_(settings.shared_receives != nullptr ? 0 : recv_queue_size_ - 1),
      shared_receives_(static_cast<SoftReceiveQueue *>(settings.shared_receives)),
      receives_(std::make_unique_for_overwrite<Operation *[]>(receive_mask_ + 1))
{
}

/// Posts a receive: describes it in the shared entry, then publishes it. No change if it fails.
doca_error_t MessageReceiver::receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept
{
    if (shared_receives_ != nullptr)
        return DOCA_ERROR_UNEXPECTED;
    if (next_receive_ - first_receive_ == recv_queue_size_ || completions_->is_full() || !ensure_peer_watched())
        return DOCA_ERROR_NO_MEMORY;
    const std::uint32_t number = next_receive_;
    ReceiveEntry &entry = own().entry(number);
    // A shorter receive is never placed, so its memory need not be exported.
    if (plan.length > cell_capacity) {
        const doca_error_t status = guarded([&] { return post_segments(device(), entry, {dst, plan}); });
        if (status != DOCA_SUCCESS)
            return status;
    }
    const bool is_first = !has_receives();
    Operation &operation = completions_->begin(tag, *this);
    operation.payload<Receive>() = {dst, plan};
    receive_of(number) = &operation;
    entry.capacity = plan.length;
    shortest_posted_ = has_receives() ? std::min(shortest_posted_, plan.length) : plan.length;
    next_receive_ = number + 1;
    // Release: pairs with the peer's loads in MessageSender::find_receives() and MessageSender::send_long(), which see
    // the segments, and after which the peer's accesses to the memory follow the program's.
    entry.state.store(state_of(number, ReceiveState::posted), std::memory_order_release);
    notify_peer(receive_event);
    if (has_doorbells() && is_first) [[unlikely]]
        await_message();
    return DOCA_SUCCESS;
}

/// Receives the message that has arrived into the next shared receive, or posts that receive to answer a rendezvous
/// request. Returns false if there is no shared receive.
bool MessageReceiver::receive_into_shared() noexcept
{
    if (shared_receives_ == nullptr || !shared_receives_->has_receive())
        return false;
    Operation &operation = shared_receives_->take(*this);
    if (!is_rendezvous_request()) {
        (void)receive_into(operation, false);
        return true;
    }
    // The request is complete. Release: pairs with the load in MessageSender::find_receives(), after which the peer
    // reuses the cell.
    own().page().num_taken.store(++first_receive_, std::memory_order_release);
    next_receive_ = first_receive_;
    if (const doca_error_t status = post_shared_receive(operation); status != DOCA_SUCCESS) {
        completions_->done(operation, status, {});
        fail();
    }
    return true;
}

Operation *MessageReceiver::receive_into(Operation &receive, bool returns_operation) noexcept
{
    next_receive_ = first_receive_ + 1;
    receive_of(first_receive_) = &receive;
    Operation *const taken = receive_into_posted(returns_operation);
    notify_peer(receive_event); // one more free cell
    return taken;
}

bool MessageReceiver::has_unmatched_message() const noexcept
{
    return shared_receives_ != nullptr && !has_receives() && !shared_receives_->has_receive() &&
           has_message_arrived() &&
           !is_rendezvous_request(); // its sender has not completed it, and can no longer place the data
}

void MessageReceiver::wait_for_shared_receive() noexcept
{
    if (!polls_by_doorbells())
        return;
    // A connection that has ended receives no more messages, and must not delay the next receive of others.
    if (is_connected() && !has_receives() && !shared_receives_->has_receive() && has_message_arrived())
        shared_receives_->add_without_receive(*this);
    shared_receives_->check_first_without_receive();
}

/// Posts @p operation, a shared receive, for this connection only: the sender of the next message places the data in
/// its memory. Fails like post_segments(); the caller then completes the operation.
doca_error_t MessageReceiver::post_shared_receive(Operation &operation) noexcept
{
    const Receive receive = operation.payload<Receive>();
    ReceiveEntry &entry = own().entry(next_receive_);
    const doca_error_t status = guarded([&] { return post_segments(device(), entry, receive); });
    if (status != DOCA_SUCCESS)
        return status;
    receive_of(next_receive_) = &operation;
    entry.capacity = receive.plan.length;
    // Release: pairs with the peer's load in MessageSender::send_long(), as in receive().
    entry.state.store(state_of(next_receive_++, ReceiveState::posted), std::memory_order_release);
    notify_peer(receive_event);
    return DOCA_SUCCESS;
}

Operation *MessageReceiver::receive_into_posted(bool returns_operation) noexcept
{
    const std::uint32_t number = first_receive_;
    const MessageCell &cell = own().cell(number);
    Operation &operation = *receive_of(number);
    const Receive &receive = operation.payload<Receive>();
    const MessageKind kind = read_once(cell.kind);
    Result result = {.length = read_once(cell.length),
                     .immediate = read_once(cell.immediate),
                     .received = static_cast<Received>(read_once(cell.received))};
    take_credits(cell);
    const std::byte *const data = kind == MessageKind::in_cell ? cell.data : own().slot(number);
    const doca_error_t status = unpack(data, kind, receive, result);
    if (status != DOCA_SUCCESS) [[unlikely]]
        result = {}; // nothing has been received
    first_receive_ = number + 1;
    // Release: pairs with the loads in MessageSender::has_slot() and find_receives(), after which the peer reuses the
    // slot and the cell.
    own().page().num_taken.store(first_receive_, std::memory_order_release);
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
doca_error_t MessageReceiver::unpack(const std::byte *data, MessageKind kind, const Receive &receive,
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
void MessageReceiver::give_up(Operation &operation, doca_error_t status) noexcept
{
    if (shared_receives_ != nullptr)
        shared_receives_->put_back(operation);
    else
        completions_->done(operation, status, {});
}

void MessageReceiver::give_up_first(doca_error_t status) noexcept
{
    give_up(*receive_of(first_receive_++), status);
}

void MessageReceiver::flush_receives() noexcept
{
    while (has_receives()) {
        if (has_receivable_message()) {
            (void)receive_into_posted(false);
            continue;
        }
        const std::uint32_t number = first_receive_;
        std::uint64_t state = state_of(number, ReceiveState::posted);
        // Withdraws the receive. Pairs with the claim in MessageSender::send_long(): if it fails, the peer is writing
        // to the memory. Acquire: the program's next accesses to the memory follow what the peer wrote before it ended.
        if (!own().entry(number).state.compare_exchange_strong(state, state_of(number, ReceiveState::withdrawn),
                                                               std::memory_order_acq_rel) &&
            !has_message_arrived() && check_peer() != DOCA_ERROR_CONNECTION_RESET)
            return;
        if (has_receivable_message())
            continue; // it arrived after the first check
        first_receive_ = number + 1;
        give_up(*receive_of(number), flush_status_);
    }
}

} // namespace opendoca::soft
