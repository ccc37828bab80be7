// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "../verbs/copy_queue.hpp"
#include "dma_poster.hpp"

namespace opendoca::mlx5 {

/// Copies with the DMA engine.
using DmaCopyEngine = verbs::CopyQueue<DmaPoster>;

} // namespace opendoca::mlx5

namespace opendoca::verbs {

extern template class CopyQueue<mlx5::DmaPoster>;

} // namespace opendoca::verbs
