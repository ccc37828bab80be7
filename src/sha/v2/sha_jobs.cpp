// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sha_jobs.hpp"

#include <cinttypes>
#include <cstdint>

#include "../../core/log/log.hpp"
#include "session.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SHA_JOBS);

namespace opendoca::v2 {

doca_error_t ShaJobs::submit_tagged(const doca_job &base, Tag tag) noexcept
{
    if (!is_sha_job(base.type)) {
        LOG_ERR("job type %d is not one of SHA's", base.type);
        return DOCA_ERROR_INVALID_VALUE;
    }
    // Jobs for pieces are longer: doca_sha_partial_job begins with doca_sha_job.
    const auto &job = reinterpret_cast<const doca_sha_job &>(base);
    const ShaKind kind = sha_kind_of(base.type);
    // Flags are defined for pieces only. Programs leave them uninitialised in other jobs.
    if (base.type < DOCA_SHA_JOB_SHA1_PARTIAL)
        return hashes_->hash(tag, kind, job.req_buf, job.resp_buf);
    if ((job.flags & ~std::uint64_t{DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL}) != 0) {
        LOG_ERR("flags 0x%" PRIx64 " of a piece for SHA: only 0x%x is defined", job.flags,
                DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL);
        return DOCA_ERROR_INVALID_VALUE;
    }
    doca_sha_partial_session *const session = reinterpret_cast<const doca_sha_partial_job &>(base).session;
    if (session == nullptr || !session->belongs_to(&sha_, &workq_)) {
        LOG_ERR("session %p was not made for this SHA context and work queue", static_cast<const void *>(session));
        return DOCA_ERROR_INVALID_VALUE;
    }
    return hashes_->hash_piece(tag, kind, job.req_buf, job.resp_buf, *session,
                               job.flags == DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL);
}

} // namespace opendoca::v2
