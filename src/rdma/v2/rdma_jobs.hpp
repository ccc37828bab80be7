// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <doca_rdma.h>

#include "../../core/checks/transfer_check.hpp"
#include "../../core/device/queue_pair.hpp"
#include "../../core/v2/job_queue.hpp"

namespace opendoca::v2 {

/// Creates in @p jobs what submits the RDMA jobs of @p workq to @p queue_pair, and attaches the queue pair to the
/// completion queue of @p workq. The destruction of @p jobs detaches it; the queue pair must outlive @p jobs.
[[nodiscard]] doca_error_t make_rdma_jobs(QueuePair &queue_pair, const TransferCheck &check, doca_workq &workq,
                                          std::unique_ptr<JobQueue> &jobs);

} // namespace opendoca::v2
