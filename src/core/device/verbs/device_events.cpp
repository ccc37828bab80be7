// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "device_events.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "../../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_EVENTS);

namespace opendoca::verbs {

void FailureListener::clear() noexcept
{
    // Resets the descriptor before the state, so that a failure reported in between makes it readable again.
    eventfd_t count = 0;
    if (reported_.is_open())
        (void)eventfd_read(reported_.get(), &count); // EAGAIN if it was not written
    // acq_rel: reads what report() has stored, and orders the later query of the queue pairs after it. Fails, and
    // changes nothing, if the failure is fatal.
    DeviceFailure expected = DeviceFailure::suspected;
    failure_.compare_exchange_strong(expected, DeviceFailure::none, std::memory_order_acq_rel);
}

void FailureListener::report(DeviceFailure failure) noexcept
{
    // Both orders release: they pair with the acquire load in failure(). A suspected failure never replaces a fatal
    // one.
    DeviceFailure expected = DeviceFailure::none;
    if (failure == DeviceFailure::fatal)
        failure_.store(failure, std::memory_order_release);
    else
        failure_.compare_exchange_strong(expected, failure, std::memory_order_acq_rel);
    if (reported_.is_open())
        (void)eventfd_write(reported_.get(), 1); // fails only if it is readable already
}

DeviceEvents::DeviceEvents(ibv_context &context, std::string device_name)
    : context_(context),
      device_name_(std::move(device_name))
{
    // The events are read by threads that poll for completions, so reading must never block.
    const int flags = fcntl(context_.async_fd, F_GETFL);
    if (flags < 0 || fcntl(context_.async_fd, F_SETFL, flags | O_NONBLOCK) != 0)
        fail(std::strerror(errno)); // a blocking descriptor could not be read without waiting
}

/// Registers a listener. A queue pair that is created after the device has failed is reported at once, since the device
/// sends no further event.
void DeviceEvents::add(FailureListener &listener, ibv_qp &queue_pair)
{
    const std::lock_guard guard(lock_);
    entries_.push_back({&listener, &queue_pair});
    if (has_failed_)
        listener.report(DeviceFailure::fatal);
}

void DeviceEvents::remove(const ibv_qp &queue_pair) noexcept
{
    const std::lock_guard guard(lock_);
    std::erase_if(entries_, [&](const Entry &entry) { return entry.queue_pair == &queue_pair; });
}

/// Combines two descriptors in an epoll instance: the device's own, which is readable while no thread has read the
/// event, and an eventfd, which is written once another thread has read it.
doca_error_t DeviceEvents::make_waitable(FailureListener &listener) noexcept
{
    UniqueFd reported(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    UniqueFd handle(epoll_create1(EPOLL_CLOEXEC));
    epoll_event interest = {.events = EPOLLIN, .data = {}};
    if (!reported.is_open() || !handle.is_open() ||
        epoll_ctl(handle.get(), EPOLL_CTL_ADD, reported.get(), &interest) != 0 ||
        epoll_ctl(handle.get(), EPOLL_CTL_ADD, context_.async_fd, &interest) != 0) {
        LOG_ERR("waiting for asynchronous events of device %s: %s", device_name_.c_str(), std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    const std::lock_guard guard(lock_); // other threads may be reporting failures
    listener.reported_ = std::move(reported);
    listener.handle_ = std::move(handle);
    // A failure may have been reported before the eventfd existed.
    if (listener.failure() != DeviceFailure::none)
        (void)eventfd_write(listener.reported_.get(), 1);
    return DOCA_SUCCESS;
}

void DeviceEvents::read() noexcept
{
    const std::lock_guard guard(lock_);
    ibv_async_event event{};
    while (!has_failed_) {
        if (ibv_get_async_event(&context_, &event) == 0) {
            handle(event);
            ibv_ack_async_event(&event);
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            fail(std::strerror(errno)); // for example because the driver was unbound
        }
    }
}

/// Dispatches one event to the listeners that it affects. The lock is held.
void DeviceEvents::handle(const ibv_async_event &event) noexcept
{
    const auto report = [this](DeviceFailure failure, auto is_affected) {
        for (const Entry &entry : entries_) {
            if (is_affected(*entry.queue_pair))
                entry.listener->report(failure);
        }
    };
    switch (event.event_type) {
    case IBV_EVENT_DEVICE_FATAL:
        fail("a fatal event");
        break;
    // Fatal for all queue pairs on the queue: completions are lost.
    case IBV_EVENT_CQ_ERR:
        LOG_ERR("a completion queue of device %s has failed", device_name_.c_str());
        report(DeviceFailure::fatal, [&](const ibv_qp &candidate) { return candidate.send_cq == event.element.cq; });
        break;
    case IBV_EVENT_SRQ_ERR:
        LOG_ERR("a queue of shared receives of device %s has failed", device_name_.c_str());
        report(DeviceFailure::fatal, [&](const ibv_qp &candidate) { return candidate.srq == event.element.srq; });
        break;
    // Only suspected: the flushed work requests normally report the failure by their completions.
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
        report(DeviceFailure::suspected, [&](const ibv_qp &candidate) { return &candidate == event.element.qp; });
        break;
    // Connections survive a link that is down for less than the retransmission timeout, so a port event changes no
    // state.
    case IBV_EVENT_PORT_ERR:
        LOG_WARN("port %d of device %s is down", event.element.port_num, device_name_.c_str());
        break;
    case IBV_EVENT_PORT_ACTIVE:
        LOG_INFO("port %d of device %s is up", event.element.port_num, device_name_.c_str());
        break;
    default:
        LOG_DBG("device %s: %s", device_name_.c_str(), ibv_event_type_str(event.event_type));
    }
}

/// Marks the device as failed for good. Called with the lock held, or by the constructor.
void DeviceEvents::fail(const char *why) noexcept
{
    LOG_ERR("device %s has failed, and with it everything that was opened on it: %s", device_name_.c_str(), why);
    has_failed_ = true;
    for (const Entry &entry : entries_)
        entry.listener->report(DeviceFailure::fatal);
}

} // namespace opendoca::verbs
