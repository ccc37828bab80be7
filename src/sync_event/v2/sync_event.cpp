// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sync_event.hpp"

#include <algorithm>

#include "../../core/log/log.hpp"
#include "../../core/v2/workq.hpp"
#include "sync_event_jobs.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SYNC_EVENT);

doca_error_t doca_sync_event::check_device(const doca_dev &, const std::vector<doca_dev *> &) const
{
    LOG_ERR("a sync event has the devices of its locations: none can be added to its context");
    return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_sync_event::on_start(const std::vector<doca_dev *> &)
{
    return event.start_asynchronous();
}

/// An event without a device can be event-driven: its counter is in this process.
bool doca_sync_event::can_be_event_driven(const std::vector<doca_dev *> &) const
{
    return std::ranges::all_of(event.devices(),
                               [](const auto &dev) { return dev->function().can.sync_event_event_driven; });
}

/// Each work queue has asynchronous waits of its own; the counter is shared.
doca_error_t doca_sync_event::create_queue(const std::vector<doca_dev *> &, doca_workq &workq,
                                           std::unique_ptr<opendoca::v2::JobQueue> &queue)
{
    return opendoca::v2::SyncEventJobs::create(event.counter(), workq.completions, queue);
}
