// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Jobs are read in submit and not kept: programs may change or free them when it has returned.
#pragma once

#include <memory>
#include <utility>

#include <doca_erasure_coding.h>

#include "../../core/v2/job_queue.hpp"
#include "../coding_queue.hpp"

namespace opendoca::v2 {

/// Job types of erasure coding are consecutive.
[[nodiscard]] constexpr bool is_ec_job(int type) noexcept
{
    return type >= DOCA_EC_JOB_GALOIS_MUL && type <= DOCA_EC_JOB_RECOVER;
}

/// The erasure coding jobs of one work queue: of four types, which differ in their names only. Owned by the context;
/// used by the work queue's thread.
class CodingJobs final : public JobQueue {
public:
    /// @p completions must outlive the object.
    CodingJobs(std::unique_ptr<CodingQueue> codings, CompletionQueue &completions) noexcept
        : codings_(std::move(codings)),
          completions_(completions)
    {
    }

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override { return submit_tagged(job, tag_of(job)); }
    [[nodiscard]] doca_error_t submit_tagged(const doca_job &job, Tag tag) noexcept override;
    [[nodiscard]] Source &source() noexcept override { return *codings_; }

private:
    std::unique_ptr<CodingQueue> codings_; ///< the source of all completions
    CompletionQueue &completions_;
};

} // namespace opendoca::v2
