// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Where services of this machine are found: a socket in a directory that only this user can enter.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <doca_error.h>

#include "../core/fork.hpp"
#include "../core/unique_fd.hpp"

namespace opendoca::comm_channel {

/// Stands for a service: the host function that it is for, and its name.
using ServiceKey = std::array<std::uint64_t, 2>;

[[nodiscard]] ServiceKey make_service_key(std::string_view host_function, std::string_view pci_address,
                                          std::string_view service);

/// A name that this process has, and the socket that listens there. Gives both back at the end.
class Registration {
public:
    Registration() = default;
    Registration(Registration &&) noexcept = default;
    Registration &operator=(Registration &&other) noexcept;
    ~Registration();

    /// CONNECTION_ABORTED when another service has the name.
    [[nodiscard]] static doca_error_t take(const ServiceKey &key, const char *service,
                                           Registration &registration);

    [[nodiscard]] int socket() const noexcept { return socket_.get(); }

private:
    [[nodiscard]] doca_error_t lock(const char *service);
    [[nodiscard]] doca_error_t listen(const char *service);
    void give_back() noexcept;

    ProcessFd directory_;
    ProcessFd lock_; ///< held as long as the name is
    ProcessFd socket_;
    std::string name_;
    std::string lock_name_;
    HomeProcess home_;
};

/// Where a service is looked for, again and again until it is there. What is wrong with a place is said once.
class ServiceSearch {
public:
    /// Connects to its socket. NOT_FOUND when there is none yet; CONNECTION_ABORTED when it takes no more; else what has to
    /// be better before another look makes sense.
    [[nodiscard]] doca_error_t connect(const ServiceKey &key, const char *service, UniqueFd &socket);
    /// The next look begins another search.
    void forget() noexcept { told_.clear(); }

private:
    void tell(std::vector<std::string> reasons);

    std::vector<std::string> told_; ///< of the last look
};

} // namespace opendoca::comm_channel
