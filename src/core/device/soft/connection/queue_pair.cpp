// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The connection's states and its send queue. Sending is in queue_pair_messages.cpp, receiving in
// queue_pair_receives.cpp, one-sided operations in queue_pair_one_sided.cpp, notification in queue_pair_doorbells.cpp.
#include "queue_pair.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include <unistd.h>

#include "../../../log/log.hpp"
#include "../../../objects/mmap.hpp"
#include "../process/lock.hpp"
#include "../process/process.hpp"
#include "../process/read_once.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_RDMA);

namespace opendoca::soft {

SoftQueuePair::SoftQueuePair(const SoftDevice &device, const QueuePairSettings &settings,
                             std::atomic<ConnectionState> &state)
    : QueuePair(state),
      device_(device),
      send_queue_size_(settings.send_queue_size),
      recv_queue_size_(settings.recv_queue_size),
      is_mtu_fixed_(settings.is_mtu_fixed),
      mtu_(settings.mtu),
      shared_receives_(static_cast<SoftReceiveQueue *>(settings.shared_receives)),
      ring_memory_(std::make_unique_for_overwrite<Operation *[]>(std::size_t{send_queue_size_} + recv_queue_size_)),
      sends_(ring_memory_.get()),
      receives_(sends_ + send_queue_size_)
{
}

doca_error_t SoftQueuePair::open(const QueuePairSettings &settings)
{
    const doca_error_t status = ProcessId::find_out(identity_);
    return status == DOCA_SUCCESS ? QueuePairMapping::create(settings, device_.function(), own_, details_) : status;
}

SoftQueuePair::~SoftQueuePair()
{
    if (own_ != nullptr)
        close();
}

/// Closes both directions of the connection, and notifies the peer. Idempotent.
void SoftQueuePair::close() noexcept
{
    if (identity_.pid() != getpid())
        return; // a forked child's copy of an object of its parent
    // Pairs with the loads in the peer's is_peer_connected() and was_delivered().
    own_->page().connected_to.store(QueuePairPage::closed, std::memory_order_seq_cst);
    if (peer_ != nullptr)
        notify_peer_with_barrier();
}

doca_error_t SoftQueuePair::connect(std::span<const std::byte> details)
{
    std::shared_ptr<QueuePairMapping> peer;
    if (const doca_error_t status = QueuePairMapping::open(details, peer); status != DOCA_SUCCESS)
        return status;
    if (peer->process()->is_gone() ||
        peer->page().connected_to.load(std::memory_order_relaxed) == QueuePairPage::closed) {
        LOG_ERR("the peer's instance, of process %d, was stopped", peer->process()->pid());
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    peer_ = std::move(peer);
    process_ = peer_->process();
    peer_permissions_ = peer_->permissions();
    needs_barrier_ = process_->needs_barrier();
    // The link has the smaller one of both MTUs, unless the program has fixed this end's.
    if (const std::uint32_t theirs = read_once(peer_->page().mtu);
        !is_mtu_fixed_ && theirs < static_cast<std::uint32_t>(mtu_))
        mtu_ = static_cast<doca_mtu_size>(theirs);
    prepare_doorbell();
    // Sequentially consistent, which includes release: a peer that loads the id in is_peer_connected() sees the page as
    // it is, with the receives posted so far.
    own_->page().connected_to.store(peer_->id(), std::memory_order_seq_cst);
    notify_peer_with_barrier();
    // Last: after this the work queue's thread may submit operations, and a failed one closes the page.
    set_state(ConnectionState::connected);
    // If receives are shared, messages can arrive without a receive of this queue pair, so it waits for them from now
    // on. connect() then runs in the work queue's thread.
    if (shared_receives_ != nullptr && has_doorbells_) {
        (void)ensure_peer_watched();
        begin_waiting();
    }
    return DOCA_SUCCESS;
}

doca_error_t SoftQueuePair::attach(CompletionQueue &completions)
{
    std::shared_ptr<ConnectionPoller> poller;
    doca_error_t status = ConnectionPoller::of(completions, poller);
    if (status == DOCA_SUCCESS)
        status = poller->add(*this, number_);
    if (status != DOCA_SUCCESS)
        return status;
    poller_ = std::move(poller);
    completions_ = &completions;
    is_watched_ = false;
    requested_events_ = 0;
    has_doorbells_ = poller_->has_doorbells();
    if (has_doorbells_ && !poller_->polls_by_doorbells())
        publish_doorbell_request(
            0); // names the page, so that a connecting peer maps it in time: see prepare_doorbell()
    if (is_connected()) {
        prepare_doorbell();
        if (pending_events_ != 0)
            poller_->schedule_doorbell_retry();
    }
    if (poller_->polls_by_doorbells()) {
        request_doorbells();
        // The peer of an end that has connected before may have stored a message without having seen this request: one
        // check finds it. Before connect() that cannot be, as the peer sends only after it has seen `connected_to`.
        if (own_->page().connected_to.load(std::memory_order_seq_cst) != 0) {
            heavy_barrier();
            poller_->schedule_check(number_);
        }
    }
    if (shared_receives_ != nullptr && is_connected())
        (void)ensure_peer_watched();
    return DOCA_SUCCESS;
}

void SoftQueuePair::detach() noexcept
{
    if (completions_ == nullptr)
        return;
    if (identity_.pid() == getpid()) {
        // Relaxed: a peer that still loads the old request rings a doorbell that is ignored or, if its number is in use
        // again, causes a check.
        own_->page().doorbell_request.store(0, std::memory_order_relaxed);
        retry_pending_doorbell(); // the last chance: a detached connection is not polled
        if (std::exchange(is_watched_, false))
            poller_->stop_watching(*process_);
    }
    if (shared_receives_ != nullptr)
        shared_receives_->remove_without_receive(*this);
    poller_->remove(number_);
    poller_.reset();
    has_doorbells_ = false;
    completions_ = nullptr;
}

/// The slow path of check_peer(): finds out why the peer is not connected, and logs the end of the connection once: as
/// an error; if not @p is_error, as a warning (connected elsewhere) or information.
doca_error_t SoftQueuePair::diagnose_peer(bool is_error) const noexcept
{
    // Acquire: after a close() is seen, all that the peer stored before is visible.
    const std::uint64_t connected_to = peer_->page().connected_to.load(std::memory_order_acquire);
    const bool is_gone = process_->is_gone();
    if (!is_gone && connected_to == own_->id())
        return DOCA_SUCCESS;
    if (!is_gone && connected_to == 0)
        return DOCA_ERROR_AGAIN; // it has not connected yet
    if (!std::exchange(is_loss_logged_, true) && is_connected()) {
        const char *const where = is_gone ? "" : "in ";
        const char *const why = is_gone                                 ? "has ended"
                                : connected_to == QueuePairPage::closed ? "has stopped or met an error"
                                                                        : "is connected to another instance";
        if (is_error)
            LOG_ERR("the peer, %sprocess %d, %s", where, process_->pid(), why);
        else if (!is_gone && connected_to != QueuePairPage::closed)
            LOG_WARN("the peer, %sprocess %d, %s: were details mixed up?", where, process_->pid(), why);
        else
            LOG_INFO("the peer, %sprocess %d, %s", where, process_->pid(), why);
    }
    return DOCA_ERROR_CONNECTION_RESET;
}

SoftQueuePair::PendingRequest::PendingRequest(const Request &request) noexcept
    : local_(request.local),
      remote_(request.remote)
{
    // Only one member of the union is set: an atomic has operands and no plan, other requests a plan and no operands.
    if (is_atomic(request.opcode))
        atomic_ = {request.operand, request.compare};
    else
        transfer_ = {request.plan, request.immediate};
}

Request SoftQueuePair::PendingRequest::request(Opcode opcode, const Device &device) const noexcept
{
    Request request{};
    request.opcode = opcode;
    request.local = local_;
    request.remote = remote_;
    // A transfer of no bytes does not touch its remote buffer, which the program may have freed.
    if (remote_ != nullptr && (is_atomic(opcode) || transfer_.plan.length != 0))
        request.remote_key = remote_->mmap->key_for(device);
    if (is_atomic(opcode)) {
        request.operand = atomic_.operand;
        request.compare = atomic_.compare;
    } else {
        request.plan = transfer_.plan;
        request.immediate = transfer_.immediate;
    }
    return request;
}

doca_error_t SoftQueuePair::post(Tag tag, const Request &request) noexcept
{
    switch (request.opcode) {
    case Opcode::send:
    case Opcode::send_with_immediate:
        return post_message(tag, request);
    case Opcode::write:
        return post_write(tag, request);
    case Opcode::read:
        return post_read(tag, request);
    case Opcode::compare_and_swap:
    case Opcode::fetch_and_add:
        return post_atomic(tag, request);
    default:
        return post_any(tag, request);
    }
}

/// Executes the request now, or queues it if it would have to wait or would overtake a queued one.
doca_error_t SoftQueuePair::post_any(Tag tag, const Request &request) noexcept
{
    if (completions_->is_full())
        return DOCA_ERROR_NO_MEMORY; // not logged: programs drain the queue and retry
    if (num_sends_ == 0) {
        const doca_error_t status = execute(request);
        if (status != DOCA_ERROR_AGAIN) {
            const bool is_read = request.opcode == Opcode::read && status == DOCA_SUCCESS;
            complete_now(tag, status, is_read ? request.plan.length : 0);
            return DOCA_SUCCESS;
        }
    }
    if (num_sends_ == send_queue_size_ || !ensure_peer_watched())
        return DOCA_ERROR_NO_MEMORY;
    Operation &operation = completions_->begin(tag, *this);
    operation.kind = static_cast<std::uint32_t>(request.opcode);
    operation.payload<PendingRequest>() = PendingRequest(request);
    sends_[(first_send_ + num_sends_++) & (send_queue_size_ - 1)] = &operation;
    if (has_doorbells_)
        begin_waiting();
    return DOCA_SUCCESS;
}

/// Carries out @p request. AGAIN if it must wait for the peer: to be called again with the same request. No data has
/// been moved then, but a rendezvous request may have been sent.
doca_error_t SoftQueuePair::execute(const Request &request) noexcept
{
    const doca_error_t status = dispatch(request);
    // Memory that cannot be accessed may belong to a process that is just being killed.
    if (status == DOCA_ERROR_IO_FAILED && process_->is_gone_or_ending()) [[unlikely]]
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
        return status == DOCA_SUCCESS ? execute_read_or_write(request) : status;
    }
    case Opcode::compare_and_swap:
    case Opcode::fetch_and_add:
        return execute_atomic(request);
    default:
        return send_message(request);
    }
}

