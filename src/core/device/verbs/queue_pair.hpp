// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "../../engine/completion_queue.hpp"
#include "../../process/fork.hpp"
#include "../cursor.hpp"
#include "../queue_pair.hpp"
#include "connection_details.hpp"
#include "connection_poller.hpp"
#include "device.hpp"
#include "flush_timer.hpp"
#include "receive_queue.hpp"
#include "reliable_connection.hpp"

namespace opendoca::verbs {

/// Returns the sizes of the queue pair of a connection with @p settings.
[[nodiscard]] ReliableConnection::Sizes sizes_for(const RdmaCapabilities &can,
                                                  const QueuePairSettings &settings) noexcept;

/// One end of a connection: a queue pair of the device. Every operation is one signaled work request; its id is the
/// address of its Operation. Used by the thread of its completion queue, apart from connecting and destruction; see
/// lock_.
///
/// A verbs queue pair is bound to a verbs completion queue at its creation. If it was created before the
/// CompletionQueue was known, attach() therefore creates it again on the poller of that queue (ConnectionPoller),
/// unless a peer may have received its number.
class OPENDOCA_INTERNAL VerbsQueuePair final : public QueuePair {
public:
    [[nodiscard]] static doca_error_t create(const VerbsDevice &device, const QueuePairSettings &settings,
                                             std::atomic<ConnectionState> &state, std::unique_ptr<QueuePair> &created);
    ~VerbsQueuePair() override;

    [[nodiscard]] std::span<const std::byte> details() const noexcept override;
    [[nodiscard]] doca_error_t connect(std::span<const std::byte> details) override;
    /// Connects as connect() does, with the attributes that rdma_cm has negotiated with the peer.
    [[nodiscard]] doca_error_t connect_by(const ReliableConnection::AgreedAttributes &agreed);
    /// Marks the queue pair as connected after rdma_cm has connected it. CONNECTION_ABORTED, logged, if it has not.
    [[nodiscard]] doca_error_t adopt();
    /// Returns the verbs queue pair, for rdma_cm. From now on it is not replaced, and may be connected by rdma_cm.
    [[nodiscard]] ibv_qp &share() noexcept;
    [[nodiscard]] std::uint32_t number() const noexcept { return connection_->number(); }
    /// Returns whether messages may arrive: rdma_cm may have connected a queue pair that was given to it, without a
    /// call of connect_by() or adopt().
    [[nodiscard]] bool may_be_connected() const noexcept
    {
        return is_connected() || (is_shared_ && state() != ConnectionState::failed);
    }
    [[nodiscard]] bool uses_srq() const noexcept { return srq_ != nullptr; }
    /// Returns the details of this end: its GIDs, best first, or the one that the program has set.
    [[nodiscard]] const ConnectionDetails &own_end() const noexcept { return end_.details; }
    [[nodiscard]] doca_mtu_size mtu() const noexcept override { return mtu_; }
    [[nodiscard]] doca_error_t attach(CompletionQueue &completions) override;
    void detach() noexcept override;

    [[nodiscard]] doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept override;
    [[nodiscard]] doca_error_t post(Tag tag, const Request &request) noexcept override;

    void flush() noexcept override;

    /// The poller, while attached.
    [[nodiscard]] ConnectionPoller &poller() const noexcept { return *poller_; }

    /// Sets up @p operation, which begin() has returned, as a receive of a VerbsReceiveQueue.
    static void describe_shared_receive(Operation &operation, doca_buf *dst, TransferPlan plan) noexcept;

private:
    friend class ConnectionPoller;

    /// The payload of an Operation. Completion of a receive overwrites the first half with its Message.
    struct Work {
        Opcode opcode;
        bool is_srq_receive; ///< a receive of a VerbsReceiveQueue
        bool is_list;        ///< from the TransferPlan
        bool overwrites;
        std::uint32_t growth; ///< bytes; for a receive the completion has the length
        doca_buf *dst;        ///< the buffer to extend on completion; null if there is none
    };

    VerbsQueuePair(const VerbsDevice &device, const QueuePairSettings &settings, std::atomic<ConnectionState> &state);

    [[nodiscard]] static Operation &operation_of(std::uint64_t id) noexcept
    {
        return *reinterpret_cast<Operation *>(id);
    }
    /// Returns the queue pair of @p operation.
    [[nodiscard]] static VerbsQueuePair &of(const Operation &operation) noexcept
    {
        return static_cast<VerbsQueuePair &>(*operation.source);
    }
    [[nodiscard]] static std::uint64_t id_of(const Operation &operation) noexcept
    {
        return reinterpret_cast<std::uintptr_t>(&operation);
    }
    [[nodiscard]] static std::uint64_t address(const std::byte *data) noexcept
    {
        return reinterpret_cast<std::uintptr_t>(data);
    }

    // Posting. The Operation is set up first, and released if the device refuses the work request.

