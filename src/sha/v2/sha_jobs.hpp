// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Jobs are read in submit and not kept: programs may change or free them when it has returned.
#pragma once

#include <cstddef>
#include <memory>

#include <doca_sha.h>

#include "../../core/v2/job_queue.hpp"
#include "../hash_queue.hpp"

namespace opendoca::v2 {

/// Job types of SHA are consecutive: the three algorithms, then the same for messages in pieces.
[[nodiscard]] constexpr bool is_sha_job(int type) noexcept
{
    return type >= DOCA_SHA_JOB_SHA1 && type <= DOCA_SHA_JOB_SHA512_PARTIAL;
}

/// Returns the algorithm of a job type for which is_sha_job() is true.
[[nodiscard]] constexpr ShaKind sha_kind_of(int type) noexcept
{
    return static_cast<ShaKind>(static_cast<std::size_t>(type - DOCA_SHA_JOB_SHA1) % num_sha_kinds);
}

/// The SHA jobs of one work queue. Owned by the context; used by the work queue's thread.
class ShaJobs final : public JobQueue {
public:
    ShaJobs(std::unique_ptr<HashQueue> hashes, const doca_sha &sha, const doca_workq &workq) noexcept
        : hashes_(std::move(hashes)),
          sha_(sha),
          workq_(workq)
    {
    }

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override { return submit_tagged(job, tag_of(job)); }
    [[nodiscard]] doca_error_t submit_tagged(const doca_job &job, Tag tag) noexcept override;
    [[nodiscard]] Source &source() noexcept override { return *hashes_; }

private:
    std::unique_ptr<HashQueue> hashes_; ///< the source of all completions
    const doca_sha &sha_;               ///< compared with those of a session
    const doca_workq &workq_;
};

} // namespace opendoca::v2
