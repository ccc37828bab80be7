// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_jobs.hpp"

#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include "../../core/device/queue_pair.hpp"
#include "../../core/log.hpp"
#include "../../core/v2/workq.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_JOBS);

namespace opendoca::v2 {

namespace {

/// Submits the jobs of one RDMA instance on one work queue as operations of its queue pair, and writes their results.
/// Owned by the instance; used by the thread of the work queue.
class RdmaJobs final : public JobQueue {
public:
    RdmaJobs(QueuePair &queue_pair, const TransferCheck &check) noexcept : queue_pair_(queue_pair), check_(check) {}
    [[nodiscard]] doca_error_t attach(CompletionQueue &completions) { return queue_pair_.attach(completions); }
    ~RdmaJobs() override { queue_pair_.detach(); }

    /// By a table, so that each function has its own stack frame and none pays for the others' registers.
    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override
    {
        static constexpr doca_error_t (*functions[])(RdmaJobs &, const doca_job &) noexcept = {
            receive, send<false>, send<true>, read, write<false>, write<true>, update, update};
        static_assert(DOCA_RDMA_JOB_SEND == DOCA_RDMA_JOB_RECV + 1 &&
                      DOCA_RDMA_JOB_SEND_IMM == DOCA_RDMA_JOB_RECV + 2 &&
                      DOCA_RDMA_JOB_READ == DOCA_RDMA_JOB_RECV + 3 && DOCA_RDMA_JOB_WRITE == DOCA_RDMA_JOB_RECV + 4 &&
                      DOCA_RDMA_JOB_WRITE_IMM == DOCA_RDMA_JOB_RECV + 5 &&
                      DOCA_RDMA_JOB_ATOMIC_CMP_SWP == DOCA_RDMA_JOB_RECV + 6 &&
                      DOCA_RDMA_JOB_ATOMIC_FETCH_ADD == DOCA_RDMA_JOB_RECV + 7);
        const auto index = static_cast<unsigned>(job.type) - DOCA_RDMA_JOB_RECV;
        if (index >= std::size(functions)) [[unlikely]]
            return refuse(job);
        return functions[index](*this, job);
    }
    [[nodiscard]] doca_error_t submit_tagged(const doca_job &job, Tag tag) noexcept override
    {
        if (!queue_pair_.is_connected())
            return refuse(job);
        switch (job.type) {
        case DOCA_RDMA_JOB_RECV:
            return receive_any(reinterpret_cast<const doca_rdma_job_recv &>(job), tag);
        case DOCA_RDMA_JOB_SEND:
        case DOCA_RDMA_JOB_SEND_IMM:
            return send_any(reinterpret_cast<const doca_rdma_job_send &>(job), tag);
        case DOCA_RDMA_JOB_READ:
            return read_any(reinterpret_cast<const doca_rdma_job_read_write &>(job), tag);
        case DOCA_RDMA_JOB_WRITE:
        case DOCA_RDMA_JOB_WRITE_IMM:
            return write_any(reinterpret_cast<const doca_rdma_job_read_write &>(job), tag);
        case DOCA_RDMA_JOB_ATOMIC_CMP_SWP:
        case DOCA_RDMA_JOB_ATOMIC_FETCH_ADD:
            return update_any(reinterpret_cast<const doca_rdma_job_atomic &>(job), tag);
        default:
            return refuse(job);
        }
    }
    [[nodiscard]] Source &source() noexcept override { return queue_pair_; }

    /// Fills the caller's doca_rdma_result, if there is one.
    void write_result(int type, doca_error_t status, const Result &of, doca_event &event) const noexcept override
    {
        auto *const result = static_cast<doca_rdma_result *>(event.result.ptr);
        if (result == nullptr)
            return;
        const bool has_message = type == DOCA_RDMA_JOB_RECV && status == DOCA_SUCCESS;
        result->result = status;
        result->opcode = has_message ? static_cast<doca_rdma_opcode_t>(of.received) : DOCA_RDMA_OPCODE_RECV_SEND;
        result->length = status == DOCA_SUCCESS ? of.length : 0;
        result->rdma_peer_addr = nullptr;
        result->immediate_data = has_message ? of.immediate : 0;
    }

private:
    [[gnu::noinline, gnu::cold]] [[nodiscard]] doca_error_t refuse(const doca_job &job) const noexcept
    {
        if (!queue_pair_.is_connected()) {
            LOG_ERR("the instance is not connected: %s", queue_pair_.state() == ConnectionState::failed
                                                             ? "a job has failed, or its peer has gone"
                                                             : "connect it first");
            return DOCA_ERROR_BAD_STATE;
        }
        LOG_ERR("job type %d is not one of RDMA's", job.type);
        return DOCA_ERROR_INVALID_VALUE;
    }

    [[nodiscard]] static Tag tag_with_result(const doca_job &job) noexcept
    {
        Tag tag = tag_of(job);
        tag.a |= has_result;
        return tag;
    }
    template <bool has_immediate>
    [[nodiscard]] static Immediate immediate_of(const auto &job) noexcept
    {
        return has_immediate ? Immediate(job.immediate_data) : Immediate();
    }

    // One for each kind of job of a program. The common one, with one buffer on each side, is checked without a call.

