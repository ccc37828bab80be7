// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <doca_error.h>

#include "../core/acceptor.hpp"
#include "../core/fork.hpp"
#include "service_directory.hpp"

namespace opendoca::comm_channel {

/// Where clients of a service arrive: its name and its socket.
class Listener {
public:
    /// At address @p at, or for processes of this machine where that is empty. CONNECTION_ABORTED when another service has
    /// the name, or the port.
    [[nodiscard]] doca_error_t open(const ServiceKey &key, const char *service, const std::string &at);
    void close() noexcept { *this = Listener(); }

    [[nodiscard]] bool is_open() const noexcept { return socket() >= 0; }
    [[nodiscard]] int socket() const noexcept { return tcp_.is_open() ? tcp_.get() : registration_.socket(); }

    /// As Acceptor says; of clients of this machine only those of this user.
    [[nodiscard]] UniqueFd accept() noexcept;
    void note_shortage(const char *what) noexcept { acceptor_.note_shortage(what); }
    void note_success() noexcept { acceptor_.note_success(); }

private:
    Registration registration_;
    ProcessFd tcp_; ///< where clients are on another machine
    Acceptor acceptor_;
};

} // namespace opendoca::comm_channel
