// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Defaults of JobQueue. They are not in workq.cpp, where the compiler would take a default for the likely case.
#include "job_queue.hpp"

namespace opendoca::v2 {

JobQueue::~JobQueue() = default;

bool JobQueue::carry_out(const doca_job &) noexcept
{
    return false;
}

void JobQueue::write_result(int, doca_error_t status, const Result &, doca_event &event) const noexcept
{
    event.result.u64 = status;
}

doca_error_t JobQueue::write_success(std::uint32_t length, doca_event &event) const noexcept
{
    write_result(event.type, DOCA_SUCCESS, {.length = length}, event);
    return DOCA_SUCCESS;
}

doca_error_t JobQueue::retrieve(doca_event &) noexcept
{
    return DOCA_ERROR_AGAIN;
}

doca_error_t JobQueue::submit_1_3(const doca_job &job) noexcept
{
    return submit(job);
}

} // namespace opendoca::v2
