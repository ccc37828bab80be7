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
#include "connection_poller.hpp"
#include "queue_pair_mapping.hpp"
#include "receive_queue.hpp"

namespace opendoca::soft {

/// One end of a connection between two processes of this machine, or within one process. Owned by an RDMA context or a
/// message channel. Belongs to the thread of its work queue; connect() may run in another thread.
///
/// post() itself carries out what needs no action of the peer: one-sided operations, and messages with a posted
/// receive. An operation that must wait for the peer to connect or to post a receive is queued, and so is each
/// operation after it. Invariant: while the send queue is not empty, nothing overtakes it, so operations execute in the
/// order of submission.
class OPENDOCA_INTERNAL SoftQueuePair : public QueuePair {
public:
    /// Must be followed by open(). @p state must outlive this object.
    SoftQueuePair(const SoftDevice &device, const QueuePairSettings &settings, std::atomic<ConnectionState> &state);
    ~SoftQueuePair() override;
    /// Creates the shared region and the connection details. Errors as of QueuePairMapping::create().
    [[nodiscard]] doca_error_t open(const QueuePairSettings &settings);

    [[nodiscard]] std::span<const std::byte> details() const noexcept override { return details_; }
    [[nodiscard]] doca_error_t connect(std::span<const std::byte> details) override;
    [[nodiscard]] doca_mtu_size mtu() const noexcept override { return mtu_; }
    [[nodiscard]] doca_error_t attach(CompletionQueue &completions) override;
    void detach() noexcept override;

    [[nodiscard]] doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept override;
    [[nodiscard]] doca_error_t post(Tag tag, const Request &request) noexcept override;

    void flush() noexcept override;

    // Called by the ConnectionPoller.

    /// Completes what can be completed now: received messages first, as they may carry credits for the queued sends.
    void progress() noexcept
    {
        if (!needs_polling())
            return;
        if (is_flushing_) [[unlikely]]
            return flush_all();
        while (receive_next()) {
            // Each of these may complete an operation.
        }
        if (shared_receives_ != nullptr) [[unlikely]]
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
        if (is_flushing_ || num_sends_ != 0) [[unlikely]]
            return progress(), nullptr;
        if (shared_receives_ != nullptr)
            return poll_one_shared();
        if (!has_receives())
            return nullptr;
        if (has_message_arrived())
            return receive_into_posted(true);
        if (check_peer() == DOCA_ERROR_CONNECTION_RESET) [[unlikely]]
            handle_peer_loss();
        return nullptr;
    }
    /// Returns whether progress() would complete an operation now.
    [[nodiscard]] bool can_progress() const noexcept;
    /// Publishes a request to the peer to ring for the awaited events. The caller must call heavy_barrier() and then
    /// check for events.
    void request_doorbells() noexcept;
    /// Withdraws the request. A peer that has loaded it before may still ring, which only causes a check.
    void withdraw_doorbell_request() noexcept;
    /// Retries a pending doorbell, which failed for lack of descriptors or memory. Does nothing if none is pending or
    /// needed.
    void retry_pending_doorbell() noexcept;
    /// Checks the connection if @p process, which has ended, is the peer's.
    void handle_exit_of(const ExporterProcess &process) noexcept;

    // Used by the SoftReceiveQueue: its list of connections that have a message but no receive for it.

    void schedule_check() noexcept { poller_->schedule_check(number_); }
    SoftQueuePair *next_without_receive = nullptr; ///< the next one in the list
    bool is_without_receive = false;               ///< true while this connection is in the list

protected:
    /// Completes an operation within its submit. A failed operation ends the connection.
    void complete_now(Tag tag, doca_error_t status, std::uint32_t length) noexcept;

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

    // Fast paths of post(), each a function of its own so that it saves only the registers that it needs. They call
    // post_any() for what they do not handle.
    [[nodiscard]] doca_error_t post_message(Tag tag, const Request &request) noexcept;
    [[nodiscard]] doca_error_t post_write(Tag tag, const Request &request) noexcept;
    [[nodiscard]] doca_error_t post_read(Tag tag, const Request &request) noexcept;
    [[nodiscard]] doca_error_t post_atomic(Tag tag, const Request &request) noexcept;

