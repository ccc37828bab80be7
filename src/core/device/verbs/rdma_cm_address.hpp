// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <string>

#include <netinet/in.h>

#include "connection_details.hpp"

namespace opendoca::verbs {

/// An IPv4 or IPv6 address with a port, in the form that rdma_cm takes. any.sa_family determines which member is valid.
union CmAddress {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
};

/// Parses @p text, an IPv4 or IPv6 address or a GID. An IPv4-mapped IPv6 address becomes an IPv4 address. A link-local
/// address gets the interface index @p scope. INVALID_VALUE, logged, if @p text is none of these.
[[nodiscard]] doca_error_t parse_address(const std::string &text, std::uint16_t port, unsigned scope,
                                         CmAddress &address) noexcept;

/// Finds the source address for connecting to @p server from the port with the GIDs @p own: the address that the
/// system's routes select if it belongs to the port, otherwise the port's first address of the same family and scope.
/// Returns false if there is none.
[[nodiscard]] bool find_source(const CmAddress &server, const ConnectionDetails &own, unsigned scope,
                               CmAddress &source) noexcept;

} // namespace opendoca::verbs