    static doca_error_t receive(RdmaJobs &self, const doca_job &base) noexcept
    {
        const auto &job = reinterpret_cast<const doca_rdma_job_recv &>(base);
        if (self.check_.is_fast_receive(job.dst_buff) && self.queue_pair_.is_connected()) [[likely]]
            return self.queue_pair_.receive(tag_with_result(base), job.dst_buff,
                                            TransferPlan::single_sge(job.dst_buff->tailroom()));
        return submit_any(self, base);
    }
    template <bool has_immediate>
    static doca_error_t send(RdmaJobs &self, const doca_job &base) noexcept
    {
        const auto &job = reinterpret_cast<const doca_rdma_job_send &>(base);
        if (self.check_.is_fast_send(job.src_buff) && self.queue_pair_.is_connected()) [[likely]]
            return self.queue_pair_.send(tag_with_result(base), job.src_buff,
                                         TransferPlan::single_sge(job.src_buff->data_len),
                                         immediate_of<has_immediate>(job));
        return submit_any(self, base);
    }
    static doca_error_t read(RdmaJobs &self, const doca_job &base) noexcept
    {
        const auto &job = reinterpret_cast<const doca_rdma_job_read_write &>(base);
        TransferPlan plan;
        if (self.check_.is_fast_read(job.dst_buff, job.src_buff, plan) && self.queue_pair_.is_connected()) [[likely]]
            return self.queue_pair_.read(tag_with_result(base), job.dst_buff, job.src_buff, plan,
                                         job.src_buff->mmap->first().key);
        return submit_any(self, base);
    }
    template <bool has_immediate>
    static doca_error_t write(RdmaJobs &self, const doca_job &base) noexcept
    {
        const auto &job = reinterpret_cast<const doca_rdma_job_read_write &>(base);
        TransferPlan plan;
        if (self.check_.is_fast_write(job.dst_buff, job.src_buff, plan) && self.queue_pair_.is_connected()) [[likely]]
            return self.queue_pair_.write(tag_with_result(base), job.dst_buff, job.src_buff, plan,
                                          job.dst_buff->mmap->first().key, immediate_of<has_immediate>(job));
        return submit_any(self, base);
    }

    static doca_error_t update(RdmaJobs &self, const doca_job &base) noexcept
    {
        const auto &job = reinterpret_cast<const doca_rdma_job_atomic &>(base);
        if (self.check_.is_fast_update(job.result_buff, job.cmp_or_add_dest_buff) && self.queue_pair_.is_connected())
            [[likely]]
            return self.queue_pair_.update(tag_with_result(base), *job.result_buff, *job.cmp_or_add_dest_buff,
                                           update_of(job), *job.cmp_or_add_dest_buff->mmap->first().key);
        return submit_any(self, base);
    }
    [[nodiscard]] static AtomicUpdate update_of(const doca_rdma_job_atomic &job) noexcept
    {
        return {job.base.type == DOCA_RDMA_JOB_ATOMIC_FETCH_ADD ? AtomicUpdate::Kind::fetch_and_add
                                                                : AtomicUpdate::Kind::compare_and_swap,
                job.swap_or_add_data, job.cmp_data};
    }

    // Any job, of a connected instance.

    [[gnu::noinline]] static doca_error_t submit_any(RdmaJobs &self, const doca_job &job) noexcept
    {
        return self.submit_tagged(job, tag_with_result(job));
    }
    [[nodiscard]] doca_error_t receive_any(const doca_rdma_job_recv &job, Tag tag) noexcept
    {
        TransferPlan plan;
        const doca_error_t status = check_.receive(job.dst_buff, plan);
        return status == DOCA_SUCCESS ? queue_pair_.receive(tag, job.dst_buff, plan) : status;
    }
    [[nodiscard]] doca_error_t send_any(const doca_rdma_job_send &job, Tag tag) noexcept
    {
        TransferPlan plan;
        const doca_error_t status = check_.send(job.src_buff, plan);
        const bool has_immediate = job.base.type == DOCA_RDMA_JOB_SEND_IMM;
        return status == DOCA_SUCCESS ? queue_pair_.send(tag, job.src_buff, plan,
                                                         has_immediate ? Immediate(job.immediate_data) : Immediate())
                                      : status;
    }
    [[nodiscard]] doca_error_t read_any(const doca_rdma_job_read_write &job, Tag tag) noexcept
    {
        TransferPlan plan;
        MemoryKey *key = nullptr;
        const doca_error_t status = check_.read(job.dst_buff, job.src_buff, plan, key);
        return status == DOCA_SUCCESS ? queue_pair_.read(tag, job.dst_buff, job.src_buff, plan, key) : status;
    }
    [[nodiscard]] doca_error_t write_any(const doca_rdma_job_read_write &job, Tag tag) noexcept
    {
        TransferPlan plan;
        MemoryKey *key = nullptr;
        const doca_error_t status = check_.write(job.dst_buff, job.src_buff, plan, key);
        const bool has_immediate = job.base.type == DOCA_RDMA_JOB_WRITE_IMM;
        return status == DOCA_SUCCESS ? queue_pair_.write(tag, job.dst_buff, job.src_buff, plan, key,
                                                          has_immediate ? Immediate(job.immediate_data) : Immediate())
                                      : status;
    }
    [[nodiscard]] doca_error_t update_any(const doca_rdma_job_atomic &job, Tag tag) noexcept
    {
        MemoryKey *key = nullptr;
        if (const doca_error_t status = check_.update(job.result_buff, job.cmp_or_add_dest_buff, key);
            status != DOCA_SUCCESS)
            return status;
        return queue_pair_.update(tag, *job.result_buff, *job.cmp_or_add_dest_buff, update_of(job), *key);
    }

    QueuePair &queue_pair_;
    const TransferCheck check_;
};

} // namespace

doca_error_t make_rdma_jobs(QueuePair &queue_pair, const TransferCheck &check, doca_workq &workq,
                            std::unique_ptr<JobQueue> &jobs)
{
    auto created = std::make_unique<RdmaJobs>(queue_pair, check);
    const doca_error_t status = created->attach(workq.completions);
    if (status == DOCA_SUCCESS)
        jobs = std::move(created);
    return status;
}

} // namespace opendoca::v2
