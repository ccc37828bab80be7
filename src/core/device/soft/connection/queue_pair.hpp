// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>
#include <vector>

#include "../../../engine/completion_queue.hpp"
#include "../../queue_pair.hpp"
#include "../device.hpp"
#include "connection_poller.hpp"
#include "queue_pair_mapping.hpp"
#include "receive_queue.hpp"

namespace opendoca::soft {

/// One end of a connection between two processes of this machine, or within one.
///
/// What this side can do alone, it does in submit: one-sided jobs, and messages whose receive is posted. What
/// has to wait, for the peer to connect or to post a receive, is kept in the order of submission, and
/// everything after it as well.
class OPENDOCA_INTERNAL SoftQueuePair : public QueuePair {
public:
    /// To be followed by open().
    SoftQueuePair(const SoftDevice &device, const QueuePairSettings &settings,
                  std::atomic<ConnectionState> &state);
    ~SoftQueuePair() override;
    [[nodiscard]] doca_error_t open(const QueuePairSettings &settings);

    [[nodiscard]] std::span<const std::byte> details() const noexcept override
    {
        return details_;
    }
    [[nodiscard]] doca_error_t connect(std::span<const std::byte> details) override;
    [[nodiscard]] doca_mtu_size mtu() const noexcept override { return mtu_; }
    [[nodiscard]] doca_error_t attach(CompletionQueue &completions) override;
    void detach() noexcept override;

    [[nodiscard]] doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept override;
    [[nodiscard]] doca_error_t send(Tag tag, const doca_buf *src, TransferPlan plan,
                                    Immediate immediate) noexcept override;
    [[nodiscard]] doca_error_t read(Tag tag, doca_buf *dst, const doca_buf *src, TransferPlan plan,
                                    MemoryKey *remote) noexcept override;
    [[nodiscard]] doca_error_t write(Tag tag, doca_buf *dst, const doca_buf *src, TransferPlan plan,
                                     MemoryKey *remote, Immediate immediate) noexcept override;
    [[nodiscard]] doca_error_t update(Tag tag, doca_buf &result, doca_buf &target, const AtomicUpdate &update,
                                      MemoryKey &remote) noexcept override;

    void flush() noexcept override;

    // What the ConnectionPoller calls.

    void progress() noexcept
    {
        if (!has_waiting_operations())
            return;
        if (is_flushing_) [[unlikely]]
            return flush_all();
        while (take_next()) {
            // Each may end an operation.
        }
        if (shared_ != nullptr) [[unlikely]]
            share_receives();
        if (num_sends_ != 0)
            go_on_sending();
        if (has_waiting_operations() && has_lost_peer()) [[unlikely]]
            lose_peer();
    }
    /// The same for the only connection of a completion queue where nothing waits: the receive of a message that has
    /// come is returned, and not ended.
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
    /// Whether progress() would end something now.
    [[nodiscard]] bool can_progress() const noexcept;
    /// From now on the peer rings for what is waited for. A barrier_for_all() follows, and then a look.
    void ask_for_rings() noexcept;
    void ask_for_no_rings() noexcept;
    /// Tries once more to make a ring for which descriptors or memory have lacked. Nothing where there is none, or no
    /// need for it any more.
    void make_owed_ring() noexcept;
    void process_ended(const ExporterProcess &process) noexcept;

    // What the SoftReceiveQueue calls and keeps: a list.

    void look_again() noexcept { poller_->look_at(number_); }
    SoftQueuePair *next_starving = nullptr;
    bool is_starving = false;

protected:
    /// An operation ends within its submit. One that has failed ends the connection.
    void end_at_once(Tag tag, doca_error_t status, std::uint32_t length) noexcept;

private:
    enum class Opcode : std::uint32_t {
        send,
        send_with_immediate,
        read,
        write,
        write_with_immediate,
        compare_and_swap,
        fetch_and_add,
    };

    struct Transfer {
        TransferPlan plan;
        std::uint32_t immediate; ///< big endian
    };
    struct Update {
        std::uint64_t operand;
        std::uint64_t compare;
    };

    /// What an operation other than a receive has to do; kept in it while it waits.
    struct Work {
        doca_buf *local;  ///< chain or result; a source is not written to
        doca_buf *remote; ///< null for messages and empty transfers
        union {
            Transfer transfer;
            Update update;
        };
    };

    // Operations (queue_pair.cpp). AGAIN stands for "has to wait".
    [[nodiscard]] doca_error_t start(Tag tag, Opcode opcode, const Work &work) noexcept;
    [[nodiscard]] doca_error_t execute(Opcode opcode, const Work &work) noexcept;
    [[nodiscard]] doca_error_t try_to(Opcode opcode, const Work &work) noexcept;
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
    /// The same for who only waits: where nothing of the program's fails by it, the end of a peer is no error.
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
    /// Or may have one to give to a message that comes.
    [[nodiscard]] bool has_waiting_operations() const noexcept
    {
        return num_sends_ != 0 || has_receives() || (shared_ != nullptr && is_connected());
    }

