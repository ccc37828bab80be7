// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// SHA by jobs of DOCA 2.2: what sha_session.hpp leaves to the generation.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "../sha_session.hpp"

namespace opendoca::tools {

namespace {

/// A running SHA context and its work queue. Owned and used by the benchmark's only thread.
class ShaJobs final : public ShaSession {
public:
    ShaJobs(const std::string &ibdev, std::size_t largest);
    ~ShaJobs() override;

    [[nodiscard]] std::unique_ptr<ShaLoop> make_loop(const ShaAlgorithm &algorithm, std::size_t size) override;

    [[nodiscard]] doca_workq *workq() const noexcept { return workq_.get(); }
    [[nodiscard]] doca_ctx *ctx() const noexcept { return doca_sha_as_ctx(sha_.get()); }

private:
    Handle<doca_sha, doca_sha_destroy> sha_;
    Handle<doca_workq, doca_workq_destroy> workq_;
};

/// The measured loop of jobs, one in flight. Refers to the session.
class ShaJobLoop final : public ShaLoop {
public:
    ShaJobLoop(const ShaJobs &session, const ShaAlgorithm &algorithm, std::size_t size)
        : workq_(session.workq()),
          bufs_(session, size, algorithm.digest_size)
    {
        job_.base.type = algorithm.id;
        job_.base.ctx = session.ctx();
        job_.req_buf = bufs_.message();
        job_.resp_buf = bufs_.room();
    }

    void run(std::size_t count) override
    {
        for (; count != 0; --count) {
            // A job appends its digest, so a full destination must be emptied.
            must(doca_buf_reset_data_len(bufs_.room()), "resetting the response");
            must(doca_workq_submit(workq_, &job_.base), "submitting a job");
            doca_event event;
            doca_error_t status = DOCA_ERROR_AGAIN;
            while ((status = doca_workq_progress_retrieve(workq_, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) ==
                   DOCA_ERROR_AGAIN) {
            }
            must(status, "a job");
        }
    }

    [[nodiscard]] std::vector<std::byte> digest() const override { return bufs_.digest(); }

private:
    doca_workq *workq_;
    ShaBufs bufs_;
    doca_sha_job job_{};
};

ShaJobs::ShaJobs(const std::string &ibdev, std::size_t largest) : ShaSession(ibdev, largest)
{
    doca_sha *sha = nullptr;
    must(doca_sha_create(&sha), "creating a SHA object");
    sha_.reset(sha);
    doca_workq *workq = nullptr;
    must(doca_workq_create(1, &workq), "creating a work queue");
    workq_.reset(workq);
    must(doca_ctx_dev_add(ctx(), dev()), "adding a device");
    must(doca_ctx_start(ctx()), "starting SHA");
    must(doca_ctx_workq_add(ctx(), workq), "adding a work queue");
}

ShaJobs::~ShaJobs()
{
    (void)doca_ctx_workq_rm(ctx(), workq_.get());
    (void)doca_ctx_stop(ctx());
}

std::unique_ptr<ShaLoop> ShaJobs::make_loop(const ShaAlgorithm &algorithm, std::size_t size)
{
    return std::make_unique<ShaJobLoop>(*this, algorithm, size);
}

} // namespace

std::unique_ptr<ShaSession> make_sha_session(const std::string &ibdev, std::size_t largest)
{
    return std::make_unique<ShaJobs>(ibdev, largest);
}

} // namespace opendoca::tools
