// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>
#include <vector>

#include "../../../engine/completion_queue.hpp"
#include "../../queue_pair.hpp"
#include "../memory/copier.hpp"
#include "../device.hpp"
#include "endpoint.hpp"
#include "receive_queue.hpp"
#include "../process/wake.hpp"

namespace opendoca::soft {

/// One end of a connection between two processes of this machine, or within one.
///
/// What this side can do alone, it does in submit: one-sided jobs, and messages whose receive is posted. What
/// has to wait, for the peer to connect or to post a receive, is kept in the order of submission, and
/// everything after it as well.
class OPENDOCA_INTERNAL SoftQueuePair : public QueuePair, public Pollable {
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

    void progress() noexcept override;
    [[nodiscard]] bool arm() noexcept override;
    void disarm() noexcept override;
    void flush() noexcept override;

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
    [[nodiscard]] doca_error_t check_peer() const noexcept
    {
        // Acquire: pairs with the store in connect().
        if (peer_->page().accepts.load(std::memory_order_acquire) == own_->id() && !process_->is_gone())
            [[likely]]
            return DOCA_SUCCESS;
        return explain_peer();
    }
    [[gnu::cold]] [[nodiscard]] doca_error_t explain_peer() const noexcept;
    [[gnu::cold]] void lose_peer() noexcept;
    [[gnu::cold]] void fail() noexcept;
    void close() noexcept;
    void flush_all() noexcept;
    /// Or may have one to give to a message that comes.
    [[nodiscard]] bool has_waiting_operations() const noexcept
    {
        return num_sends_ != 0 || has_receives() || shared_ != nullptr;
    }

    // Sleeping and waking.
    void wake_peer(std::uint32_t wish) noexcept;
    void announce_sleep() noexcept;
    [[nodiscard]] bool can_progress() const noexcept;
    [[nodiscard]] doca_error_t watch_death() noexcept;

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
    [[nodiscard]] bool can_take() const noexcept
    {
        return (has_receives() || (shared_ != nullptr && shared_->has_receive())) && is_message_there();
    }
    [[nodiscard]] bool take_next() noexcept;
    [[nodiscard]] doca_error_t post_for_one(Operation &operation) noexcept;
    void take_message() noexcept;
    [[nodiscard]] doca_error_t unpack(const std::byte *data, MessageKind kind, const Receive &receive,
                                      const Result &result) noexcept;
    void end_unmet(Operation &operation, doca_error_t status) noexcept;
    void flush_receives() noexcept;

    // One-sided jobs (queue_pair_one_sided.cpp).
    [[nodiscard]] doca_error_t transfer(Opcode opcode, const Work &work) noexcept;
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
    std::shared_ptr<Endpoint> own_;
    std::vector<std::byte> details_;

    // From connect().
    std::shared_ptr<Endpoint> peer_;
    std::shared_ptr<ExporterProcess> process_; ///< the peer's
    std::uint32_t peer_permissions_ = 0;
    bool needs_barrier_ = true;
    WakingSide waking_;
    UniqueFd death_; ///< a pidfd of the peer, while the work queue watches it

    // From attach().
    SleepingSide sleep_; ///< open in event-driven mode

    Copier copier_;
    const ProcessId identity_ = ProcessId::self();
    bool is_flushing_ = false;

    mutable bool is_loss_logged_ = false;

    // Operations that wait, other than receives: a ring.
    std::vector<Operation *> sends_;
    std::uint32_t first_send_ = 0;
    std::uint32_t num_sends_ = 0;

    // Messages to the peer.
    std::uint32_t next_message_ = 0;
    std::uint32_t known_posted_ = 0; ///< the peer has posted the receives before this one
    std::uint32_t known_room_ = 0;   ///< bytes: none of them that waits has less
    std::uint32_t known_taken_ = 0;  ///< the peer has taken the messages before this one
    bool has_asked_ = false;         ///< for a receive, by the last message
    std::vector<std::unique_ptr<RemoteMemory>> receive_memories_;

    // Receives: a ring. Where they are shared, of at most one.
    SoftReceiveQueue *const shared_;
    std::vector<Operation *> receives_;
    std::uint32_t first_receive_ = 0;
    std::uint32_t next_receive_ = 0;
    std::uint32_t least_room_ = 0; ///< of those that were posted since none waited
};

/// The one that is common: final, so that who knows its type calls it directly.
class OPENDOCA_INTERNAL PlainQueuePair final : public SoftQueuePair {
public:
    using SoftQueuePair::SoftQueuePair;
};

} // namespace opendoca::soft
