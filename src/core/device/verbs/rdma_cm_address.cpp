// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_cm_address.hpp"

#include <cstring>
#include <span>

#include <arpa/inet.h>
#include <sys/socket.h>

#include "../../base/unique_fd.hpp"
#include "../../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_CM_ADDRESS);

namespace opendoca::verbs {

namespace {

/// Converts @p ip, in network byte order. GIDs of RoCE have the same format, so an IPv4-mapped one becomes an IPv4
/// address. @p scope is an interface index, which only link-local addresses need.
CmAddress from_ipv6(const in6_addr &ip, std::uint16_t port, unsigned scope) noexcept
{
    CmAddress address{};
    if (IN6_IS_ADDR_V4MAPPED(&ip)) {
        address.v4.sin_family = AF_INET;
        address.v4.sin_port = htons(port);
        std::memcpy(&address.v4.sin_addr, &ip.s6_addr[12], sizeof(address.v4.sin_addr));
        return address;
    }
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_port = htons(port);
    address.v6.sin6_addr = ip;
    address.v6.sin6_scope_id = IN6_IS_ADDR_LINKLOCAL(&ip) ? scope : 0;
    return address;
}

socklen_t size_of(const CmAddress &address) noexcept
{
    return address.any.sa_family == AF_INET ? sizeof(address.v4) : sizeof(address.v6);
}

/// Returns whether @p a and @p b are of the same family and scope, which is required for them to reach each other.
bool are_of_a_kind(const CmAddress &a, const CmAddress &b) noexcept
{
    return a.any.sa_family == b.any.sa_family &&
           (a.any.sa_family == AF_INET ||
            IN6_IS_ADDR_LINKLOCAL(&a.v6.sin6_addr) == IN6_IS_ADDR_LINKLOCAL(&b.v6.sin6_addr));
}

bool are_equal(const CmAddress &a, const CmAddress &b) noexcept
{
    if (a.any.sa_family != b.any.sa_family)
        return false;
    return a.any.sa_family == AF_INET ? a.v4.sin_addr.s_addr == b.v4.sin_addr.s_addr
                                      : IN6_ARE_ADDR_EQUAL(&a.v6.sin6_addr, &b.v6.sin6_addr);
}

/// Determines the address from which the system would send to @p server. Connecting a datagram socket makes the kernel
/// select route and source address without sending anything. Returns false if there is no route.
bool select_source(const CmAddress &server, CmAddress &source) noexcept
{
    const UniqueFd socket(::socket(server.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    socklen_t size = sizeof(source);
    return socket.is_open() && connect(socket.get(), &server.any, size_of(server)) == 0 &&
           getsockname(socket.get(), &source.any, &size) == 0;
}

} // namespace

doca_error_t parse_address(const std::string &text, std::uint16_t port, unsigned scope, CmAddress &address) noexcept
{
    in6_addr ip{};
    in_addr v4{};
    if (inet_pton(AF_INET, text.c_str(), &v4) == 1) {
        address = {};
        address.v4.sin_family = AF_INET;
        address.v4.sin_port = htons(port);
        address.v4.sin_addr = v4;
        return DOCA_SUCCESS;
    }
    // Also matches GIDs in text form.
    if (inet_pton(AF_INET6, text.c_str(), &ip) == 1) {
        address = from_ipv6(ip, port, scope);
        return DOCA_SUCCESS;
    }
    LOG_ERR("'%s' is not an IPv4 or IPv6 address", text.c_str());
    return DOCA_ERROR_INVALID_VALUE;
}

bool find_source(const CmAddress &server, const ConnectionDetails &own, unsigned scope, CmAddress &source) noexcept
{
    CmAddress preferred{};
    // The routes may lead through another interface of the machine, in which case the preferred address is none of this
    // port.
    const bool has_preferred = select_source(server, preferred);
    bool is_found = false;
    for (const ibv_gid &gid : std::span(own.gids, own.num_gids)) {
        in6_addr ip{};
        std::memcpy(&ip, gid.raw, sizeof(ip));
        const CmAddress candidate = from_ipv6(ip, 0, scope);
        if (!are_of_a_kind(candidate, server))
            continue;
        if (has_preferred && are_equal(candidate, preferred)) {
            source = candidate;
            return true;
        }
        // The first candidate is the fallback: GIDs are sorted by preference.
        if (!is_found)
            source = candidate;
        is_found = true;
    }
    return is_found;
}

} // namespace opendoca::verbs
