// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "../../engine/completion_queue.hpp"
#include "../queue_pair.hpp"
#include "connection_details.hpp"
#include "connection_poller.hpp"
#include "receive_queue.hpp"
#include "device.hpp"
#include "flush_timer.hpp"
#include "reliable_connection.hpp"

namespace opendoca::verbs {

/// Of the queue pair of a connection with @p settings.
[[nodiscard]] ReliableConnection::Sizes sizes_for(const RdmaCapabilities &can,
                                                  const QueuePairSettings &settings) noexcept;

/// One end of a connection: a queue pair of the device. Every operation is one signaled work request, whose id is
/// the Operation.
///
/// A queue pair of the device has its completion queue for life. So what was created without knowing where it will be
/// attached is created anew on the completion queue of that place (ConnectionPoller), unless a peer may know its number.
class OPENDOCA_INTERNAL VerbsQueuePair final : public QueuePair {
public:
    [[nodiscard]] static doca_error_t create(const VerbsDevice &device, const QueuePairSettings &settings,
                                             std::atomic<ConnectionState> &state,
                                             std::unique_ptr<QueuePair> &created);
    ~VerbsQueuePair() override;

    [[nodiscard]] std::span<const std::byte> details() const noexcept override;
    [[nodiscard]] doca_error_t connect(std::span<const std::byte> details) override;
    /// As connect(), by what rdma_cm has agreed on with the peer.
    [[nodiscard]] doca_error_t connect_by(const ReliableConnection::AgreedAttributes &agreed);
    [[nodiscard]] std::uint32_t number() const noexcept { return connection_->number(); }
    [[nodiscard]] bool shares_receives() const noexcept { return shared_ != nullptr; }
    /// The ways from here: this side's GIDs, best first, or the one that the program has set.
    [[nodiscard]] const ConnectionDetails &own_end() const noexcept { return end_.details; }
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

    // Fast path of front ends that know this type: operations on TransferCheck's fast path, each after it has
    // taken a credit. Where there is none, the functions above find out why.

    [[gnu::always_inline]] [[nodiscard]] bool take_send_credit() noexcept { return take_credit(send_credits_); }
    [[gnu::always_inline]] [[nodiscard]] bool take_receive_credit() noexcept { return take_credit(receive_credits_); }

    [[gnu::always_inline]] [[nodiscard]] doca_error_t receive_fast(Tag tag, doca_buf &dst) noexcept
    {
        Operation &operation = begin_fast(tag, Kind::receive, Shape::fast_receive, 0, &dst);
        operation.length = 0;
        ibv_sge segment = {address(dst.data) + dst.data_len, static_cast<std::uint32_t>(dst.tailroom()),
                           first_key_of(dst)};
        return post_receive(operation, &segment, 1);
    }
    [[gnu::always_inline]] [[nodiscard]] doca_error_t send_fast(Tag tag, const doca_buf &src,
                                                                Immediate immediate) noexcept
    {
        const auto make = [&](ibv_qp_ex *sender) __attribute__((always_inline)) {
            if (immediate)
                ibv_wr_send_imm(sender, immediate.value());
            else
                ibv_wr_send(sender);
        };
        return post_data(tag, Kind::send, src, nullptr, make);
    }
    [[gnu::always_inline]] [[nodiscard]] doca_error_t read_fast(Tag tag, doca_buf &dst, const doca_buf &src) noexcept
    {
        const auto length = static_cast<std::uint32_t>(src.data_len);
        Operation &operation = begin_fast(tag, Kind::read, Shape::fast_request, length, &dst);
        operation.length = length;
        return post_fast(operation, 0, [&](ibv_qp_ex *sender) __attribute__((always_inline)) {
            ibv_wr_rdma_read(sender, first_key_of(src), address(src.data));
            ibv_wr_set_sge(sender, first_key_of(dst), address(dst.data) + dst.data_len,
                           static_cast<std::uint32_t>(src.data_len));
        });
    }
    [[gnu::always_inline]] [[nodiscard]] doca_error_t write_fast(Tag tag, doca_buf &dst, const doca_buf &src,
                                                                 Immediate immediate) noexcept
    {
        const auto make = [&](ibv_qp_ex *sender) __attribute__((always_inline)) {
            const std::uint64_t to = address(dst.data) + dst.data_len;
            if (immediate)
                ibv_wr_rdma_write_imm(sender, first_key_of(dst), to, immediate.value());
            else
                ibv_wr_rdma_write(sender, first_key_of(dst), to);
        };
        return post_data(tag, immediate ? Kind::write_with_immediate : Kind::write, src, &dst, make);
    }
    /// While attached: where its operations end, and who else may look for them there: see
    /// CompletionQueue::retrieve_by().
    [[nodiscard]] ConnectionPoller &poller() const noexcept { return *poller_; }
    void retrieve_by(void *retriever) noexcept { poller_->retrieve_by(*this, retriever); }

    void flush() noexcept override;

