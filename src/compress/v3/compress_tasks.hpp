// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "compress.hpp"

namespace opendoca::v3 {

/// The pool of tasks of one type. Owned by its TaskType.
template <typename Task>
class CompressTasks final : public PoolOf<Task> {
public:
    CompressTasks(doca_ctx &owner, const TaskConf &configuration, CompressQueue &queue)
        : PoolOf<Task>(owner, configuration, false, true),
          queue_(queue)
    {
    }

    /// The task's own errors are reported by its completion. A full queue cannot occur: the context's queue has a
    /// credit for each task.
    [[nodiscard]] doca_error_t submit(doca_task &base) noexcept override
    {
        auto &task = static_cast<Task &>(base);
        const doca_error_t status = queue_.run(task.tag(), task.request, &task.checksums);
        if (status != DOCA_SUCCESS)
            task.ctx->completions().done(task.tag(), queue_, status);
        return DOCA_SUCCESS;
    }
    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override
    {
        return queue_.check(static_cast<const Task &>(base).request);
    }
    void abandoned(doca_task &base) noexcept override { queue_.drop(base.tag()); }

private:
    CompressQueue &queue_;
};

} // namespace opendoca::v3
