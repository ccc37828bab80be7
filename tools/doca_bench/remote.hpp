// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Two machines: TCP connections between doca_bench --server and doca_bench --connect.
#pragma once

#include <cstdint>
#include <string>

#include "../../src/core/unique_fd.hpp"

namespace opendoca::tools {

/// A socket that listens at @p address (empty: all of this machine) and @p port (0: any that is free).
[[nodiscard]] UniqueFd listen_at(const std::string &address, std::uint16_t port);
[[nodiscard]] std::uint16_t port_of(const UniqueFd &listener);

/// The next who connects and says something within ten seconds; @p name becomes its address.
[[nodiscard]] UniqueFd accept_from(const UniqueFd &listener, std::string &name);

/// Connects to a server. Throws when nobody listens there, or when it does not answer.
[[nodiscard]] UniqueFd connect_to(const std::string &host, std::uint16_t port);

} // namespace opendoca::tools
