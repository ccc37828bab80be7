// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "copy_queue.hpp"

namespace opendoca::verbs {

doca_error_t VerbsCopyQueue::create(const VerbsDevice &, doca_workq &, const doca_dev &, JobQueue &,
                                    std::unique_ptr<CopyQueue> &)
{
    return DOCA_ERROR_NOT_SUPPORTED;
}

} // namespace opendoca::verbs
