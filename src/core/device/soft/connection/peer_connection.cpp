// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "peer_connection.hpp"

#include <atomic>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <unistd.h>

#include "../../../base/guard.hpp"
#include "../../../log/log.hpp"
#include "../process/read_once.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_RDMA);

namespace opendoca::soft {

namespace {

/// Stands for the peer's connected_to while its message region is not mapped: it is not connected yet. No connection
/// has this value for its id.
constinit const std::atomic<std::uint64_t> no_region{0};

} // namespace

PeerConnection::PeerConnection(const SoftDevice &device, const QueuePairSettings &settings,
                               std::atomic<ConnectionState> &state)
    : QueuePair(state),
      device_(device),
      is_mtu_fixed_(settings.is_mtu_fixed),
      mtu_(settings.mtu)
{
}

doca_error_t PeerConnection::open(const QueuePairSettings &settings)
{
    const doca_error_t status = ProcessId::find_out(identity_);
    return status == DOCA_SUCCESS ? QueuePairMapping::create(settings, device_.function(), own_, details_) : status;
}

doca_error_t PeerConnection::connect_to(std::span<const std::byte> details)
{
    std::shared_ptr<QueuePairMapping> peer;
    if (const doca_error_t status = QueuePairMapping::open(details, peer); status != DOCA_SUCCESS)
        return status;
    if (peer->process()->is_gone() ||
        peer->page().connected_to.load(std::memory_order_relaxed) == QueuePairPage::closed) {
        LOG_ERR("the peer's instance, of process %d, was stopped", peer->process()->pid());
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    const std::uint64_t link_id = id_of_link(own_->id(), peer->id());
    if (link_id == 0 || link_id == QueuePairPage::closed) {
        LOG_ERR("the peer, in process %d, has forged the id of its queue pair: %" PRIu64 " and %" PRIu64 " add up to "
                "that of no connection",
                peer->process()->pid(), peer->id(), own_->id());
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    // The peer is known now, and with it the process that shares the message region of this end.
    if (own_->take_region(peer->process()) != DOCA_SUCCESS)
        return DOCA_ERROR_CONNECTION_ABORTED;
    peer_ = std::move(peer);
    process_ = peer_->process();
    peer_permissions_ = peer_->permissions();
    needs_barrier_ = process_->needs_barrier();
    link_id_ = link_id;
    peer_connected_to_ = &no_region;
    peer_liveness_ = &process_->liveness();
    atomic_lock_ = &process_->atomic_lock();
    // The link has the smaller one of both MTUs, unless the program has fixed this end's.
    if (const std::uint32_t theirs = read_once(peer_->page().mtu);
        !is_mtu_fixed_ && theirs < static_cast<std::uint32_t>(mtu_))
        mtu_ = static_cast<doca_mtu_size>(theirs);
    notifier_.connect(peer_->page(), process_);
    notifier_.prepare();
    // Acquire: as in is_peer_connected(). A failure is not an error here: diagnose_peer() tries again.
    if (peer_->page().connected_to.load(std::memory_order_acquire) == link_id_)
        (void)reach_region();
    // Sequentially consistent, which includes release: a peer that loads it in is_peer_connected() sees the page as
    // it is, with the receives posted so far.
    own_->page().connected_to.store(link_id_, std::memory_order_seq_cst);
    notify_peer_of_change();
    // Last: after this the work queue's thread may submit operations, and a failed one closes the page.
    set_state(ConnectionState::connected);
    return DOCA_SUCCESS;
}

void PeerConnection::close() noexcept
{
    if (own_ == nullptr || identity_.pid() != getpid())
        return; // never opened, or a forked child's copy of an object of its parent
    // Pairs with the loads in the peer's is_peer_connected() and was_delivered().
    own_->page().connected_to.store(QueuePairPage::closed, std::memory_order_seq_cst);
    if (peer_ != nullptr)
        notify_peer_of_change();
}

void PeerConnection::attach_to(CompletionQueue &completions, std::shared_ptr<QueueConnections> connections,
                               std::uint32_t number) noexcept
{
    connections_ = std::move(connections);
    number_ = number;
    completions_ = &completions;
    is_watched_ = false;
    requested_events_ = 0;
    has_doorbells_ = poller().has_doorbells();
    if (has_doorbells_ && !polls_by_doorbells())
        publish_doorbell_request(
            0); // names the page, so that a connecting peer maps it in time: see PeerNotifier::prepare()
    if (is_connected()) {
        notifier_.prepare();
        if (notifier_.is_retry_needed() || region_attempts_.is_deferred())
            poller().schedule_doorbell_retry();
    }
}

void PeerConnection::leave_queue(SoftQueuePair &self) noexcept
{
    if (identity_.pid() == getpid()) {
        // Relaxed: a peer that still loads the old request rings a doorbell that is ignored or, if its number is in use
        // again, causes a check.
        own_->page().doorbell_request.store(0, std::memory_order_relaxed);
        retry_pending_doorbell(); // the last chance: a detached connection is not polled
        if (std::exchange(is_watched_, false))
            poller().stop_watching(*process_);
    }
    connections_->remove(self, number_);
    connections_.reset();
    has_doorbells_ = false;
    completions_ = nullptr;
}

doca_error_t PeerConnection::diagnose_peer(bool is_error) const noexcept
{
    // Acquire: after a close() is seen, all that the peer stored before is visible.
    std::uint64_t connected_to = peer_->page().connected_to.load(std::memory_order_acquire);
    if (!peer_->is_current())
        connected_to = QueuePairPage::closed; // the peer's queue pair was destroyed, and its head is another one's
    const bool is_gone = process_->is_gone();
    if (!is_gone && connected_to == link_id_) {
        const doca_error_t status = reach_region();
        if (status == DOCA_SUCCESS || status == DOCA_ERROR_AGAIN)
            return status;
        if (status == DOCA_ERROR_NO_MEMORY)
            return DOCA_ERROR_CONNECTION_RESET; // the reason is in the log, and lies on this side
    }
    if (!is_gone && connected_to == 0)
        return DOCA_ERROR_AGAIN; // it has not connected yet
    if (!std::exchange(is_loss_logged_, true) && is_connected()) {
        const bool is_closed = connected_to == QueuePairPage::closed || connected_to == link_id_;
        const char *const where = is_gone ? "" : "in ";
        const char *const why = is_gone     ? "has ended"
                                : is_closed ? "has stopped or met an error"
                                            : "is connected to another instance";
        if (is_error)
            LOG_ERR("the peer, %sprocess %d, %s", where, process_->pid(), why);
        else if (!is_gone && !is_closed)
            LOG_WARN("the peer, %sprocess %d, %s: were details mixed up?", where, process_->pid(), why);
        else
            LOG_INFO("the peer, %sprocess %d, %s", where, process_->pid(), why);
    }
    return DOCA_ERROR_CONNECTION_RESET;
}

/// Maps the message region of the peer, which is connected, at the first time. After AGAIN the poller tries again, with
/// back-off. Errors as of RegionAttempts::map().
doca_error_t PeerConnection::reach_region() const noexcept
{
    if (peer_connected_to_ != &no_region)
        return DOCA_SUCCESS;
    if (region_attempts_.is_deferred())
        return DOCA_ERROR_AGAIN;
    const doca_error_t status = region_attempts_.map(*peer_);
    if (status == DOCA_SUCCESS)
        peer_connected_to_ = &peer_->page().connected_to;
    if (status != DOCA_ERROR_AGAIN)
        return status;
    if (!schedule_retry())
        region_attempts_ = {}; // the next one may be much later: only time in which the poller tries again counts
    return DOCA_ERROR_AGAIN;
}

/// Lets the poller call retry_pending_doorbell(). Returns false if the next operation has to retry: connect_to() may
/// run outside the work queue's thread, so it leaves that to attach() or to the next operation.
bool PeerConnection::schedule_retry() const noexcept
{
    if (state() == ConnectionState::initial || connections_ == nullptr)
        return false;
    poller().schedule_doorbell_retry();
    return true;
}

void PeerConnection::notify_peer_of_change() noexcept
{
    if (!notifier_.ring_for_change())
        (void)schedule_retry();
}

void PeerConnection::ring_doorbell(DoorbellRequest request, std::uint32_t events) noexcept
{
    if (!notifier_.ring(request, events))
        (void)schedule_retry();
}

void PeerConnection::retry_pending_doorbell() noexcept
{
    if (state() == ConnectionState::initial)
        return; // another thread may be connecting it
    // The region is tried here and not only in the check, so that a failure counts for the back-off.
    if (region_attempts_.is_deferred()) {
        region_attempts_.allow_retry();
        if (peer_->page().connected_to.load(std::memory_order_acquire) != link_id_ ||
            reach_region() != DOCA_ERROR_AGAIN)
            schedule_check();
    }
    if (!notifier_.retry())
        (void)schedule_retry();
}

/// Publishes the doorbell of this connection for @p events; none if the queue is polled.
void PeerConnection::publish_doorbell_request(std::uint32_t events) noexcept
{
    requested_events_ = events;
    QueuePairPage &page = own_->page();
    const Doorbells &doorbells = poller().doorbells();
    page.doorbells_fd.store(doorbells.fd(), std::memory_order_relaxed);
    // Sequentially consistent, which includes release of doorbells_fd. Pairs with the loads of the request in
    // notify_peer() and in PeerNotifier.
    page.doorbell_request.store(DoorbellRequest(doorbells.number(), number_, events).word(), std::memory_order_seq_cst);
}

void PeerConnection::withdraw_doorbell_request() noexcept
{
    publish_doorbell_request(0);
}

void PeerConnection::request_events(std::uint32_t events) noexcept
{
    has_doorbells_ = true;
    // Events that were requested before stay requested: a superfluous ring costs less than to publish each change.
    publish_doorbell_request(requested_events_ | events);
}

bool PeerConnection::watch_process() noexcept
{
    is_watched_ = poller().watch(process_);
    return is_watched_;
}

bool PeerConnection::takes_exit_of(const ExporterProcess &process) noexcept
{
    if (!is_watched_ || process_.get() != &process)
        return false;
    is_watched_ = false; // the poller has removed the process; an operation that waits later watches it again
    return true;
}

} // namespace opendoca::soft
