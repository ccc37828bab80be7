// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Finds the services of this machine: each is a socket in a directory that only its user can enter.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doca_error.h>

#include "../core/base/unique_fd.hpp"
#include "../core/process/fork.hpp"

namespace opendoca::comm_channel {

/// Hash that identifies a service: its host function and its name.
using ServiceKey = std::array<std::uint64_t, 2>;

/// Returns the key of service @p service on a function. Client and service compute it from the same three names.
[[nodiscard]] ServiceKey make_service_key(std::string_view host_function, std::string_view pci_address,
                                          std::string_view service);

/// Owns the registered name of a service and the socket that listens under it. The destructor removes both.
class Registration {
public:
    Registration() = default;
    Registration(Registration &&) noexcept = default;
    Registration &operator=(Registration &&other) noexcept;
    ~Registration();

    /// Registers the name and listens: in @p directory for clients that come by a relay (see relay_wire.hpp), or for
    /// processes of this machine if that is empty. Returns CONNECTION_ABORTED when another service holds the name.
    [[nodiscard]] static doca_error_t take(const ServiceKey &key, const char *service, const std::string &directory,
                                           Registration &registration);

    [[nodiscard]] int socket() const noexcept { return socket_.get(); }

private:
    /// Takes the lock file of the name. Returns CONNECTION_ABORTED when a running service holds it.
    [[nodiscard]] doca_error_t lock(const char *service);
    /// Creates the listening socket, in place of one that a killed service has left.
    [[nodiscard]] doca_error_t listen(const char *service);
    void unregister() noexcept;

    ProcessFd directory_; ///< file names are relative to it, even if its path is reused
    ProcessFd lock_;      ///< lock file: locked while the name is registered
    ProcessFd socket_;
    std::string name_;
    std::string lock_name_;
    bool is_relayed_ = false;
    CreatorProcess creator_; ///< a forked child does not remove its parent's files
};

/// Retries the search for a service. Owned by a client and used under its lock. Logs a problem with a directory once
/// per search, not at each attempt.
class ServiceSearch {
public:
    /// Connects to the service's socket. Returns NOT_FOUND if there is none yet, CONNECTION_ABORTED if its queue of
    /// clients is full, and another error if a retry makes no sense before its cause is removed.
    [[nodiscard]] doca_error_t connect(const ServiceKey &key, const char *service, UniqueFd &socket);
    /// Starts a new search: problems are logged again.
    void restart() noexcept { reported_.clear(); }

private:
    void log_new_reasons(std::vector<std::string> reasons);

    std::vector<std::string> reported_; ///< problems found by the last attempt
};

/// Returns the directory of an address that begins with relay_prefix. Returns INVALID_VALUE if it is not an absolute
/// path.
[[nodiscard]] doca_error_t parse_relay(const std::string &at, std::string &directory);

/// Connects to a service at another place by the relay in @p directory. Blocks for a second at most. Returns NOT_FOUND,
/// without a log line, when no service of this name listens there, or the relay does not reach the place;
/// CONNECTION_ABORTED if the relay or the service has no room.
[[nodiscard]] doca_error_t connect_by_relay(const std::string &directory, const ServiceKey &key, const char *service,
                                            UniqueFd &socket);

} // namespace opendoca::comm_channel