    template <Opcode opcode>
    [[nodiscard]] static doca_error_t post_single(VerbsQueuePair &self, Tag tag, const Request &request) noexcept;
    [[nodiscard]] static doca_error_t post_any(VerbsQueuePair &self, Tag tag, const Request &request) noexcept;
    [[nodiscard]] doca_error_t receive_any(Tag tag, doca_buf *dst, TransferPlan plan) noexcept;
    [[nodiscard]] doca_error_t post_receive(Operation &operation, ibv_sge *segments, int num_segments) noexcept;
    /// Takes one of @p credits and requires a free entry of the completion queue. Returns false, without a change, if
    /// either is missing.
    [[nodiscard]] bool take_credit(std::int32_t &credits) noexcept;
    [[nodiscard]] bool goes_inline(const Request &request) const noexcept;
    [[nodiscard]] Operation &begin(Tag tag, Opcode opcode, TransferPlan plan, doca_buf *dst) noexcept;
    [[gnu::cold]] [[nodiscard]] static doca_error_t undo_post(Operation &operation, int error) noexcept;
    void grant_credits() noexcept;

    // Creation and connection.
    [[nodiscard]] doca_error_t create_on(std::shared_ptr<ConnectionPoller> poller);
    /// Recreates the verbs queue pair on the shared poller of @p completions, if it is on another one.
    void move_to(CompletionQueue &completions);
    [[nodiscard]] doca_error_t begin_to_connect() noexcept;
    [[nodiscard]] doca_error_t try_paths(const ConnectionDetails &peer, ReliableConnection::Path &taken);
    [[nodiscard]] doca_error_t check_receives() const noexcept;

    // Completion and failure.
    [[nodiscard]] bool is_idle() const noexcept { return send_credits_ + receive_credits_ == credits_; }
    template <typename Action>
    void each_in_flight(Action action) const noexcept;
    [[nodiscard]] bool must_fail_to_flush() noexcept;
    static void take_result(ibv_cq_ex &cq, Operation &operation) noexcept;
    static void take_message(ibv_cq_ex &cq, Operation &operation) noexcept;
    static void assign_receiver(ibv_cq_ex &cq, Operation &operation) noexcept;
    static void extend(const Work &work, std::uint32_t length) noexcept;
    void return_credit(const Work &work) noexcept;
    void complete(Operation &operation, doca_error_t status) noexcept;
    [[nodiscard]] static doca_error_t failure_of(Opcode opcode, ibv_wc_status status) noexcept;
    [[gnu::cold]] void complete_failed(Operation &operation, ibv_wc_status status) noexcept;
    void begin_to_fail(doca_error_t status) noexcept;
    void finish_failing() noexcept;

    // Members that operations use.
    ibv_qp_ex *sender_ = nullptr;
    ibv_qp *queue_pair_ = nullptr;
    std::uint32_t max_inline_ = 0; ///< bytes
    // Credits: work requests that can still be posted. They are 0 until the first operation, for which grant_credits()
    // starts polling. Callers check is_connected() before they post: credits do not show that a connection has failed.
    std::int32_t send_credits_ = 0; ///< for everything except receives
    std::int32_t receive_credits_ = 0;
    std::int32_t credits_ = 0;      ///< the sum of both while nothing is in flight
    std::vector<ibv_sge> segments_; ///< scatter/gather list of the work request that is being posted
    VerbsReceiveQueue *const srq_;  ///< the shared receive queue (SRQ), or null

    // Members that ConnectionPoller uses.
    std::size_t index_ = 0;                    ///< position in ConnectionPoller::members_
    VerbsQueuePair *next_failed_ = nullptr;    ///< next in the poller's list of failed queue pairs
    doca_error_t flush_status_ = DOCA_SUCCESS; ///< of operations for which a failed queue pair reports nothing

    const CreatorProcess creator_;
    mutable ObjectMutex
        lock_; ///< orders connect(), details(), attach() and destruction of different threads; not for I/O
    mutable bool is_number_published_ = false; ///< a peer may have its number, so it must not be replaced
    bool is_shared_ = false;                   ///< share() was called
    bool is_connecting_ = false;               ///< connect() runs, without the lock
    std::condition_variable connect_finished_; ///< signaled when connect() returns
    // Set by the destructor. try_paths() reads it without the lock, and then stops retrying.
    std::atomic<bool> is_closing_ = false;
    std::shared_ptr<ConnectionPoller> poller_; ///< the poller on whose verbs completion queue connection_ was created
    std::unique_ptr<ReliableConnection> connection_; ///< passed to poller_->destroy() at the end
    const VerbsDevice &device_;
    const QueuePairSettings settings_;
    const ReliableConnection::Sizes sizes_;
    doca_mtu_size mtu_; ///< the settings' MTU; once connected the path's, but after connect() not if is_mtu_fixed
    LocalEnd end_{};    ///< this end's address, changed together with connection_
    std::vector<std::byte> details_; ///< end_ as the peer receives it
    FlushTimer flush_timer_;
};

/// Records that @p length bytes were written to the destination of an operation.
[[gnu::always_inline]] inline void VerbsQueuePair::extend(const Work &work, std::uint32_t length) noexcept
{
    doca_buf *const dst = work.dst;
    if (dst == nullptr)
        return;
    if (work.is_list) [[unlikely]]
        extend_data(*dst, length, work.overwrites);
    else
        dst->end_data_at((work.overwrites ? 0 : dst->data_len) + length);
}

/// Sets the result of @p operation, which has succeeded, from the completion at which the poll stands.
[[gnu::always_inline]] inline void VerbsQueuePair::take_result(ibv_cq_ex &cq, Operation &operation) noexcept
{
    const Work &work = operation.payload<Work>();
    if (work.opcode == Opcode::receive)
        return take_message(cq, operation);
    ++of(operation).send_credits_;
    extend(work, work.growth);
}

} // namespace opendoca::verbs
