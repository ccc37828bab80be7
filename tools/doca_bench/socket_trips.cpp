// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "socket_trips.hpp"

#include <cerrno>

#include <sys/socket.h>

#include "other_process.hpp"

namespace opendoca::tools {

namespace {

/// Sends one packet.
void send_on(int socket, std::span<const std::byte> message)
{
    if (send(socket, message.data(), message.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(message.size()))
        fail("a bare socket");
}

/// Receives one packet.
std::size_t receive_on(int socket, std::span<std::byte> room, SocketTrips::Wait wait)
{
    const int flags = wait == SocketTrips::Wait::poll ? MSG_DONTWAIT : 0;
    ssize_t size;
    while ((size = recv(socket, room.data(), room.size(), flags)) < 0 && (errno == EAGAIN || errno == EINTR)) {
    }
    if (size < 0)
        fail("a bare socket");
    return static_cast<std::size_t>(size);
}

} // namespace

SocketTrips::SocketTrips()
{
    make_socket_pair(here_, there_);
}

std::size_t SocketTrips::trip(Wait wait, std::span<const std::byte> message, std::span<std::byte> room) const
{
    send_on(here_.get(), message);
    return receive_on(here_.get(), room, wait);
}

void SocketTrips::echo(Wait wait, std::span<std::byte> room) const
{
    send_on(there_.get(), room.first(receive_on(there_.get(), room, wait)));
}

} // namespace opendoca::tools
