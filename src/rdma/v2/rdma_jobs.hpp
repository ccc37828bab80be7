// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <doca_rdma.h>

#include "../../core/device/queue_pair.hpp"
#include "../../core/v2/job_queue.hpp"

namespace opendoca::v2 {

/// The jobs of @p queue_pair, which outlives it, on a work queue.
[[nodiscard]] std::unique_ptr<JobQueue> make_rdma_jobs(QueuePair &queue_pair, const TransferCheck &check,
                                                       doca_workq &workq);

} // namespace opendoca::v2