    // Operations (queue_pair.cpp). AGAIN means that the operation has to be queued and executed again.
    [[nodiscard]] doca_error_t post_any(Tag tag, const Request &request) noexcept;
    [[nodiscard]] doca_error_t execute(const Request &request) noexcept;
    [[nodiscard]] doca_error_t dispatch(const Request &request) noexcept;
    void resume_sends() noexcept;

    // The connection.
    [[nodiscard]] bool is_peer_connected() const noexcept
    {
        // Acquire: pairs with the peer's store in connect(), so that its page is complete, and in close().
        return peer_->page().connected_to.load(std::memory_order_acquire) == own_->id() && !process_->is_gone();
    }
    /// Returns SUCCESS if the peer is connected to this queue pair, AGAIN if it has not connected yet, and
    /// CONNECTION_RESET, the first time after a log line, if the connection has ended.
    [[nodiscard]] doca_error_t check_peer() const noexcept
    {
        if (is_peer_connected()) [[likely]]
            return DOCA_SUCCESS;
        return diagnose_peer();
    }
    /// The same for a poll. Logs the loss as an error only if it makes an operation of the program fail, else as
    /// information.
    [[nodiscard]] doca_error_t check_peer_in_wait() const noexcept
    {
        if (is_peer_connected()) [[likely]]
            return DOCA_SUCCESS;
        return diagnose_peer(num_sends_ != 0 || has_receives());
    }
    [[nodiscard]] bool has_lost_peer() const noexcept { return check_peer_in_wait() == DOCA_ERROR_CONNECTION_RESET; }
    [[gnu::cold]] [[nodiscard]] doca_error_t diagnose_peer(bool is_error = true) const noexcept;
    [[gnu::cold]] void handle_peer_loss() noexcept;
    [[gnu::cold]] void fail() noexcept;
    void close() noexcept;
    void flush_all() noexcept;
    /// Returns whether an event can still complete an operation: one is queued or posted here, or the connection may
    /// bring a message for a receive of the shared queue.
    [[nodiscard]] bool needs_polling() const noexcept
    {
        return num_sends_ != 0 || has_receives() || (shared_receives_ != nullptr && is_connected());
    }

    // Notification of the peer, and by it.
    /// Rings the peer's doorbell if the peer has requested it for one of @p events. Called after the store that they
    /// announce: of a cell's sequence, an entry's state or num_taken. Costs one load if the peer polls.
    void notify_peer(std::uint32_t events) noexcept
    {
        std::atomic<std::uint64_t> &request = peer_->page().doorbell_request;
        // The peer cannot run membarrier() for this process, so this side itself must order its store of the event
        // before its load of the request. fetch_or(0) is a load that does so, because it also writes.
        if (needs_barrier_) [[unlikely]]
            return ring_doorbell(DoorbellRequest(request.fetch_or(0, std::memory_order_seq_cst)), events);
        light_barrier(); // pairs with the heavy_barrier() that follows request_doorbells()
        if (const DoorbellRequest seen(request.load(std::memory_order_relaxed)); seen.requests(events)) [[unlikely]]
            ring_doorbell(seen, events);
    }
    void notify_peer_with_barrier() noexcept;
    [[gnu::noinline]] void ring_doorbell(DoorbellRequest request, std::uint32_t events) noexcept;
    [[gnu::cold]] void defer_doorbell(std::uint32_t events) noexcept;
    [[nodiscard]] doca_error_t open_doorbells(DoorbellRequest request) noexcept;
    void prepare_doorbell() noexcept;
    void publish_doorbell_request(std::uint32_t events) noexcept;
    /// Ensures that the end of the peer's process wakes this thread if it is blocked while an operation waits. Returns
    /// false if the process cannot be watched.
    [[nodiscard]] bool ensure_peer_watched() noexcept { return !has_doorbells_ || is_watched_ || watch_process(); }
    [[gnu::cold]] [[nodiscard]] bool watch_process() noexcept;
    void begin_waiting() noexcept;

