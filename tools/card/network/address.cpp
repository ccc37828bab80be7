// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "address.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>

#include "../../../src/core/base/unique_fd.hpp"

namespace opendoca::card {

namespace {

constexpr std::array<std::uint8_t, 12> mapped_prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

} // namespace

std::optional<Address> Address::parse(std::string_view text)
{
    const std::string terminated(text);
    Address address;
    if (inet_pton(AF_INET6, terminated.c_str(), address.gid.data()) == 1)
        return address;
    std::ranges::copy(mapped_prefix, address.gid.begin());
    if (inet_pton(AF_INET, terminated.c_str(), address.gid.data() + mapped_prefix.size()) == 1)
        return address;
    return std::nullopt;
}

Address Address::of_gid(const std::uint8_t *gid)
{
    Address address;
    std::copy_n(gid, address.gid.size(), address.gid.begin());
    return address;
}

Address Address::of_socket(const sockaddr_storage &socket)
{
    Address address;
    if (socket.ss_family == AF_INET) {
        sockaddr_in ipv4;
        std::memcpy(&ipv4, &socket, sizeof(ipv4));
        std::ranges::copy(mapped_prefix, address.gid.begin());
        std::memcpy(address.gid.data() + mapped_prefix.size(), &ipv4.sin_addr, sizeof(ipv4.sin_addr));
    } else if (socket.ss_family == AF_INET6) {
        sockaddr_in6 ipv6;
        std::memcpy(&ipv6, &socket, sizeof(ipv6));
        std::memcpy(address.gid.data(), &ipv6.sin6_addr, sizeof(ipv6.sin6_addr));
    }
    return address;
}

bool Address::is_ipv4() const
{
    return std::equal(mapped_prefix.begin(), mapped_prefix.end(), gid.begin());
}

bool Address::is_usable() const
{
    if (is_ipv4())
        return gid[12] != 0 && gid[12] < 224; // 224.0.0.0 and above: multicast, reserved, broadcast
    const bool is_link_local = gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80, is_multicast = gid[0] == 0xff;
    return !is_link_local && !is_multicast && gid != decltype(gid){};
}

std::string Address::text() const
{
    std::array<char, INET6_ADDRSTRLEN> buffer{};
    const bool ipv4 = is_ipv4();
    inet_ntop(ipv4 ? AF_INET : AF_INET6, gid.data() + (ipv4 ? mapped_prefix.size() : 0), buffer.data(), buffer.size());
    return buffer.data();
}

socklen_t Address::to_socket(std::uint16_t port, sockaddr_storage &socket) const
{
    socket = {};
    if (is_ipv4()) {
        sockaddr_in ipv4{};
        ipv4.sin_family = AF_INET;
        ipv4.sin_port = htons(port);
        std::memcpy(&ipv4.sin_addr, gid.data() + mapped_prefix.size(), sizeof(ipv4.sin_addr));
        std::memcpy(&socket, &ipv4, sizeof(ipv4));
        return sizeof(ipv4);
    }
    sockaddr_in6 ipv6{};
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(port);
    std::memcpy(&ipv6.sin6_addr, gid.data(), sizeof(ipv6.sin6_addr));
    std::memcpy(&socket, &ipv6, sizeof(ipv6));
    return sizeof(ipv6);
}

std::optional<Interface> interface_of(const Address &address)
{
    ifaddrs *list = nullptr;
    if (getifaddrs(&list) != 0)
        return std::nullopt;
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs *)> owner(list, freeifaddrs);
    const UniqueFd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    for (const ifaddrs *entry = list; entry != nullptr; entry = entry->ifa_next) {
        if (entry->ifa_addr == nullptr ||
            (entry->ifa_addr->sa_family != AF_INET && entry->ifa_addr->sa_family != AF_INET6))
            continue;
        sockaddr_storage socket{};
        std::memcpy(&socket, entry->ifa_addr,
                    entry->ifa_addr->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
        // The loopback interface has all of 127.0.0.0/8.
        const bool is_loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0 && socket.ss_family == AF_INET &&
                                 address.is_ipv4() && address.gid[12] == 127;
        if (Address::of_socket(socket) != address && !is_loopback)
            continue;
        ifreq request{};
        std::strncpy(request.ifr_name, entry->ifa_name, IFNAMSIZ - 1);
        if (ioctl(any.get(), SIOCGIFMTU, &request) != 0)
            return std::nullopt;
        return Interface{entry->ifa_name, static_cast<std::uint32_t>(request.ifr_mtu)};
    }
    return std::nullopt;
}

std::optional<Address> route_source(const Address &destination)
{
    sockaddr_storage socket{};
    constexpr std::uint16_t any_port = 9; // a datagram socket that connects sends nothing
    const socklen_t size = destination.to_socket(any_port, socket);
    const UniqueFd fd(::socket(socket.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    socklen_t length = sizeof(socket);
    if (connect(fd.get(), reinterpret_cast<const sockaddr *>(&socket), size) != 0 ||
        getsockname(fd.get(), reinterpret_cast<sockaddr *>(&socket), &length) != 0)
        return std::nullopt;
    return Address::of_socket(socket);
}

} // namespace opendoca::card
