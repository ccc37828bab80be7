// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <doca_rdma.h>

#include "../../core/device/queue_pair.hpp"
#include "../../core/transfer_check.hpp"
#include "../../core/v2/job_queue.hpp"

namespace opendoca::v2 {

/// Attaches @p queue_pair to a work queue until the end of what takes its jobs there, which it outlives.
[[nodiscard]] doca_error_t make_rdma_jobs(QueuePair &queue_pair, const TransferCheck &check, doca_workq &workq,
                                          std::unique_ptr<JobQueue> &jobs);

} // namespace opendoca::v2