void SoftQueuePair::complete_now(Tag tag, doca_error_t status, std::uint32_t length) noexcept
{
    completions_->done(tag, *this, status, length);
    if (status != DOCA_SUCCESS) [[unlikely]]
        fail();
}

/// Executes the queued operations in order, until one has to wait or fails. The others are then flushed by fail().
void SoftQueuePair::resume_sends() noexcept
{
    while (num_sends_ != 0) {
        Operation &operation = *sends_[first_send_ & (send_queue_size_ - 1)];
        const Request request =
            operation.payload<PendingRequest>().request(static_cast<Opcode>(operation.kind), device_);
        const doca_error_t status = execute(request);
        if (status == DOCA_ERROR_AGAIN)
            return;
        ++first_send_;
        --num_sends_;
        const bool is_read = request.opcode == Opcode::read && status == DOCA_SUCCESS;
        completions_->done(operation, status, {.length = is_read ? request.plan.length : 0});
        if (status != DOCA_SUCCESS)
            return fail();
    }
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
    if (num_sends_ != 0) {
        --num_sends_;
        completions_->done(*sends_[first_send_++ & (send_queue_size_ - 1)], DOCA_ERROR_CONNECTION_RESET, {});
    } else if (has_receives()) {
        give_up_receive(*receive_of(first_receive_++), DOCA_ERROR_CONNECTION_RESET);
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
    close();
    // Between the store of `connected_to` in close() and the loads of the cells below. Pairs with was_delivered(),
    // which loads `connected_to` after the cell was stored: a message that its sender completes with SUCCESS is seen
    // here.
    heavy_barrier();
    while (shared_receives_ != nullptr && receive_next()) {
        // Messages that have arrived go into shared receives now; own receives are filled by flush_all().
    }
    flush_all();
    if (shared_receives_ != nullptr)
        shared_receives_->remove_without_receive(*this);
}

/// Completes all operations with SHUTDOWN. A receive that the peer is filling stays: is_flushing_ makes each poll
/// continue here until the peer has finished or ended.
void SoftQueuePair::flush_all() noexcept
{
    for (; num_sends_ != 0; --num_sends_)
        completions_->done(*sends_[first_send_++ & (send_queue_size_ - 1)], DOCA_ERROR_SHUTDOWN, {});
    flush_receives();
    is_flushing_ = has_receives();
}

void SoftQueuePair::flush() noexcept
{
    if (is_connected() && needs_polling())
        fail();
}

void SoftQueuePair::handle_exit_of(const ExporterProcess &process) noexcept
{
    if (!is_watched_ || process_.get() != &process)
        return;
    is_watched_ = false; // the poller has removed the process; an operation that waits later watches it again
    progress();
}

bool SoftQueuePair::watch_process() noexcept
{
    is_watched_ = poller_->watch(process_);
    return is_watched_;
}

/// Called after an operation was queued (a receive: only the first), and by connect() if receives are shared. Requests
/// the doorbell for its event, unless an earlier request and its barrier cover it, and checks for the event, which may
/// have come before.
void SoftQueuePair::begin_waiting() noexcept
{
    if (!poller_->polls_by_doorbells() && !completions_->is_armed())
        return; // the poller checks the connection itself
    if (const std::uint32_t event = num_sends_ != 0 ? receive_event : message_event; (requested_events_ & event) == 0) {
        request_doorbells();
        heavy_barrier(); // pairs with light_barrier() in notify_peer()
    }
    if (can_progress())
        poller_->schedule_check(number_);
}

bool SoftQueuePair::can_progress() const noexcept
{
    if (is_flushing_)
        return true;
    if (!needs_polling())
        return false;
    if (can_receive())
        return true;
    // The end of the peer completes an operation, unless a message has to be received first.
    const doca_error_t status = check_peer_in_wait();
    if (status == DOCA_ERROR_CONNECTION_RESET)
        return !has_unmatched_message();
    if (num_sends_ == 0 || status != DOCA_SUCCESS)
        return false;
    // Messages need a receive, or, if the peer's receives are shared, a free cell; one-sided operations need no more
    // than the connection. The acquire loads pair with the stores in the peer's receive() and receive_into_posted().
    switch (static_cast<Opcode>(sends_[first_send_ & (send_queue_size_ - 1)]->kind)) {
    case Opcode::send:
    case Opcode::send_with_immediate:
    case Opcode::write_with_immediate:
        if (peer_->shares_receives() && !has_sent_rendezvous_request_)
            return is_ahead(peer_->page().num_taken.load(std::memory_order_acquire) + peer_->recv_queue_size(),
                            next_message_);
        return peer_->entry(next_message_).state.load(std::memory_order_acquire) ==
               state_of(next_message_, ReceiveState::posted);
    default:
        return true;
    }
}

} // namespace opendoca::soft
