// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "../workq.hpp"

#include <algorithm>
#include <cstdint>

#include "../../log/log.hpp"
#include "../call.hpp"
#include "symbols.hpp"

OPENDOCA_LOG_SOURCE(DOCA_OLDER_WORKQ);

using opendoca::v2::call;

namespace {

/// Programs of these releases have up to this many jobs in flight on queues that they create with less.
constexpr std::uint32_t min_depth = 1024;

} // namespace

doca_error_t opendoca_workq_create_1_3(uint32_t depth, struct doca_workq **workq)
{
    return doca_workq_create(depth == 0 ? 0 : std::max(depth, min_depth), workq);
}

doca_error_t opendoca_workq_set_depth_1_5(struct doca_workq *workq, uint32_t depth)
{
    return call({workq}, [&] { return workq->set_min_depth(depth); });
}

doca_error_t opendoca_workq_submit_1_3(struct doca_workq *workq, const struct doca_job *job)
{
    if (workq == nullptr || job == nullptr || job->ctx == nullptr) [[unlikely]]
        return opendoca::refuse_null();
    opendoca::v2::JobQueue *const queue = workq->queue_of(*job->ctx);
    return queue != nullptr ? queue->submit_1_3(*job) : doca_workq::not_on_queue(*job->ctx);
}