    // News, for the peer and from it.
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
    [[nodiscard]] static Received received_of(Opcode opcode) noexcept;
    [[nodiscard]] doca_error_t send_message(Opcode opcode, const Work &work) noexcept;
    [[nodiscard]] bool find_receives() noexcept;
    [[nodiscard]] bool has_slot() noexcept;
    [[nodiscard]] bool suits_slot(const ReceiveEntry &entry, std::uint32_t length) noexcept;
    [[nodiscard]] doca_error_t send_long(Opcode opcode, const Work &work) noexcept;
    [[nodiscard]] doca_error_t place(ReceiveEntry &entry, const Work &work) noexcept;
    [[nodiscard]] doca_error_t reach_segment(const ReceiveSegment &segment,
                                             const RemoteMemory *&memory) noexcept;
    void put_message(Opcode opcode, MessageKind kind, const Work &work) noexcept;
    void announce(MessageCell &cell, const Result &result, MessageKind kind) noexcept;
    [[nodiscard]] bool was_delivered(std::uint32_t number) const noexcept;
    [[gnu::cold]] [[nodiscard]] doca_error_t explain_undelivered() const noexcept;
    [[nodiscard]] doca_error_t deliver(Opcode opcode, MessageKind kind, const Work &work) noexcept;
    /// Where receives are shared: one that the next message is to be placed in.
    [[nodiscard]] bool has_receives() const noexcept { return first_receive_ != next_receive_; }
    [[nodiscard]] Operation *&receive_of(std::uint32_t number) noexcept
    {
        return receives_[number & (recv_queue_size_ - 1)];
    }
    [[nodiscard]] bool is_message_there() const noexcept
    {
        // Acquire: pairs with the store in put_message(); what was placed is there as well.
        return own_->cell(first_receive_).sequence.load(std::memory_order_acquire) == first_receive_ + 1;
    }
    /// The next message has come, and is to be received: none is that comes after one that could not be.
    [[nodiscard]] bool has_message() const noexcept { return is_message_there() && !has_lost_message_; }
    [[nodiscard]] bool can_take() const noexcept
    {
        return (has_receives() || (shared_ != nullptr && shared_->has_receive())) && is_message_there();
    }
    /// Takes the message that has come for the first receive, or, where receives are shared, for the next of them.
    /// False when there is none.
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
    /// The message that has come carries no data: its sender is to place them.
    [[nodiscard]] bool is_question_there() const noexcept;
    /// A message of the peer that waits for a shared receive: it counts as sent, so the peer's end is not told before.
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
    [[nodiscard]] doca_error_t transfer(Opcode opcode, const Work &work) noexcept;
    [[nodiscard]] std::uint64_t update_mapped(std::uint64_t &at, const AtomicUpdate &update) noexcept;
    [[nodiscard]] doca_error_t execute_update(Opcode opcode, const Work &work) noexcept;
    [[nodiscard]] doca_error_t reach(const doca_buf &remote, std::uint32_t right,
                                     const RemoteMemory *&memory) noexcept;
    [[nodiscard]] bool may_reach(const RemoteMemory &memory, std::uint32_t right) const noexcept
    {
        return memory.process() == process_ && memory.function_id() == peer_->function_id() &&
               (memory.access() & peer_permissions_ & right) != 0;
    }
    /// The operation can be carried out now, and end in its submit.
    [[nodiscard]] bool can_end_at_once() const noexcept
    {
        return num_sends_ == 0 && !completions_->is_full();
    }

    const SoftDevice &device_;
    const std::uint32_t send_queue_size_;
    const std::uint32_t recv_queue_size_;
    const bool is_mtu_fixed_;
    doca_mtu_size mtu_;
    std::shared_ptr<QueuePairMapping> own_;
    std::vector<std::byte> details_;

    // From connect().
    std::shared_ptr<QueuePairMapping> peer_;
    std::shared_ptr<ExporterProcess> process_; ///< the peer's
    std::uint32_t peer_permissions_ = 0;
    bool needs_barrier_ = true;
    std::shared_ptr<PeerDoorbells> peer_doorbells_; ///< the last ones that were rung, or are to be
    std::uint64_t wrong_request_ = 0;                  ///< what the peer has there is not a page of doorbells
    std::uint32_t pending_events_ = 0; ///< of the peer: it was not rung for them, for want of descriptors or memory

    // From attach() to detach().
    std::shared_ptr<ConnectionPoller> poller_;
    std::uint32_t number_ = 0;   ///< there
    std::uint32_t wishes_ = 0;   ///< in our DoorbellRequest
    bool has_doorbells_ = false; ///< the poller, so that somebody may have to be told of what is waited for
    bool is_watched_ = false;    ///< the peer's process, by the poller

    ProcessId identity_; ///< from open() on; a forked child's copy does not count
    bool is_flushing_ = false; ///< the connection has ended, and a receive is being filled
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
    std::uint32_t known_posted_ = 0; ///< the peer has posted the receives before this one
    std::uint32_t known_shortest_ = 0; ///< bytes: none of them that waits takes less
    std::uint32_t known_taken_ = 0;  ///< the peer has taken the messages before this one
    bool has_asked_ = false;         ///< for a receive, by the last message
    std::vector<std::unique_ptr<RemoteMemory>> receive_memories_;

    // Receives: a ring. Where they are shared, of at most one.
    Operation **receives_;
    std::uint32_t first_receive_ = 0;
    std::uint32_t next_receive_ = 0;
    std::uint32_t shortest_posted_ = 0; ///< of those that were posted since none waited
};

/// The one that is common: final, so that who knows its type calls it directly.
class OPENDOCA_INTERNAL PlainQueuePair final : public SoftQueuePair {
public:
    using SoftQueuePair::SoftQueuePair;
};

} // namespace opendoca::soft
