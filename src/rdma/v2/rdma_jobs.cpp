// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_jobs.hpp"

#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include "../../core/device/queue_pair.hpp"
#include "../../core/log/log.hpp"
#include "../../core/v2/workq.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_JOBS);

namespace opendoca::v2 {

namespace {

/// Submits the jobs of one RDMA instance on one work queue as operations of its queue pair, and writes their results.
/// Owned by the instance; used by the thread of the work queue. An invalid job is refused: it does not complete.
class RdmaJobs final : public JobQueue {
public:
    RdmaJobs(QueuePair &queue_pair, const TransferCheck &check) noexcept : queue_pair_(queue_pair), check_(check) {}
    [[nodiscard]] doca_error_t attach(CompletionQueue &completions) { return queue_pair_.attach(completions); }
    ~RdmaJobs() override { queue_pair_.detach(); }

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override
    {
        return submit_tagged(job, tag_with_result(job));
    }
    /// Dispatches by a table: each type of jobs has a function of its own, in which the opcode is a constant.
    [[nodiscard]] doca_error_t submit_tagged(const doca_job &job, Tag tag) noexcept override
    {
        static constexpr doca_error_t (*functions[])(RdmaJobs &, const doca_job &, Tag) noexcept = {
            receive,
            post<Opcode::send>,
            post<Opcode::send_with_immediate>,
            post<Opcode::read>,
            post<Opcode::write>,
            post<Opcode::write_with_immediate>,
            post<Opcode::compare_and_swap>,
            post<Opcode::fetch_and_add>,
        };
        static_assert(DOCA_RDMA_JOB_SEND == DOCA_RDMA_JOB_RECV + 1 &&
                      DOCA_RDMA_JOB_SEND_IMM == DOCA_RDMA_JOB_RECV + 2 &&
                      DOCA_RDMA_JOB_READ == DOCA_RDMA_JOB_RECV + 3 && DOCA_RDMA_JOB_WRITE == DOCA_RDMA_JOB_RECV + 4 &&
                      DOCA_RDMA_JOB_WRITE_IMM == DOCA_RDMA_JOB_RECV + 5 &&
                      DOCA_RDMA_JOB_ATOMIC_CMP_SWP == DOCA_RDMA_JOB_RECV + 6 &&
                      DOCA_RDMA_JOB_ATOMIC_FETCH_ADD == DOCA_RDMA_JOB_RECV + 7);
        const auto index = static_cast<unsigned>(job.type) - DOCA_RDMA_JOB_RECV;
        if (index >= std::size(functions)) [[unlikely]]
            return refuse(job);
        return functions[index](*this, job, tag);
    }
    /// The source of all completions of the jobs; doca_ctx_stop() counts its operations in flight.
    [[nodiscard]] Source &source() noexcept override { return queue_pair_; }

    /// Fills the doca_rdma_result that the program has passed in the event, if any. Only receives have an opcode and
    /// immediate data; a failed job has a length of 0.
    void write_result(int type, doca_error_t status, const Result &of, doca_event &event) const noexcept override
    {
        auto *const result = static_cast<doca_rdma_result *>(event.result.ptr);
        if (result == nullptr)
            return;
        const bool has_message = type == DOCA_RDMA_JOB_RECV && status == DOCA_SUCCESS;
        result->result = status;
        result->opcode = has_message ? static_cast<doca_rdma_opcode_t>(of.received) : DOCA_RDMA_OPCODE_RECV_SEND;
        result->length = status == DOCA_SUCCESS ? of.length : 0;
        result->rdma_peer_addr = nullptr; // of datagram transports only
        result->immediate_data = has_message ? of.immediate : 0;
    }
    doca_error_t write_success(std::uint32_t length, doca_event &event) const noexcept override
    {
        // A receive takes an operation and never ends in its submit, so there is no message.
        if (auto *const result = static_cast<doca_rdma_result *>(event.result.ptr); result != nullptr)
            *result = {DOCA_SUCCESS, DOCA_RDMA_OPCODE_RECV_SEND, length, nullptr, 0};
        return DOCA_SUCCESS;
    }

private:
    /// Logs why @p job cannot be submitted, and returns the error: BAD_STATE if the instance is not connected,
    /// INVALID_VALUE for a job of another library.
    [[gnu::noinline, gnu::cold]] [[nodiscard]] doca_error_t refuse(const doca_job &job) const noexcept
    {
        if (!queue_pair_.is_connected()) {
            LOG_ERR("the instance is not connected: %s", queue_pair_.state() == ConnectionState::failed
                                                             ? "a job has failed or the peer has disconnected"
                                                             : "connect it first");
            return DOCA_ERROR_BAD_STATE;
        }
        LOG_ERR("job type %d is not one of RDMA's", job.type);
        return DOCA_ERROR_INVALID_VALUE;
    }

