// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "message_sender.hpp"
#include "resolved_key.hpp"

namespace opendoca::soft {

/// One end of a connection between two processes of this machine, or within one process. Owned by an RDMA context or a
/// message channel. Belongs to the thread of its work queue; connect() may run in another thread. Its bases are the
/// connection (PeerConnection) and the two directions of its messages; this class has the order of operations, and ends
/// them.
///
/// post() itself carries out what needs no action of the peer: one-sided operations, and messages with a posted
/// receive. An operation that must wait for the peer to connect or to post a receive is queued, and so is each
/// operation after it. Invariant: while the send queue is not empty, nothing overtakes it, so operations execute in the
/// order of submission.
class OPENDOCA_INTERNAL SoftQueuePair : public MessageSender {
public:
    /// Must be followed by open(). @p state must outlive this object.
    SoftQueuePair(const SoftDevice &device, const QueuePairSettings &settings, std::atomic<ConnectionState> &state);
    ~SoftQueuePair() override;

    [[nodiscard]] doca_error_t connect(std::span<const std::byte> details) override;
    [[nodiscard]] doca_error_t attach(CompletionQueue &completions) override;
    void detach() noexcept override;

    [[nodiscard]] doca_error_t post(Tag tag, const Request &request) noexcept override;

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
        if (num_sends_ != 0)
            resume_sends();
        if (needs_polling() && has_lost_peer()) [[unlikely]]
            handle_peer_loss();
    }
    /// For a poller with one connection, while the completion ring is empty: may return the receive of a message that
    /// has arrived instead of completing it. Calls progress() if sends are queued or a flush has not finished.
    [[nodiscard]] Operation *poll_one() noexcept
    {
        if (is_flushing_ || is_held_ || num_sends_ != 0) [[unlikely]]
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
    /// Completes an operation within its submit. A failed operation ends the connection.
    void complete_now(Tag tag, doca_error_t status, std::uint32_t length) noexcept;

    // For a device that changes while programs run: see FaultyQueuePair.

    /// Stops or resumes the connection: while it is held, nothing is sent or received, and operations are queued.
    void hold(bool is_held) noexcept { is_held_ = is_held; }
    [[nodiscard]] bool is_held() const noexcept { return is_held_; }
    [[nodiscard]] bool has_queued_sends() const noexcept { return num_sends_ != 0; }
    /// Executes the request now, or queues it if it would have to wait or would overtake a queued one.
    [[gnu::noinline]] [[nodiscard]] doca_error_t post_any(Tag tag, const Request &request) noexcept;
    /// Ends the connection because the device is lost: all operations end with IO_FAILED.
    [[gnu::cold]] void lose_device() noexcept;
    /// Ends the connection because the peer did not answer: the oldest queued operation ends with CONNECTION_RESET, and
    /// the others are flushed.
    [[gnu::cold]] void time_out() noexcept;

private:
    /// A copy of a queued request, which is the payload of its Operation. Smaller than a Request: the opcode is in
    /// Operation::kind, and the remote key is found again by the buffer.
    class PendingRequest {
    public:
        PendingRequest() noexcept = default;
        explicit PendingRequest(const Request &request) noexcept;
        /// Returns the request with @p opcode, which was stored for @p device.
        [[nodiscard]] Request request(Opcode opcode, const Device &device) const noexcept;

    private:
        struct Transfer {
            TransferPlan plan;
            std::uint32_t immediate;
        };
        struct Atomic {
            std::uint64_t operand;
            std::uint64_t compare;
        };

        doca_buf *local_;
        doca_buf *remote_;
        union {
            Transfer transfer_;
            Atomic atomic_;
        };
    };

    /// An entry of the table of post().
    template <doca_error_t (SoftQueuePair::*function)(Tag, const Request &) noexcept>
    static doca_error_t post_by(SoftQueuePair &self, Tag tag, const Request &request) noexcept
    {
        return (self.*function)(tag, request);
    }
    // Fast paths of post(), each a function of its own so that it saves only the registers that it needs. They call
    // post_any() for what they do not handle, which is not inlined for the same reason.
    [[nodiscard]] doca_error_t post_message(Tag tag, const Request &request) noexcept;
    [[nodiscard]] doca_error_t post_write(Tag tag, const Request &request) noexcept;
    [[nodiscard]] doca_error_t post_read(Tag tag, const Request &request) noexcept;
    [[nodiscard]] doca_error_t post_atomic(Tag tag, const Request &request) noexcept;
    [[gnu::noinline]] [[nodiscard]] doca_error_t post_longer_write(Tag tag, const Request &request) noexcept;
    [[gnu::noinline]] [[nodiscard]] doca_error_t post_longer_read(Tag tag, const Request &request) noexcept;
    /// Resolves the remote key of @p request for the next operation with it, unless that was done, and posts the
    /// operation by post_any().
    [[gnu::noinline]] [[nodiscard]] doca_error_t post_one_sided(Tag tag, const Request &request) noexcept;
    /// Completes an operation that a fast path has carried out.
    [[gnu::always_inline]] [[nodiscard]] doca_error_t succeed_now(Tag tag, std::uint32_t length = 0) noexcept
    {
        completions_->done_unarmed(tag, *this, DOCA_SUCCESS, length);
        return completions_->is_waiting() ? wake_queue() : DOCA_SUCCESS;
    }
    // Slow parts of the fast paths, which are tail calls.
    [[gnu::cold, gnu::noinline]] [[nodiscard]] doca_error_t wake_queue() noexcept;
    [[gnu::cold, gnu::noinline]] [[nodiscard]] doca_error_t finish_revoked(Tag tag, const Request &request,
                                                                           ResolvedKey::Export found) noexcept;
    [[gnu::cold, gnu::noinline]] [[nodiscard]] doca_error_t
    finish_revoked_or_busy(Tag tag, const Request &request, ResolvedKey::Export found, bool is_done) noexcept;
    /// Completes the operation of which a fast path has @p found this.
    [[gnu::always_inline]] [[nodiscard]] doca_error_t finish(Tag tag, const Request &request, ResolvedKey::Export found,
                                                             std::uint32_t length = 0) noexcept
    {
        return found == ResolvedKey::Export::live ? succeed_now(tag, length) : finish_revoked(tag, request, found);
    }
    /// Returns whether a fast path may carry out @p request with the resolved @p key: nothing is queued before, there
    /// is a credit, the peer is connected, and it grants @p right.
    [[gnu::always_inline]] [[nodiscard]] bool can_access_now(const ResolvedKey &key, const Request &request,
                                                             std::uint32_t right) const noexcept
    {
        return key.is_of(request.remote_key->number) && key.permits(right) && can_complete_now() &&
               is_peer_certainly_connected();
    }
    [[nodiscard]] ResolvedKey &resolved(const Request &request) noexcept
    {
        return resolved_keys_[request.remote_key->number % num_resolved_keys];
    }

    // AGAIN means that the operation has to be queued and executed again.
    [[nodiscard]] doca_error_t execute(const Request &request) noexcept;
    [[nodiscard]] doca_error_t dispatch(const Request &request) noexcept;
    void resume_sends() noexcept;
    /// Returns whether the operation can be carried out now, and completed in its submit.
    [[nodiscard]] bool can_complete_now() const noexcept { return num_sends_ == 0 && !completions_->is_full(); }

    // The connection.

    /// Does the same as check_peer(), for a poll. Logs the loss as an error only if it makes an operation of the
    /// program fail, else as information.
    [[nodiscard]] doca_error_t check_peer_in_wait() const noexcept
    {
        if (is_peer_connected()) [[likely]]
            return DOCA_SUCCESS;
        return diagnose_peer(num_sends_ != 0 || has_receives());
    }
    [[nodiscard]] bool has_lost_peer() const noexcept { return check_peer_in_wait() == DOCA_ERROR_CONNECTION_RESET; }
    [[gnu::cold]] void handle_peer_loss() noexcept;
    [[gnu::cold]] void fail() noexcept final;
    void flush_all() noexcept;
    /// Returns whether an event can still complete an operation: one is queued or posted here, or the connection may
    /// bring a message for a receive of the shared queue.
    [[nodiscard]] bool needs_polling() const noexcept
    {
        return num_sends_ != 0 || has_receives() || (shared_receives() != nullptr && is_connected());
    }

    // Waiting and polling.

    void begin_waiting() noexcept;
    void await_message() noexcept override;
    [[nodiscard]] Operation *poll_one_shared() noexcept;

    static constexpr std::size_t num_resolved_keys = 4;

    /// Remote keys that were used last, by their numbers. Emptied when the queue pair is detached.
    std::array<ResolvedKey, num_resolved_keys> resolved_keys_;
    const std::uint32_t send_queue_size_; ///< a power of two
    bool is_flushing_ = false;            ///< the connection has ended, and a receive is being filled
    bool is_held_ = false;                ///< see hold()
    /// Queued operations other than receives: a ring of send_queue_size_ elements, oldest first. Not initialized, so
    /// that the pages of a large queue are only touched if it is used.
    std::unique_ptr<Operation *[]> sends_;
    std::uint32_t first_send_ = 0; ///< wraps around
    std::uint32_t num_sends_ = 0;
};

} // namespace opendoca::soft
