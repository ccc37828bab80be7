// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of doca_sync_event.h of DOCA 3.0 except for those of tasks. They check arguments and call the
// SyncEvent, or remote_net.hpp for events of other nodes.
#include <cstddef>
#include <memory>
#include <span>

#include "../../core/log/log.hpp"
#include "../../core/objects/buf.hpp"
#include "../../core/objects/mmap.hpp"
#include "../../core/v3/call.hpp"
#include "remote_net.hpp"
#include "sync_event.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SYNC_EVENT_API);

using opendoca::SyncEvent;
using opendoca::WaitCondition;
using opendoca::v3::call;
using enum opendoca::Counter::WhileWaiting;
using enum SyncEvent::Location;

namespace {

/// Converts a capability of the device to the code of a query.
doca_error_t status_of(const doca_devinfo *devinfo, bool opendoca::Capabilities::*can) noexcept
{
    return call({devinfo}, [&] { return devinfo->function->can.*can ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED; });
}

/// Fails with NOT_SUPPORTED, after the check of @p arguments for null: no device has a DPA or a GPU.
doca_error_t no_such_processor(std::initializer_list<const void *> arguments, const char *what) noexcept
{
    return call(arguments, [&] {
        LOG_ERR("no device has a %s", what);
        return DOCA_ERROR_NOT_SUPPORTED;
    });
}

/// Calls @p make and, on success, returns the descriptor that it has made to the program. The bytes belong to the
/// event.
template <typename Export>
doca_error_t return_descriptor(const uint8_t **data, size_t *sz, Export &&make)
{
    std::span<const std::byte> descriptor;
    const doca_error_t status = make(descriptor);
    if (status == DOCA_SUCCESS) {
        *data = reinterpret_cast<const uint8_t *>(descriptor.data());
        *sz = descriptor.size();
    }
    return status;
}

} // namespace

doca_error_t doca_sync_event_create(doca_sync_event **event)
{
    return call({event}, [&] { *event = new doca_sync_event; });
}

/// The handle is given to the program only when the import has succeeded; until then its unique_ptr destroys it.
doca_error_t doca_sync_event_create_from_export(doca_dev *dev, const uint8_t *data, size_t sz, doca_sync_event **event)
{
    if (sz == 0)
        return opendoca::refuse_value("a descriptor of 0 bytes");
    return call({dev, data, event}, [&] {
        auto created = std::make_unique<doca_sync_event>();
        const doca_error_t status = created->event.import(*dev, std::as_bytes(std::span(data, sz)));
        if (status == DOCA_SUCCESS)
            *event = created.release();
        return status;
    });
}

/// Possible when the context is idle and synchronous mode is stopped: an event may be used in either way.
doca_error_t doca_sync_event_destroy(doca_sync_event *event)
{
    return call({event}, [&] {
        doca_error_t status = event->check_idle(DOCA_ERROR_IN_USE);
        if (status == DOCA_SUCCESS)
            status = event->event.check_stopped();
        if (status == DOCA_SUCCESS)
            delete event;
        return status;
    });
}

doca_error_t doca_sync_event_remote_net_create_from_export(doca_dev *dev, const uint8_t *data, size_t sz,
                                                           doca_sync_event_remote_net **event)
{
    if (sz == 0)
        return opendoca::refuse_value("a descriptor of 0 bytes");
    return call({dev, data, event},
                [&] { return opendoca::v3::import_from_net(*dev, std::as_bytes(std::span(data, sz)), *event); });
}

/// No task may use the handle; that is not checked.
doca_error_t doca_sync_event_remote_net_destroy(doca_sync_event_remote_net *event)
{
    return call({event}, [&] { delete event; });
}

// Locations: one publisher and one subscriber.

doca_error_t doca_sync_event_add_publisher_location_cpu(doca_sync_event *event, doca_dev *dev)
{
    return call({event, dev}, [&] { return event->event.add_publisher(cpu, dev); });
}

doca_error_t doca_sync_event_add_publisher_location_dpa(doca_sync_event *event, doca_dpa *dpa)
{
    return no_such_processor({event, dpa}, "DPA");
}

doca_error_t doca_sync_event_add_publisher_location_gpu(doca_sync_event *event, doca_gpu *gpu)
{
    return no_such_processor({event, gpu}, "GPU");
}

/// Without a device: the process there imports the event through a device of its own.
doca_error_t doca_sync_event_add_publisher_location_remote_pci(doca_sync_event *event)
{
    return call({event}, [&] { return event->event.add_publisher(remote_pci, nullptr); });
}

doca_error_t doca_sync_event_add_subscriber_location_cpu(doca_sync_event *event, doca_dev *dev)
{
    return call({event, dev}, [&] { return event->event.add_subscriber(cpu, dev); });
}

