// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "sha.hpp"

namespace opendoca::v3 {

/// The pool of tasks that hash a message at once. Owned by its TaskType.
class HashTasks final : public PoolOf<doca_sha_task_hash> {
public:
    HashTasks(doca_ctx &owner, const TaskConf &configuration, HashQueue &hashes)
        : PoolOf(owner, configuration, false, true),
          hashes_(hashes)
    {
    }

    [[nodiscard]] doca_error_t submit(doca_task &base) noexcept override;
    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override;
    void abandoned(doca_task &base) noexcept override { hashes_.forget_buffers(base.tag()); }

private:
    HashQueue &hashes_;
};

/// The pool of tasks that hash a message in pieces. Has results: has_result is set when the last piece has completed.
class PartialHashTasks final : public PoolOf<doca_sha_task_partial_hash> {
public:
    PartialHashTasks(doca_ctx &owner, const TaskConf &configuration, HashQueue &hashes)
        : PoolOf(owner, configuration, true, true),
          hashes_(hashes)
    {
    }

    [[nodiscard]] doca_error_t submit(doca_task &base) noexcept override;
    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override;
    void abandoned(doca_task &base) noexcept override { hashes_.forget_buffers(base.tag()); }
    doca_error_t set_result(doca_task &base, const Ended &ended) noexcept override;

private:
    HashQueue &hashes_;
};

} // namespace opendoca::v3
