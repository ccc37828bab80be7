// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "event_channel.hpp"

#include <cerrno>

#include <sys/eventfd.h>

namespace opendoca::comm_channel {

bool EventChannel::create()
{
    *this = EventChannel();
    epoll_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
    return epoll_.is_open();
}

bool EventChannel::create_with_kicks()
{
    if (!create())
        return false;
    kicks_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (kicks_.is_open() && watch(kicks_.get(), EPOLLIN, nullptr))
        return true;
    const int error = errno;
    close();
    errno = error;
    return false;
}

bool EventChannel::watch(int fd, std::uint32_t events, void *tag) noexcept
{
    epoll_event event = {.events = events, .data = {.ptr = tag}};
    return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void EventChannel::change(int fd, std::uint32_t events, void *tag) noexcept
{
    epoll_event event = {.events = events, .data = {.ptr = tag}};
    (void)epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void EventChannel::unwatch(int fd) noexcept
{
    if (is_open())
        (void)epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void EventChannel::kick() noexcept
{
    // One pending wake-up is enough: the channel stays readable until clear().
    if (is_kicked_ || !is_open())
        return;
    is_kicked_ = true;
    (void)eventfd_write(kicks_.get(), 1);
}

void EventChannel::clear() noexcept
{
    if (!is_kicked_)
        return;
    is_kicked_ = false;
    eventfd_t count;
    (void)eventfd_read(kicks_.get(), &count);
}

int EventChannel::poll_events(epoll_event *events, int most) const noexcept
{
    return epoll_wait(epoll_.get(), events, most, 0);
}

} // namespace opendoca::comm_channel
