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

/// One end of a connection between two processes of this machine, or within one process. Belongs to the thread of its
/// work queue; connect() may run in another thread.
///
/// submit carries out what needs no action of the peer: one-sided operations, and messages with a posted receive. An
/// operation that must wait for the peer to connect or to post a receive is queued, and so is each operation after it,
/// in the order of submission.
class OPENDOCA_INTERNAL SoftQueuePair : public QueuePair {
public:
    /// Must be followed by open().
    SoftQueuePair(const SoftDevice &device, const QueuePairSettings &settings, std::atomic<ConnectionState> &state);
    ~SoftQueuePair() override;
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

    void progress() noexcept
    {
        if (!has_waiting_operations())
            return;
        if (is_flushing_) [[unlikely]]
            return flush_all();
        while (take_next()) {
            // Each of these may complete an operation.
        }
        if (shared_ != nullptr) [[unlikely]]
            share_receives();
        if (num_sends_ != 0)
            go_on_sending();
        if (has_waiting_operations() && has_lost_peer()) [[unlikely]]
            lose_peer();
    }
    /// The same as progress(), for the only connection of a completion queue while no operation waits: returns the
    /// receive of a message that has arrived instead of completing it.
    [[nodiscard]] Operation *poll_one() noexcept
    {
        if (is_flushing_ || num_sends_ != 0) [[unlikely]]
            return progress(), nullptr;
        if (shared_ != nullptr)
            return poll_shared();
        if (!has_receives())
            return nullptr;
        if (is_message_there())
            return take_message(true);
        if (check_peer() == DOCA_ERROR_CONNECTION_RESET) [[unlikely]]
            lose_peer();
        return nullptr;
    }
    /// Returns whether progress() would complete an operation now.
    [[nodiscard]] bool can_progress() const noexcept;
    /// Makes the peer ring for the awaited events. The caller must call barrier_for_all() and then check for events.
    void ask_for_rings() noexcept;
    void ask_for_no_rings() noexcept;
    /// Retries a pending doorbell, which failed for lack of descriptors or memory. Does nothing if none is pending or
    /// needed.
    void make_owed_ring() noexcept;
    void process_ended(const ExporterProcess &process) noexcept;

    // Called and stored by the SoftReceiveQueue: links of a list.

    void look_again() noexcept { poller_->look_at(number_); }
    SoftQueuePair *next_starving = nullptr;
    bool is_starving = false;

protected:
    /// Completes an operation within its submit. A failed operation ends the connection.
    void end_at_once(Tag tag, doca_error_t status, std::uint32_t length) noexcept;

private:
    /// A request that waits, in its Operation.
    class Waiting {
    public:
        Waiting() noexcept = default;
        explicit Waiting(const Request &request) noexcept;
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

    // Operations (queue_pair.cpp). AGAIN means that the operation has to wait.
    [[nodiscard]] doca_error_t post_any(Tag tag, const Request &request) noexcept;
    [[nodiscard]] doca_error_t execute(const Request &request) noexcept;
    [[nodiscard]] doca_error_t try_to(const Request &request) noexcept;
    void go_on_sending() noexcept;

    // The connection.
    [[nodiscard]] bool is_peer_there() const noexcept
    {
        // Acquire: pairs with the store in connect().
        return peer_->page().accepts.load(std::memory_order_acquire) == own_->id() && !process_->is_gone();
    }
    [[nodiscard]] doca_error_t check_peer() const noexcept
    {
        if (is_peer_there()) [[likely]]
            return DOCA_SUCCESS;
        return explain_peer();
    }
    /// The same for a caller that only waits: the end of the peer is no error if no operation of the program fails by
    /// it.
    [[nodiscard]] doca_error_t check_peer_in_wait() const noexcept
    {
        if (is_peer_there()) [[likely]]
            return DOCA_SUCCESS;
        return explain_peer(num_sends_ != 0 || has_receives());
    }
    [[nodiscard]] bool has_lost_peer() const noexcept { return check_peer_in_wait() == DOCA_ERROR_CONNECTION_RESET; }
    [[gnu::cold]] [[nodiscard]] doca_error_t explain_peer(bool is_error = true) const noexcept;
    [[gnu::cold]] void lose_peer() noexcept;
    [[gnu::cold]] void fail() noexcept;
    void close() noexcept;
    void flush_all() noexcept;
    /// Returns whether an operation waits. Also true if a shared receive queue could still supply a receive for an
    /// incoming message.
    [[nodiscard]] bool has_waiting_operations() const noexcept
    {
        return num_sends_ != 0 || has_receives() || (shared_ != nullptr && is_connected());
    }

