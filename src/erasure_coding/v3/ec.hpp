// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <doca_erasure_coding.h>

#include "../../core/v3/ctx.hpp"
#include "../coding_queue.hpp"
#include "../matrix.hpp"

/// A matrix of any kind. Owned by the program; independent of the object that it was created with.
struct doca_ec_matrix final : opendoca::Matrix {
    explicit doca_ec_matrix(opendoca::Matrix &&matrix) noexcept : Matrix(std::move(matrix)) {}
};

namespace opendoca::v3 {

/// What the tasks of all four kinds have in common. Owned by their pools; the program sets the members by functions.
struct CodingTask : doca_task {
    const doca_ec_matrix *matrix;
    const doca_buf *src; ///< as many blocks as the matrix has inputs
    doca_buf *dst;       ///< receives as many blocks as the matrix has outputs, behind its data
};

} // namespace opendoca::v3

struct doca_ec_task_galois_mul : opendoca::v3::CodingTask {};
struct doca_ec_task_create : opendoca::v3::CodingTask {};
struct doca_ec_task_update : opendoca::v3::CodingTask {};
struct doca_ec_task_recover : opendoca::v3::CodingTask {};

/// The erasure coding library's object of 3.0: a context on one device. Owned by the program; used by the thread of its
/// engine.
struct doca_ec final : doca_ctx {
    explicit doca_ec(doca_dev &dev) : doca_ctx(&dev) {}
    ~doca_ec() override = default;

    // One pool for each type of tasks, from start on.
    opendoca::v3::TaskType<doca_ec_task_galois_mul, doca_ec_task_galois_mul_completion_cb_t> galois_mul{*this};
    opendoca::v3::TaskType<doca_ec_task_create, doca_ec_task_create_completion_cb_t> create{*this};
    opendoca::v3::TaskType<doca_ec_task_update, doca_ec_task_update_completion_cb_t> update{*this};
    opendoca::v3::TaskType<doca_ec_task_recover, doca_ec_task_recover_completion_cb_t> recover{*this};

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override;
    void on_idle() noexcept override { codings_.reset(); }
    [[nodiscard]] bool on_progress() noexcept override { return codings_->take_progress(); }

private:
    std::unique_ptr<opendoca::CodingQueue> codings_; ///< exists from start until the context is idle
};