doca_error_t doca_sync_event_add_subscriber_location_dpa(doca_sync_event *event, doca_dpa *dpa)
{
    return no_such_processor({event, dpa}, "DPA");
}

doca_error_t doca_sync_event_add_subscriber_location_gpu(doca_sync_event *event, doca_gpu *gpu)
{
    return no_such_processor({event, gpu}, "GPU");
}

doca_error_t doca_sync_event_add_subscriber_location_remote_pci(doca_sync_event *event)
{
    return call({event}, [&] { return event->event.add_subscriber(remote_pci, nullptr); });
}

/// A subscriber cannot be on another node: only updates, and no waits, are carried out by RDMA.
doca_error_t doca_sync_event_add_publisher_location_remote_net(doca_sync_event *event)
{
    return call({event}, [&] { return event->event.add_publisher(remote_net, nullptr); });
}

doca_error_t doca_sync_event_set_addr(doca_sync_event *event, uint64_t *addr)
{
    return call({event, addr}, [&] { return event->event.set_addr(addr); });
}

/// Places the counter at the data address of @p buf. The memory must exist as long as the event; the buffer need not.
doca_error_t doca_sync_event_set_doca_buf(doca_sync_event *event, doca_buf *buf)
{
    return call({event, buf}, [&] {
        if (buf->mmap->is_imported()) {
            LOG_ERR("buffer %p is imported memory: the counter of a sync event must be in memory of this process",
                    static_cast<void *>(buf));
            return DOCA_ERROR_NOT_PERMITTED;
        }
        if (buf->data_len < sizeof(uint64_t)) {
            LOG_ERR("buffer %p has %zu bytes of data: a counter takes 8", static_cast<void *>(buf), buf->data_len);
            return DOCA_ERROR_INVALID_VALUE;
        }
        return event->event.set_addr(reinterpret_cast<uint64_t *>(buf->data));
    });
}

// Start and stop of synchronous mode; a context is started by doca_ctx_start().

doca_error_t doca_sync_event_start(doca_sync_event *event)
{
    return call({event}, [&] { return event->event.start_synchronous(); });
}

/// Not for good, unlike in DOCA 2.2: the event can be started again.
doca_error_t doca_sync_event_stop(doca_sync_event *event)
{
    return call({event}, [&] { return event->event.stop_synchronous(false); });
}

/// From this call on the event cannot be started in synchronous mode. Null for an event that was started in it.
doca_ctx *doca_sync_event_as_ctx(doca_sync_event *event)
{
    return event != nullptr && event->event.become_context() ? event : nullptr;
}

// Exports, through a device to the other side of the PCIe or by RDMA to another node.

doca_error_t doca_sync_event_export_to_remote_pci(doca_sync_event *event, doca_dev *dev, const uint8_t **data,
                                                  size_t *sz)
{
    return call({event, dev, data, sz}, [&] {
        return return_descriptor(data, sz,
                                 [&](auto &descriptor) { return event->event.export_to_pci(*dev, descriptor); });
    });
}

doca_error_t doca_sync_event_export_to_remote_net(doca_sync_event *event, const uint8_t **data, size_t *sz)
{
    return call({event, data, sz}, [&] {
        return return_descriptor(data, sz,
                                 [&](auto &descriptor) { return opendoca::v3::export_to_net(*event, descriptor); });
    });
}

/// No device has a DPA or a GPU, so no handles for their programs exist.
doca_error_t doca_sync_event_get_dpa_handle(doca_sync_event *event, doca_dpa *dpa, doca_dpa_dev_sync_event_t *handle)
{
    return no_such_processor({event, dpa, handle}, "DPA");
}

doca_error_t doca_sync_event_get_gpu_handle(doca_sync_event *event, doca_gpu *gpu, doca_gpu_dev_sync_event_t **handle)
{
    return no_such_processor({event, gpu, handle}, "GPU");
}

doca_error_t doca_sync_event_remote_net_get_dpa_handle(doca_sync_event_remote_net *event, doca_dpa *dpa,
                                                       doca_dpa_dev_sync_event_remote_net_t *handle)
{
    return no_such_processor({event, dpa, handle}, "DPA");
}

doca_error_t doca_sync_event_remote_net_get_gpu_handle(doca_sync_event_remote_net *event, doca_gpu *gpu,
                                                       doca_gpu_dev_sync_event_remote_net_t *handle)
{
    return no_such_processor({event, gpu, handle}, "GPU");
}

// Capabilities

doca_error_t doca_sync_event_cap_is_create_from_export_supported(const doca_devinfo *devinfo)
{
    return call({devinfo},
                [&] { return devinfo->function->can_import_counter() ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED; });
}

doca_error_t doca_sync_event_cap_is_export_to_remote_pci_supported(const doca_devinfo *devinfo)
{
    return call({devinfo},
                [&] { return devinfo->function->can_export_counter() ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED; });
}

