// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "coding_jobs.hpp"

#include <cstddef>

#include "../../core/log/log.hpp"
#include "ec.hpp"

OPENDOCA_LOG_SOURCE(DOCA_EC_JOBS);

namespace opendoca::v2 {

// All structures are read as doca_ec_job.
static_assert(offsetof(doca_ec_job, coding_matrix) == offsetof(doca_ec_job_create, create_matrix) &&
              offsetof(doca_ec_job, coding_matrix) == offsetof(doca_ec_job_update, update_matrix) &&
              offsetof(doca_ec_job, coding_matrix) == offsetof(doca_ec_job_recover, recover_matrix));
static_assert(offsetof(doca_ec_job, src_buff) == offsetof(doca_ec_job_create, src_original_data_buff) &&
              offsetof(doca_ec_job, src_buff) == offsetof(doca_ec_job_update, src_data_rdnc_buff) &&
              offsetof(doca_ec_job, src_buff) == offsetof(doca_ec_job_recover, src_remaining_data_buff));
static_assert(offsetof(doca_ec_job, dst_buff) == offsetof(doca_ec_job_create, dst_rdnc_buff) &&
              offsetof(doca_ec_job, dst_buff) == offsetof(doca_ec_job_update, dst_updated_rdnc_buff) &&
              offsetof(doca_ec_job, dst_buff) == offsetof(doca_ec_job_recover, dst_recovered_data_buff));

doca_error_t CodingJobs::submit_tagged(const doca_job &base, Tag tag) noexcept
{
    if (!is_ec_job(base.type)) {
        LOG_ERR("job type %d is not one of erasure coding", base.type);
        return DOCA_ERROR_INVALID_VALUE;
    }
    const auto &job = reinterpret_cast<const doca_ec_job &>(base);
    const doca_error_t status = codings_->multiply(tag, job.coding_matrix, job.src_buff, job.dst_buff);
    // Lengths that do not suit the matrix fail the job and not its submit, as those of a task of 3.0.
    if (status != DOCA_ERROR_IO_FAILED)
        return status;
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY;
    completions_.done(tag, *codings_, status);
    return DOCA_SUCCESS;
}

} // namespace opendoca::v2
