// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "rdma_options.hpp"

namespace opendoca::tools {

/// What connections cost when there are many on one work queue: both ends in this process. The exit status.
int run_connections_benchmark(const RdmaOptions &options);

} // namespace opendoca::tools
