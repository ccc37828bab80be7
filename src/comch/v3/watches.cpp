// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "watches.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "control.hpp"

namespace opendoca::comch {

void Watches::close() noexcept
{
    channel_.close();
    processes_.clear();
}

bool Watches::add(Connection &connection)
{
    connection.watched.is_watched = true;
    return watch_process_of(connection) && watch(connection.link.message_fd(), connection);
}

/// Returns false with errno on failure.
bool Watches::watch_process_of(Connection &connection)
{
    const int fd = connection.link.process_fd();
    if (fd < 0)
        return true;
    const auto place = processes_.try_emplace(connection.link.process().get()).first;
    if (place->second.num_connections == 0 && !watch(fd, place->second)) {
        processes_.erase(place);
        return false;
    }
    ++place->second.num_connections;
    connection.watched.process = &place->second;
    return true;
}

bool Watches::add_space(Connection &connection) noexcept
{
    const int space = connection.link.space_fd();
    return space == connection.link.message_fd() || watch(space, connection);
}

bool Watches::add_control_messages(Connection &connection) noexcept
{
    return watch(connection.fast->to_peer.fd(), connection);
}

void Watches::remove(Connection &connection) noexcept
{
    const State watched = std::exchange(connection.watched, {});
    if (!watched.is_watched)
        return;
    // The kernel refuses those that were not added, which changes nothing.
    channel_.unwatch(connection.link.message_fd());
    channel_.unwatch(connection.link.space_fd());
    channel_.unwatch(connection.fast->to_peer.fd());
    if (watched.process == nullptr || --watched.process->num_connections != 0)
        return;
    channel_.unwatch(connection.link.process_fd());
    processes_.erase(connection.link.process().get());
}

std::size_t Watches::poll(std::span<WatchedEvent> events) const noexcept
{
    std::array<epoll_event, 64> ready;
    const int count = channel_.poll_events(ready.data(), static_cast<int>(std::min(ready.size(), events.size())));
    for (int i = 0; i < count; ++i) {
        WatchedEvent &event = events[static_cast<std::size_t>(i)] = {};
        auto *const origin = static_cast<EventOrigin *>(ready[static_cast<std::size_t>(i)].data.ptr);
        if (origin == nullptr)
            continue;
        if (origin->origin_kind == EventOrigin::Kind::process)
            event.process = static_cast<const WatchedProcess *>(origin);
        else
            event.connection = static_cast<Connection *>(origin);
    }
    return static_cast<std::size_t>(std::max(count, 0));
}

} // namespace opendoca::comch
