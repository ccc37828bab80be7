// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

struct doca_dev;
struct doca_rdma;

namespace opendoca::v3 {

/// Gives each type of tasks that @p rdma is configured for its pool.
void create_rdma_pools(doca_rdma &rdma, const doca_dev &dev);

} // namespace opendoca::v3
