// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../../../engine/completion_queue.hpp"
#include "../../queue_pair.hpp"
#include "../device.hpp"
#include "../process/barrier.hpp"
#include "peer_notifier.hpp"
#include "queue_connections.hpp"
#include "queue_pair_mapping.hpp"
#include "region_attempts.hpp"

namespace opendoca::soft {

/// The connection of a SoftQueuePair, of which it is a base: what both ends share, the peer's process and
/// rights, and the doorbells in both directions. Belongs to the thread of the work queue; connect_to() may run in
/// another thread. Invariant: what connect_to() has set is constant from then on.
///
/// A side stores an event (a message, a receive, the end of the connection), then loads the peer's doorbell request and
/// rings if it includes the event. The peer stores its request, then checks for events. The barriers in between ensure
/// that at least one of them sees the other's store.
class OPENDOCA_INTERNAL PeerConnection : public QueuePair {
public:
    /// Creates the head of this end and the connection details. Errors as of QueuePairMapping::create().
    [[nodiscard]] doca_error_t open(const QueuePairSettings &settings);

    [[nodiscard]] std::span<const std::byte> details() const noexcept override { return details_; }
    [[nodiscard]] doca_mtu_size mtu() const noexcept override { return mtu_; }

    // Called by the ConnectionPoller and the QueueConnections, while attached.

    /// Withdraws the doorbell request. A peer that has loaded it before may still ring, which only causes a check.
    void withdraw_doorbell_request() noexcept;
    /// Retries a pending doorbell, which failed for lack of descriptors or memory. Does nothing if none is pending or
    /// needed.
    void retry_pending_doorbell() noexcept;
    /// Schedules a check of the connection.
    void schedule_check() const noexcept { connections_->schedule_check(number_); }

    // For operations on the peer.

    [[nodiscard]] const SoftDevice &device() const noexcept { return device_; }
    /// What this end shares. Valid after open(); its message region, from connect_to() on.
    [[nodiscard]] QueuePairMapping &own() const noexcept { return *own_; }
    // Valid from connect_to() on.
    /// What the peer shares. Its message region is valid once is_peer_connected() or check_peer() has found it
    /// connected.
    [[nodiscard]] QueuePairMapping &peer() const noexcept { return *peer_; }
    [[nodiscard]] const std::shared_ptr<ExporterProcess> &process() const noexcept { return process_; }
    /// The rights of the peer's instance: enum doca_access_flags.
    [[nodiscard]] std::uint32_t permissions() const noexcept { return peer_permissions_; }
    /// What QueuePairPage::connected_to is on both sides of the connection.
    [[nodiscard]] std::uint64_t link_id() const noexcept { return link_id_; }
    /// The word of a ProcessLock that serialises atomic operations on the peer's memory.
    [[nodiscard]] std::atomic<std::uint64_t> &atomic_lock() const noexcept { return *atomic_lock_; }
    /// The process that called open(). A forked child must release nothing.
    [[nodiscard]] const ProcessId &identity() const noexcept { return identity_; }
    /// Copies to and from the peer's memory. Valid while attached.
    [[nodiscard]] Copier &copier() const noexcept { return poller().copier; }

    [[nodiscard]] bool is_peer_connected() const noexcept
    {
        // Acquire: pairs with the peer's store in connect_to(), so that its page is complete, and in close().
        return peer_connected_to_->load(std::memory_order_acquire) == link_id_ &&
               !(ExporterProcess::is_marked_dead(*peer_liveness_) && process_->is_gone());
    }
    /// For fast paths: the same without a call. May return false although the peer is connected, if the thread has
    /// ended that exported first in the peer's process: see ExporterProcess::is_gone().
    /// Always inline, so that the fast paths, which make only tail calls, need no stack frame.
    [[gnu::always_inline]] [[nodiscard]] bool is_peer_certainly_connected() const noexcept
    {
        return peer_connected_to_->load(std::memory_order_acquire) == link_id_ &&
               !ExporterProcess::is_marked_dead(*peer_liveness_);
    }
    /// Returns SUCCESS if the peer is connected to this queue pair, AGAIN if it has not connected yet, and
    /// CONNECTION_RESET, the first time after a log line, if the connection has ended.
    [[nodiscard]] doca_error_t check_peer() const noexcept
    {
        if (is_peer_connected()) [[likely]]
            return DOCA_SUCCESS;
        return diagnose_peer();
    }

protected:
    PeerConnection(const SoftDevice &device, const QueuePairSettings &settings, std::atomic<ConnectionState> &state);

    /// Ends the connection, because an operation has failed or a flush was requested, and flushes all operations.
    [[gnu::cold]] virtual void fail() noexcept = 0;

    /// Connects to the peer with these @p details. CONNECTION_ABORTED on failure.
    [[nodiscard]] doca_error_t connect_to(std::span<const std::byte> details);
    /// Attaches to @p completions, whose poller has given the connection this @p number.
    void attach_to(CompletionQueue &completions, std::shared_ptr<QueueConnections> connections,
                   std::uint32_t number) noexcept;
    /// Detaches from the completion queue and from its connections.
    void leave_queue(SoftQueuePair &self) noexcept;
    /// Closes both directions of the connection, and notifies the peer. Idempotent.
    void close() noexcept;

