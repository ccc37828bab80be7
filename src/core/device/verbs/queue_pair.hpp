// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>
#include <vector>

#include "../../workq.hpp"
#include "../queue_pair.hpp"
#include "completion_events.hpp"
#include "connection_details.hpp"
#include "device.hpp"
#include "reliable_connection.hpp"

namespace opendoca::verbs {

/// One end of a connection: a queue pair of the device. Every job is one signaled work request, whose id is
/// the job's slot.
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
    [[nodiscard]] doca_error_t attach(doca_workq &workq) override;
    void detach() noexcept override;

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override;
    [[nodiscard]] doca_error_t submit_inner(const doca_job &job) noexcept override
    {
        return QueuePair::submit(job);
    }
    [[nodiscard]] doca_error_t retrieve(doca_event &event, doca_workq &workq) noexcept override;
    void progress() noexcept override;
    [[nodiscard]] bool arm() noexcept override;
    void disarm() noexcept override;
    void cancel() noexcept override;

private:
    enum class Stage : std::uint32_t {
        ended,
        plain_send, ///< in flight: a job that retrieve() can end by itself; any that is no receive
        plain_receive,
        special, ///< in flight
    };

    /// What a job's slot holds.
    struct Work {
        Stage stage;
        RdmaOutcome outcome;  ///< at first only the length, for when it ends well
        doca_buf *dst;        ///< grows with the end of the job; null where nothing does
        std::uint32_t growth; ///< bytes; a receive's are known at the end
        bool is_list;         ///< as TransferPlan; of special jobs
        bool overwrites;
    };

    VerbsQueuePair(const doca_dev &dev, const QueuePairSettings &settings,
                   std::atomic<doca_rdma_state> &state, std::uint32_t max_chain_length);

    static void write_outcome(const JobSlot &slot, doca_error_t result, doca_event &event);
    [[nodiscard]] static JobSlot &slot_of(std::uint64_t id) noexcept
    {
        return *reinterpret_cast<JobSlot *>(id);
    }
    [[nodiscard]] static std::uint64_t id_of(const JobSlot &slot) noexcept
    {
        return reinterpret_cast<std::uintptr_t>(&slot);
    }

    // Plain jobs have one buffer on each side, and append (queue_pair_jobs.cpp).
    [[nodiscard]] static doca_error_t receive_plain(VerbsQueuePair &self, const doca_job &base) noexcept;
    template <bool has_immediate>
    [[nodiscard]] static doca_error_t send_plain(VerbsQueuePair &self, const doca_job &base) noexcept;
    [[nodiscard]] static doca_error_t read_plain(VerbsQueuePair &self, const doca_job &base) noexcept;
    template <bool has_immediate>
    [[nodiscard]] static doca_error_t write_plain(VerbsQueuePair &self, const doca_job &base) noexcept;

    // Any job, as a special one.
    void open() noexcept;
    [[nodiscard]] doca_error_t receive(const doca_rdma_job_recv &job, TransferPlan plan) noexcept override;
    [[nodiscard]] doca_error_t send(const doca_rdma_job_send &job, TransferPlan plan) noexcept override;
    [[nodiscard]] doca_error_t read(const doca_rdma_job_read_write &job, TransferPlan plan,
                                    MemoryKey *remote) noexcept override;
    [[nodiscard]] doca_error_t write(const doca_rdma_job_read_write &job, TransferPlan plan,
                                     MemoryKey *remote) noexcept override;
    [[nodiscard]] doca_error_t update(const doca_rdma_job_atomic &job, MemoryKey &remote) noexcept override;

    // Posting. A slot is taken first, and released when the device refuses the request.
    [[nodiscard]] JobSlot &take_plain(const doca_job &job, Stage stage, std::uint32_t reported, doca_buf *dst,
                                      std::uint32_t growth) noexcept;
    [[nodiscard]] JobSlot *take_special(const doca_job &job, std::uint32_t &room, std::uint32_t reported,
                                        doca_buf *dst, TransferPlan plan) noexcept;
    template <bool is_read, typename Make>
    [[nodiscard]] doca_error_t post_plain(const doca_job &job, unsigned flags, const doca_buf &src,
                                          doca_buf *dst, Make make) noexcept;
    [[nodiscard]] doca_error_t post_receive(JobSlot &slot, ibv_sge *segments, int num_segments) noexcept;
    [[nodiscard]] doca_error_t post_special(const doca_job &job, ibv_send_wr &request, std::uint32_t reported,
                                            doca_buf *dst, TransferPlan plan) noexcept;
    [[gnu::cold]] [[nodiscard]] static doca_error_t refuse(JobSlot &slot, int error) noexcept;
    [[nodiscard]] int gather(const doca_buf *list, TransferPlan plan, bool is_source) noexcept;

    // Ending (queue_pair.cpp).
    [[nodiscard]] bool has_jobs() const noexcept { return send_room_ + receive_room_ != room_; }
    template <typename Action>
    void each_in_flight(Action action) const noexcept;
    [[nodiscard]] bool may_wait_forever() const noexcept;
    [[nodiscard]] doca_error_t retrieve_receive(doca_event &event, JobSlot &slot) noexcept;
    [[nodiscard]] doca_error_t retrieve_special(doca_event &event) noexcept;
    [[nodiscard]] RdmaOutcome outcome_of_receive(doca_buf *&dst) const noexcept;
    [[nodiscard]] doca_error_t give_out(JobSlot &slot, const RdmaOutcome &outcome,
                                        doca_event &event) noexcept;
    [[nodiscard]] bool poll() noexcept;
    void end_started() noexcept;
    void end(JobSlot &slot, doca_error_t status, const RdmaOutcome &outcome) noexcept;
    [[gnu::cold]] void end_failed(JobSlot &slot, ibv_wc_status status) noexcept;
    [[gnu::cold]] void fail() noexcept;

    // What jobs use comes first.
    ibv_qp_ex *sender_ = nullptr;
    ibv_cq_ex *completions_ = nullptr;
    ibv_qp *queue_pair_ = nullptr;
    std::uint32_t max_inline_ = 0;
    // For jobs that can be posted. There is none until the first job has found the connection there, and
    // after that has failed: nobody else needs to look.
    std::uint32_t send_room_ = 0; ///< for all but receives
    std::uint32_t receive_room_ = 0;
    std::uint32_t room_ = 0;        ///< their sum while nothing is in flight
    std::vector<ibv_sge> segments_; ///< of the work request that is being made
    ReliableConnection connection_;
    CompletionEvents events_{connection_};

    const QueuePairSettings settings_;
    doca_mtu_size mtu_;
    LocalEnd end_{};
};

} // namespace opendoca::verbs
