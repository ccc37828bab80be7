// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The connection and its queues. Messages are in queue_pair_messages.cpp, one-sided jobs in
// queue_pair_one_sided.cpp.
#include "queue_pair.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

#include "../../../log.hpp"
#include "../process/lock.hpp"
#include "../process/process.hpp"

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
      sends_(settings.send_queue_size),
      shared_(static_cast<SoftReceiveQueue *>(settings.shared_receives)),
      receives_(settings.recv_queue_size)
{
}

doca_error_t SoftQueuePair::open(const QueuePairSettings &settings)
{
    return Endpoint::create(settings, device_.function(), own_, details_);
}

SoftQueuePair::~SoftQueuePair()
{
    if (own_ != nullptr)
        close();
}

/// Nothing more comes from the peer, and nothing goes there.
void SoftQueuePair::close() noexcept
{
    if (identity_.pid() != getpid())
        return; // a forked child's copy of an object of its parent
    own_->page().accepts.store(EndpointPage::closed, std::memory_order_seq_cst);
    if (peer_ != nullptr)
        wake_peer(wants_messages | wants_receives);
}

doca_error_t SoftQueuePair::connect(std::span<const std::byte> details)
{
    std::shared_ptr<Endpoint> peer;
    if (const doca_error_t status = Endpoint::open(details, peer); status != DOCA_SUCCESS)
        return status;
    if (peer->process()->is_gone() ||
        peer->page().accepts.load(std::memory_order_relaxed) == EndpointPage::closed) {
        LOG_ERR("the peer's instance, of process %d, was stopped", peer->process()->pid());
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    peer_ = std::move(peer);
    process_ = peer_->process();
    peer_permissions_ = peer_->permissions();
    waking_.prepare(peer_->page().sleep);
    needs_barrier_ = process_->needs_barrier();
    if (const std::uint32_t theirs = peer_->page().mtu;
        !is_mtu_fixed_ && theirs < static_cast<std::uint32_t>(mtu_))
        mtu_ = static_cast<doca_mtu_size>(theirs);
    if (completions_ != nullptr && completions_->is_event_driven()) {
        if (const doca_error_t status = watch_death(); status != DOCA_SUCCESS) {
            peer_.reset();
            process_.reset();
            return DOCA_ERROR_CONNECTION_ABORTED;
        }
    }
    // Release: the peer's jobs that have waited for this see the page as it is.
    own_->page().accepts.store(peer_->id(), std::memory_order_seq_cst);
    wake_peer(wants_messages | wants_receives);
    // Last: from now on the work queue's thread may submit jobs, and one that fails closes the page.
    set_state(ConnectionState::connected);
    return DOCA_SUCCESS;
}

/// Lets the end of the peer's process wake the work queue.
doca_error_t SoftQueuePair::watch_death() noexcept
{
    if (process_->is_self())
        return DOCA_SUCCESS;
    // One for each connection: a descriptor can be watched once.
    UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, process_->pid(), 0)));
    if (!pidfd.is_open()) {
        if (process_->is_gone())
            return DOCA_SUCCESS; // the first job will find out
        LOG_ERR("pidfd_open of process %d: %s", process_->pid(), std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    if (const doca_error_t status = completions_->watch(pidfd.get()); status != DOCA_SUCCESS)
        return status;
    death_ = std::move(pidfd);
    return DOCA_SUCCESS;
}

doca_error_t SoftQueuePair::attach(CompletionQueue &completions)
{
    completions.reserve_polled();
    completions_ = &completions;
    if (!completions.is_event_driven()) {
        completions.poll_also(*this);
        return DOCA_SUCCESS;
    }
    doca_error_t status = DOCA_SUCCESS;
    if (!sleep_.is_open())
        status = sleep_.open(own_->page().sleep);
    if (status == DOCA_SUCCESS)
        status = completions.watch(sleep_.wake_fd());
    if (status == DOCA_SUCCESS && is_connected())
        status = watch_death();
    if (status == DOCA_SUCCESS)
        completions.poll_also(*this);
    else
        detach();
    return status;
}

void SoftQueuePair::detach() noexcept
{
    if (completions_ == nullptr)
        return;
    completions_->poll_no_more(*this);
    completions_->unreserve_polled();
    if (completions_->is_event_driven()) {
        sleep_.get_up();
        if (sleep_.is_open())
            completions_->unwatch(sleep_.wake_fd());
        if (death_.is_open())
            completions_->unwatch(death_.get());
        death_ = UniqueFd();
    }
    completions_ = nullptr;
}

doca_error_t SoftQueuePair::explain_peer() const noexcept
{
    const std::uint64_t accepts = peer_->page().accepts.load(std::memory_order_acquire);
    const bool is_gone = process_->is_gone();
    if (!is_gone && accepts == own_->id())
        return DOCA_SUCCESS;
    if (!is_gone && accepts == 0)
        return DOCA_ERROR_AGAIN; // it has not connected yet
    if (!std::exchange(is_loss_logged_, true) && is_connected()) {
        LOG_ERR("the peer, %s process %d, %s", is_gone ? "" : "in", process_->pid(),
                     is_gone                           ? "has ended"
                     : accepts == EndpointPage::closed ? "has stopped its instance or met an error"
                                                       : "is connected to another instance");
    }
    return DOCA_ERROR_CONNECTION_RESET;
}

doca_error_t SoftQueuePair::start(Tag tag, Opcode opcode, const Work &work) noexcept
{
    if (completions_->is_full())
        return DOCA_ERROR_NO_MEMORY; // not worth a message: programs drain the queue and try again
    if (num_sends_ == 0) {
        const doca_error_t status = execute(opcode, work);
        if (status != DOCA_ERROR_AGAIN) {
            const bool is_read = opcode == Opcode::read && status == DOCA_SUCCESS;
            end_at_once(tag, status, is_read ? work.transfer.plan.length : 0);
            return DOCA_SUCCESS;
        }
    }
    if (num_sends_ == send_queue_size_)
        return DOCA_ERROR_NO_MEMORY;
    Operation &operation = completions_->begin(tag, *this);
    operation.kind = static_cast<std::uint32_t>(opcode);
    operation.payload<Work>() = work;
    sends_[(first_send_ + num_sends_++) & (send_queue_size_ - 1)] = &operation;
    if (completions_->is_armed()) {
        announce_sleep();
        if (can_progress())
            completions_->wake();
    }
    return DOCA_SUCCESS;
}

doca_error_t SoftQueuePair::execute(Opcode opcode, const Work &work) noexcept
{
    const doca_error_t status = try_to(opcode, work);
    // What can't be reached may be that of a process which is just being killed.
    if (status == DOCA_ERROR_IO_FAILED && process_->is_gone_or_ending()) [[unlikely]]
        return DOCA_ERROR_CONNECTION_RESET;
    return status;
}

doca_error_t SoftQueuePair::try_to(Opcode opcode, const Work &work) noexcept
{
    switch (opcode) {
    case Opcode::read:
    case Opcode::write: {
        const doca_error_t status = check_peer();
        return status == DOCA_SUCCESS ? transfer(opcode, work) : status;
    }
    case Opcode::compare_and_swap:
    case Opcode::fetch_and_add:
        return execute_update(opcode, work);
    default:
        return send_message(opcode, work);
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
        const Work work = operation.payload<Work>();
        const auto opcode = static_cast<Opcode>(operation.kind);
        const doca_error_t status = execute(opcode, work);
        if (status == DOCA_ERROR_AGAIN)
            return;
        ++first_send_;
        --num_sends_;
        const bool is_read = opcode == Opcode::read && status == DOCA_SUCCESS;
        completions_->done(operation, status, {.length = is_read ? work.transfer.plan.length : 0});
        if (status != DOCA_SUCCESS)
            return fail();
    }
}

void SoftQueuePair::progress() noexcept
{
    if (is_flushing_) [[unlikely]]
        return flush_all();
    if (!is_connected() || !has_waiting_operations())
        return;
    while (take_next()) {
        // Each may end an operation.
    }
    if (num_sends_ != 0)
        go_on_sending();
    if (has_waiting_operations() && is_connected() && check_peer() == DOCA_ERROR_CONNECTION_RESET) [[unlikely]]
        lose_peer();
}

/// The peer is gone, while jobs wait for it.
void SoftQueuePair::lose_peer() noexcept
{
    while (take_next()) {
        // What it has sent before still counts.
    }
    if (!is_connected() || !has_waiting_operations())
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
    flush_all();
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

/// After something that the peer may sleep for has been stored.
void SoftQueuePair::wake_peer(std::uint32_t wish) noexcept
{
    SleepState &sleep = peer_->page().sleep;
    if (needs_barrier_) [[unlikely]]
        waking_.wake_with_barrier(sleep, wish);
    else
        waking_.wake_cheaply(sleep, wish);
}

void SoftQueuePair::announce_sleep() noexcept
{
    sleep_.lie_down(wants_messages | (num_sends_ != 0 ? wants_receives : 0));
    barrier_for_all(); // pairs with WakingSide::wake_cheaply()
}

bool SoftQueuePair::can_progress() const noexcept
{
    if (is_flushing_)
        return true;
    if (!is_connected() || !has_waiting_operations())
        return false;
    if (can_take())
        return true;
    const doca_error_t status = check_peer();
    if (status == DOCA_ERROR_CONNECTION_RESET)
        return true;
    if (num_sends_ == 0 || status != DOCA_SUCCESS)
        return false;
    switch (static_cast<Opcode>(sends_[first_send_ & (send_queue_size_ - 1)]->kind)) {
    case Opcode::send:
    case Opcode::send_with_immediate:
    case Opcode::write_with_immediate:
        if (peer_->shares_receives() && !has_asked_)
            return is_ahead(peer_->page().num_taken.load(std::memory_order_acquire) + peer_->recv_queue_size(),
                            next_message_);
        return peer_->entry(next_message_).ticket.load(std::memory_order_acquire) ==
               ticket_of(next_message_, Turn::posted);
    default:
        return true;
    }
}

bool SoftQueuePair::arm() noexcept
{
    announce_sleep();
    return can_progress();
}

void SoftQueuePair::disarm() noexcept
{
    sleep_.get_up();
    if (death_.is_open() && has_ended(death_.get())) {
        // Told once; who has jobs in flight learns of it in progress().
        completions_->unwatch(death_.get());
        death_ = UniqueFd();
    }
}

} // namespace opendoca::soft
