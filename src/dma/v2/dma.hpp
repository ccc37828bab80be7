// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <doca_dma.h>

#include "../../core/v2/ctx.hpp"

/// The DMA library's object of DOCA 2.2: a context on one device, with a copy engine for each work queue that it is
/// added to. Created and owned by the program, which may add it to any number of work queues; the thread of each work
/// queue submits and retrieves its own jobs.
struct doca_dma final : doca_ctx {
    /// Where a copy puts its bytes: behind the data of the destination, which then grows, or over it from the data
    /// address on, as for programs built with DOCA up to 2.0.2.
    enum class Copies : std::uint8_t { append, overwrite };

    explicit doca_dma(Copies copies = Copies::append) : copies_(copies) {}

protected:
    // Called by the base class when the program adds a device, enables events, and adds the context to a work queue.
    [[nodiscard]] doca_error_t check_device(const doca_dev &dev, const std::vector<doca_dev *> &others) const override;
    [[nodiscard]] bool can_be_event_driven(const std::vector<doca_dev *> &devices) const override;
    [[nodiscard]] doca_error_t create_queue(const std::vector<doca_dev *> &devices, doca_workq &workq,
                                            std::unique_ptr<opendoca::v2::JobQueue> &queue) override;

private:
    const Copies copies_;
};
