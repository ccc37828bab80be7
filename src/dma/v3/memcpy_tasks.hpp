// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "dma.hpp"

namespace opendoca::v3 {

/// The copy tasks of a DMA context. Owned by its TaskType from the start to the next one; used by the thread of the
/// progress engine. @p Engine is the concrete type of the engine if it has a short path
/// (core/device/small_copies.hpp), else CopyEngine.
///
/// The first task that fails ends the context, as an error ends the queue of a device. Invariant: after it no task of
/// the pool copies anything. Those submitted between the failure and the progress call that reports it complete with
/// SHUTDOWN.
template <typename Engine>
class MemcpyTasks final : public PoolOf<doca_dma_task_memcpy> {
public:
    /// @p engine is @p generic_engine as its concrete type.
    MemcpyTasks(doca_ctx &owner, const TaskConf &configuration, CopyEngine &generic_engine, Engine &engine,
                const doca_dev &dev)
        : PoolOf(owner, configuration, false, true),
          engine_(engine),
          completions_(owner.completions()),
          check_(dev.device(), dev.function().can.dma_max_list_elements, dev.function().can.dma_max_size),
          generic_engine_(generic_engine)
    {
    }

    /// Submits a copy on the short path if the engine admits it. The completion queue has a credit for each task.
    [[nodiscard]] doca_error_t submit(doca_task &base) noexcept override
    {
        auto &task = static_cast<doca_dma_task_memcpy &>(base);
        if constexpr (requires { engine_.copy_fast(Tag{}, *task.dst, *task.src); }) {
            if (engine_.admit_with_credit(check_, *task.dst, *task.src)) [[likely]]
                return engine_.copy_fast(task.tag(), *task.dst, *task.src);
        }
        return submit_off_short_path(task);
    }
    [[nodiscard]] doca_error_t submit_off_fast_path(doca_task &task) noexcept override
    {
        return submit_any(static_cast<doca_dma_task_memcpy &>(task));
    }
    /// Copies that the engine admits, if it copies in the submit.
    [[nodiscard]] bool execute_at_once(doca_task &base) noexcept override
    {
        if constexpr (requires(doca_dma_task_memcpy & task) { Engine::copy_at_once(*task.dst, *task.src); }) {
            auto &task = static_cast<doca_dma_task_memcpy &>(base);
            if (!engine_.admit_with_credit(check_, *task.dst, *task.src))
                return false;
            Engine::copy_at_once(*task.dst, *task.src);
            return true;
        } else {
            return false;
        }
    }
    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override
    {
        const auto &task = static_cast<const doca_dma_task_memcpy &>(base);
        CopyPlan plan{};
        return check(task, plan);
    }

private:
    /// Submits a task that the short path does not take, while the pool is on its fast path: a task that is refused is
    /// returned to the program here.
    [[gnu::noinline]] [[nodiscard]] doca_error_t submit_off_short_path(doca_dma_task_memcpy &task) noexcept
    {
        // The engine may have a short path for imported memory on one side; the other is memory of this process.
        if constexpr (requires { engine_.end_imported(Tag{}, *task.dst, *task.src); }) {
            return (task.src->fast_path_uses & KeyUse::copied_here) == 0 ? submit_imported<Engine::imported_src>(task)
                                                                         : submit_imported<Engine::imported_dst>(task);
        } else {
            return submit_checked(task);
        }
    }
    /// Submits a copy with imported memory on @p side. Returns to the general path if the engine does not take it.
    template <auto side>
    [[gnu::noinline]] [[nodiscard]] doca_error_t submit_imported(doca_dma_task_memcpy &task) noexcept
    {
        if (!engine_.template copy_imported<side>(check_, *task.dst, *task.src)) [[unlikely]]
            return submit_checked(task);
        engine_.end_imported(task.tag(), *task.dst, *task.src);
        return DOCA_SUCCESS;
    }
    [[gnu::noinline]] [[nodiscard]] doca_error_t submit_checked(doca_dma_task_memcpy &task) noexcept
    {
        const doca_error_t status = submit_any(task);
        return status == DOCA_SUCCESS ? status : undo_submit(task, status);
    }
    /// Submits any task. An invalid one is not refused but completes with an error. AGAIN if the engine is full.
    [[nodiscard]] doca_error_t submit_any(doca_dma_task_memcpy &task) noexcept;
    /// Makes the plan of the copy, or returns why it is impossible, after a log line.
    [[nodiscard]] doca_error_t check(const doca_dma_task_memcpy &task, CopyPlan &plan) const noexcept;

    Engine &engine_; ///< source of the completions of tasks that are not copied
    CompletionQueue &completions_;
    CopyCheck check_;
    CopyEngine &generic_engine_; ///< for lists and unusual buffers
};

} // namespace opendoca::v3
