// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Where services are found by clients on another machine: at an address that both sides are given, and a port that follows
// from the service's key, unless it is given as well. Whoever reaches it can connect: it has no users, and no secrets.
#pragma once

#include <string>

#include "../core/fork.hpp"
#include "service_directory.hpp"

namespace opendoca::comm_channel {

/// CONNECTION_ABORTED when the port is taken; INVALID_VALUE when @p at is no address.
[[nodiscard]] doca_error_t listen_at(const std::string &at, const ServiceKey &key, const char *service,
                                     ProcessFd &socket);
/// Waits a second at most. NOT_FOUND, without a message, when nobody listens there or nobody answers.
[[nodiscard]] doca_error_t connect_at(const std::string &at, const ServiceKey &key, const char *service,
                                      UniqueFd &socket);

} // namespace opendoca::comm_channel