    // Messages (queue_pair_messages.cpp).
    [[nodiscard]] doca_error_t send_message(const Request &request) noexcept;
    [[nodiscard]] bool find_receives() noexcept;
    [[nodiscard]] bool has_slot() noexcept;
    [[nodiscard]] bool suits_slot(const ReceiveEntry &entry, std::uint32_t length) noexcept;
    [[nodiscard]] doca_error_t send_long(const Request &request) noexcept;
    [[nodiscard]] doca_error_t place(ReceiveEntry &entry, const Request &request) noexcept;
    [[nodiscard]] doca_error_t import_segment(const ReceiveSegment &segment, const RemoteMemory *&memory) noexcept;
    void write_message(MessageKind kind, const Request &request) noexcept;
    void publish_message(MessageCell &cell, const Result &result, MessageKind kind) noexcept;
    [[nodiscard]] bool was_delivered(std::uint32_t number) const noexcept;
    [[gnu::cold]] [[nodiscard]] doca_error_t explain_undelivered() const noexcept;
    [[nodiscard]] doca_error_t deliver(MessageKind kind, const Request &request) noexcept;
    /// Returns whether this queue pair holds receives. If receives are shared, it holds at most one: the one for
    /// which the peer is to place the next message.
    [[nodiscard]] bool has_receives() const noexcept { return first_receive_ != next_receive_; }
    [[nodiscard]] Operation *&receive_of(std::uint32_t number) noexcept
    {
        return receives_[number & (recv_queue_size_ - 1)];
    }
    [[nodiscard]] bool has_message_arrived() const noexcept
    {
        // Acquire: pairs with the peer's store in publish_message(), so that the cell and the data are visible.
        return own_->cell(first_receive_).sequence.load(std::memory_order_acquire) == first_receive_ + 1;
    }
    /// Returns whether the next message has arrived and can be received. False after a message that could not be
    /// received.
    [[nodiscard]] bool has_receivable_message() const noexcept { return has_message_arrived() && !has_lost_message_; }
    /// Returns whether a message has arrived and there is a receive for it.
    [[nodiscard]] bool can_receive() const noexcept
    {
        return (has_receives() || (shared_receives_ != nullptr && shared_receives_->has_receive())) &&
               has_message_arrived();
    }
    /// Receives the message that has arrived, into the first receive or, if receives are shared, into the next one of
    /// the shared queue. Returns false if there is no such receive or message.
    [[nodiscard]] bool receive_next() noexcept
    {
        if (!has_receivable_message())
            return false;
        if (!has_receives()) [[unlikely]]
            return receive_into_shared();
        (void)receive_into_posted(false);
        return true;
    }
    [[nodiscard]] bool receive_into_shared() noexcept;
    [[nodiscard]] Operation *poll_one_shared() noexcept;
    Operation *receive_into(Operation &receive, bool returns_operation) noexcept;
    /// Returns whether the message that has arrived is the peer's rendezvous request: it has no data, and its answer is
    /// a posted receive.
    [[nodiscard]] bool is_rendezvous_request() const noexcept;
    /// Returns whether a message with data waits for a shared receive. Its sender may have completed it, so the loss of
    /// the peer is handled only after it was received.
    [[nodiscard]] bool has_unmatched_message() const noexcept;
    void wait_for_shared_receive() noexcept;
    [[nodiscard]] doca_error_t post_shared_receive(Operation &operation) noexcept;
    Operation *receive_into_posted(bool returns_operation) noexcept;
    void update_peer_receives(const MessageCell &cell) noexcept;
    [[nodiscard]] Operation *receive_short_into_shared() noexcept;
    [[nodiscard]] doca_error_t unpack(const std::byte *data, MessageKind kind, const Receive &receive,
                                      const Result &result) noexcept;
    void give_up_receive(Operation &operation, doca_error_t status) noexcept;
    void flush_receives() noexcept;

    // One-sided operations (queue_pair_one_sided.cpp).
    [[nodiscard]] doca_error_t execute_read_or_write(const Request &request) noexcept;
    [[nodiscard]] std::uint64_t fetch_and_modify(std::uint64_t &at, const Request &request) noexcept;
    [[nodiscard]] doca_error_t execute_atomic(const Request &request) noexcept;
    [[nodiscard]] doca_error_t authorize(const Request &request, std::uint32_t right,
                                         const RemoteMemory *&memory) noexcept;
    /// Returns whether the peer has granted @p right on @p memory to this connection: the memory must be of the peer's
    /// process and device, and both the memory map and the peer's instance must grant the right.
    [[nodiscard]] bool is_permitted(const RemoteMemory &memory, std::uint32_t right) const noexcept
    {
        return memory.process() == process_ && memory.function_id() == peer_->function_id() &&
               (memory.access() & peer_permissions_ & right) != 0;
    }
    /// Returns whether the operation can be carried out now, and completed in its submit.
    [[nodiscard]] bool can_complete_now() const noexcept { return num_sends_ == 0 && !completions_->is_full(); }

