// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "sha.hpp"

namespace opendoca::v3 {

/// The tasks of a SHA context that hash a message at once.
class HashTasks final : public PoolOf<doca_sha_task_hash> {
public:
    HashTasks(doca_ctx &owner, const TaskConf &as_told, HashQueue &hashes)
        : PoolOf(owner, as_told, false, true),
          hashes_(hashes)
    {
    }

    [[nodiscard]] doca_error_t submit(doca_task &base) noexcept override;
    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override;

private:
    HashQueue &hashes_;
};

/// Those that hash a message piece by piece.
class PartialHashTasks final : public PoolOf<doca_sha_task_partial_hash> {
public:
    PartialHashTasks(doca_ctx &owner, const TaskConf &as_told, HashQueue &hashes)
        : PoolOf(owner, as_told, true, true),
          hashes_(hashes)
    {
    }

    [[nodiscard]] doca_error_t submit(doca_task &base) noexcept override;
    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override;
    doca_error_t set_result(doca_task &base, const Ended &ended) noexcept override;

private:
    HashQueue &hashes_;
};

} // namespace opendoca::v3
