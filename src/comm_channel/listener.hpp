// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>

#include <doca_error.h>

#include "../core/process/acceptor.hpp"
#include "../core/process/fork.hpp"
#include "service_directory.hpp"

namespace opendoca::comm_channel {

/// The listening socket of a service, and the name or port under which clients find it. Owned by a service and used
/// under its lock.
class Listener {
public:
    /// Listens at the TCP address @p at, in the directory that it names for clients that come by a relay, or for
    /// processes of this machine if it is empty. Returns CONNECTION_ABORTED when another service holds the name or the
    /// port.
    [[nodiscard]] doca_error_t open(const ServiceKey &key, const char *service, const std::string &at);
    void close() noexcept { *this = Listener(); }

    [[nodiscard]] bool is_open() const noexcept { return socket() >= 0; }
    [[nodiscard]] int socket() const noexcept { return tcp_.is_open() ? tcp_.get() : registration_.socket(); }

    /// Accepts a client: see Acceptor. Refuses clients of this machine, and relays, that belong to another user.
    [[nodiscard]] UniqueFd accept() noexcept;
    void log_shortage(const char *what) noexcept { acceptor_.log_shortage(what); }
    void reset_shortage() noexcept { acceptor_.reset_shortage(); }

private:
    Registration registration_;
    ProcessFd tcp_; ///< open if clients connect by TCP; otherwise registration_ holds the socket
    Acceptor acceptor_;
};

} // namespace opendoca::comm_channel
