// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "device_events.hpp"

#include <cstddef>
#include <cstdint>

#include "big_endian.hpp"
#include "limits.hpp"

namespace opendoca::card {

namespace {

// Offsets in an event's entry (Linux, include/linux/mlx5/device.h: struct mlx5_eqe).
constexpr std::size_t at_event_type = 1, at_event_subtype = 3, at_event_data = 32;
constexpr std::size_t at_queue_number = at_event_data + 24; // of a completion's queue, of a work queue
constexpr std::size_t at_event_port = at_event_data + 8;    // in the upper four bits
constexpr std::size_t at_cq_number = at_event_data, at_cq_syndrome = at_event_data + 11; // of an error

EventEntry entry_of(EventNumber number)
{
    EventEntry entry{};
    entry[at_event_type] = static_cast<std::uint8_t>(number);
    return entry;
}

EventEntry entry_of(EventNumber number, std::uint32_t queue)
{
    EventEntry entry = entry_of(number);
    store_big(&entry[at_queue_number], queue);
    return entry;
}

/// Returns the device's number of an event of a queue pair.
EventNumber device_number(Event event)
{
    switch (event) {
    case Event::qp_request_error:
        return EventNumber::work_queue_request_error;
    case Event::qp_access_error:
        return EventNumber::work_queue_access_error;
    case Event::last_request:
        return EventNumber::srq_last_request;
    case Event::cq_error:
        return EventNumber::cq_error;
    case Event::srq_limit:
        return EventNumber::srq_limit;
    case Event::qp_fatal:
        break;
    }
    return EventNumber::work_queue_fatal;
}

} // namespace

void report_event(QueuePair &qp, Event event)
{
    if (!qp.is_created_by_devx)
        return qp.file.send_event(qp.user_handle, static_cast<std::uint32_t>(event), &qp.async_events);
    const EventNumber number = device_number(event);
    qp.file.subscriptions.deliver(&qp, number, entry_of(number, qp.number()));
}

void report_overrun(CompletionQueue &cq)
{
    constexpr std::uint8_t overrun = 1;
    if (!cq.is_created_by_devx)
        return cq.file.send_event(cq.user_handle, static_cast<std::uint32_t>(Event::cq_error), &cq.async_events);
    EventEntry entry = entry_of(EventNumber::cq_error);
    store_big(&entry[at_cq_number], cq.number());
    entry[at_cq_syndrome] = overrun;
    cq.file.subscriptions.deliver(&cq, EventNumber::cq_error, entry);
}

void report_completions(CompletionQueue &cq)
{
    if (cq.is_created_by_devx)
        cq.file.subscriptions.deliver(&cq, EventNumber::completion, entry_of(EventNumber::completion, cq.number()));
    else if (cq.channel->write(&cq.user_handle, sizeof(cq.user_handle)))
        ++cq.completion_events;
}

bool has_listener(const CompletionQueue &cq)
{
    return cq.channel != nullptr || cq.is_subscribed;
}

void report_limit(SharedReceiveQueue &srq)
{
    if (!srq.is_created_by_devx)
        return srq.file.send_event(srq.user_handle, static_cast<std::uint32_t>(Event::srq_limit), &srq.async_events);
    srq.file.subscriptions.deliver(&srq, EventNumber::srq_limit, entry_of(EventNumber::srq_limit, srq.number()));
}

void report_port(OpenFile &file, bool is_up)
{
    constexpr std::uint32_t port_active = 9, port_error = 10; // ib_event_type
    constexpr std::uint8_t went_down = 1, went_up = 4;        // MLX5_PORT_CHANGE_SUBTYPE_*
    file.send_event(port_number, is_up ? port_active : port_error);
    EventEntry entry = entry_of(EventNumber::port_change);
    entry[at_event_subtype] = is_up ? went_up : went_down;
    entry[at_event_port] = port_number << 4;
    file.subscriptions.deliver(nullptr, EventNumber::port_change, entry);
}

} // namespace opendoca::card