    /// Makes @p operation, which was begun, one of a VerbsReceiveQueue.
    static void describe_shared_receive(Operation &operation, doca_buf *dst, TransferPlan plan) noexcept;

private:
    friend class ConnectionPoller;

    enum class Kind : std::uint8_t { receive, send, read, write, write_with_immediate, update, shared_receive };

    enum class Shape : std::uint8_t {
        any,
        fast_request, ///< of the sender's side, with at most one buffer that grows by a number that is known
        fast_receive,
    };

    /// What the operation holds. Its first half is where a receive's message comes when it has ended.
    struct Work {
        Kind kind;
        Shape shape;
        bool is_list; ///< as TransferPlan
        bool overwrites;
        std::uint32_t growth; ///< bytes; a receive's are known at the end
        doca_buf *dst;        ///< grows with the end of the operation; null where nothing does
    };

    VerbsQueuePair(const VerbsDevice &device, const QueuePairSettings &settings,
                   std::atomic<ConnectionState> &state);

    [[nodiscard]] static Operation &operation_of(std::uint64_t id) noexcept
    {
        return *reinterpret_cast<Operation *>(id);
    }
    /// Whose operation it is.
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
    /// Of a buffer of a fast-path operation.
    [[nodiscard]] static std::uint32_t first_key_of(const doca_buf &buf) noexcept
    {
        return verbs_key(buf.mmap->first().number);
    }

    // Posting. An operation is begun first, and released when the device refuses the request.

    [[gnu::always_inline]] [[nodiscard]] bool take_credit(std::int32_t &credits) noexcept
    {
        if (completions_->is_full()) [[unlikely]]
            return false;
        if (--credits >= 0) [[likely]] // counted down where it is, without a load
            return true;
        credits = 0;
        return false;
    }
    [[gnu::always_inline]] [[nodiscard]] Operation &begin_fast(Tag tag, Kind kind, Shape shape, std::uint32_t growth,
                                                               doca_buf *dst) noexcept
    {
        Operation &operation = completions_->begin(tag, *this);
        Work &work = operation.payload<Work>();
        work.kind = kind;
        work.shape = shape;
        work.is_list = work.overwrites = false; // so that the first word is stored in one piece
        work.growth = growth;
        work.dst = dst;
        return operation;
    }
    /// A request, of which @p make says what it is. What it needs it reads again where that is as good: what is kept
    /// over the calls takes a register, which has to be saved.
    template <typename Make>
    [[gnu::always_inline]] [[nodiscard]] doca_error_t post_fast(Operation &operation, unsigned flags,
                                                                Make make) noexcept
    {
        ibv_qp_ex *const sender = sender_;
        sender->wr_id = id_of(operation);
        sender->wr_flags = IBV_SEND_SIGNALED | flags;
        ibv_wr_start(sender);
        make(sender);
        if (const int error = ibv_wr_complete(sender); error != 0) [[unlikely]]
            return refuse(operation_of(sender->wr_id), error);
        return DOCA_SUCCESS;
    }
    /// The same with the data of @p src, by which @p dst grows, or is null.
    template <typename Make>
    [[gnu::always_inline]] [[nodiscard]] doca_error_t post_data(Tag tag, Kind kind, const doca_buf &src, doca_buf *dst,
                                                                Make make) noexcept
    {
        const auto length = static_cast<std::uint32_t>(src.data_len);
        Operation &operation = begin_fast(tag, kind, Shape::fast_request, length, dst);
        operation.length = 0;
        // Twice, because rdma_rxe wants the flag when the request is started.
        if (length <= max_inline_)
            return post_fast(operation, IBV_SEND_INLINE, [&](ibv_qp_ex *sender) __attribute__((always_inline)) {
                make(sender);
                ibv_wr_set_inline_data(sender, src.data, src.data_len);
            });
        return post_fast(operation, 0, [&](ibv_qp_ex *sender) __attribute__((always_inline)) {
            make(sender);
            ibv_wr_set_sge(sender, first_key_of(src), address(src.data), static_cast<std::uint32_t>(src.data_len));
        });
    }
    [[gnu::always_inline]] [[nodiscard]] doca_error_t post_receive(Operation &operation, ibv_sge *segments,
                                                                   int num_segments) noexcept
    {
        ibv_recv_wr request;
        request.wr_id = id_of(operation);
        request.next = nullptr;
        request.sg_list = segments;
        request.num_sge = num_segments;
        ibv_recv_wr *bad;
        if (const int error = ibv_post_recv(queue_pair_, &request, &bad); error != 0) [[unlikely]]
            return refuse(operation_of(request.wr_id), error);
        return DOCA_SUCCESS;
    }
    [[gnu::cold]] [[nodiscard]] static doca_error_t refuse(Operation &operation, int error) noexcept;

