// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// DMA for programs that were built with DOCA releases up to 2.0.2, which differ in what a job means: the length is a
// field of the job (1.3 and 1.4), and a copy overwrites the data of the destination in place of appending to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <doca_dma.h>

#include "../../core/v2/job_queue.hpp"

namespace opendoca::v2 {

/// Applies the length that a job of DOCA 1.3 or 1.4 has as a field: makes it the length of the data of the source
/// list. INVALID_VALUE, without any change, if the source has less space behind its data addresses. Anything else that
/// is wrong with the job is left to its submit.
[[nodiscard]] doca_error_t apply_length(const doca_job &job) noexcept;

/// DMA jobs that overwrite: makes each destination full, so that the copy starts at its data address, and
/// submits the job to the DMA jobs that it owns. Owned by the context; used by the thread of the work queue.
/// Invariant: a job that is refused leaves the data lengths of its destination unchanged.
class OverwritingJobs final : public JobQueue {
public:
    OverwritingJobs(std::unique_ptr<JobQueue> jobs, std::uint32_t max_list_elements)
        : jobs_(std::move(jobs)),
          lengths_(max_list_elements)
    {
    }

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override;
    [[nodiscard]] doca_error_t submit_tagged(const doca_job &job, Tag tag) noexcept override;
    [[nodiscard]] doca_error_t submit_1_3(const doca_job &job) noexcept override;
    [[nodiscard]] Source &source() noexcept override { return jobs_->source(); }

private:
    /// Makes the destination of @p job full and calls @p submit; restores the destination if that refuses the job.
    template <typename Submit>
    [[nodiscard]] doca_error_t submit_full(const doca_job &job, Submit submit) noexcept;

    const std::unique_ptr<JobQueue> jobs_;
    std::vector<std::size_t> lengths_; ///< data lengths of the destination before the submit; one element for each
                                       ///< buffer of the longest list
};

} // namespace opendoca::v2
