// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

struct doca_dev;
struct doca_rdma;

namespace opendoca::v3 {

/// Called by on_start(): creates the pool of each type of tasks that @p rdma is configured for. The pools refer to @p
/// rdma and @p dev. Throws std::bad_alloc.
void create_rdma_pools(doca_rdma &rdma, const doca_dev &dev);

} // namespace opendoca::v3
