// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <doca_sha.h>

#include "../core/dev.hpp"
#include "../core/job.hpp"
#include "digest.hpp"

namespace opendoca {

[[nodiscard]] constexpr bool is_sha_job(int type) noexcept
{
    return type >= DOCA_SHA_JOB_SHA1 && type <= DOCA_SHA_JOB_SHA512_PARTIAL;
}

/// Of a job type for which is_sha_job() holds.
[[nodiscard]] constexpr ShaKind sha_kind_of(int type) noexcept
{
    return static_cast<ShaKind>(static_cast<std::size_t>(type - DOCA_SHA_JOB_SHA1) % num_sha_kinds);
}

/// SHA for one work queue, on the CPU of its thread: each job ends in submit.
class ShaQueue final : public JobQueue {
public:
    [[nodiscard]] static doca_error_t create(const doca_sha &sha, const doca_dev &dev, doca_workq &workq,
                                             std::shared_ptr<JobQueue> &queue);

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override;

private:
    ShaQueue(const doca_sha &sha, const doca_dev &dev, doca_workq &workq) noexcept;

    [[nodiscard]] doca_error_t submit_message(const doca_sha_job &job, ShaKind kind) noexcept;
    [[nodiscard]] doca_error_t submit_piece(const doca_sha_partial_job &job, ShaKind kind,
                                            std::size_t length) noexcept;
    [[nodiscard]] doca_error_t check(const doca_sha_job &job, ShaKind kind,
                                     std::size_t &length) const noexcept;
    [[nodiscard]] doca_error_t check_request(const doca_buf &list, std::size_t &length) const noexcept;
    [[nodiscard]] doca_error_t check_response(const doca_buf &buf, ShaKind kind) const noexcept;
    [[nodiscard]] doca_error_t check_memory(const doca_buf &buf) const noexcept;
    [[nodiscard]] doca_error_t check_piece(const doca_sha_partial_job &job, ShaKind kind,
                                           std::size_t length) const noexcept;
    [[nodiscard]] doca_error_t hash(ShaDigests &digests, const doca_sha_job &job, ShaKind kind, bool is_first,
                                    bool is_last) noexcept;

    const doca_sha &sha_;
    const doca_dev &dev_;
    doca_workq &workq_;
    const std::uint32_t max_list_elements_;
    const std::uint64_t max_size_;
    ShaDigests digests_; ///< of messages in one job
    bool is_broken_ = false;
};

} // namespace opendoca
