// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "stream_events.hpp"

#include <cstdint>
#include <utility>

#include <sys/epoll.h>
#include <sys/eventfd.h>

namespace opendoca::comm_channel {

namespace {

bool add(int epoll, int fd, std::uint32_t events) noexcept
{
    epoll_event event = {.events = events, .data = {.fd = fd}};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

void change(int epoll, int fd, std::uint32_t events) noexcept
{
    epoll_event event = {.events = events, .data = {.fd = fd}};
    (void)epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event);
}

} // namespace

bool StreamEvents::open()
{
    messages_ = std::make_shared<EventHandle>();
    space_epoll_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
    space_event_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return messages_->open() == DOCA_SUCCESS && space_event_.is_open() &&
           add(space_epoll_.get(), space_event_.get(), EPOLLIN) &&
           add(messages_->fd(), socket_, EPOLLIN | EPOLLRDHUP) && add(space_epoll_.get(), socket_, 0);
}

bool StreamEvents::prepare_for_link() noexcept
{
    return share_epoll_ || add(space_epoll_.get(), messages_->fd(), 0);
}

bool StreamEvents::request_for_message(bool is_wanted) noexcept
{
    if (!is_wanted)
        (void)messages_->clear();
    return std::exchange(wakes_for_message_, is_wanted) != is_wanted;
}

bool StreamEvents::request_for_space(bool is_wanted) noexcept
{
    if (!is_wanted) {
        eventfd_t count;
        (void)eventfd_read(space_event_.get(), &count);
    }
    return std::exchange(wakes_for_space_, is_wanted) != is_wanted;
}

void StreamEvents::choose(bool receives, bool sends, bool has_link) noexcept
{
    const std::uint32_t wanted = (receives ? std::uint32_t{EPOLLIN} : 0) | (sends ? std::uint32_t{EPOLLOUT} : 0);
    // EPOLLRDHUP is always requested here: the end of the peer makes message_fd() readable in every mode.
    change(messages_->fd(), socket_, EPOLLRDHUP | (wakes_for_message_ ? wanted : 0));
    change(space_epoll_.get(), socket_, wakes_for_space_ ? wanted : 0);
    // messages_ is in space_epoll_ once a link exists, unless both are watched together.
    change(space_epoll_.get(), messages_->fd(), has_link && wakes_for_space_ ? std::uint32_t{EPOLLIN} : 0);
}

void StreamEvents::wake_for_space() noexcept
{
    (void)eventfd_write(space_event_.get(), 1);
}

} // namespace opendoca::comm_channel
