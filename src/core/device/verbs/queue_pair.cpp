// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "queue_pair.hpp"

namespace opendoca::verbs {

doca_error_t VerbsQueuePair::create(const VerbsDevice &, const doca_dev &, const QueuePairSettings &,
                                    std::atomic<doca_rdma_state> &, std::unique_ptr<QueuePair> &)
{
    return DOCA_ERROR_NOT_SUPPORTED;
}

} // namespace opendoca::verbs
