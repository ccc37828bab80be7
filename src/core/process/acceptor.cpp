// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "acceptor.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include <sys/eventfd.h>
#include <sys/socket.h>

#include "../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CLIENTS);

namespace opendoca {

void Acceptor::open() noexcept
{
    spare_ = UniqueFd(eventfd(0, EFD_CLOEXEC));
}

UniqueFd Acceptor::accept(int listener) noexcept
{
    // Bounded, so that clients that come as fast as they are rejected cannot keep the thread here.
    constexpr std::uint32_t max_attempts = 256;
    for (std::uint32_t tries = 0; tries < max_attempts; ++tries) {
        UniqueFd client(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (client.is_open())
            return client;
        // ECONNABORTED: this client has disconnected; there may be others.
        if (errno == ECONNABORTED || errno == EINTR)
            continue;
        if (errno == EAGAIN)
            break;
        log_shortage("accepted");
        if (!reject_client(listener))
            break;
    }
    return {};
}

/// Accepts a client with the reserved descriptor, and closes it. Returns false if there was none, or if another thread
/// has taken the descriptor.
bool Acceptor::reject_client(int listener) noexcept
{
    spare_.reset();
    const bool is_done = UniqueFd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)).is_open();
    open();
    return is_done;
}

void Acceptor::log_shortage(const char *what) noexcept
{
    if (!std::exchange(has_logged_shortage_, true))
        LOG_ERR("a client cannot be %s: %s; clients are rejected for now", what, std::strerror(errno));
}

} // namespace opendoca
