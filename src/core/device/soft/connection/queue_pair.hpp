// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fast_paths.hpp"

namespace opendoca::soft {

/// One end of a connection between two processes of this machine, or within one process. Owned by an RDMA context or a
/// message channel. Belongs to the thread of its work queue; connect() may run in another thread. Its bases are the
/// connection (PeerConnection), the two directions of its messages, and the fast paths of post(); this class has the
/// order of operations, and ends them.
///
/// post() itself carries out what needs no action of the peer: one-sided operations, and messages with a posted
/// receive. An operation that must wait for the peer to connect or to post a receive is queued, and so is each
/// operation after it. Invariant: while the send queue is not empty, nothing overtakes it, so operations execute in the
/// order of submission.
class OPENDOCA_INTERNAL SoftQueuePair : public FastPaths {
public:
    /// Must be followed by open(). @p state must outlive this object.
    SoftQueuePair(const SoftDevice &device, const QueuePairSettings &settings, std::atomic<ConnectionState> &state);
    ~SoftQueuePair() override;

    [[nodiscard]] doca_error_t connect(std::span<const std::byte> details) override;
    [[nodiscard]] doca_error_t attach(CompletionQueue &completions) override;
    void detach() noexcept override;

    void flush() noexcept override;

    // Called by the ConnectionPoller and the QueueConnections.

    /// Completes what can be completed now: received messages first, as they may carry credits for the queued sends.
    void progress() noexcept
    {
        if (!needs_polling())
            return;
        if (is_flushing_ || is_held_) [[unlikely]]
            return is_flushing_ ? flush_all() : void();
        while (receive_next()) {
            // Each of these may complete an operation.
        }
        if (shared_receives() != nullptr) [[unlikely]]
            wait_for_shared_receive();
        if (!sends_.is_empty())
            resume_sends();
        if (needs_polling() && has_lost_peer()) [[unlikely]]
            handle_peer_loss();
    }
    /// For a poller with one connection, while the completion ring is empty: may return the receive of a message that
    /// has arrived instead of completing it. Calls progress() if sends are queued or a flush has not finished.
    [[nodiscard]] Operation *poll_one() noexcept
    {
        if (is_flushing_ || is_held_ || !sends_.is_empty()) [[unlikely]]
            return progress(), nullptr;
        if (shared_receives() != nullptr)
            return poll_one_shared();
        if (!has_receives())
            return nullptr;
        if (has_message_arrived()) {
            Operation *const taken = receive_short_into_posted();
            return taken != nullptr ? taken : receive_into_posted(true);
        }
        if (check_peer() == DOCA_ERROR_CONNECTION_RESET) [[unlikely]]
            handle_peer_loss();
        return nullptr;
    }
    /// Returns whether progress() would complete an operation now.
    [[nodiscard]] bool can_progress() const noexcept;
    /// Publishes a request to the peer to ring for the awaited events. The caller must call heavy_barrier() and then
    /// check for events.
    void request_doorbells() noexcept;
    /// The connection's doorbell was rung. Checks the connection, unless it is polled directly: a parked queue is
    /// resumed.
    void handle_doorbell() noexcept;
    /// Does the same if there is an event, although the doorbell was not rung.
    void check_without_doorbell() noexcept;
    /// Checks the connection if @p process, which has ended, is the peer's.
    void handle_exit_of(const ExporterProcess &process) noexcept;

protected:
    // For a device that changes while programs run: see FaultyQueuePair.

    /// Stops or resumes the connection: while it is held, nothing is sent or received, and operations are queued.
    void hold(bool is_held) noexcept { is_held_ = is_held; }
    [[nodiscard]] bool is_held() const noexcept { return is_held_; }
    [[nodiscard]] bool has_queued_sends() const noexcept { return !sends_.is_empty(); }
    // Not inlined into the fast paths, of which it is a tail call.
    [[gnu::noinline]] [[nodiscard]] doca_error_t post_any(Tag tag, const Request &request) noexcept override;
    /// Queues the request, which a later progress() executes; in strict mode.
    [[nodiscard]] doca_error_t post_late(Tag tag, const Request &request) noexcept
    {
        return completions_->is_full() ? DOCA_ERROR_NO_MEMORY : queue_send(tag, request);
    }
    /// Posts a message in strict mode, after the requests that were queued before it: a peer must receive it although
    /// this end is not polled. If one of those fails, it ends the connection, and the message is flushed.
    [[nodiscard]] doca_error_t post_after_queued(Tag tag, const Request &request) noexcept;
    /// Executes queued requests now, as far as they need not wait for the peer.
    void execute_queued() noexcept
    {
        if (!sends_.is_empty())
            resume_sends();
    }
    /// Ends the connection because the device is lost: all operations end with IO_FAILED.
    [[gnu::cold]] void lose_device() noexcept;
    /// Ends the connection because the peer did not answer: the oldest queued operation ends with CONNECTION_RESET, and
    /// the others are flushed.
    [[gnu::cold]] void time_out() noexcept;

private:
    // AGAIN means that the operation has to be queued and executed again.
    [[nodiscard]] doca_error_t execute(const Request &request) noexcept;
    [[nodiscard]] doca_error_t dispatch(const Request &request) noexcept;
    [[nodiscard]] doca_error_t queue_send(Tag tag, const Request &request) noexcept;
    void resume_sends() noexcept;

    // The connection.

    /// Does the same as check_peer(), for a poll. Logs the loss as an error only if it makes an operation of the
    /// program fail, else as information.
    [[nodiscard]] doca_error_t check_peer_in_wait() const noexcept
    {
        if (is_peer_connected()) [[likely]]
            return DOCA_SUCCESS;
        return diagnose_peer(!sends_.is_empty() || has_receives());
    }
    [[nodiscard]] bool has_lost_peer() const noexcept { return check_peer_in_wait() == DOCA_ERROR_CONNECTION_RESET; }
    [[gnu::cold]] void handle_peer_loss() noexcept;
    [[gnu::cold]] void fail() noexcept final;
    void flush_all() noexcept;
    /// Returns whether an event can still complete an operation: one is queued or posted here, or the connection may
    /// bring a message for a receive of the shared queue.
    [[nodiscard]] bool needs_polling() const noexcept
    {
        return !sends_.is_empty() || has_receives() || (shared_receives() != nullptr && is_connected());
    }

    // Waiting and polling.

    void begin_waiting() noexcept;
    void await_message() noexcept override;
    [[nodiscard]] Operation *poll_one_shared() noexcept;

    bool is_flushing_ = false; ///< the connection has ended, and a receive is being filled
    bool is_held_ = false;     ///< see hold()
};

} // namespace opendoca::soft
