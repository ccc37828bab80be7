// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// TCP connections between doca_bench --server and doca_bench --connect on two machines.
#pragma once

#include <cstdint>
#include <string>

#include "../../src/core/base/unique_fd.hpp"

namespace opendoca::tools {

/// Returns a listening socket at @p address (empty for all) and @p port (0 for any free one). Throws if that fails.
[[nodiscard]] UniqueFd listen_at(const std::string &address, std::uint16_t port);
/// Returns the port of a listening socket.
[[nodiscard]] std::uint16_t port_of(const UniqueFd &listener);

/// Accepts the next client that sends something within ten seconds, so that a port scanner does not occupy the server.
/// @p name is set to its address.
[[nodiscard]] UniqueFd accept_from(const UniqueFd &listener, std::string &name);

/// Connects to a server. Throws if nothing listens there, if it does not answer, or if the host's name is unknown.
[[nodiscard]] UniqueFd connect_to(const std::string &host, std::uint16_t port);

} // namespace opendoca::tools
