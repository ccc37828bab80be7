// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/socket.h>

namespace opendoca::card {

/// An IPv4 or IPv6 address in the form of a RoCE v2 GID: an IPv4 address is mapped (::ffff:a.b.c.d). A value.
struct Address {
    std::array<std::uint8_t, 16> gid{};

    /// Parses an address in its usual text form. Returns nothing for other text.
    static std::optional<Address> parse(std::string_view text);
    static Address of_gid(const std::uint8_t *gid);
    /// Returns the address of an AF_INET or AF_INET6 socket address.
    static Address of_socket(const sockaddr_storage &socket);

    [[nodiscard]] bool is_ipv4() const;
    /// Returns whether packets can be sent to it from any interface: neither zero, nor multicast, nor link-local, which
    /// names no interface.
    [[nodiscard]] bool is_usable() const;
    [[nodiscard]] std::string text() const;
    /// Fills @p socket, with @p port in host byte order. Returns its length.
    socklen_t to_socket(std::uint16_t port, sockaddr_storage &socket) const;

    friend bool operator==(const Address &, const Address &) = default;
};

/// A network interface, as sysfs and the attributes of the port show it to programs.
struct Interface {
    std::string name;
    std::uint32_t mtu;
};
/// Returns the interface that has an address, or nothing if none of this network namespace has it.
std::optional<Interface> interface_of(const Address &address);
/// Returns the address from which this machine sends to @p destination by its routes, or nothing if no route leads
/// there.
std::optional<Address> route_source(const Address &destination);

} // namespace opendoca::card
