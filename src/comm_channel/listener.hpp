// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <doca_error.h>

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

    /// A client that has arrived, of this machine one of this user; not open when there is none. Where descriptors lack,
    /// clients are turned away: one that waits would keep the socket readable.
    [[nodiscard]] UniqueFd accept() noexcept;

    /// With errno: a client could not be @p what. Logged once, until note_success().
    void note_shortage(const char *what) noexcept;
    void note_success() noexcept { has_told_shortage_ = false; }

private:
    [[nodiscard]] bool turn_away() noexcept;

    Registration registration_;
    UniqueFd tcp_; ///< where clients are on another machine
    UniqueFd spare_; ///< given up to turn clients away when there is no other descriptor
    bool has_told_shortage_ = false;
};

} // namespace opendoca::comm_channel