    // Any operation.
    void open() noexcept;
    [[nodiscard]] Operation *begin_any(Tag tag, std::int32_t &credits, Kind kind, std::uint32_t reported,
                                       doca_buf *dst, TransferPlan plan) noexcept;
    [[nodiscard]] doca_error_t post_any(Tag tag, ibv_send_wr &request, Kind kind, std::uint32_t reported,
                                        doca_buf *dst, TransferPlan plan) noexcept;
    [[nodiscard]] int gather(const doca_buf *list, TransferPlan plan, bool is_source) noexcept;

    // Life.
    [[nodiscard]] doca_error_t create_on(std::shared_ptr<ConnectionPoller> poller);
    void move_to(CompletionQueue &completions);
    [[nodiscard]] doca_error_t begin_to_connect() noexcept;
    [[nodiscard]] doca_error_t try_paths(const ConnectionDetails &peer, ReliableConnection::Path &taken);
    [[nodiscard]] doca_error_t check_receives() const noexcept;

    // Ending.
    [[nodiscard]] bool is_idle() const noexcept { return send_credits_ + receive_credits_ == credits_; }
    template <typename Action>
    void each_in_flight(Action action) const noexcept;
    [[nodiscard]] bool may_wait_forever() noexcept;
    [[nodiscard]] static Result result_of_receive(ibv_cq_ex &polled, doca_buf *&dst) noexcept;
    void end_started(ibv_cq_ex &polled) noexcept;
    void end(Operation &operation, doca_error_t status, const Result &result) noexcept;
    [[nodiscard]] static doca_error_t failure_of(Kind kind, ibv_wc_status status) noexcept;
    [[gnu::cold]] void end_failed(Operation &operation, ibv_wc_status status) noexcept;
    void begin_to_fail(doca_error_t status) noexcept;
    void finish_failing() noexcept;

    // What operations use comes first.
    ibv_qp_ex *sender_ = nullptr;
    ibv_qp *queue_pair_ = nullptr;
    std::uint32_t max_inline_ = 0;
    // What can still be posted. There is none until the first operation has found the connection there, and
    // after that has failed: nobody else needs to look.
    std::int32_t send_credits_ = 0; ///< for all but receives
    std::int32_t receive_credits_ = 0;
    std::int32_t credits_ = 0;      ///< their sum while nothing is in flight
    std::vector<ibv_sge> segments_; ///< of the work request that is being made
    VerbsReceiveQueue *const shared_; ///< that it takes its receives from, or null

    // The poller's.
    void *retriever_ = nullptr;
    std::size_t index_ = 0;
    VerbsQueuePair *next_failed_ = nullptr;
    doca_error_t status_of_rest_ = DOCA_SUCCESS; ///< of what is in flight while it fails

    mutable std::mutex lock_;                 ///< of what follows, until it is attached and connected; see connect()
    mutable bool is_known_to_peer_ = false;   ///< its number may be: it stays
    bool is_connecting_ = false;              ///< connect() runs, without the lock
    std::condition_variable connect_over_;    ///< it does no more
    std::atomic<bool> is_closing_ = false;
    std::shared_ptr<ConnectionPoller> poller_;
    std::unique_ptr<ReliableConnection> connection_;
    const VerbsDevice &device_;
    const QueuePairSettings settings_;
    const ReliableConnection::Sizes sizes_;
    doca_mtu_size mtu_;
    LocalEnd end_{};
    std::vector<std::byte> details_; ///< end_'s, as a peer gets them
    FlushTimer flush_timer_;
};

template <typename Give, typename Otherwise>
[[gnu::always_inline]] inline doca_error_t ConnectionPoller::poll_fast(Give give, Otherwise otherwise) noexcept
{
    if (polled_ == nullptr)
        return otherwise();
    if (!VerbsCompletions::start_one(*polled_))
        return polled_nothing(), otherwise();
    Operation &operation = VerbsQueuePair::operation_of(polled_->wr_id);
    const auto &work = operation.payload<VerbsQueuePair::Work>();
    if (polled_->status != IBV_WC_SUCCESS) [[unlikely]]
        return end_started(), otherwise();
    // The completion is ended last, by what need not return: until then nothing has to be kept over a call.
    if (work.shape == VerbsQueuePair::Shape::fast_request) [[likely]] {
        ++VerbsQueuePair::of(operation).send_credits_;
        if (work.dst != nullptr)
            work.dst->end_data_at(work.dst->data_len + work.growth);
        give(operation, operation.length);
    } else {
        if (work.shape != VerbsQueuePair::Shape::fast_receive || (ibv_wc_read_wc_flags(polled_) & IBV_WC_WITH_IMM) != 0)
            return end_started(), otherwise();
        const std::uint32_t length = ibv_wc_read_byte_len(polled_);
        Operation &received = VerbsQueuePair::operation_of(polled_->wr_id);
        doca_buf &dst = *received.payload<VerbsQueuePair::Work>().dst;
        ++VerbsQueuePair::of(received).receive_credits_;
        dst.end_data_at(dst.data_len + length);
        give(received, length);
    }
    VerbsCompletions::end_one(*polled_);
    return DOCA_SUCCESS;
}

} // namespace opendoca::verbs
