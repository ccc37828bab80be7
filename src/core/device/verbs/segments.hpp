// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <vector>

#include <infiniband/verbs.h>

#include "../../transfer_check.hpp"

namespace opendoca {
class Device;
}

namespace opendoca::verbs {

/// Writes the scatter/gather list of a source's data, or of the free space that a destination is to receive, for the
/// length of @p plan, to the beginning of @p segments. Returns the number of segments.
[[nodiscard]] int gather(const Device &device, const doca_buf *list, TransferPlan plan, bool is_source,
                         std::vector<ibv_sge> &segments) noexcept;

} // namespace opendoca::verbs
