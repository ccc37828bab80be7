// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "copy_queue.hpp"
#include "loopback_poster.hpp"

namespace opendoca::verbs {

/// Copies on any RDMA device, by loopback.
using VerbsCopyEngine = CopyQueue<LoopbackPoster>;

extern template class CopyQueue<LoopbackPoster>;

} // namespace opendoca::verbs
