// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "listener.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "limits.hpp"
#include "relay_wire.hpp"
#include "tcp.hpp"
#include "wire.hpp"

namespace opendoca::comm_channel {

doca_error_t Listener::open(const ServiceKey &key, const char *service, const std::string &at)
{
    Listener made;
    std::string directory;
    const bool is_relayed = at.starts_with(relay_prefix);
    doca_error_t status = is_relayed ? parse_relay(at, directory) : DOCA_SUCCESS;
    if (status == DOCA_SUCCESS)
        status = at.empty() || is_relayed ? Registration::take(key, service, directory, made.registration_)
                                          : listen_at(at, key, service, made.tcp_);
    if (status != DOCA_SUCCESS)
        return status;
    made.acceptor_.open();
    *this = std::move(made);
    return DOCA_SUCCESS;
}

UniqueFd Listener::accept() noexcept
{
    // Bounded, so that connections of other users cannot keep the service's thread here.
    for (std::uint32_t tries = 0; tries < max_connections; ++tries) {
        UniqueFd client = acceptor_.accept(socket());
        if (!client.is_open() || tcp_.is_open() || is_same_user(client.get()))
            return client;
    }
    return {}; // remaining clients are accepted by the next call
}

} // namespace opendoca::comm_channel
