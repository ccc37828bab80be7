// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of doca_sync_event.h of DOCA 2.2. They check arguments and call the SyncEvent.
#include <cstddef>
#include <memory>
#include <span>

#include "../../core/log/log.hpp"
#include "../../core/objects/dev.hpp"
#include "../../core/v2/call.hpp"
#include "sync_event.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SYNC_EVENT_API);

using opendoca::refuse_null;
using opendoca::SyncEvent;
using opendoca::WaitCondition;
using opendoca::v2::call;
using enum opendoca::Counter::WhileWaiting;
using enum SyncEvent::Location;

namespace {

/// Converts a capability to the code of a query.
doca_error_t status_of(bool is_supported) noexcept
{
    return is_supported ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

/// Fails with NOT_SUPPORTED: no device has a DPA or a GPU.
doca_error_t no_such_processor(const char *what) noexcept
{
    LOG_ERR("no device has a %s", what);
    return DOCA_ERROR_NOT_SUPPORTED;
}

} // namespace

doca_error_t doca_sync_event_create(doca_sync_event **event)
{
    return call({event}, [&] { *event = new doca_sync_event; });
}

/// The handle is given to the program only when the import has succeeded; until then its unique_ptr destroys it.
doca_error_t doca_sync_event_create_from_export(doca_dev *dev, const uint8_t *data, size_t sz, doca_sync_event **event)
{
    return call({dev, data, event}, [&] {
        if (sz == 0) {
            LOG_ERR("a descriptor of 0 bytes is invalid");
            return DOCA_ERROR_INVALID_VALUE;
        }
        auto created = std::make_unique<doca_sync_event>();
        const doca_error_t status = created->event.import(*dev, std::as_bytes(std::span(data, sz)));
        if (status == DOCA_SUCCESS)
            *event = created.release();
        return status;
    });
}

/// Also destroys the context. BAD_STATE while the event is started.
doca_error_t doca_sync_event_destroy(doca_sync_event *event)
{
    return call({event}, [&] {
        const doca_error_t status = event->event.check_stopped();
        if (status == DOCA_SUCCESS)
            delete event;
        return status;
    });
}

doca_error_t doca_sync_event_get_create_from_export_supported(const doca_devinfo *devinfo)
{
    return call({devinfo}, [&] { return status_of(devinfo->function->can_import_counter()); });
}

// Locations: one publisher and one subscriber, each on a CPU or on the DPU.

doca_error_t doca_sync_event_publisher_add_location_cpu(doca_sync_event *event, doca_dev *dev)
{
    return call({event, dev}, [&] { return event->event.add_publisher(cpu, dev); });
}

doca_error_t doca_sync_event_publisher_add_location_dpa(doca_sync_event *event, doca_dpa *dpa)
{
    return call({event, dpa}, [&] { return no_such_processor("DPA"); });
}

doca_error_t doca_sync_event_publisher_add_location_gpu(doca_sync_event *event, doca_gpu *gpu)
{
    return call({event, gpu}, [&] { return no_such_processor("GPU"); });
}

/// Without a device: the process on the DPU imports the event through a device of its own.
doca_error_t doca_sync_event_publisher_add_location_dpu(doca_sync_event *event)
{
    return call({event}, [&] { return event->event.add_publisher(remote_pci, nullptr); });
}

doca_error_t doca_sync_event_subscriber_add_location_cpu(doca_sync_event *event, doca_dev *dev)
{
    return call({event, dev}, [&] { return event->event.add_subscriber(cpu, dev); });
}

doca_error_t doca_sync_event_subscriber_add_location_dpa(doca_sync_event *event, doca_dpa *dpa)
{
    return call({event, dpa}, [&] { return no_such_processor("DPA"); });
}

doca_error_t doca_sync_event_subscriber_add_location_gpu(doca_sync_event *event, doca_gpu *gpu)
{
    return call({event, gpu}, [&] { return no_such_processor("GPU"); });
}

doca_error_t doca_sync_event_subscriber_add_location_dpu(doca_sync_event *event)
{
    return call({event}, [&] { return event->event.add_subscriber(remote_pci, nullptr); });
}

doca_error_t doca_sync_event_set_addr(doca_sync_event *event, uint64_t *addr)
{
    return call({event, addr}, [&] { return event->event.set_addr(addr); });
}

// Start and stop of synchronous mode; a context is started by doca_ctx_start().

doca_error_t doca_sync_event_start(doca_sync_event *event)
{
    return call({event}, [&] { return event->event.start_synchronous(); });
}

/// For good, unlike in DOCA 3.0: the event can only be destroyed then.
doca_error_t doca_sync_event_stop(doca_sync_event *event)
{
    return call({event}, [&] { return event->event.stop_synchronous(true); });
}

/// From this call on the event cannot be started in synchronous mode. Null for an event that was started in it.
doca_ctx *doca_sync_event_as_ctx(doca_sync_event *event)
{
    return event != nullptr && event->event.become_context() ? event : nullptr;
}

/// A device that holds counters supports all jobs on them.
doca_error_t doca_sync_event_job_get_supported(doca_devinfo *devinfo, doca_sync_event_job_types type)
{
    return call({devinfo}, [&] {
        if (type < DOCA_SYNC_EVENT_JOB_WAIT_GT || type > DOCA_SYNC_EVENT_JOB_UPDATE_ADD) {
            LOG_ERR("job type %d is not one of sync events'", static_cast<int>(type));
            return DOCA_ERROR_INVALID_VALUE;
        }
        return status_of(devinfo->function->can.sync_event);
    });
}

// Exports: the bytes belong to the event.

doca_error_t doca_sync_event_export_to_dpu(doca_sync_event *event, doca_dev *dev, const uint8_t **data, size_t *sz)
{
    return call({event, dev, data, sz}, [&] {
        std::span<const std::byte> descriptor;
        const doca_error_t status = event->event.export_to_pci(*dev, descriptor);
        if (status == DOCA_SUCCESS) {
            *data = reinterpret_cast<const uint8_t *>(descriptor.data());
            *sz = descriptor.size();
        }
        return status;
    });
}

doca_error_t doca_sync_event_get_export_to_dpu_supported(const doca_devinfo *devinfo)
{
    return call({devinfo}, [&] { return status_of(devinfo->function->can_export_counter()); });
}

doca_error_t doca_sync_event_export_to_dpa(doca_sync_event *event, doca_dpa *dpa, doca_dpa_dev_sync_event_t *handle)
{
    return call({event, dpa, handle}, [&] { return no_such_processor("DPA"); });
}

/// Also the answer for a GPU below: the capability of a processor that no device has.
doca_error_t doca_sync_event_get_export_to_dpa_supported(const doca_devinfo *devinfo)
{
    return call({devinfo}, [&] { return DOCA_ERROR_NOT_SUPPORTED; });
}

doca_error_t doca_sync_event_export_to_gpu(doca_sync_event *event, doca_gpu *gpu, doca_gpu_dev_sync_event_t **handle)
{
    return call({event, gpu, handle}, [&] { return no_such_processor("GPU"); });
}

doca_error_t doca_sync_event_get_export_to_gpu_supported(const doca_devinfo *devinfo)
{
    return call({devinfo}, [&] { return DOCA_ERROR_NOT_SUPPORTED; });
}

/// Reports errors of the state first, as for the other exports.
doca_error_t doca_sync_event_export_remote(doca_sync_event *event, doca_sync_event_remote_t *handle)
{
    return call({event, handle}, [&] {
        if (const doca_error_t status = event->event.check_exportable(); status != DOCA_SUCCESS)
            return status;
        LOG_ERR("no device exports sync events to other nodes");
        return DOCA_ERROR_NOT_SUPPORTED;
    });
}

// Operations in synchronous mode. They check for null pointers themselves: call() would cost more than the operation,
// and these functions allocate and throw nothing.

doca_error_t doca_sync_event_get(doca_sync_event *event, uint64_t *value)
{
    return event == nullptr || value == nullptr ? refuse_null() : event->event.get(*value);
}

doca_error_t doca_sync_event_update_add(doca_sync_event *event, uint64_t value, uint64_t *fetched)
{
    return event == nullptr ? refuse_null() : event->event.add(value, fetched);
}

doca_error_t doca_sync_event_update_set(doca_sync_event *event, uint64_t value)
{
    return event == nullptr ? refuse_null() : event->event.set(value);
}

/// Polls without pause; the _yield variant lets other threads run between its polls.
doca_error_t doca_sync_event_wait_gt(doca_sync_event *event, uint64_t value, uint64_t mask)
{
    return event == nullptr ? refuse_null() : event->event.wait(WaitCondition::greater(value, mask), spin);
}

doca_error_t doca_sync_event_wait_gt_yield(doca_sync_event *event, uint64_t value, uint64_t mask)
{
    return event == nullptr ? refuse_null() : event->event.wait(WaitCondition::greater(value, mask), yield);
}