    const SoftDevice &device_;
    const std::uint32_t send_queue_size_;   ///< a power of two
    const std::uint32_t recv_queue_size_;   ///< a power of two
    const bool is_mtu_fixed_;               ///< true if the program has set the MTU: connect() keeps it
    doca_mtu_size mtu_;                     ///< the smaller one of both ends once connected; has no effect on transfers
    std::shared_ptr<QueuePairMapping> own_; ///< this end's shared region; null until open()
    std::vector<std::byte> details_;

    // Set by connect(), and constant afterwards.
    std::shared_ptr<QueuePairMapping> peer_;   ///< the peer's shared region, mapped
    std::shared_ptr<ExporterProcess> process_; ///< the peer's process
    std::uint32_t peer_permissions_ = 0;       ///< the rights of the peer's instance: enum doca_access_flags
    bool needs_barrier_ = true;                ///< the peer's membarrier() has no effect here: see notify_peer()

    // The peer's doorbell, from connect() on.
    std::shared_ptr<PeerDoorbells> peer_doorbells_; ///< the mapped page; null until needed, replaced if it moves
    std::uint64_t invalid_request_ = 0;             ///< the last request that named no page of doorbells; ignored
    std::uint32_t pending_events_ = 0; ///< those of a doorbell that could not be rung: see defer_doorbell()

    // Valid from attach() to detach().
    std::shared_ptr<ConnectionPoller> poller_;
    std::uint32_t number_ = 0;           ///< this connection's number in the poller
    std::uint32_t requested_events_ = 0; ///< the events in this side's DoorbellRequest
    bool has_doorbells_ = false;         ///< the poller has a page of doorbells, so awaited events are published
    bool is_watched_ = false;            ///< the poller watches the peer's process

    ProcessId identity_;            ///< the process that called open(): a forked child must release nothing
    bool is_flushing_ = false;      ///< the connection has ended, and a receive is being filled
    bool has_lost_message_ = false; ///< a message has arrived that its receive could not hold

    mutable bool is_loss_logged_ = false; ///< the end of the peer is logged once

    SoftReceiveQueue *const shared_receives_; ///< null unless receives are shared
    /// The memory of both ring buffers. Not initialized, so that the pages of a large queue are only touched if it is
    /// used.
    std::unique_ptr<Operation *[]> ring_memory_;

    // Queued operations other than receives: a ring of send_queue_size_ elements, oldest first.
    Operation **sends_;
    std::uint32_t first_send_ = 0; ///< wraps around
    std::uint32_t num_sends_ = 0;

    // Messages to the peer, and the credits for them. The credits are lower bounds of the peer's current values: they
    // come with its messages or are loaded from its page when they are used up.
    std::uint32_t next_message_ = 0;           ///< the number of the next message to the peer
    std::uint32_t peer_posted_ = 0;            ///< messages with smaller numbers may be sent: MessageCell::num_posted
    std::uint32_t peer_shortest_ = 0;          ///< bytes that each of these may have: MessageCell::shortest_receive
    std::uint32_t peer_taken_ = 0;             ///< the number of messages that the peer has received
    bool has_sent_rendezvous_request_ = false; ///< the last message was a rendezvous request
    /// A cache of the exports in which the peer's receives lie, oldest first.
    std::vector<std::unique_ptr<RemoteMemory>> receive_memories_;

    // Posted receives: a ring of recv_queue_size_ elements. Message n goes into receive n. If receives are shared, at
    // most one element is used: by the receive of message first_receive_.
    Operation **receives_;
    std::uint32_t first_receive_ = 0;   ///< the oldest receive, and the next message
    std::uint32_t next_receive_ = 0;    ///< the next receive to be posted
    std::uint32_t shortest_posted_ = 0; ///< the smallest capacity of the receives posted since the ring was last empty
};

} // namespace opendoca::soft
