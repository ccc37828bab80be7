// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <doca_dma.h>

#include "../../core/v2/ctx.hpp"

/// The DMA library's object: a context on one device.
struct doca_dma final : doca_ctx {
    /// Whether copies overwrite, as those of programs up to DOCA 2.0.2, or append.
    enum class Copies : std::uint8_t { append, overwrite };

    explicit doca_dma(Copies copies = Copies::append) : copies_(copies) {}

protected:
    [[nodiscard]] doca_error_t check_device(const doca_dev &dev, const std::vector<doca_dev *> &others) const override;
    [[nodiscard]] bool can_be_event_driven(const std::vector<doca_dev *> &devices) const override;
    [[nodiscard]] doca_error_t create_queue(const std::vector<doca_dev *> &devices, doca_workq &workq,
                                            std::unique_ptr<opendoca::v2::JobQueue> &queue) override;

private:
    const Copies copies_;
};
