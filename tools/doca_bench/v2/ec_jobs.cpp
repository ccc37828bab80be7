// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Erasure coding by jobs of DOCA 2.2: what ec_session.hpp leaves to the generation.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doca_erasure_coding.h>

#include "../ec_session.hpp"

namespace opendoca::tools {

namespace {

/// A running context and its work queue. Owned and used by the benchmark's only thread.
class EcJobs final : public EcSession {
public:
    EcJobs(const std::string &ibdev, std::size_t source_size, std::size_t result_size)
        : EcSession(ibdev, source_size, result_size)
    {
        doca_ec *ec = nullptr;
        must(doca_ec_create(&ec), "creating an erasure coding object");
        ec_.reset(ec);
        doca_workq *workq = nullptr;
        must(doca_workq_create(1, &workq), "creating a work queue");
        workq_.reset(workq);
        must(doca_ctx_dev_add(ctx(), dev()), "adding a device");
        must(doca_ctx_start(ctx()), "starting erasure coding");
        must(doca_ctx_workq_add(ctx(), workq), "adding a work queue");
    }
    ~EcJobs() override
    {
        (void)doca_ctx_workq_rm(ctx(), workq_.get());
        (void)doca_ctx_stop(ctx());
    }

    [[nodiscard]] std::unique_ptr<Variant> make_loop(const EcCase &row) override;

    [[nodiscard]] doca_ec *ec() const noexcept { return ec_.get(); }
    [[nodiscard]] doca_ctx *ctx() const noexcept { return doca_ec_as_ctx(ec_.get()); }
    [[nodiscard]] doca_workq *workq() const noexcept { return workq_.get(); }

private:
    Handle<doca_ec, doca_ec_destroy> ec_;
    Handle<doca_workq, doca_workq_destroy> workq_;
};

/// The measured loop of jobs, one in flight. Refers to the session.
class EcJobLoop final : public Variant {
public:
    EcJobLoop(const EcJobs &session, const EcCase &row) : workq_(session.workq()), bufs_(session, row)
    {
        std::vector<std::uint8_t> raw = raw_coefficients(row.matrix);
        doca_matrix *matrix = nullptr;
        must(doca_ec_matrix_from_raw(session.ec(), raw.data(), row.matrix.num_inputs(), row.matrix.num_outputs(),
                                     &matrix),
             "creating a matrix");
        matrix_.reset(matrix);
        job_.base.type = DOCA_EC_JOB_GALOIS_MUL;
        job_.base.ctx = session.ctx();
        job_.coding_matrix = matrix;
        job_.src_buff = bufs_.source();
        job_.dst_buff = bufs_.destination();
    }

    void run(std::size_t count) override
    {
        for (; count != 0; --count) {
            must(doca_buf_reset_data_len(bufs_.destination()), "resetting the destination");
            must(doca_workq_submit(workq_, &job_.base), "submitting a job");
            doca_event event;
            doca_error_t status = DOCA_ERROR_AGAIN;
            while ((status = doca_workq_progress_retrieve(workq_, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) ==
                   DOCA_ERROR_AGAIN) {
            }
            must(status, "a job");
        }
    }

private:
    doca_workq *workq_;
    EcBufs bufs_;
    Handle<doca_matrix, doca_ec_matrix_destroy> matrix_;
    doca_ec_job job_{};
};

std::unique_ptr<Variant> EcJobs::make_loop(const EcCase &row)
{
    return std::make_unique<EcJobLoop>(*this, row);
}

} // namespace

std::unique_ptr<EcSession> make_ec_session(const std::string &ibdev, std::size_t source_size, std::size_t result_size)
{
    return std::make_unique<EcJobs>(ibdev, source_size, result_size);
}

bool can_code(doca_devinfo &info)
{
    return doca_ec_job_get_supported(&info, DOCA_EC_JOB_GALOIS_MUL) == DOCA_SUCCESS;
}

} // namespace opendoca::tools
