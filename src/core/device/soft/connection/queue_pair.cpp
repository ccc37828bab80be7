// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "queue_pair.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "one_sided.hpp"

namespace opendoca::soft {

SoftQueuePair::SoftQueuePair(const SoftDevice &device, const QueuePairSettings &settings,
                             std::atomic<ConnectionState> &state)
    : FastPaths(device, settings, state)
{
}

SoftQueuePair::~SoftQueuePair()
{
    close();
}

doca_error_t SoftQueuePair::connect(std::span<const std::byte> details)
{
    if (const doca_error_t status = connect_to(details); status != DOCA_SUCCESS)
        return status;
    // If receives are shared, messages can arrive without a receive of this queue pair, so it waits for them from now
    // on. connect() then runs in the work queue's thread.
    if (shared_receives() != nullptr && has_doorbells()) {
        (void)ensure_peer_watched();
        begin_waiting();
    }
    return DOCA_SUCCESS;
}

doca_error_t SoftQueuePair::attach(CompletionQueue &completions)
{
    std::shared_ptr<QueueConnections> connections;
    std::uint32_t number = 0;
    doca_error_t status = QueueConnections::of(completions, connections);
    if (status == DOCA_SUCCESS)
        status = connections->add(*this, number);
    if (status != DOCA_SUCCESS)
        return status;
    attach_to(completions, std::move(connections), number);
    if (polls_by_doorbells()) {
        request_doorbells();
        // The peer of an end that has connected before may have stored a message without having seen this request: one
        // check finds it. Before connect() that cannot be, as the peer sends only after it has seen `connected_to`.
        if (own().page().connected_to.load(std::memory_order_seq_cst) != 0) {
            heavy_barrier();
            schedule_check();
        }
    }
    if (shared_receives() != nullptr && is_connected())
        (void)ensure_peer_watched();
    return DOCA_SUCCESS;
}

void SoftQueuePair::detach() noexcept
{
    if (completions_ == nullptr)
        return;
    if (shared_receives() != nullptr)
        shared_receives()->remove_without_receive(*this);
    leave_queue(*this);
    forget_keys();
}

doca_error_t SoftQueuePair::post_any(Tag tag, const Request &request) noexcept
{
    if (completions_->is_full())
        return DOCA_ERROR_NO_MEMORY; // not logged: programs drain the queue and retry
    if (sends_.is_empty()) {
        const doca_error_t status = execute(request);
        if (status != DOCA_ERROR_AGAIN) {
            const bool is_read = request.opcode == Opcode::read && status == DOCA_SUCCESS;
            complete_now(tag, status, is_read ? request.plan.length : 0);
            return DOCA_SUCCESS;
        }
    }
    return queue_send(tag, request);
}

doca_error_t SoftQueuePair::post_after_queued(Tag tag, const Request &request) noexcept
{
    execute_queued();
    if (is_connected()) [[likely]]
        return is_held_ ? post_any(tag, request) : FastPaths::post(tag, request);
    if (completions_->is_full())
        return DOCA_ERROR_NO_MEMORY;
    complete_now(tag, flush_status_, 0);
    return DOCA_SUCCESS;
}

/// The completion queue must not be full. NO_MEMORY if the send queue is.
doca_error_t SoftQueuePair::queue_send(Tag tag, const Request &request) noexcept
{
    if (sends_.is_full() || !ensure_peer_watched())
        return DOCA_ERROR_NO_MEMORY;
    sends_.push(completions_->begin(tag, *this), request);
    if (has_doorbells())
        begin_waiting();
    return DOCA_SUCCESS;
}

/// Carries out @p request. AGAIN if it must wait for the peer: to be called again with the same request. No data has
/// been moved then, but a rendezvous request may have been sent.
doca_error_t SoftQueuePair::execute(const Request &request) noexcept
{
    if (is_held_) [[unlikely]]
        return DOCA_ERROR_AGAIN;
    const doca_error_t status = dispatch(request);
    // Memory that cannot be accessed may belong to a process that is just being killed.
    if (status == DOCA_ERROR_IO_FAILED && process()->is_gone_or_ending()) [[unlikely]]
        return DOCA_ERROR_CONNECTION_RESET;
    return status;
}

/// Does the same as execute(), but also returns IO_FAILED if the peer's process is just being killed.
doca_error_t SoftQueuePair::dispatch(const Request &request) noexcept
{
    switch (request.opcode) {
    case Opcode::read:
    case Opcode::write: {
        const doca_error_t status = check_peer();
        return status == DOCA_SUCCESS ? execute_read_or_write(*this, request) : status;
    }
    case Opcode::compare_and_swap:
    case Opcode::fetch_and_add: {
        const doca_error_t status = check_peer();
        return status == DOCA_SUCCESS ? execute_atomic(*this, request) : status;
    }
    default:
        return send_message(request);
    }
}

/// Executes the queued operations in order, until one has to wait or fails. The others are then flushed by fail().
void SoftQueuePair::resume_sends() noexcept
{
    while (!sends_.is_empty()) {
        const Request request = sends_.first_request(device());
        const doca_error_t status = execute(request);
        if (status == DOCA_ERROR_AGAIN)
            return;
        const bool is_read = request.opcode == Opcode::read && status == DOCA_SUCCESS;
        completions_->done(sends_.pop(), status, {.length = is_read ? request.plan.length : 0});
        if (status != DOCA_SUCCESS)
            return fail();
    }
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
    if (!has_receives() && shared_receives()->has_receive()) [[likely]] {
        if (Operation *const taken = receive_short_into_shared()) [[likely]]
            return taken;
        if (!is_rendezvous_request())
            return receive_into(shared_receives()->take(*this), true);
    }
    progress();
    return nullptr;
}

/// Called when the connection is lost while operations wait. The oldest send or, without sends, the oldest own receive
/// fails with CONNECTION_RESET, the others are flushed; a shared receive returns to its queue.
void SoftQueuePair::handle_peer_loss() noexcept
{
    while (receive_next()) {
        // Messages that the peer has sent before its end are received first.
    }
    if (!is_connected() || !needs_polling() || has_unmatched_message())
        return;
    if (!sends_.is_empty()) {
        completions_->done(sends_.pop(), DOCA_ERROR_CONNECTION_RESET, {});
    } else if (has_receives()) {
        give_up_first(DOCA_ERROR_CONNECTION_RESET);
    }
    fail();
}

/// Ends the connection, because an operation has failed or a flush was requested, and flushes all operations. If
/// receives are shared and run out here, the remaining messages are lost, although their sender may have completed them
/// with SUCCESS.
void SoftQueuePair::fail() noexcept
{
    if (!is_connected())
        return;
    set_state(ConnectionState::failed);
    if (completions_ != nullptr)
        completions_->note_event();
    close();
    // Between the store of `connected_to` in close() and the loads of the cells below. Pairs with was_delivered(),
    // which loads `connected_to` after the cell was stored: a message that its sender completes with SUCCESS is seen
    // here.
    heavy_barrier();
    while (shared_receives() != nullptr && receive_next()) {
        // Messages that have arrived go into shared receives now; own receives are filled by flush_all().
    }
    flush_all();
    if (shared_receives() != nullptr)
        shared_receives()->remove_without_receive(*this);
}

/// Completes all operations with flush_status_. A receive that the peer is filling stays: is_flushing_ makes each poll
/// continue here until the peer has finished or ended.
void SoftQueuePair::flush_all() noexcept
{
    while (!sends_.is_empty())
        completions_->done(sends_.pop(), flush_status_, {});
    flush_receives();
    is_flushing_ = has_receives();
}

void SoftQueuePair::flush() noexcept
{
    if (is_connected() && needs_polling())
        fail();
}

void SoftQueuePair::handle_doorbell() noexcept
{
    completions_->resume();
    if (polls_by_doorbells())
        progress();
}

/// For a peer that clears the doorbells of others.
void SoftQueuePair::check_without_doorbell() noexcept
{
    if (polls_by_doorbells() && can_progress())
        handle_doorbell();
}

void SoftQueuePair::handle_exit_of(const ExporterProcess &process) noexcept
{
    if (!takes_exit_of(process))
        return;
    completions_->resume();
    progress();
}

void SoftQueuePair::request_doorbells() noexcept
{
    request_events(message_event | (!sends_.is_empty() ? receive_event : 0));
    if (needs_polling())
        (void)ensure_peer_watched(); // on failure, only the poller's occasional checks find the end of the peer
}

void SoftQueuePair::await_message() noexcept
{
    if (sends_.is_empty()) // otherwise it waits already
        begin_waiting();
}

/// Called after an operation was queued (a receive: only the first), and by connect() if receives are shared. Requests
/// the doorbell for its event, unless an earlier request and its barrier cover it, and checks for the event, which may
/// have come before.
void SoftQueuePair::begin_waiting() noexcept
{
    if (!polls_by_doorbells() && !completions_->is_armed())
        return; // each poll checks the connection
    if (const std::uint32_t event = !sends_.is_empty() ? receive_event : message_event; !has_requested(event)) {
        request_doorbells();
        heavy_barrier(); // pairs with light_barrier() in notify_peer()
    }
    if (can_progress())
        schedule_check();
}

void SoftQueuePair::lose_device() noexcept
{
    flush_status_ = DOCA_ERROR_IO_FAILED;
    hold(false);
    fail();
}

void SoftQueuePair::time_out() noexcept
{
    hold(false);
    if (!sends_.is_empty())
        completions_->done(sends_.pop(), DOCA_ERROR_CONNECTION_RESET, {});
    fail();
}

bool SoftQueuePair::can_progress() const noexcept
{
    if (is_flushing_)
        return true;
    if (is_held_ || !needs_polling())
        return false;
    if (can_receive())
        return true;
    // The end of the peer completes an operation, unless a message has to be received first.
    const doca_error_t status = check_peer_in_wait();
    if (status == DOCA_ERROR_CONNECTION_RESET)
        return !has_unmatched_message();
    if (sends_.is_empty() || status != DOCA_SUCCESS)
        return false;
    // Messages need a receive or a free cell; one-sided operations need no more than the connection.
    switch (sends_.first_opcode()) {
    case Opcode::send:
    case Opcode::send_with_immediate:
    case Opcode::write_with_immediate:
        return can_send();
    default:
        return true;
    }
}

} // namespace opendoca::soft
