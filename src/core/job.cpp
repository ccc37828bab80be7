// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What a library's data path does where it has nothing to say. Not in workq.cpp, so that the compiler does
// not take it for the likely one there.
#include "job.hpp"

#include "workq.hpp"

namespace opendoca {

JobQueue::~JobQueue() = default;

void JobQueue::progress() noexcept {}

bool JobQueue::needs_progress() const noexcept
{
    return false;
}

doca_error_t JobQueue::submit_inner(const doca_job &job) noexcept
{
    return submit(job);
}

doca_error_t JobQueue::retrieve(doca_event &event, doca_workq &workq) noexcept
{
    progress();
    return workq.give_waiting(event);
}

bool JobQueue::arm() noexcept
{
    progress(); // what ends now wakes the armed queue
    return false;
}

void JobQueue::disarm() noexcept {}

void JobQueue::cancel() noexcept {}

void JobQueue::write_result(std::uint64_t, doca_error_t, doca_event &) const noexcept {}

} // namespace opendoca
