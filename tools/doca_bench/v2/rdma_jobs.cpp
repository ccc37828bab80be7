// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// RDMA by jobs of DOCA 2.2: an instance for each connection, all on one work queue.
#include "../rdma_loops.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace opendoca::tools {

namespace {

/// The front end of RdmaLoops: prepared jobs and receives, submitted by their number. Owned by Pairs or Server,
/// and used by one thread at a time. The user data of a job is its number, with receive_bit for receives.
class RdmaJobs final : public RdmaLoops<RdmaJobs> {
public:
    RdmaJobs(const std::string &ibdev, const PairCase &what);
    ~RdmaJobs() override;

    void submit(std::uint64_t number)
    {
        const Entry &entry = jobs_[number];
        if (entry.filled != nullptr)
            must(doca_buf_reset_data_len(entry.filled), "resetting a destination");
        must(doca_workq_submit(workq_.get(), &entry.job.base), "submitting a job");
    }

    void repost(std::uint64_t number)
    {
        const Entry &entry = receives_[number];
        must(doca_buf_reset_data_len(entry.filled), "resetting a destination");
        must(doca_workq_submit(workq_.get(), &entry.job.base), "submitting a receive");
    }

    // All results go to one place, which is read only after an error.
    std::uint64_t retrieve()
    {
        doca_event event;
        event.result.ptr = &result_;
        Patience patience;
        doca_error_t status = DOCA_ERROR_AGAIN;
        while ((status = doca_workq_progress_retrieve(workq_.get(), &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) ==
               DOCA_ERROR_AGAIN) {
            if (what().waits_for_events)
                arm_and_wait();
            else
                patience.try_again();
        }
        if (status != DOCA_SUCCESS) [[unlikely]]
            throw_error(status == DOCA_ERROR_IO_FAILED ? result_.result : status, "a job");
        return event.user_data.u64;
    }

private:
    /// Storage for a job of any kind.
    union Job {
        doca_job base;
        doca_rdma_job_recv receive;
        doca_rdma_job_send send;
        doca_rdma_job_read_write read_write;
        doca_rdma_job_atomic atomic;
    };
    /// A prepared job.
    struct Entry {
        Job job;
        doca_buf *filled; ///< the buffer that the job appends to, or null
    };
    /// An instance of DOCA RDMA that is attached to the work queue. Owned by RdmaJobs, which detaches and stops it.
    class Instance {
    public:
        Instance(doca_dev *dev, doca_workq *workq, std::uint32_t depth, std::uint32_t num_receives)
        {
            doca_rdma *rdma = nullptr;
            must(doca_rdma_create(&rdma), "creating an RDMA instance");
            rdma_.reset(rdma);
            must(doca_ctx_dev_add(ctx(), dev), "adding a device");
            must(doca_rdma_set_permissions(rdma, api::rdma_rights), "setting permissions");
            must(doca_rdma_set_send_queue_size(rdma, depth + 1), "setting the send queue's size");
            must(doca_rdma_set_recv_queue_size(rdma, std::max(num_receives, 1U)), "setting the receive queue's size");
            must(doca_ctx_start(ctx()), "starting RDMA");
            must(doca_ctx_workq_add(ctx(), workq), "adding a work queue");
        }
        [[nodiscard]] doca_rdma *rdma() const noexcept { return rdma_.get(); }
        [[nodiscard]] doca_ctx *ctx() const noexcept { return doca_rdma_as_ctx(rdma_.get()); }

    private:
        Handle<doca_rdma, doca_rdma_destroy> rdma_;
    };

    std::vector<std::byte> export_connection(std::uint32_t number) override
    {
        const void *bytes = nullptr;
        std::size_t size = 0;
        must(doca_rdma_export(instances_[number].rdma(), &bytes, &size), "exporting a connection");
        const auto *const first = static_cast<const std::byte *>(bytes);
        return {first, first + size};
    }
    void connect_one(std::uint32_t number, std::span<const std::byte> details) override
    {
        must(doca_rdma_connect(instances_[number].rdma(), details.data(), details.size()), "connecting");
    }
    void add_job(std::uint32_t number, doca_buf *first, doca_buf *second) override;
    void add_receive(std::uint32_t number, doca_buf *destination) override;
    /// Arms the event handle and blocks until there is an event.
    void arm_and_wait();

    Handle<doca_workq, doca_workq_destroy> workq_;
    std::vector<Instance> instances_;
    doca_event_handle_t event_handle_ = -1;
    std::vector<Entry> jobs_;
    std::vector<Entry> receives_;
    doca_rdma_result result_{};
};

RdmaJobs::RdmaJobs(const std::string &ibdev, const PairCase &what) : RdmaLoops(ibdev, what)
{
    doca_workq *workq = nullptr;
    must(doca_workq_create(num_jobs() + what.connections + num_receives(), &workq), "creating a work queue");
    workq_.reset(workq);
    if (what.waits_for_events) {
        must(doca_workq_set_event_driven_enable(workq, 1), "enabling events");
        must(doca_workq_get_event_handle(workq, &event_handle_), "getting the event handle");
    }
    for (std::uint32_t i = 0; i < what.connections; ++i)
        instances_.emplace_back(dev(), workq, what.depth, num_receives() / what.connections);
}

RdmaJobs::~RdmaJobs()
{
    const api::QuietLog quiet; // the peer may have stopped earlier, and flushed jobs are logged as errors
    for (const Instance &instance : instances_) {
        // Detaching fails while jobs are in flight; they are flushed, and must be retrieved before it succeeds.
        while (doca_ctx_workq_rm(instance.ctx(), workq_.get()) == DOCA_ERROR_NOT_PERMITTED) {
            doca_event event{};
            event.result.ptr = &result_;
            while (doca_workq_progress_retrieve(workq_.get(), &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE) !=
                   DOCA_ERROR_AGAIN) {
            }
        }
    }
    drop_bufs();
    for (const Instance &instance : instances_)
        (void)doca_ctx_stop(instance.ctx());
}

void RdmaJobs::add_job(std::uint32_t number, doca_buf *first, doca_buf *second)
{
    Entry entry{};
    switch (what().op) {
    case PairOp::write:
    case PairOp::read:
        entry.job.base.type = what().op == PairOp::write ? DOCA_RDMA_JOB_WRITE : DOCA_RDMA_JOB_READ;
        entry.job.read_write.src_buff = first;
        entry.job.read_write.dst_buff = second;
        entry.filled = second;
        break;
    case PairOp::send:
        entry.job.base.type = DOCA_RDMA_JOB_SEND;
        entry.job.send.src_buff = first;
        break;
    case PairOp::fetch_add:
        entry.job.base.type = DOCA_RDMA_JOB_ATOMIC_FETCH_ADD;
        entry.job.atomic.cmp_or_add_dest_buff = first;
        entry.job.atomic.result_buff = second;
        entry.job.atomic.swap_or_add_data = 1;
        break;
    }
    entry.job.base.ctx = instances_[number % what().connections].ctx();
    entry.job.base.user_data.u64 = number;
    jobs_.push_back(entry);
}

void RdmaJobs::add_receive(std::uint32_t number, doca_buf *destination)
{
    Entry entry{};
    entry.job.base.type = DOCA_RDMA_JOB_RECV;
    entry.job.base.ctx = instances_[number % what().connections].ctx();
    entry.job.base.user_data.u64 = receive_bit | number;
    entry.job.receive.dst_buff = entry.filled = destination;
    receives_.push_back(entry);
}

void RdmaJobs::arm_and_wait()
{
    must(doca_workq_event_handle_arm(workq_.get()), "arming");
    wait_for_event(event_handle_);
    must(doca_workq_event_handle_clear(workq_.get(), event_handle_), "clearing");
}

} // namespace

std::unique_ptr<RdmaSession> make_rdma_session(const std::string &ibdev, const PairCase &what)
{
    return std::make_unique<RdmaJobs>(ibdev, what);
}

} // namespace opendoca::tools
