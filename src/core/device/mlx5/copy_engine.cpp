// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "copy_engine.hpp"

#include "../verbs/copy_queue_jobs.hpp"
#include "../verbs/copy_queue_recovery.hpp"

namespace opendoca::verbs {

template class CopyQueue<mlx5::DmaPoster>;

} // namespace opendoca::verbs
