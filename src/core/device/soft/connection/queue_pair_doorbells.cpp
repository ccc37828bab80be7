// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Doorbells between the two sides of a connection. A side stores an event (a message, a receive, the end of the
// connection), then loads the peer's doorbell request and rings if it includes the event. The peer stores its request,
// then checks for events. The barriers in between ensure that at least one of them sees the other's store.
#include <atomic>
#include <cstdint>
#include <utility>

#include "queue_pair.hpp"

namespace opendoca::soft {

/// Used in place of notify_peer() for rare events: connect and close. Has a full barrier of its own, so that it does
/// not depend on membarrier() in the peer.
void SoftQueuePair::notify_peer_with_barrier() noexcept
{
    // This side itself must order its store of `connected_to` before its load of the request. fetch_or(0) is a load
    // that does so, because it also writes. Pairs with the store of the request in publish_doorbell_request().
    const DoorbellRequest seen(peer_->page().doorbell_request.fetch_or(0, std::memory_order_seq_cst));
    ring_doorbell(seen, message_event | receive_event);
}

/// Rings the doorbell of @p request if it includes one of @p events. These are stored, so a failure does not fail the
/// operation. Lack of descriptors or memory is retried. A request that names no page of doorbells is logged once and
/// then ignored. Any other error is only logged, each time.
void SoftQueuePair::ring_doorbell(DoorbellRequest request, std::uint32_t events) noexcept
{
    if (!request.requests(events) || request.word() == invalid_request_)
        return;
    doca_error_t status = open_doorbells(request);
    if (status == DOCA_SUCCESS && !peer_doorbells_->ring(request.index()))
        status = DOCA_ERROR_NO_MEMORY;
    if (status == DOCA_ERROR_NO_MEMORY)
        return defer_doorbell(events);
    pending_events_ = 0; // a peer whose doorbell was rung checks for all events
    if (status == DOCA_ERROR_INVALID_VALUE)
        invalid_request_ = request.word(); // not retried
}

/// Called when the doorbell could not be rung for lack of descriptors or memory: the page could not be mapped, or the
/// blocked peer not be woken. The events are stored, so the operation has succeeded; the next ring_doorbell() or a
/// retry notifies the peer.
void SoftQueuePair::defer_doorbell(std::uint32_t events) noexcept
{
    pending_events_ |= events;
    // connect() may run outside the work queue's thread, so it leaves the retry to attach() or the next
    // ring_doorbell().
    if (state() != ConnectionState::initial && poller_ != nullptr)
        poller_->schedule_doorbell_retry();
}

void SoftQueuePair::retry_pending_doorbell() noexcept
{
    if (state() == ConnectionState::initial)
        return; // another thread may be connecting it
    const std::uint32_t events = std::exchange(pending_events_, 0);
    if (events == 0 || process_->is_gone())
        return;
    // Loaded anew: a peer that has withdrawn its request has checked for events since, and needs no ring.
    ring_doorbell(DoorbellRequest(peer_->page().doorbell_request.fetch_or(0, std::memory_order_seq_cst)), events);
}

/// Maps the doorbell page of @p request, unless it is the one that is mapped. The page changes if the peer attaches
/// its queue pair to another completion queue.
doca_error_t SoftQueuePair::open_doorbells(DoorbellRequest request) noexcept
{
    if (peer_doorbells_ != nullptr && peer_doorbells_->number() == request.page())
        return DOCA_SUCCESS;
    // notify_peer() has loaded the request relaxed. Acquire, on a load that sees that request or a later one: pairs
    // with the store in publish_doorbell_request(), so that the page's descriptor is visible.
    (void)peer_->page().doorbell_request.load(std::memory_order_acquire);
    // The descriptor is not trusted: PeerDoorbells::open() checks that it is that of the requested page.
    const std::int32_t fd = peer_->page().doorbells_fd.load(std::memory_order_relaxed);
    return guarded([&] { return PeerDoorbells::open(process_, fd, request.page(), peer_doorbells_); });
}

/// Maps the peer's doorbells and opens its pipe in advance, so that a submit rarely has to. A failure is not an error:
/// ring_doorbell() tries again.
void SoftQueuePair::prepare_doorbell() noexcept
{
    // Acquire: pairs with the store in publish_doorbell_request(), so that the page's descriptor is visible.
    const DoorbellRequest request(peer_->page().doorbell_request.load(std::memory_order_acquire));
    if (request.page() != 0)
        (void)open_doorbells(request);
}

/// Publishes the doorbell of this connection for @p events; none if the queue is polled.
void SoftQueuePair::publish_doorbell_request(std::uint32_t events) noexcept
{
    requested_events_ = events;
    QueuePairPage &page = own_->page();
    const Doorbells &doorbells = poller_->doorbells();
    page.doorbells_fd.store(doorbells.fd(), std::memory_order_relaxed);
    // Sequentially consistent, which includes release of doorbells_fd. Pairs with the loads of the request in
    // notify_peer(), notify_peer_with_barrier() and prepare_doorbell().
    page.doorbell_request.store(DoorbellRequest(doorbells.number(), number_, events).word(), std::memory_order_seq_cst);
}

void SoftQueuePair::request_doorbells() noexcept
{
    has_doorbells_ = true;
    if (needs_polling())
        (void)ensure_peer_watched(); // on failure, only the poller's occasional checks find the end of the peer
    // Events that were requested before stay requested: a superfluous ring costs less than to publish each change.
    publish_doorbell_request(requested_events_ | message_event | (num_sends_ != 0 ? receive_event : 0));
}

void SoftQueuePair::withdraw_doorbell_request() noexcept
{
    publish_doorbell_request(0);
}

} // namespace opendoca::soft
