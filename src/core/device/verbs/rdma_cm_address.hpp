// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <string>

#include <netinet/in.h>

#include "connection_details.hpp"

namespace opendoca::verbs {

/// An address of the Internet family, as rdma_cm takes it.
union CmAddress {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
};

/// What @p text, which is an IPv4 or IPv6 address or a GID, says. IPv4 that is written as IPv6 is IPv4. A link-local
/// address is one of the network of interface @p scope. INVALID_VALUE, logged, where it says nothing.
[[nodiscard]] doca_error_t parse_address(const std::string &text, std::uint16_t port, unsigned scope,
                                         CmAddress &address) noexcept;

/// The address of this side by which @p server is best reached from the port whose ends are @p own: the one that the
/// system's routes prefer if it is the port's, otherwise the port's first of that kind. False where it has none.
[[nodiscard]] bool find_source(const CmAddress &server, const ConnectionDetails &own, unsigned scope,
                               CmAddress &source) noexcept;

} // namespace opendoca::verbs
