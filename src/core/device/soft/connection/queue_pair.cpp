// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The connection and its queues. Messages are in queue_pair_messages.cpp, one-sided jobs in
// queue_pair_one_sided.cpp.
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

#include "../../../log.hpp"
#include "../../../mmap.hpp"
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
      shared_(static_cast<SoftReceiveQueue *>(settings.shared_receives)),
      waiting_(std::make_unique_for_overwrite<Operation *[]>(std::size_t{send_queue_size_} + recv_queue_size_)),
      sends_(waiting_.get()),
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

/// Closes both directions of the connection.
void SoftQueuePair::close() noexcept
{
    if (identity_.pid() != getpid())
        return; // a forked child's copy of an object of its parent
    own_->page().accepts.store(QueuePairPage::closed, std::memory_order_seq_cst);
    if (peer_ != nullptr)
        tell_peer_with_barrier();
}

doca_error_t SoftQueuePair::connect(std::span<const std::byte> details)
{
    std::shared_ptr<QueuePairMapping> peer;
    if (const doca_error_t status = QueuePairMapping::open(details, peer); status != DOCA_SUCCESS)
        return status;
    if (peer->process()->is_gone() || peer->page().accepts.load(std::memory_order_relaxed) == QueuePairPage::closed) {
        LOG_ERR("the peer's instance, of process %d, was stopped", peer->process()->pid());
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    peer_ = std::move(peer);
    process_ = peer_->process();
    peer_permissions_ = peer_->permissions();
    needs_barrier_ = process_->needs_barrier();
    if (const std::uint32_t theirs = read_once(peer_->page().mtu);
        !is_mtu_fixed_ && theirs < static_cast<std::uint32_t>(mtu_))
        mtu_ = static_cast<doca_mtu_size>(theirs);
    prepare_to_ring();
    // Release: the peer's jobs that have waited for this see the page as it is.
    own_->page().accepts.store(peer_->id(), std::memory_order_seq_cst);
    tell_peer_with_barrier();
    // Last: after this the work queue's thread may submit operations, and a failed one closes the page.
    set_state(ConnectionState::connected);
    // Where receives are shared, messages are waited for from now on, and this is the work queue's thread.
    if (shared_ != nullptr && has_doorbells_) {
        (void)may_wait();
        began_to_wait();
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
    wishes_ = 0;
    has_doorbells_ = poller_->has_doorbells();
    if (has_doorbells_ && !poller_->needs_rings())
        show_doorbell_request(0); // so that a connecting peer uses the page: see prepare_to_ring()
    if (is_connected()) {
        prepare_to_ring();
        if (pending_events_ != 0)
            poller_->owe_ring();
    }
    if (poller_->needs_rings()) {
        ask_for_rings();
        // An end that is not connected yet has a peer that loads this before it sends.
        if (own_->page().accepts.load(std::memory_order_seq_cst) != 0) {
            barrier_for_all();
            poller_->look_at(number_);
        }
    }
    if (shared_ != nullptr && is_connected())
        (void)may_wait();
    return DOCA_SUCCESS;
}

void SoftQueuePair::detach() noexcept
{
    if (completions_ == nullptr)
        return;
    if (identity_.pid() == getpid()) {
        own_->page().doorbell_request.store(0, std::memory_order_relaxed); // a late load rings in vain
        make_owed_ring();                                                  // nobody polls from now on
        if (std::exchange(is_watched_, false))
            poller_->watch_no_more(*process_);
    }
    if (shared_ != nullptr)
        shared_->forget(*this);
    poller_->remove(number_);
    poller_.reset();
    has_doorbells_ = false;
    completions_ = nullptr;
}

doca_error_t SoftQueuePair::explain_peer(bool is_error) const noexcept
{
    const std::uint64_t accepts = peer_->page().accepts.load(std::memory_order_acquire);
    const bool is_gone = process_->is_gone();
    if (!is_gone && accepts == own_->id())
        return DOCA_SUCCESS;
    if (!is_gone && accepts == 0)
        return DOCA_ERROR_AGAIN; // it has not connected yet
    if (!std::exchange(is_loss_logged_, true) && is_connected()) {
        const char *const where = is_gone ? "" : "in ";
        const char *const why = is_gone                            ? "has ended"
                                : accepts == QueuePairPage::closed ? "has stopped or met an error"
                                                                   : "is connected to another instance";
        if (is_error)
            LOG_ERR("the peer, %sprocess %d, %s", where, process_->pid(), why);
        else if (!is_gone && accepts != QueuePairPage::closed)
            LOG_WARN("the peer, %sprocess %d, %s: were details mixed up?", where, process_->pid(), why);
        else
            LOG_INFO("the peer, %sprocess %d, %s", where, process_->pid(), why);
    }
    return DOCA_ERROR_CONNECTION_RESET;
}

SoftQueuePair::Waiting::Waiting(const Request &request) noexcept : local_(request.local), remote_(request.remote)
{
    if (is_atomic(request.opcode))
        atomic_ = {request.operand, request.compare};
    else
        transfer_ = {request.plan, request.immediate};
}

Request SoftQueuePair::Waiting::request(Opcode opcode, const Device &device) const noexcept
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

doca_error_t SoftQueuePair::post_any(Tag tag, const Request &request) noexcept
{
    if (completions_->is_full())
        return DOCA_ERROR_NO_MEMORY; // not worth a message: programs drain the queue and try again
    if (num_sends_ == 0) {
        const doca_error_t status = execute(request);
        if (status != DOCA_ERROR_AGAIN) {
            const bool is_read = request.opcode == Opcode::read && status == DOCA_SUCCESS;
            end_at_once(tag, status, is_read ? request.plan.length : 0);
            return DOCA_SUCCESS;
        }
    }
    if (num_sends_ == send_queue_size_ || !may_wait())
        return DOCA_ERROR_NO_MEMORY;
    Operation &operation = completions_->begin(tag, *this);
    operation.kind = static_cast<std::uint32_t>(request.opcode);
    operation.payload<Waiting>() = Waiting(request);
    sends_[(first_send_ + num_sends_++) & (send_queue_size_ - 1)] = &operation;
    if (has_doorbells_)
        began_to_wait();
    return DOCA_SUCCESS;
}

doca_error_t SoftQueuePair::execute(const Request &request) noexcept
{
    const doca_error_t status = try_to(request);
    // What can't be reached may be that of a process which is just being killed.
    if (status == DOCA_ERROR_IO_FAILED && process_->is_gone_or_ending()) [[unlikely]]
        return DOCA_ERROR_CONNECTION_RESET;
    return status;
}

doca_error_t SoftQueuePair::try_to(const Request &request) noexcept
{
    switch (request.opcode) {
    case Opcode::read:
    case Opcode::write: {
        const doca_error_t status = check_peer();
        return status == DOCA_SUCCESS ? transfer(request) : status;
    }
    case Opcode::compare_and_swap:
    case Opcode::fetch_and_add:
        return update(request);
    default:
        return send_message(request);
    }
}

void SoftQueuePair::end_at_once(Tag tag, doca_error_t status, std::uint32_t length) noexcept
{
    completions_->done(tag, *this, status, length);
    if (status != DOCA_SUCCESS) [[unlikely]]
        fail();
}

void SoftQueuePair::go_on_sending() noexcept
{
    while (num_sends_ != 0) {
        Operation &operation = *sends_[first_send_ & (send_queue_size_ - 1)];
        const Request request = operation.payload<Waiting>().request(static_cast<Opcode>(operation.kind), device_);
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

/// Called when the peer has ended while operations wait for it.
void SoftQueuePair::lose_peer() noexcept
{
    while (take_next()) {
        // What it has sent before still counts.
    }
    if (!is_connected() || !has_waiting_operations() || has_unmet_message())
        return;
    if (num_sends_ != 0) {
        --num_sends_;
        completions_->done(*sends_[first_send_++ & (send_queue_size_ - 1)], DOCA_ERROR_CONNECTION_RESET, {});
    } else if (has_receives()) {
        end_unmet(*receive_of(first_receive_++), DOCA_ERROR_CONNECTION_RESET);
    }
    fail();
}

/// A job has failed, or is to be cancelled: the connection ends here.
void SoftQueuePair::fail() noexcept
{
    if (!is_connected())
        return;
    set_state(ConnectionState::failed);
    close();
    // First closed, then the look at what has come: pairs with deliver(). What its sender counts as sent is
    // received.
    barrier_for_all();
    is_flushing_ = true;
    while (shared_ != nullptr && take_next()) {
        // Where receives are shared, none is held for it.
    }
    flush_all();
    if (shared_ != nullptr)
        shared_->forget(*this);
}

void SoftQueuePair::flush_all() noexcept
{
    for (; num_sends_ != 0; --num_sends_)
        completions_->done(*sends_[first_send_++ & (send_queue_size_ - 1)], DOCA_ERROR_SHUTDOWN, {});
    flush_receives();
    is_flushing_ = has_receives();
}

void SoftQueuePair::flush() noexcept
{
    if (is_connected() && has_waiting_operations())
        fail();
}

void SoftQueuePair::process_ended(const ExporterProcess &process) noexcept
{
    if (!is_watched_ || process_.get() != &process)
        return;
    is_watched_ = false; // an operation that begins to wait later finds it ended once more
    progress();
}

bool SoftQueuePair::watch_process() noexcept
{
    is_watched_ = poller_->watch(process_);
    return is_watched_;
}

/// An operation waits that may have nothing to wait for, or for which the peer does not ring yet.
void SoftQueuePair::began_to_wait() noexcept
{
    if (!poller_->needs_rings() && !completions_->is_armed())
        return; // the poller checks the connection itself
    if (const std::uint32_t wish = num_sends_ != 0 ? wants_receives : wants_messages; (wishes_ & wish) == 0) {
        ask_for_rings();
        barrier_for_all(); // pairs with tell_peer()
    }
    if (can_progress())
        poller_->look_at(number_);
}

bool SoftQueuePair::can_progress() const noexcept
{
    if (is_flushing_)
        return true;
    if (!has_waiting_operations())
        return false;
    if (can_take())
        return true;
    const doca_error_t status = check_peer_in_wait();
    if (status == DOCA_ERROR_CONNECTION_RESET)
        return !has_unmet_message();
    if (num_sends_ == 0 || status != DOCA_SUCCESS)
        return false;
    switch (static_cast<Opcode>(sends_[first_send_ & (send_queue_size_ - 1)]->kind)) {
    case Opcode::send:
    case Opcode::send_with_immediate:
    case Opcode::write_with_immediate:
        if (peer_->shares_receives() && !has_asked_)
            return is_ahead(peer_->page().num_taken.load(std::memory_order_acquire) + peer_->recv_queue_size(),
                            next_message_);
        return peer_->entry(next_message_).state.load(std::memory_order_acquire) ==
               state_of(next_message_, ReceiveState::posted);
    default:
        return true;
    }
}

} // namespace opendoca::soft
