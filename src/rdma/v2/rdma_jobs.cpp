// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_jobs.hpp"

#include <iterator>

#include "../../core/device/engines.hpp"
#include "../../core/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_JOBS);

namespace opendoca::v2 {

namespace {

/// @p Pair is a provider's own type, or QueuePair.
template <typename Pair>
class RdmaJobs final : public JobQueue {
public:
    RdmaJobs(Pair &queue_pair, const TransferCheck &check) noexcept : queue_pair_(queue_pair), check_(check) {}
    ~RdmaJobs() override { queue_pair_.detach(); }

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override
    {
        Tag tag = tag_of(job);
        tag.a |= has_result;
        return submit_tagged(job, tag);
    }
    [[gnu::always_inline]] [[nodiscard]] doca_error_t submit_tagged(const doca_job &job, Tag tag) noexcept override
    {
        // By a table, so that each function has its own stack frame and none pays for the others' registers.
        static constexpr doca_error_t (*functions[])(RdmaJobs &, const doca_job &, Tag) noexcept = {
            receive, send<false>, send<true>, read, write<false>, write<true>, update, update};
        static_assert(DOCA_RDMA_JOB_SEND == DOCA_RDMA_JOB_RECV + 1 && DOCA_RDMA_JOB_SEND_IMM == DOCA_RDMA_JOB_RECV + 2 &&
                      DOCA_RDMA_JOB_READ == DOCA_RDMA_JOB_RECV + 3 && DOCA_RDMA_JOB_WRITE == DOCA_RDMA_JOB_RECV + 4 &&
                      DOCA_RDMA_JOB_WRITE_IMM == DOCA_RDMA_JOB_RECV + 5 &&
                      DOCA_RDMA_JOB_ATOMIC_CMP_SWP == DOCA_RDMA_JOB_RECV + 6 &&
                      DOCA_RDMA_JOB_ATOMIC_FETCH_ADD == DOCA_RDMA_JOB_RECV + 7);
        const auto index = static_cast<unsigned>(job.type) - DOCA_RDMA_JOB_RECV;
        if (index >= std::size(functions) || !queue_pair_.is_connected()) [[unlikely]]
            return refuse(job);
        return functions[index](*this, job, tag);
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

    // One for each kind of job: the common one is checked inline and handed to the provider in one piece.

    static doca_error_t receive(RdmaJobs &self, const doca_job &base, Tag tag) noexcept
    {
        const auto &job = reinterpret_cast<const doca_rdma_job_recv &>(base);
        TransferPlan plan;
        if (self.check_.is_plain_receive(job.dst_buff, plan)) [[likely]]
            return self.queue_pair_.receive(tag, job.dst_buff, plan);
        return self.receive_any(job, tag);
    }
    [[gnu::noinline]] doca_error_t receive_any(const doca_rdma_job_recv &job, Tag tag) noexcept
    {
        TransferPlan plan;
        const doca_error_t status = check_.receive(job.dst_buff, plan);
        return status == DOCA_SUCCESS ? queue_pair_.receive(tag, job.dst_buff, plan) : status;
    }

    template <bool has_immediate>
    static doca_error_t send(RdmaJobs &self, const doca_job &base, Tag tag) noexcept
    {
        const auto &job = reinterpret_cast<const doca_rdma_job_send &>(base);
        TransferPlan plan;
        if (self.check_.is_plain_send(job.src_buff, plan)) [[likely]]
            return self.queue_pair_.send(tag, job.src_buff, plan,
                                         has_immediate ? Immediate(job.immediate_data) : std::nullopt);
        return self.template send_any<has_immediate>(job, tag);
    }
    template <bool has_immediate>
    [[gnu::noinline]] doca_error_t send_any(const doca_rdma_job_send &job, Tag tag) noexcept
    {
        TransferPlan plan;
        const doca_error_t status = check_.send(job.src_buff, plan);
        return status == DOCA_SUCCESS ? queue_pair_.send(tag, job.src_buff, plan,
                                                         has_immediate ? Immediate(job.immediate_data) : std::nullopt)
                                      : status;
    }

    static doca_error_t read(RdmaJobs &self, const doca_job &base, Tag tag) noexcept
    {
        const auto &job = reinterpret_cast<const doca_rdma_job_read_write &>(base);
        TransferPlan plan;
        if (self.check_.is_plain_read(job.dst_buff, job.src_buff, plan)) [[likely]]
            return self.queue_pair_.read(tag, job.dst_buff, job.src_buff, plan, job.src_buff->mmap->first().key);
        return self.read_any(job, tag);
    }
    [[gnu::noinline]] doca_error_t read_any(const doca_rdma_job_read_write &job, Tag tag) noexcept
    {
        TransferPlan plan;
        MemoryKey *key = nullptr;
        const doca_error_t status = check_.read(job.dst_buff, job.src_buff, plan, key);
        return status == DOCA_SUCCESS ? queue_pair_.read(tag, job.dst_buff, job.src_buff, plan, key) : status;
    }

    template <bool has_immediate>
    static doca_error_t write(RdmaJobs &self, const doca_job &base, Tag tag) noexcept
    {
        const auto &job = reinterpret_cast<const doca_rdma_job_read_write &>(base);
        TransferPlan plan;
        if (self.check_.is_plain_write(job.dst_buff, job.src_buff, plan)) [[likely]]
            return self.queue_pair_.write(tag, job.dst_buff, job.src_buff, plan, job.dst_buff->mmap->first().key,
                                          has_immediate ? Immediate(job.immediate_data) : std::nullopt);
        return self.template write_any<has_immediate>(job, tag);
    }
    template <bool has_immediate>
    [[gnu::noinline]] doca_error_t write_any(const doca_rdma_job_read_write &job, Tag tag) noexcept
    {
        TransferPlan plan;
        MemoryKey *key = nullptr;
        const doca_error_t status = check_.write(job.dst_buff, job.src_buff, plan, key);
        if (status != DOCA_SUCCESS)
            return status;
        return queue_pair_.write(tag, job.dst_buff, job.src_buff, plan, key,
                                 has_immediate ? Immediate(job.immediate_data) : std::nullopt);
    }

    static doca_error_t update(RdmaJobs &self, const doca_job &base, Tag tag) noexcept
    {
        const auto &job = reinterpret_cast<const doca_rdma_job_atomic &>(base);
        MemoryKey *key = nullptr;
        if (const doca_error_t status = self.check_.update(job.result_buff, job.cmp_or_add_dest_buff, key);
            status != DOCA_SUCCESS)
            return status;
        const AtomicUpdate update = {base.type == DOCA_RDMA_JOB_ATOMIC_FETCH_ADD
                                         ? AtomicUpdate::Kind::fetch_and_add
                                         : AtomicUpdate::Kind::compare_and_swap,
                                     job.swap_or_add_data, job.cmp_data};
        return self.queue_pair_.update(tag, *job.result_buff, *job.cmp_or_add_dest_buff, update, *key);
    }

    Pair &queue_pair_;
    const TransferCheck check_;
};

} // namespace

std::unique_ptr<JobQueue> make_rdma_jobs(QueuePair &queue_pair, const TransferCheck &check)
{
    return visit_engine(queue_pair, [&]<typename Pair>(Pair &own) -> std::unique_ptr<JobQueue> {
        return std::make_unique<RdmaJobs<Pair>>(own, check);
    });
}

} // namespace opendoca::v2
