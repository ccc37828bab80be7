// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dma_jobs.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "../machine.hpp"

namespace opendoca::tools {

namespace {

/// Polls for the completion of one job. Inlined, as in most programs: a call would cost a tenth of a job.
inline void retrieve(doca_workq &workq)
{
    doca_event event;
    doca_error_t status = DOCA_ERROR_AGAIN;
    do {
        status = doca_workq_progress_retrieve(&workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
    } while (status == DOCA_ERROR_AGAIN);
    if (status != DOCA_SUCCESS) [[unlikely]]
        throw_error(status == DOCA_ERROR_IO_FAILED ? static_cast<doca_error_t>(event.result.u64) : status, "a job");
}

/// The measured loop of jobs. Owned by a lane and used by its thread. Buffers and jobs are created once, one for each
/// job in flight; a batch submits all of them and retrieves all of them.
class JobLoop final : public Variant {
public:
    JobLoop(const DmaJobs &session, JobSide dst, JobSide src, Walk walk, std::uint32_t depth, bool resets);
    ~JobLoop() override;

    void run(std::size_t count) override;

private:
    /// A job and its buffers.
    struct Pair {
        doca_buf *dst;
        doca_buf *src;
        doca_dma_job_memcpy job;
    };

    /// Runs jobs on the same slot.
    template <bool resets>
    void run_in_place(std::size_t count);
    /// Runs jobs on the slots of the walk, with the buffers moved before each.
    void run_walking(std::size_t count);
    void drain() noexcept;

    doca_workq *workq_;
    std::byte *dst_;
    std::byte *src_;
    Walk walk_;
    const bool resets_;
    std::vector<Pair> pairs_; ///< one for each job in flight
};

JobLoop::JobLoop(const DmaJobs &session, JobSide dst, JobSide src, Walk walk, std::uint32_t depth, bool resets)
    : workq_(session.workq()),
      dst_(dst.addr),
      src_(src.addr),
      walk_(walk),
      resets_(resets)
{
    const std::size_t region = walk.size() * walk.slots();
    for (std::uint32_t i = 0; i < depth; ++i) {
        Pair pair{session.take_buf(dst.map, dst.addr, region), session.take_buf(src.map, src.addr, region), {}};
        must(doca_buf_set_data(pair.src, src.addr, walk.size()), "setting the source's data");
        pair.job.base.type = DOCA_DMA_JOB_MEMCPY;
        pair.job.base.ctx = session.ctx();
        pair.job.base.user_data.u64 = i;
        pair.job.dst_buff = pair.dst;
        pair.job.src_buff = pair.src;
        pairs_.push_back(pair);
    }
}

JobLoop::~JobLoop()
{
    for (const Pair &pair : pairs_) {
        (void)doca_buf_refcount_rm(pair.dst, nullptr);
        (void)doca_buf_refcount_rm(pair.src, nullptr);
    }
}

void JobLoop::run(std::size_t count)
{
    try {
        if (walk_.slots() != 1)
            run_walking(count);
        else if (resets_)
            run_in_place<true>(count);
        else
            run_in_place<false>(count);
    } catch (...) {
        drain();
        throw;
    }
}

/// Discards completions for a second. Called after a failure, when the number of jobs in flight is unknown.
void JobLoop::drain() noexcept
{
    for (const double end = seconds_now() + 1; seconds_now() < end;) {
        doca_event event{};
        (void)doca_workq_progress_retrieve(workq_, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
    }
}

/// This is the pattern of a program that copies the same buffers again and again.
template <bool resets>
void JobLoop::run_in_place(std::size_t count)
{
    for (std::size_t done = 0; done != count; done += pairs_.size()) {
        for (const Pair &pair : pairs_) {
            if constexpr (resets)
                must(doca_buf_reset_data_len(pair.dst), "resetting the destination");
            must(doca_workq_submit(workq_, &pair.job.base), "submitting a job");
        }
        for (std::size_t left = pairs_.size(); left != 0; --left)
            retrieve(*workq_);
    }
}

void JobLoop::run_walking(std::size_t count)
{
    for (std::size_t done = 0; done != count; done += pairs_.size()) {
        for (const Pair &pair : pairs_) {
            const std::size_t offset = walk_.next();
            must(doca_buf_set_data(pair.src, src_ + offset, walk_.size()), "setting the source's data");
            must(doca_buf_set_data(pair.dst, dst_ + offset, 0), "setting the destination's data");
            must(doca_workq_submit(workq_, &pair.job.base), "submitting a job");
        }
        for (std::size_t left = pairs_.size(); left != 0; --left)
            retrieve(*workq_);
    }
}

} // namespace

DmaJobs::DmaJobs(const std::string &ibdev, std::uint32_t depth) : DmaSession(ibdev)
{
    doca_dma *dma = nullptr;
    must(doca_dma_create(&dma), "creating a DMA object");
    dma_.reset(dma);
    doca_workq *workq = nullptr;
    must(doca_workq_create(depth, &workq), "creating a work queue");
    workq_.reset(workq);
    must(doca_ctx_dev_add(ctx(), dev()), "adding a device");
    must(doca_ctx_start(ctx()), "starting DMA");
    must(doca_ctx_workq_add(ctx(), workq), "adding a work queue");
}

// The work queue must be detached before the context stops.
DmaJobs::~DmaJobs()
{
    (void)doca_ctx_workq_rm(ctx(), workq_.get());
    (void)doca_ctx_stop(ctx());
}

std::unique_ptr<Variant> DmaJobs::make_loop(JobSide dst, JobSide src, Walk walk, std::uint32_t depth, bool resets)
{
    return std::make_unique<JobLoop>(*this, dst, src, walk, depth, resets);
}

std::unique_ptr<GraphRunner> DmaJobs::make_graph(const GraphShape &shape)
{
    return make_job_graph(shape, *this);
}

std::unique_ptr<DmaSession> make_dma_session(const std::string &ibdev, std::uint32_t depth)
{
    return std::make_unique<DmaJobs>(ibdev, depth);
}

} // namespace opendoca::tools
