// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// TCP connections between doca_bench --server and doca_bench --connect on two machines.
#pragma once

#include <cstdint>
#include <string>

#include "../../src/core/base/unique_fd.hpp"

namespace opendoca::tools {

/// Returns a listening socket at @p address (empty for all) and @p port (0 for any free one).
[[nodiscard]] UniqueFd listen_at(const std::string &address, std::uint16_t port);
[[nodiscard]] std::uint16_t port_of(const UniqueFd &listener);

/// Accepts the next client that sends something within ten seconds; @p name becomes its address.
[[nodiscard]] UniqueFd accept_from(const UniqueFd &listener, std::string &name);

/// Connects to a server. Throws if nothing listens there, or if it does not answer.
[[nodiscard]] UniqueFd connect_to(const std::string &host, std::uint16_t port);

} // namespace opendoca::tools
