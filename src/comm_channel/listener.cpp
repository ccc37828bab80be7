// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "listener.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/eventfd.h>
#include <sys/socket.h>

#include "../core/log.hpp"
#include "limits.hpp"
#include "tcp.hpp"
#include "wire.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_SERVICE);

namespace opendoca::comm_channel {

namespace {

UniqueFd make_spare() noexcept
{
    return UniqueFd(eventfd(0, EFD_CLOEXEC));
}

} // namespace

doca_error_t Listener::open(const ServiceKey &key, const char *service, const std::string &at)
{
    Listener made;
    const doca_error_t status = at.empty() ? Registration::take(key, service, made.registration_)
                                           : listen_at(at, key, service, made.tcp_);
    if (status != DOCA_SUCCESS)
        return status;
    made.spare_ = make_spare();
    *this = std::move(made);
    return DOCA_SUCCESS;
}

UniqueFd Listener::accept() noexcept
{
    for (std::uint32_t tries = 0; tries < max_connections; ++tries) {
        UniqueFd client(accept4(socket(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (client.is_open()) {
            if (tcp_.is_open() || is_same_user(client.get()))
                return client;
            continue;
        }
        if (errno == ECONNABORTED || errno == EINTR)
            continue;
        if (errno == EAGAIN)
            break;
        note_shortage("accepted");
        if (!turn_away())
            break;
    }
    return {};
}

bool Listener::turn_away() noexcept
{
    spare_ = UniqueFd();
    const bool is_done = UniqueFd(accept4(socket(), nullptr, nullptr, SOCK_CLOEXEC)).is_open(); // and closed
    spare_ = make_spare();
    return is_done;
}

void Listener::note_shortage(const char *what) noexcept
{
    if (!std::exchange(has_told_shortage_, true))
        LOG_ERR("a client cannot be %s: %s; clients are turned away for now", what, std::strerror(errno));
}

} // namespace opendoca::comm_channel
