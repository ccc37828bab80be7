// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "dma.hpp"

namespace opendoca::v3 {

/// The tasks of a DMA context. @p Engine is a provider's own type, or CopyEngine.
///
/// The first task that fails ends the context, as it ends the queue of a device: those submitted after it, up to the
/// progress call that tells of it, come back as failed and have copied nothing.
template <typename Engine>
class MemcpyTasks final : public PoolOf<doca_dma_task_memcpy> {
public:
    MemcpyTasks(doca_ctx &owner, const TaskConf &as_told, CopyEngine &any, Engine &engine, const doca_dev &dev)
        : PoolOf(owner, as_told, false, true),
          engine_(engine),
          completions_(owner.completions()),
          check_(dev.device(), dev.function().can.dma_max_list_elements, dev.function().can.dma_max_size),
          any_(any)
    {
    }

    [[nodiscard]] doca_error_t submit(doca_task &base) noexcept override
    {
        auto &task = static_cast<doca_dma_task_memcpy &>(base);
        if constexpr (requires { engine_.copy_fast(Tag{}, *task.dst, *task.src); }) {
            if (engine_.admit_with_credit(check_, *task.dst, *task.src)) [[likely]]
                return engine_.copy_fast(task.tag(), *task.dst, *task.src);
        }
        return submit_special(task);
    }
    [[nodiscard]] doca_error_t submit_off_fast_path(doca_task &task) noexcept override
    {
        return submit_any(static_cast<doca_dma_task_memcpy &>(task));
    }
    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override
    {
        const auto &task = static_cast<const doca_dma_task_memcpy &>(base);
        CopyPlan plan{};
        return check(task, plan);
    }

private:
    /// What the fast path does not take, while the pool is on it: so the task is the program's again when it is
    /// refused.
    [[gnu::noinline]] [[nodiscard]] doca_error_t submit_special(doca_dma_task_memcpy &task) noexcept
    {
        const doca_error_t status = submit_any(task);
        return status == DOCA_SUCCESS ? status : not_taken(task, status);
    }
    /// AGAIN when the engine has no room for it.
    [[nodiscard]] doca_error_t submit_any(doca_dma_task_memcpy &task) noexcept;
    [[nodiscard]] doca_error_t check(const doca_dma_task_memcpy &task, CopyPlan &plan) const noexcept;

    Engine &engine_;
    CompletionQueue &completions_;
    CopyCheck check_;
    CopyEngine &any_;
};

} // namespace opendoca::v3
