// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "../queue_pair.hpp"
#include "device.hpp"

namespace opendoca::verbs {

class VerbsQueuePair {
public:
    [[nodiscard]] static doca_error_t create(const VerbsDevice &device, const doca_dev &dev,
                                             const QueuePairSettings &settings,
                                             std::atomic<doca_rdma_state> &state,
                                             std::unique_ptr<QueuePair> &queue_pair);
};

} // namespace opendoca::verbs
