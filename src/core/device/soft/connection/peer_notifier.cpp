// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "peer_notifier.hpp"

#include <atomic>
#include <utility>

#include "../../../base/guard.hpp"
#include "../memory/importer.hpp"
#include "../process/barrier.hpp"

namespace opendoca::soft {

void PeerNotifier::connect(const QueuePairPage &page, std::shared_ptr<ExporterProcess> process) noexcept
{
    page_ = &page;
    process_ = std::move(process);
}

void PeerNotifier::prepare() noexcept
{
    // Acquire: pairs with the store in publish_doorbell_request(), so that the page's descriptor is visible.
    const DoorbellRequest request(page_->doorbell_request.load(std::memory_order_acquire));
    if (request.page() != 0)
        (void)open(request);
}

bool PeerNotifier::ring(DoorbellRequest request, std::uint32_t events) noexcept
{
    if (!request.requests(events) || request.word() == invalid_request_)
        return true;
    doca_error_t status = open(request);
    if (status == DOCA_SUCCESS && !doorbells_->ring(request.index()))
        status = DOCA_ERROR_NO_MEMORY;
    if (status == DOCA_ERROR_NO_MEMORY) {
        pending_events_ |= events;
        return false;
    }
    pending_events_ = 0; // a peer whose doorbell was rung checks for all events
    if (status == DOCA_ERROR_INVALID_VALUE)
        invalid_request_ = request.word(); // not retried
    return true;
}

bool PeerNotifier::ring_for_change() noexcept
{
    // This side itself must order its store of `connected_to` before its load of the request. Pairs with the store of
    // the request in publish_doorbell_request().
    full_barrier();
    return ring(DoorbellRequest(page_->doorbell_request.load(std::memory_order_seq_cst)),
                message_event | receive_event);
}

bool PeerNotifier::retry() noexcept
{
    const std::uint32_t events = std::exchange(pending_events_, 0);
    if (events == 0 || process_->is_gone())
        return true;
    // Loaded anew: a peer that has withdrawn its request has checked for events since, and needs no ring.
    full_barrier();
    return ring(DoorbellRequest(page_->doorbell_request.load(std::memory_order_seq_cst)), events);
}

/// Maps the doorbell page of @p request, unless it is the one that is mapped. The page changes if the peer attaches
/// its queue pair to another completion queue.
doca_error_t PeerNotifier::open(DoorbellRequest request) noexcept
{
    if (doorbells_ != nullptr && doorbells_->number() == request.page())
        return DOCA_SUCCESS;
    // The caller may have loaded the request relaxed. Acquire, on a load that sees that request or a later one: pairs
    // with the store in publish_doorbell_request(), so that the page's descriptor is visible.
    (void)page_->doorbell_request.load(std::memory_order_acquire);
    // The descriptor is not trusted: PeerDoorbells::open() checks that it is that of the requested page.
    const std::int32_t fd = page_->doorbells_fd.load(std::memory_order_relaxed);
    return guarded([&] { return PeerDoorbells::open(process_, fd, request.page(), doorbells_); });
}

} // namespace opendoca::soft
