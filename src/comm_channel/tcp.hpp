// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// TCP addresses of services whose clients are on another machine: the configured address, and a port that is derived
// from the service's key unless it is configured too. Clients are not authenticated and nothing is encrypted.
#pragma once

#include <string>

#include "../core/process/fork.hpp"
#include "service_directory.hpp"

namespace opendoca::comm_channel {

/// Listens at @p at. Returns CONNECTION_ABORTED when the port is in use, INVALID_VALUE when @p at is not an address.
[[nodiscard]] doca_error_t listen_at(const std::string &at, const ServiceKey &key, const char *service,
                                     ProcessFd &socket);
/// Connects to the service at @p at: a TCP address, or the directory of a relay (see connect_by_relay()). Blocks for a
/// second at most. Returns NOT_FOUND, without a log line, when nothing listens there or answers.
[[nodiscard]] doca_error_t connect_at(const std::string &at, const ServiceKey &key, const char *service,
                                      UniqueFd &socket);

} // namespace opendoca::comm_channel
