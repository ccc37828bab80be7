// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// DMA in the forms of DOCA releases up to 2.0.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <doca_dma.h>

#include "../../core/v2/job_queue.hpp"

namespace opendoca::v2 {

/// Makes the length that a job of DOCA 1.3 or 1.4 names the one of its source's data. INVALID_VALUE, and nothing has
/// changed, when the source is smaller. What else is wrong with the job is left to its submit.
[[nodiscard]] doca_error_t take_length(const doca_job &job) noexcept;

/// DMA jobs that copy to the destination's data address: each destination counts as full, and so is written
/// from its begin on.
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
    template <typename Submit>
    [[nodiscard]] doca_error_t submit_full(const doca_job &job, Submit submit) noexcept;

    const std::unique_ptr<JobQueue> jobs_;
    std::vector<std::size_t> lengths_; ///< of the destination's data, for a job that is refused
};

} // namespace opendoca::v2