    [[nodiscard]] ConnectionPoller &poller() const noexcept { return connections_->poller(); }
    [[nodiscard]] bool polls_by_doorbells() const noexcept { return connections_->polls_by_doorbells(); }
    /// Returns whether the poller has a page of doorbells, so that awaited events are to be requested.
    [[nodiscard]] bool has_doorbells() const noexcept { return has_doorbells_; }

    /// The slow path of check_peer(): finds out why the peer is not connected, and logs the end of the connection once:
    /// as an error; if not @p is_error, as a warning (connected elsewhere) or information.
    [[gnu::cold]] [[nodiscard]] doca_error_t diagnose_peer(bool is_error = true) const noexcept;

    /// Rings the peer's doorbell if the peer has requested it for one of @p events. Called after the store that they
    /// announce: of a cell's sequence, an entry's state or num_taken. Costs one load if the peer polls, and is
    /// therefore always inline.
    [[gnu::always_inline]] void notify_peer(std::uint32_t events) noexcept
    {
        const std::atomic<std::uint64_t> &request = peer_->page().doorbell_request;
        // The peer cannot run membarrier() for this process, so this side itself must order its store of the event
        // before its load of the request.
        if (needs_barrier_) [[unlikely]] {
            full_barrier();
            return ring_doorbell(DoorbellRequest(request.load(std::memory_order_seq_cst)), events);
        }
        light_barrier(); // pairs with the heavy_barrier() that follows request_events()
        if (const DoorbellRequest seen(request.load(std::memory_order_relaxed)); seen.requests(events)) [[unlikely]]
            ring_doorbell(seen, events);
    }
    /// Requests doorbells for @p events as well. The caller must call heavy_barrier() and then check for events.
    void request_events(std::uint32_t events) noexcept;
    [[nodiscard]] bool has_requested(std::uint32_t event) const noexcept { return (requested_events_ & event) != 0; }
    /// Ensures that the end of the peer's process wakes this thread if it is blocked while an operation waits. Returns
    /// false if the process cannot be watched.
    [[nodiscard]] bool ensure_peer_watched() noexcept { return !has_doorbells_ || is_watched_ || watch_process(); }
    /// Returns whether @p process, which has ended, is the peer's and was watched. It is watched no longer.
    [[nodiscard]] bool takes_exit_of(const ExporterProcess &process) noexcept;

private:
    void notify_peer_of_change() noexcept;
    bool schedule_retry() const noexcept;
    [[nodiscard]] doca_error_t reach_region() const noexcept;
    [[gnu::noinline]] void ring_doorbell(DoorbellRequest request, std::uint32_t events) noexcept;
    void publish_doorbell_request(std::uint32_t events) noexcept;
    [[gnu::cold]] [[nodiscard]] bool watch_process() noexcept;

    const SoftDevice &device_;
    const bool is_mtu_fixed_;               ///< true if the program has set the MTU: connect_to() keeps it
    doca_mtu_size mtu_;                     ///< the smaller one of both ends once connected; has no effect on transfers
    std::shared_ptr<QueuePairMapping> own_; ///< what this end shares; null until open()
    std::vector<std::byte> details_;
    ProcessId identity_;

    // Set by connect_to(), and constant afterwards.
    std::shared_ptr<QueuePairMapping> peer_;   ///< what the peer shares, mapped
    std::shared_ptr<ExporterProcess> process_; ///< the peer's process
    std::uint32_t peer_permissions_ = 0;
    bool needs_barrier_ = true; ///< the peer's membarrier() has no effect here: see notify_peer()
    std::uint64_t link_id_ = 0; ///< see link_id(); never 0 or `closed` once set
    // Members of peer_ and process_, each found by one load less.
    /// QueuePairPage::connected_to of the peer. Until reach_region() has mapped the peer's message region, a word that
    /// is 0: so the fast paths, which load it, need no check of their own for the region.
    mutable const std::atomic<std::uint64_t> *peer_connected_to_ = nullptr;
    mutable RegionAttempts region_attempts_;
    const int *peer_liveness_ = nullptr; ///< ExporterProcess::liveness()
    std::atomic<std::uint64_t> *atomic_lock_ = nullptr;

    PeerNotifier notifier_; ///< connected by connect_to()

    // Valid while attached.
    std::shared_ptr<QueueConnections> connections_;
    std::uint32_t number_ = 0;           ///< this connection's number in the poller
    std::uint32_t requested_events_ = 0; ///< the events in this side's DoorbellRequest
    bool has_doorbells_ = false;
    bool is_watched_ = false; ///< the poller watches the peer's process

    mutable bool is_loss_logged_ = false; ///< the end of the peer is logged once
};

} // namespace opendoca::soft