    // Notification of the peer, and by it.
    void tell_peer(std::uint32_t wish) noexcept
    {
        std::atomic<std::uint64_t> &request = peer_->page().doorbell_request;
        if (needs_barrier_) [[unlikely]]
            return ring(DoorbellRequest(request.fetch_or(0, std::memory_order_seq_cst)), wish);
        barrier_by_others(); // pairs with the barrier_for_all() that follows ask_for_rings()
        if (const DoorbellRequest seen(request.load(std::memory_order_relaxed)); seen.wishes(wish)) [[unlikely]]
            ring(seen, wish);
    }
    void tell_peer_with_barrier() noexcept;
    [[gnu::noinline]] void ring(DoorbellRequest request, std::uint32_t wish) noexcept;
    [[gnu::cold]] void owe_ring(std::uint32_t wish) noexcept;
    [[nodiscard]] doca_error_t open_doorbells(DoorbellRequest request) noexcept;
    void prepare_to_ring() noexcept;
    void show_doorbell_request(std::uint32_t wishes) noexcept;
    [[nodiscard]] bool may_wait() noexcept { return !has_doorbells_ || is_watched_ || watch_process(); }
    [[gnu::cold]] [[nodiscard]] bool watch_process() noexcept;
    void began_to_wait() noexcept;

    // Messages (queue_pair_messages.cpp).
    [[nodiscard]] doca_error_t send_message(const Request &request) noexcept;
    [[nodiscard]] bool find_receives() noexcept;
    [[nodiscard]] bool has_slot() noexcept;
    [[nodiscard]] bool suits_slot(const ReceiveEntry &entry, std::uint32_t length) noexcept;
    [[nodiscard]] doca_error_t send_long(const Request &request) noexcept;
    [[nodiscard]] doca_error_t place(ReceiveEntry &entry, const Request &request) noexcept;
    [[nodiscard]] doca_error_t reach_segment(const ReceiveSegment &segment, const RemoteMemory *&memory) noexcept;
    void put_message(MessageKind kind, const Request &request) noexcept;
    void announce(MessageCell &cell, const Result &result, MessageKind kind) noexcept;
    [[nodiscard]] bool was_delivered(std::uint32_t number) const noexcept;
    [[gnu::cold]] [[nodiscard]] doca_error_t explain_undelivered() const noexcept;
    [[nodiscard]] doca_error_t deliver(MessageKind kind, const Request &request) noexcept;
    /// Returns whether this queue pair holds receives. If receives are shared, it holds at most one: the one in whose
    /// memory the peer is to place the next message.
    [[nodiscard]] bool has_receives() const noexcept { return first_receive_ != next_receive_; }
    [[nodiscard]] Operation *&receive_of(std::uint32_t number) noexcept
    {
        return receives_[number & (recv_queue_size_ - 1)];
    }
    [[nodiscard]] bool is_message_there() const noexcept
    {
        // Acquire: pairs with the store in put_message(), so that the placed data is visible.
        return own_->cell(first_receive_).sequence.load(std::memory_order_acquire) == first_receive_ + 1;
    }
    /// Returns whether the next message has arrived and can be received. False after a message that could not be
    /// received.
    [[nodiscard]] bool has_message() const noexcept { return is_message_there() && !has_lost_message_; }
    [[nodiscard]] bool can_take() const noexcept
    {
        return (has_receives() || (shared_ != nullptr && shared_->has_receive())) && is_message_there();
    }
    /// Receives the message that has arrived, into the first receive or, if receives are shared, into the next one of
    /// the shared queue. Returns false if there is no such receive or message.
    [[nodiscard]] bool take_next() noexcept
    {
        if (!has_message())
            return false;
        if (!has_receives()) [[unlikely]]
            return take_shared();
        (void)take_message(false);
        return true;
    }
    [[nodiscard]] bool take_shared() noexcept;
    [[nodiscard]] Operation *poll_shared() noexcept;
    Operation *take_by(Operation &receive, bool hands_out) noexcept;
    /// Returns whether the message that has arrived carries no data yet: its sender must place the data.
    [[nodiscard]] bool is_question_there() const noexcept;
    /// Returns whether a message of the peer waits for a shared receive. It counts as sent, so the end of the peer is
    /// reported only after it.
    [[nodiscard]] bool has_unmet_message() const noexcept;
    void share_receives() noexcept;
    [[nodiscard]] doca_error_t post_for_one(Operation &operation) noexcept;
    Operation *take_message(bool hands_out) noexcept;
    void note_peers_receives(const MessageCell &cell) noexcept;
    [[nodiscard]] Operation *take_short() noexcept;
    [[nodiscard]] doca_error_t unpack(const std::byte *data, MessageKind kind, const Receive &receive,
                                      const Result &result) noexcept;
    void end_unmet(Operation &operation, doca_error_t status) noexcept;
    void flush_receives() noexcept;

