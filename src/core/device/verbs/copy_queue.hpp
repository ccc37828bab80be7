// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "device.hpp"

namespace opendoca::verbs {

class VerbsCopyQueue {
public:
    [[nodiscard]] static doca_error_t create(const VerbsDevice &device, doca_workq &workq,
                                             const doca_dev &dev, JobQueue &owner,
                                             std::unique_ptr<CopyQueue> &queue);
};

} // namespace opendoca::verbs