/// Both sides need the same capability of their device.
doca_error_t doca_sync_event_cap_is_export_to_remote_net_supported(const doca_devinfo *devinfo)
{
    return doca_sync_event_cap_remote_net_is_create_from_export_supported(devinfo);
}

doca_error_t doca_sync_event_cap_remote_net_is_create_from_export_supported(const doca_devinfo *devinfo)
{
    return call({devinfo}, [&] {
        // The tasks on remote counters are RDMA reads, writes and atomics.
        return devinfo->function->can.rdma.atomics_of_connections() ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
    });
}

/// The capability is one of the device: a device that holds counters supports all tasks on them.
doca_error_t doca_sync_event_cap_task_get_is_supported(const doca_devinfo *devinfo)
{
    return status_of(devinfo, &opendoca::Capabilities::sync_event);
}

doca_error_t doca_sync_event_cap_task_notify_set_is_supported(const doca_devinfo *devinfo)
{
    return status_of(devinfo, &opendoca::Capabilities::sync_event);
}

doca_error_t doca_sync_event_cap_task_notify_add_is_supported(const doca_devinfo *devinfo)
{
    return status_of(devinfo, &opendoca::Capabilities::sync_event);
}

doca_error_t doca_sync_event_cap_task_wait_eq_is_supported(const doca_devinfo *devinfo)
{
    return status_of(devinfo, &opendoca::Capabilities::sync_event);
}

doca_error_t doca_sync_event_cap_task_wait_neq_is_supported(const doca_devinfo *devinfo)
{
    return status_of(devinfo, &opendoca::Capabilities::sync_event);
}

/// The four queries below are NOT_SUPPORTED for every device.
doca_error_t doca_sync_event_cap_is_export_to_dpa_supported(const doca_devinfo *devinfo)
{
    return devinfo == nullptr ? opendoca::refuse_null() : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_sync_event_cap_is_export_to_gpu_supported(const doca_devinfo *devinfo)
{
    return devinfo == nullptr ? opendoca::refuse_null() : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_sync_event_cap_remote_net_is_export_to_dpa_supported(const doca_devinfo *devinfo)
{
    return devinfo == nullptr ? opendoca::refuse_null() : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_sync_event_cap_remote_net_is_export_to_gpu_supported(const doca_devinfo *devinfo)
{
    return devinfo == nullptr ? opendoca::refuse_null() : DOCA_ERROR_NOT_SUPPORTED;
}

// Operations in synchronous mode. They check for null pointers themselves: call() would cost more than the operation,
// and these functions allocate and throw nothing. The wait functions block the
// calling thread: they poll without pause, and the _yield variants let other threads run between their polls.

doca_error_t doca_sync_event_get(doca_sync_event *event, uint64_t *value)
{
    return event == nullptr || value == nullptr ? opendoca::refuse_null() : event->event.get(*value);
}

doca_error_t doca_sync_event_update_add(doca_sync_event *event, uint64_t value, uint64_t *fetched)
{
    return event == nullptr ? opendoca::refuse_null() : event->event.add(value, fetched);
}

doca_error_t doca_sync_event_update_set(doca_sync_event *event, uint64_t value)
{
    return event == nullptr ? opendoca::refuse_null() : event->event.set(value);
}

doca_error_t doca_sync_event_wait_gt(doca_sync_event *event, uint64_t value, uint64_t mask)
{
    return event == nullptr ? opendoca::refuse_null() : event->event.wait(WaitCondition::greater(value, mask), spin);
}

doca_error_t doca_sync_event_wait_gt_yield(doca_sync_event *event, uint64_t value, uint64_t mask)
{
    return event == nullptr ? opendoca::refuse_null() : event->event.wait(WaitCondition::greater(value, mask), yield);
}

doca_error_t doca_sync_event_wait_eq(doca_sync_event *event, uint64_t value, uint64_t mask)
{
    return event == nullptr ? opendoca::refuse_null() : event->event.wait(WaitCondition::equal(value, mask), spin);
}

doca_error_t doca_sync_event_wait_eq_yield(doca_sync_event *event, uint64_t value, uint64_t mask)
{
    return event == nullptr ? opendoca::refuse_null() : event->event.wait(WaitCondition::equal(value, mask), yield);
}

doca_error_t doca_sync_event_wait_neq(doca_sync_event *event, uint64_t value, uint64_t mask)
{
    return event == nullptr ? opendoca::refuse_null() : event->event.wait(WaitCondition::not_equal(value, mask), spin);
}

doca_error_t doca_sync_event_wait_neq_yield(doca_sync_event *event, uint64_t value, uint64_t mask)
{
    return event == nullptr ? opendoca::refuse_null() : event->event.wait(WaitCondition::not_equal(value, mask), yield);
}
