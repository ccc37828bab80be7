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

#include <doca_log.h>

#include "process/process.hpp"

DOCA_LOG_REGISTER(DOCA_SOFT_RDMA);

namespace opendoca::soft {

void SoftQueuePair::write_outcome(const JobSlot &slot, doca_error_t result, doca_event &event)
{
    write_rdma_result(slot.payload<RdmaOutcome>(), result, event);
}

SoftQueuePair::SoftQueuePair(const doca_dev &dev, const QueuePairSettings &settings,
                             std::atomic<doca_rdma_state> &state)
    : QueuePair(dev, settings, state),
      send_queue_size_(settings.send_queue_size),
      recv_queue_size_(settings.recv_queue_size),
      is_mtu_fixed_(settings.is_mtu_fixed),
      mtu_(settings.mtu),
      sends_(settings.send_queue_size),
      receives_(settings.recv_queue_size)
{
}

doca_error_t SoftQueuePair::create(const doca_dev &dev, const QueuePairSettings &settings,
                                   std::atomic<doca_rdma_state> &state, std::unique_ptr<QueuePair> &created)
{
    std::unique_ptr<SoftQueuePair> fresh(new SoftQueuePair(dev, settings, state));
    const doca_error_t status = Endpoint::create(settings, dev.function(), fresh->own_, fresh->details_);
    if (status != DOCA_SUCCESS)
        return status;
    created = std::move(fresh);
    return DOCA_SUCCESS;
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
        DOCA_LOG_ERR("the peer's instance, of process %d, was stopped", peer->process()->pid());
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
    if (workq_ != nullptr && workq_->is_event_driven()) {
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
    set_state(DOCA_RDMA_STATE_CONNECTED);
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
        DOCA_LOG_ERR("pidfd_open of process %d: %s", process_->pid(), std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    if (const doca_error_t status = workq_->watch(pidfd.get()); status != DOCA_SUCCESS)
        return status;
    death_ = std::move(pidfd);
    return DOCA_SUCCESS;
}

doca_error_t SoftQueuePair::attach(doca_workq &workq)
{
    if (workq.is_event_driven()) {
        if (!sleep_.is_open()) {
            if (const doca_error_t status = sleep_.open(own_->page().sleep); status != DOCA_SUCCESS)
                return status;
        }
        if (const doca_error_t status = workq.watch(sleep_.wake_fd()); status != DOCA_SUCCESS)
            return status;
    }
    workq_ = &workq;
    if (workq.is_event_driven() && is_connected()) {
        if (const doca_error_t status = watch_death(); status != DOCA_SUCCESS) {
            detach();
            return status;
        }
    }
    return DOCA_SUCCESS;
}

void SoftQueuePair::detach() noexcept
{
    if (workq_ == nullptr)
        return;
    if (workq_->is_event_driven()) {
        sleep_.get_up();
        workq_->unwatch(sleep_.wake_fd());
        if (death_.is_open())
            workq_->unwatch(death_.get());
        death_ = UniqueFd();
    }
    workq_ = nullptr;
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
        DOCA_LOG_ERR("the peer, %s process %d, %s", is_gone ? "" : "in", process_->pid(),
                     is_gone                           ? "has ended"
                     : accepts == EndpointPage::closed ? "has stopped its instance or met an error"
                                                       : "is connected to another instance");
    }
    return DOCA_ERROR_CONNECTION_RESET;
}

doca_error_t SoftQueuePair::start(const doca_job &job, const Work &work) noexcept
{
    if (workq_->is_full())
        return DOCA_ERROR_NO_MEMORY; // not worth a message: programs drain the queue and try again
    if (num_sends_ == 0) {
        const doca_error_t status = execute(job.type, work);
        if (status != DOCA_ERROR_AGAIN) {
            const bool is_read = job.type == DOCA_RDMA_JOB_READ && status == DOCA_SUCCESS;
            end_at_once(job, status, is_read ? work.transfer.plan.length : 0);
            return DOCA_SUCCESS;
        }
    }
    if (num_sends_ == send_queue_size_)
        return DOCA_ERROR_NO_MEMORY;
    JobSlot *const slot = workq_->take_slot(job, *this);
    if (slot == nullptr)
        return DOCA_ERROR_NO_MEMORY;
    slot->write_result = write_outcome;
    slot->payload<Work>() = work;
    sends_[(first_send_ + num_sends_++) & (send_queue_size_ - 1)] = slot;
    if (workq_->is_armed()) {
        announce_sleep();
        if (can_progress())
            workq_->wake();
    }
    return DOCA_SUCCESS;
}

doca_error_t SoftQueuePair::execute(int type, const Work &work) noexcept
{
    const doca_error_t status = try_to(type, work);
    // What can't be reached may be that of a process which is just being killed.
    if (status == DOCA_ERROR_IO_FAILED && process_->is_gone_or_ending()) [[unlikely]]
        return DOCA_ERROR_CONNECTION_RESET;
    return status;
}

doca_error_t SoftQueuePair::try_to(int type, const Work &work) noexcept
{
    switch (type) {
    case DOCA_RDMA_JOB_READ:
    case DOCA_RDMA_JOB_WRITE: {
        const doca_error_t status = check_peer();
        return status == DOCA_SUCCESS ? transfer(type, work) : status;
    }
    case DOCA_RDMA_JOB_ATOMIC_CMP_SWP:
    case DOCA_RDMA_JOB_ATOMIC_FETCH_ADD:
        return execute_update(type, work);
    default:
        return send_message(type, work);
    }
}

/// Ends a job within its submit.
void SoftQueuePair::end_at_once(const doca_job &job, doca_error_t status, std::uint32_t length) noexcept
{
    if (workq_->is_submitting_inner()) [[unlikely]] {
        JobSlot &slot = *workq_->take_slot(job, *this);
        slot.write_result = write_outcome;
        end(slot, status, {.length = length, .immediate = 0, .opcode = 0});
    } else {
        workq_->complete_with(job, *this, status, length);
    }
    if (status != DOCA_SUCCESS) [[unlikely]]
        fail();
}

void SoftQueuePair::end(JobSlot &slot, doca_error_t status, const RdmaOutcome &outcome) noexcept
{
    slot.payload<RdmaOutcome>() = outcome;
    workq_->complete(slot, status);
}

void SoftQueuePair::go_on_sending() noexcept
{
    while (num_sends_ != 0) {
        JobSlot &slot = *sends_[first_send_ & (send_queue_size_ - 1)];
        const Work work = slot.payload<Work>();
        const doca_error_t status = execute(slot.type, work);
        if (status == DOCA_ERROR_AGAIN)
            return;
        ++first_send_;
        --num_sends_;
        const bool is_read = slot.type == DOCA_RDMA_JOB_READ && status == DOCA_SUCCESS;
        end(slot, status, {.length = is_read ? work.transfer.plan.length : 0, .immediate = 0, .opcode = 0});
        if (status != DOCA_SUCCESS)
            return fail();
    }
}

void SoftQueuePair::progress() noexcept
{
    if (is_flushing_) [[unlikely]]
        return flush();
    if (!is_connected() || !has_waiting_jobs())
        return;
    while (has_receives() && is_message_there())
        take_message();
    if (num_sends_ != 0)
        go_on_sending();
    if (has_waiting_jobs() && is_connected() && check_peer() == DOCA_ERROR_CONNECTION_RESET) [[unlikely]]
        lose_peer();
}

/// The peer is gone, while jobs wait for it. What it has sent before still counts.
void SoftQueuePair::lose_peer() noexcept
{
    while (has_receives() && is_message_there())
        take_message();
    if (!is_connected() || !has_waiting_jobs())
        return;
    if (num_sends_ != 0) {
        --num_sends_;
        end(*sends_[first_send_++ & (send_queue_size_ - 1)], DOCA_ERROR_CONNECTION_RESET, {});
    } else {
        end(*receives_[first_receive_++ & (recv_queue_size_ - 1)], DOCA_ERROR_CONNECTION_RESET, {});
    }
    fail();
}

/// A job has failed, or is to be cancelled: the connection ends here.
void SoftQueuePair::fail() noexcept
{
    if (!is_connected())
        return;
    set_state(DOCA_RDMA_STATE_ERROR);
    close();
    // First closed, then the look at what has come: pairs with deliver(). What its sender counts as sent is
    // received.
    barrier_for_all();
    is_flushing_ = true;
    flush();
}

void SoftQueuePair::flush() noexcept
{
    for (; num_sends_ != 0; --num_sends_)
        end(*sends_[first_send_++ & (send_queue_size_ - 1)], DOCA_ERROR_SHUTDOWN, {});
    flush_receives();
    is_flushing_ = has_receives();
}

void SoftQueuePair::cancel() noexcept
{
    if (is_connected() && has_waiting_jobs())
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
    if (!is_connected() || !has_waiting_jobs())
        return false;
    if (has_receives() && is_message_there())
        return true;
    const doca_error_t status = check_peer();
    if (status == DOCA_ERROR_CONNECTION_RESET)
        return true;
    if (num_sends_ == 0 || status != DOCA_SUCCESS)
        return false;
    switch (sends_[first_send_ & (send_queue_size_ - 1)]->type) {
    case DOCA_RDMA_JOB_SEND:
    case DOCA_RDMA_JOB_SEND_IMM:
    case DOCA_RDMA_JOB_WRITE_IMM:
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
        workq_->unwatch(death_.get());
        death_ = UniqueFd();
    }
}

} // namespace opendoca::soft
