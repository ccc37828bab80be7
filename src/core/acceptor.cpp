// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "acceptor.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include <sys/eventfd.h>
#include <sys/socket.h>

#include "log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CLIENTS);

namespace opendoca {

void Acceptor::open() noexcept
{
    spare_ = UniqueFd(eventfd(0, EFD_CLOEXEC));
}

UniqueFd Acceptor::accept(int listener) noexcept
{
    constexpr std::uint32_t most_tries = 256; // the rest is for the next call
    for (std::uint32_t tries = 0; tries < most_tries; ++tries) {
        UniqueFd client(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (client.is_open())
            return client;
        if (errno == ECONNABORTED || errno == EINTR)
            continue;
        if (errno == EAGAIN)
            break;
        note_shortage("accepted");
        if (!turn_away(listener))
            break;
    }
    return {};
}

bool Acceptor::turn_away(int listener) noexcept
{
    spare_.reset();
    const bool is_done = UniqueFd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)).is_open(); // and closed
    open();
    return is_done;
}

void Acceptor::note_shortage(const char *what) noexcept
{
    if (!std::exchange(has_logged_shortage_, true))
        LOG_ERR("a client cannot be %s: %s; clients are turned away for now", what, std::strerror(errno));
}

} // namespace opendoca
