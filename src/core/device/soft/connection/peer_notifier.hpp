// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>

#include "doorbell.hpp"
#include "queue_pair_page.hpp"

namespace opendoca::soft {

/// Rings the doorbell of a connection's peer. Maps the page of doorbells that the peer's request names, and keeps the
/// events of a ring that has failed for lack of descriptors or memory: they are stored, so the operation has succeeded.
/// Owned by a PeerConnection; belongs to the thread that owns it. Invariant: what connect() has set is constant from
/// then on.
class PeerNotifier {
public:
    /// Must precede all else. @p page is the head of the peer, which is in @p process and stays mapped.
    void connect(const QueuePairPage &page, std::shared_ptr<ExporterProcess> process) noexcept;
    /// Maps the peer's doorbells and opens its pipe in advance, so that a submit rarely has to. A failure is not an
    /// error: ring() tries again.
    void prepare() noexcept;

    /// Rings the doorbell of @p request if it includes one of @p events. Returns false if a retry is needed: the page
    /// could not be mapped, or the blocked peer not be woken. A request that names no page of doorbells is logged once
    /// and then ignored. Any other error is only logged, each time.
    [[nodiscard]] bool ring(DoorbellRequest request, std::uint32_t events) noexcept;
    /// Rings for the start or the end of the connection, which was just stored. Returns what ring() returns. Has a full
    /// barrier of its own, so that it does not depend on membarrier() in the peer.
    [[nodiscard]] bool ring_for_change() noexcept;
    [[nodiscard]] bool is_retry_needed() const noexcept { return pending_events_ != 0; }
    /// Rings for the events for which a retry is needed, unless the peer has ended. Returns what ring() returns.
    [[nodiscard]] bool retry() noexcept;

private:
    [[nodiscard]] doca_error_t open(DoorbellRequest request) noexcept;

    const QueuePairPage *page_ = nullptr;
    std::shared_ptr<ExporterProcess> process_;
    std::shared_ptr<PeerDoorbells> doorbells_; ///< the mapped page; null until needed, replaced if it moves
    std::uint64_t invalid_request_ = 0;        ///< the last request that named no page of doorbells; ignored
    std::uint32_t pending_events_ = 0;         ///< those of a doorbell that could not be rung
};

} // namespace opendoca::soft
