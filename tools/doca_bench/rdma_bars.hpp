// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <span>

#include "pair_case.hpp"

namespace opendoca::tools {

/// Returns the limits of RDMA jobs relative to the other benchmark; docs/benchmarks.md explains them.
[[nodiscard]] std::span<const PairBar> rdma_bars(RivalKind rival);

} // namespace opendoca::tools