    /// Returns the tag of @p job, with the flag that makes the retrieval call write_result().
    [[nodiscard]] static Tag tag_with_result(const doca_job &job) noexcept
    {
        Tag tag = tag_of(job);
        tag.a |= has_result;
        return tag;
    }

    /// Posts a receive. The first condition is the short path: one buffer that the device can fill without a further
    /// check.
    static doca_error_t receive(RdmaJobs &self, const doca_job &base, Tag tag) noexcept
    {
        doca_buf *const dst = reinterpret_cast<const doca_rdma_job_recv &>(base).dst_buff;
        if (self.check_.is_fast_receive(dst) && self.queue_pair_.is_connected()) [[likely]]
            return self.queue_pair_.receive(tag, dst, TransferPlan::single_sge(dst->tailroom()));
        return self.receive_any(base, tag);
    }
    /// Posts an operation of the send queue. Jobs outside of the short path go through post_any(), a call that is not
    /// inlined, so that this function needs no stack frame.
    template <Opcode opcode>
    static doca_error_t post(RdmaJobs &self, const doca_job &base, Tag tag) noexcept
    {
        Request request;
        describe<opcode>(base, request);
        QueuePair &queue_pair = self.queue_pair_;
        if (self.check_.check_fast(request) && queue_pair.is_connected()) [[likely]]
            return queue_pair.post(tag, request);
        return self.post_any(base, tag, request);
    }
    /// Sets the opcode, and the operands that the opcode has, from the fields of the job. The types of jobs share a
    /// doca_job as their first member.
    template <Opcode opcode>
    [[gnu::always_inline]] static void describe(const doca_job &base, Request &request) noexcept
    {
        request.opcode = opcode;
        if constexpr (is_atomic(opcode)) {
            const auto &job = reinterpret_cast<const doca_rdma_job_atomic &>(base);
            request.local = job.result_buff;
            request.remote = job.cmp_or_add_dest_buff;
            request.operand = job.swap_or_add_data;
            request.compare = job.cmp_data;
        } else if constexpr (is_write(opcode) || opcode == Opcode::read) {
            const auto &job = reinterpret_cast<const doca_rdma_job_read_write &>(base);
            auto *const src = const_cast<doca_buf *>(job.src_buff);
            request.local = is_write(opcode) ? src : job.dst_buff;
            request.remote = is_write(opcode) ? job.dst_buff : src;
            request.immediate = has_immediate(opcode) ? job.immediate_data : 0;
        } else {
            const auto &job = reinterpret_cast<const doca_rdma_job_send &>(base);
            request.local = const_cast<doca_buf *>(job.src_buff);
            request.remote = nullptr;
            request.immediate = has_immediate(opcode) ? job.immediate_data : 0;
        }
    }

    // The same for any job, with the full check, which logs why a job is invalid.

    [[gnu::noinline]] [[nodiscard]] doca_error_t receive_any(const doca_job &job, Tag tag) noexcept
    {
        if (!queue_pair_.is_connected())
            return refuse(job);
        doca_buf *const dst = reinterpret_cast<const doca_rdma_job_recv &>(job).dst_buff;
        TransferPlan plan;
        const doca_error_t status = check_.receive(dst, plan);
        return status == DOCA_SUCCESS ? queue_pair_.receive(tag, dst, plan) : status;
    }
    [[gnu::noinline]] [[nodiscard]] doca_error_t post_any(const doca_job &job, Tag tag, Request &request) noexcept
    {
        if (!queue_pair_.is_connected())
            return refuse(job);
        const doca_error_t status = check_.check(request);
        return status == DOCA_SUCCESS ? queue_pair_.post(tag, request) : status;
    }

    QueuePair &queue_pair_; ///< the instance's; attached from attach() to the destructor
    // The limits of the device and of the properties, which do not change while the context is started.
    const TransferCheck check_;
};

} // namespace

doca_error_t make_rdma_jobs(QueuePair &queue_pair, const TransferCheck &check, doca_workq &workq,
                            std::unique_ptr<JobQueue> &jobs)
{
    auto created = std::make_unique<RdmaJobs>(queue_pair, check);
    const doca_error_t status = created->attach(workq.completions);
    // On failure `created` is destroyed; its detach() does nothing for a queue pair that is not attached.
    if (status == DOCA_SUCCESS)
        jobs = std::move(created);
    return status;
}

} // namespace opendoca::v2
