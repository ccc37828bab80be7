// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <doca_dma.h>

#include "../../core/device/copy_engine.hpp"
#include "../../core/objects/buf.hpp"
#include "../../core/v3/ctx.hpp"

namespace opendoca::v3 {

/// Stands for a null pointer in a task. It has no memory, so the check on the short path refuses it like any other
/// unusable buffer and needs no test for null.
inline constinit doca_buf no_buffer{};

} // namespace opendoca::v3

/// A copy. The buffers are the program's and must exist until the task has completed.
struct doca_dma_task_memcpy : doca_task {
    const doca_buf *src; ///< never null: no_buffer if the program has set none
    doca_buf *dst;       ///< the same
};

/// The DMA library's object of DOCA 3.0: a context on one device, with one copy engine while it runs. Created and
/// owned by the program; used by the thread of its progress engine.
struct doca_dma final : doca_ctx {
    explicit doca_dma(doca_dev &dev) : doca_ctx(&dev) {}
    ~doca_dma() override = default;

    /// Lets tasks complete in the order of submission, from now on and in later runs of the context.
    void set_ordered(bool is_ordered) noexcept
    {
        is_ordered_ = is_ordered;
        if (engine_ != nullptr)
            engine_->set_ordered(is_ordered);
    }

    opendoca::v3::TaskType<doca_dma_task_memcpy, doca_dma_task_memcpy_completion_cb_t> memcpy{*this};

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override;
    void on_idle() noexcept override { engine_.reset(); }
    /// The failure of any task ends the context: see MemcpyTasks.
    [[nodiscard]] bool stops_on_failure_of(const doca_task &) const noexcept override { return true; }

private:
    bool is_ordered_ = false;
    std::unique_ptr<opendoca::CopyEngine> engine_; ///< from on_start() to on_idle()
};
