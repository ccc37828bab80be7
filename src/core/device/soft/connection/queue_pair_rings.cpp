// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// How the two sides of a connection notify each other.
#include <atomic>
#include <cstdint>
#include <utility>

#include "queue_pair.hpp"

namespace opendoca::soft {

/// Used in place of tell_peer() where notifications are rare: the peer then needs no barrier.
void SoftQueuePair::tell_peer_with_barrier() noexcept
{
    const DoorbellRequest seen(peer_->page().doorbell_request.fetch_or(0, std::memory_order_seq_cst));
    ring(seen, wants_messages | wants_receives);
}

void SoftQueuePair::ring(DoorbellRequest request, std::uint32_t wish) noexcept
{
    if (!request.wishes(wish) || request.word() == wrong_request_)
        return;
    doca_error_t status = open_doorbells(request);
    if (status == DOCA_SUCCESS && !peer_doorbells_->ring(request.index()))
        status = DOCA_ERROR_NO_MEMORY;
    if (status == DOCA_ERROR_NO_MEMORY)
        return owe_ring(wish);
    pending_events_ = 0; // a peer that is rung checks for all events
    if (status == DOCA_ERROR_INVALID_VALUE)
        wrong_request_ = request.word(); // not retried
}

/// Called when the peer is blocked and cannot be woken for lack of descriptors or memory. The data is stored, so the
/// operation has succeeded; the next ring or the next polls wake the peer.
void SoftQueuePair::owe_ring(std::uint32_t wish) noexcept
{
    pending_events_ |= wish;
    // connect() may run outside the work queue's thread, so it leaves the retry to the next ring.
    if (state() != ConnectionState::initial && poller_ != nullptr)
        poller_->owe_ring();
}

void SoftQueuePair::make_owed_ring() noexcept
{
    if (state() == ConnectionState::initial)
        return; // another thread may be connecting it
    const std::uint32_t wishes = std::exchange(pending_events_, 0);
    if (wishes == 0 || process_->is_gone())
        return;
    // A peer that has withdrawn the request has checked for the event since.
    ring(DoorbellRequest(peer_->page().doorbell_request.fetch_or(0, std::memory_order_seq_cst)), wishes);
}

doca_error_t SoftQueuePair::open_doorbells(DoorbellRequest request) noexcept
{
    if (peer_doorbells_ != nullptr && peer_doorbells_->number() == request.page())
        return DOCA_SUCCESS;
    const std::int32_t fd = peer_->page().doorbells_fd.load(std::memory_order_relaxed);
    return guarded([&] { return PeerDoorbells::open(process_, fd, request.page(), peer_doorbells_); });
}

/// Acquires the memory and the descriptor that waking the peer needs, so that a submit rarely has to. The ring retries
/// what is not available now.
void SoftQueuePair::prepare_to_ring() noexcept
{
    // Acquire: pairs with the store in show_doorbell_request(), so that the page's descriptor is visible.
    const DoorbellRequest request(peer_->page().doorbell_request.load(std::memory_order_acquire));
    if (request.page() != 0)
        (void)open_doorbells(request);
}

void SoftQueuePair::show_doorbell_request(std::uint32_t wishes) noexcept
{
    wishes_ = wishes;
    QueuePairPage &page = own_->page();
    const Doorbells &doorbells = poller_->doorbells();
    page.doorbells_fd.store(doorbells.fd(), std::memory_order_relaxed);
    // Pairs with the load of the request in tell_peer().
    page.doorbell_request.store(DoorbellRequest(doorbells.number(), number_, wishes).word(), std::memory_order_seq_cst);
}

void SoftQueuePair::ask_for_rings() noexcept
{
    has_doorbells_ = true;
    if (has_waiting_operations())
        (void)may_wait(); // without this either, the poller checks at intervals
    show_doorbell_request(wishes_ | wants_messages | (num_sends_ != 0 ? wants_receives : 0));
}

void SoftQueuePair::ask_for_no_rings() noexcept
{
    show_doorbell_request(0);
}

} // namespace opendoca::soft
