// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <doca_dma.h>

#include "../../core/device/copy_engine.hpp"
#include "../../core/v3/ctx.hpp"

struct doca_dma_task_memcpy : doca_task {
    const doca_buf *src;
    doca_buf *dst;
};

/// The DMA library's object: a context on one device, with a copy engine while it runs.
struct doca_dma final : doca_ctx {
    explicit doca_dma(doca_dev &dev) : doca_ctx(&dev) {}
    ~doca_dma() override = default;

    opendoca::v3::TaskType<doca_dma_task_memcpy, doca_dma_task_memcpy_completion_cb_t> memcpy{*this};

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override;
    void on_idle() noexcept override { engine_.reset(); }
    [[nodiscard]] bool ends_with(const doca_task &) const noexcept override { return true; }

private:
    std::unique_ptr<opendoca::CopyEngine> engine_;
};
