// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <optional>

#include <doca_sha.h>

#include "digest.hpp"

struct doca_workq;

/// A message that is hashed in pieces, or between two messages. Belongs to the work queue's thread.
struct doca_sha_partial_session {
    doca_sha_partial_session(const doca_sha &context, const doca_workq &queue) noexcept
        : sha_(&context),
          workq_(&queue)
    {
    }
    doca_sha_partial_session(const doca_sha_partial_session &) = delete;
    doca_sha_partial_session &operator=(const doca_sha_partial_session &) = delete;

    [[nodiscard]] bool belongs_to(const doca_sha *sha, const doca_workq *workq) const noexcept
    {
        return sha == sha_ && workq == workq_;
    }
    [[nodiscard]] doca_error_t copy_from(const doca_sha_partial_session &other) noexcept;

    opendoca::ShaDigests digests;
    std::optional<opendoca::ShaKind> message; ///< the kind of the one that has begun
    bool has_job = false;                     ///< a piece that was not retrieved

private:
    const doca_sha *const sha_;
    const doca_workq *const workq_;
};
