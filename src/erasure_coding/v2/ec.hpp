// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <doca_erasure_coding.h>

#include "../../core/v2/ctx.hpp"
#include "../matrix.hpp"

/// A matrix of any kind. Owned by the program; independent of the object that it was created with.
struct doca_matrix final : opendoca::Matrix {
    explicit doca_matrix(opendoca::Matrix &&matrix) noexcept : Matrix(std::move(matrix)) {}
};

/// The erasure coding library's object of 2.2: a context on one device. Owned by the program. All work is done by the
/// CodingJobs of its work queues.
struct doca_ec final : doca_ctx {
protected:
    [[nodiscard]] doca_error_t check_device(const doca_dev &dev, const std::vector<doca_dev *> &others) const override;
    [[nodiscard]] bool can_be_event_driven(const std::vector<doca_dev *> &devices) const override;
    [[nodiscard]] doca_error_t create_queue(const std::vector<doca_dev *> &devices, doca_workq &workq,
                                            std::unique_ptr<opendoca::v2::JobQueue> &queue) override;
};
