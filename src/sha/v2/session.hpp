// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <doca_sha.h>

#include "../hash_queue.hpp"

struct doca_workq;

/// The opaque type of the C API: a session of a SHA context on one work queue. Owned by the program; used by the work
/// queue's thread. The two pointers are compared only, so they may be stale.
struct doca_sha_partial_session : opendoca::HashSession {
    doca_sha_partial_session(const doca_sha &context, const doca_workq &queue) noexcept : sha_(&context), workq_(&queue)
    {
    }
    doca_sha_partial_session(const doca_sha_partial_session &) = delete;
    doca_sha_partial_session &operator=(const doca_sha_partial_session &) = delete;

    [[nodiscard]] bool belongs_to(const doca_sha *sha, const doca_workq *workq) const noexcept
    {
        return sha == sha_ && workq == workq_;
    }

private:
    const doca_sha *const sha_;
    const doca_workq *const workq_;
};
