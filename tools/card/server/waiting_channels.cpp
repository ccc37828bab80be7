// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "waiting_channels.hpp"

#include <array>
#include <cstddef>

#include <sys/epoll.h>

namespace opendoca::card {

WaitingChannels::WaitingChannels() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

void WaitingChannels::add(const std::shared_ptr<EventChannel> &channel)
{
    const int fd = channel->descriptor();
    if (channels_.contains(fd))
        return;
    epoll_event wanted{};
    wanted.events = EPOLLOUT;
    wanted.data.fd = fd;
    // If this fails, the events wait for the next one of the channel.
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &wanted) == 0)
        channels_[fd] = channel;
}

void WaitingChannels::write()
{
    std::array<epoll_event, 64> events;
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
        const epoll_event &event = events[static_cast<std::size_t>(i)];
        const auto found = channels_.find(event.data.fd);
        // EPOLLERR: the program has closed its end.
        if (found == channels_.end() || ((event.events & EPOLLERR) == 0 && found->second->write_waiting()))
            continue;
        epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, event.data.fd, nullptr);
        channels_.erase(found);
    }
}

} // namespace opendoca::card
