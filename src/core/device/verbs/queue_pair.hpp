// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>
#include <vector>

#include "../../buf.hpp"
#include "../../job.hpp"
#include "../../workq.hpp"
#include "../queue_pair.hpp"
#include "completion_events.hpp"
#include "connection_details.hpp"
#include "device.hpp"
#include "reliable_connection.hpp"

namespace opendoca::verbs {

/// One end of a connection: a queue pair of the device. Every job is one signaled work request, and those of
/// a direction end in order.
class VerbsQueuePair final : public QueuePair {
public:
    [[nodiscard]] static doca_error_t create(const VerbsDevice &device, const doca_dev &dev,
                                             const QueuePairSettings &settings,
                                             std::atomic<doca_rdma_state> &state,
                                             std::unique_ptr<QueuePair> &created);

    [[nodiscard]] std::span<const std::byte> details() const noexcept override
    {
        return std::as_bytes(std::span(&end_.details, 1));
    }
    [[nodiscard]] doca_error_t connect(std::span<const std::byte> details) override;
    [[nodiscard]] doca_mtu_size mtu() const noexcept override { return mtu_; }
    [[nodiscard]] doca_error_t attach(doca_workq &workq, JobQueue &owner) override;
    void detach() noexcept override;

    [[nodiscard]] doca_error_t receive(const doca_rdma_job_recv &job, TransferPlan plan) noexcept override;
    [[nodiscard]] doca_error_t send(const doca_rdma_job_send &job, TransferPlan plan) noexcept override;
    [[nodiscard]] doca_error_t read(const doca_rdma_job_read_write &job, TransferPlan plan,
                                    MemoryKey *remote) noexcept override;
    [[nodiscard]] doca_error_t write(const doca_rdma_job_read_write &job, TransferPlan plan,
                                     MemoryKey *remote) noexcept override;
    [[nodiscard]] doca_error_t update(const doca_rdma_job_atomic &job, MemoryKey &remote) noexcept override;

    void progress() noexcept override;
    [[nodiscard]] bool arm() noexcept override;
    void disarm() noexcept override;
    void cancel() noexcept override;

private:
    /// Jobs of one direction that are with the device, in the order in which they end.
    class Ring {
    public:
        explicit Ring(std::uint32_t size) : slots_(size), mask_(size - 1) {}

        [[nodiscard]] bool is_full() const noexcept { return next_ - first_ > mask_; }
        [[nodiscard]] bool is_empty() const noexcept { return next_ == first_; }
        void push(JobSlot &slot) noexcept { slots_[next_++ & mask_] = &slot; }
        [[nodiscard]] JobSlot &pop() noexcept { return *slots_[first_++ & mask_]; }
        template <typename Predicate>
        [[nodiscard]] bool any(Predicate is_meant) const noexcept
        {
            for (std::uint32_t at = first_; at != next_; ++at) {
                if (is_meant(*slots_[at & mask_]))
                    return true;
            }
            return false;
        }

    private:
        std::vector<JobSlot *> slots_;
        std::uint32_t mask_;
        std::uint32_t first_ = 0;
        std::uint32_t next_ = 0;
    };

    /// What a job's end has to do, until it is an RdmaOutcome.
    struct Work {
        doca_buf *dst; ///< grows with the end of the job; null where nothing does
        TransferPlan plan;
    };

    VerbsQueuePair(const doca_dev &dev, const QueuePairSettings &settings,
                   std::atomic<doca_rdma_state> &state, std::uint32_t max_chain_length);

    static void write_outcome(const JobSlot &slot, doca_error_t result, doca_event &event);

    // What a work request is known by in its completion: the rest follows from the order.
    static constexpr std::uint64_t send_request = 0;
    static constexpr std::uint64_t receive_request = 1;

    [[nodiscard]] bool can_take(const Ring &ring) const noexcept
    {
        return !ring.is_full() && !workq_->is_full();
    }
    void start_request(unsigned flags = 0) noexcept
    {
        ibv_wr_start(sender_);
        sender_->wr_id = send_request;
        sender_->wr_flags = IBV_SEND_SIGNALED | flags;
    }
    /// The flag of a request whose data goes into it: the device need not fetch it.
    [[nodiscard]] unsigned inline_flag(TransferPlan plan) const noexcept
    {
        return plan.length <= max_inline_ ? IBV_SEND_INLINE : 0;
    }
    void take(const doca_job &job, Ring &ring, const Work &work) noexcept;
    void set_source(const doca_buf *buf, TransferPlan plan) noexcept;
    [[nodiscard]] std::uint32_t gather(const doca_buf &list, TransferPlan plan, bool is_source) noexcept;
    [[nodiscard]] std::uint32_t key_of(const doca_buf &buf) const noexcept;
    [[nodiscard]] doca_error_t post(const doca_job &job, const Work &work) noexcept;
    [[gnu::cold]] [[nodiscard]] doca_error_t post_list(const doca_job &job, ibv_send_wr &request,
                                                       const doca_buf &list, const Work &work) noexcept;

    [[nodiscard]] bool is_connected() const noexcept
    {
        // Acquire: pairs with set_state() in connect().
        return state_.load(std::memory_order_acquire) == DOCA_RDMA_STATE_CONNECTED;
    }
    [[nodiscard]] bool has_jobs() const noexcept { return !(sends_.is_empty() && receives_.is_empty()); }
    [[nodiscard]] bool may_wait_forever() const noexcept;
    [[nodiscard]] bool poll() noexcept;
    void end_send() noexcept;
    void end_receive() noexcept;
    void end(JobSlot &slot, doca_error_t status, const RdmaOutcome &outcome) noexcept;
    [[gnu::cold]] void end_failed(bool is_receive, ibv_wc_status status) noexcept;
    [[gnu::cold]] void fail() noexcept;

    // What jobs use comes first.
    doca_workq *workq_ = nullptr; ///< from attach()
    JobQueue *owner_ = nullptr;
    ibv_qp_ex *sender_ = nullptr;
    ibv_cq_ex *completions_ = nullptr;
    const doca_dev &dev_;
    std::uint32_t max_inline_ = 0;
    Ring sends_;
    Ring receives_;
    std::vector<ibv_sge> segments_; ///< of the work request that is being made
    ReliableConnection connection_;
    CompletionEvents events_{connection_};

    const QueuePairSettings settings_;
    doca_mtu_size mtu_;
    LocalEnd end_{};
};

} // namespace opendoca::verbs
