// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>
#include <vector>

#include <doca_sync_event.h>

#include "../../core/v2/ctx.hpp"
#include "../sync_event.hpp"

/// The sync event of DOCA 2.2: a SyncEvent that is a context in asynchronous mode. Created and owned by the program;
/// jobs are submitted and retrieved by the threads of its work queues. An event that was stopped cannot be started
/// again.
struct doca_sync_event final : doca_ctx {
    opendoca::SyncEvent event;

protected:
    // Called by the base class in asynchronous mode. The devices are those of the locations, so none can be added.
    [[nodiscard]] doca_error_t check_device(const doca_dev &dev, const std::vector<doca_dev *> &others) const override;
    [[nodiscard]] doca_error_t on_start(const std::vector<doca_dev *> &devices) override;
    void on_stop() noexcept override { event.stop_asynchronous(true); }
    [[nodiscard]] bool can_be_event_driven(const std::vector<doca_dev *> &devices) const override;
    [[nodiscard]] doca_error_t create_queue(const std::vector<doca_dev *> &devices, doca_workq &workq,
                                            std::unique_ptr<opendoca::v2::JobQueue> &queue) override;
};