    // One-sided jobs (queue_pair_one_sided.cpp).
    [[nodiscard]] doca_error_t transfer(const Request &request) noexcept;
    [[nodiscard]] std::uint64_t update_mapped(std::uint64_t &at, const Request &request) noexcept;
    [[nodiscard]] doca_error_t update(const Request &request) noexcept;
    [[nodiscard]] doca_error_t reach(const Request &request, std::uint32_t right, const RemoteMemory *&memory) noexcept;
    [[nodiscard]] bool may_reach(const RemoteMemory &memory, std::uint32_t right) const noexcept
    {
        return memory.process() == process_ && memory.function_id() == peer_->function_id() &&
               (memory.access() & peer_permissions_ & right) != 0;
    }
    /// Returns whether the operation can be carried out now, and completed in its submit.
    [[nodiscard]] bool can_end_at_once() const noexcept { return num_sends_ == 0 && !completions_->is_full(); }

    const SoftDevice &device_;
    const std::uint32_t send_queue_size_;
    const std::uint32_t recv_queue_size_;
    const bool is_mtu_fixed_;
    doca_mtu_size mtu_;
    std::shared_ptr<QueuePairMapping> own_;
    std::vector<std::byte> details_;

    // From connect().
    std::shared_ptr<QueuePairMapping> peer_;
    std::shared_ptr<ExporterProcess> process_; ///< the peer's process
    std::uint32_t peer_permissions_ = 0;
    bool needs_barrier_ = true;
    std::shared_ptr<PeerDoorbells> peer_doorbells_; ///< the doorbells that were rung last, or are to be rung
    std::uint64_t wrong_request_ = 0;               ///< a request that names no valid page of doorbells; not retried
    std::uint32_t pending_events_ =
        0; ///< the events for which the peer could not be rung, for lack of descriptors or memory

    // From attach() to detach().
    std::shared_ptr<ConnectionPoller> poller_;
    std::uint32_t number_ = 0;   ///< this connection's number in the poller
    std::uint32_t wishes_ = 0;   ///< the events in this side's DoorbellRequest
    bool has_doorbells_ = false; ///< the poller uses doorbells, so a change of the awaited events must be published
    bool is_watched_ = false;    ///< the poller watches the peer's process

    ProcessId identity_;            ///< set by open(); differs in a forked child: its copy must not release anything
    bool is_flushing_ = false;      ///< the connection has ended, and a receive is being filled
    bool has_lost_message_ = false; ///< a message has come that its receive could not take

    mutable bool is_loss_logged_ = false;

    SoftReceiveQueue *const shared_;
    std::unique_ptr<Operation *[]> waiting_; ///< memory of both rings, touched where they are used

    // Operations that wait, other than receives: a ring.
    Operation **sends_;
    std::uint32_t first_send_ = 0;
    std::uint32_t num_sends_ = 0;

    // Messages to the peer.
    std::uint32_t next_message_ = 0;
    std::uint32_t known_posted_ = 0;   ///< the number of receives that the peer has posted, as far as known here
    std::uint32_t known_shortest_ = 0; ///< a lower bound, in bytes, of the capacities of the peer's waiting receives
    std::uint32_t known_taken_ = 0;    ///< the number of messages that the peer has received, as far as known here
    bool has_asked_ = false;           ///< the last message requested a receive
    std::vector<std::unique_ptr<RemoteMemory>> receive_memories_;

    // Receives: a ring. Where they are shared, of at most one.
    Operation **receives_;
    std::uint32_t first_receive_ = 0;
    std::uint32_t next_receive_ = 0;
    std::uint32_t shortest_posted_ = 0; ///< the smallest capacity of the receives posted since none was waiting
};

} // namespace opendoca::soft
