// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "ec.hpp"

namespace opendoca::v3 {

/// The pool of tasks of one of the four kinds, which differ in their names only. Owned by its TaskType.
template <typename Task>
class CodingTasks final : public PoolOf<Task> {
public:
    CodingTasks(doca_ctx &owner, const TaskConf &configuration, CodingQueue &codings)
        : PoolOf<Task>(owner, configuration, false, true),
          codings_(codings)
    {
    }

    /// A task's own errors are reported by its completion. A full queue cannot occur: the context's queue has a credit
    /// for each task.
    [[nodiscard]] doca_error_t submit(doca_task &base) noexcept override
    {
        auto &task = static_cast<Task &>(base);
        if (const doca_error_t status = codings_.multiply(task.tag(), task.matrix, task.src, task.dst);
            status != DOCA_SUCCESS)
            task.ctx->completions().done(task.tag(), codings_, status);
        return DOCA_SUCCESS;
    }
    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override
    {
        const auto &task = static_cast<const Task &>(base);
        return codings_.check(task.matrix, task.src, task.dst);
    }
    void abandoned(doca_task &base) noexcept override { codings_.drop(base.tag()); }

private:
    CodingQueue &codings_;
};

} // namespace opendoca::v3
