// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// How the two sides wake each other.
#include <utility>

#include "queue_pair.hpp"

namespace opendoca::soft {

/// In place of tell_peer() where it is not often: the peer's side needs no barrier then.
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
    pending_events_ = 0; // a peer that is rung looks for everything
    if (status == DOCA_ERROR_INVALID_VALUE)
        wrong_request_ = request.word(); // is not tried again
}

/// The peer sleeps, and can't be woken for want of descriptors or memory. The news are stored, so the operation that
/// has made them has done its work; waking the peer is left to the next ring, or to the next polls.
void SoftQueuePair::owe_ring(std::uint32_t wish) noexcept
{
    pending_events_ |= wish;
    // In connect(), which another thread than the work queue's may call, it is left to the next ring.
    if (state() != ConnectionState::initial && poller_ != nullptr)
        poller_->owe_ring();
}

void SoftQueuePair::make_owed_ring() noexcept
{
    if (state() == ConnectionState::initial)
        return; // another thread may just be connecting it
    const std::uint32_t wishes = std::exchange(pending_events_, 0);
    if (wishes == 0 || process_->is_gone())
        return;
    // A peer that does not wish it any more has looked since.
    ring(DoorbellRequest(peer_->page().doorbell_request.fetch_or(0, std::memory_order_seq_cst)), wishes);
}

doca_error_t SoftQueuePair::open_doorbells(DoorbellRequest request) noexcept
{
    if (peer_doorbells_ != nullptr && peer_doorbells_->number() == request.page())
        return DOCA_SUCCESS;
    const std::int32_t fd = peer_->page().doorbells_fd.load(std::memory_order_relaxed);
    return guarded([&] { return PeerDoorbells::open(process_, fd, request.page(), peer_doorbells_); });
}

/// Takes the memory and the descriptor that waking the peer needs, so that a submit seldom has to. What can't be had
/// now, the ring tries to get again.
void SoftQueuePair::prepare_to_ring() noexcept
{
    // Acquire: pairs with the store in show_doorbell_request(); who sees the request sees where the page is.
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
    // Pairs with the look in tell_peer().
    page.doorbell_request.store(DoorbellRequest(doorbells.number(), number_, wishes).word(), std::memory_order_seq_cst);
}

void SoftQueuePair::ask_for_rings() noexcept
{
    has_doorbells_ = true;
    if (has_waiting_operations())
        (void)may_wait(); // where not even this can be had, the poller looks from time to time
    show_doorbell_request(wishes_ | wants_messages | (num_sends_ != 0 ? wants_receives : 0));
}

void SoftQueuePair::ask_for_no_rings() noexcept
{
    show_doorbell_request(0);
}

} // namespace opendoca::soft
