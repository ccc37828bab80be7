// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "link_address.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace opendoca::card {

namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// Resolves a numeric address and port, which never blocks.
AddressList resolve_numeric(const std::string &host, const std::string &port)
{
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0)
        found = nullptr;
    return {found, &freeaddrinfo};
}

bool is_loopback(const sockaddr &address)
{
    constexpr std::uint32_t loopback_network = 127;
    if (address.sa_family == AF_INET)
        return ntohl(reinterpret_cast<const sockaddr_in &>(address).sin_addr.s_addr) >> 24 == loopback_network;
    return address.sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6 &>(address).sin6_addr);
}

sockaddr_un socket_name(const std::string &path)
{
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof(name.sun_path) - 1); // parse() has checked the length
    return name;
}

std::string with_errno(const std::string &what)
{
    return what + ": " + std::strerror(errno);
}

/// Removes a socket of a card that was killed. Leaves everything else, also a socket at which a process listens.
void remove_dead_socket(const std::string &path)
{
    struct stat state {};
    if (lstat(path.c_str(), &state) != 0 || !S_ISSOCK(state.st_mode))
        return;
    const UniqueFd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const sockaddr_un name = socket_name(path);
    if (probe.is_open() && connect(probe.get(), reinterpret_cast<const sockaddr *>(&name), sizeof(name)) != 0 &&
        errno == ECONNREFUSED)
        unlink(path.c_str());
}

UniqueFd listen_locally(const LinkAddress &address, bool is_open_to_all, std::string &message)
{
    constexpr mode_t for_all = 0666, for_owner = 0600;
    remove_dead_socket(address.path);
    UniqueFd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const sockaddr_un name = socket_name(address.path);
    if (listener.is_open() && bind(listener.get(), reinterpret_cast<const sockaddr *>(&name), sizeof(name)) == 0) {
        if (chmod(address.path.c_str(), is_open_to_all ? for_all : for_owner) == 0 &&
            listen(listener.get(), SOMAXCONN) == 0)
            return listener;
    }
    message = with_errno("cannot listen at " + address.text());
    return {};
}

void set_tcp_options(const UniqueFd &socket)
{
    // Data that nobody acknowledges, for example after a machine has lost its power, end the connection.
    constexpr unsigned lost_after_ms = 10'000;
    constexpr int one = 1;
    setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    setsockopt(socket.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &lost_after_ms, sizeof(lost_after_ms));
}

} // namespace

std::optional<LinkAddress> LinkAddress::parse(std::string_view text, std::string &message)
{
    constexpr std::string_view local_prefix = "unix:", tcp_prefix = "tcp:", tls_prefix = "tls:";
    LinkAddress result;
    if (text.starts_with(local_prefix)) {
        result.path = text.substr(local_prefix.size());
        constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
        if (result.path.size() < 2 || result.path.front() != '/' || result.path.back() == '/' ||
            result.path.size() > longest || result.path.find_first_of(" \t\n") != std::string::npos) {
            message = "the socket's path must be absolute and have at most " + std::to_string(longest) +
                      " characters and no blanks, not '" + result.path + "'";
            return std::nullopt;
        }
        return result;
    }
    const std::size_t colon = text.rfind(':');
    if (!(text.starts_with(tcp_prefix) || text.starts_with(tls_prefix)) || colon < tcp_prefix.size()) {
        message = "'" + std::string(text) + "' is not of the form unix:PATH, tcp:ADDRESS:PORT or tls:ADDRESS:PORT";
        return std::nullopt;
    }
    result.kind = text.starts_with(tls_prefix) ? Kind::tls : Kind::loopback;
    result.host = text.substr(tcp_prefix.size(), colon - tcp_prefix.size());
    result.port = text.substr(colon + 1);
    if (result.host.starts_with('[') && result.host.ends_with(']'))
        result.host = result.host.substr(1, result.host.size() - 2);
    const AddressList found = resolve_numeric(result.host, result.port);
    if (found == nullptr || result.port.empty() || result.port == "0") {
        message = "'" + std::string(text) + "' has no numeric address and port";
        return std::nullopt;
    }
    if (result.kind == Kind::loopback && !is_loopback(*found->ai_addr)) {
        message = result.host + " is no loopback address, and without TLS the link is not encrypted: use tls:" +
                  std::string(text.substr(tcp_prefix.size()));
        return std::nullopt;
    }
    return result;
}

std::string LinkAddress::text() const
{
    if (kind == Kind::local)
        return "unix:" + path;
    const bool is_ipv6 = host.find(':') != std::string::npos;
    return (kind == Kind::tls ? "tls:" : "tcp:") + (is_ipv6 ? "[" + host + "]" : host) + ":" + port;
}

std::string LinkAddress::common_name() const
{
    return kind == Kind::local ? path.substr(path.rfind('/') + 1) : port;
}

UniqueFd listen_for_link(const LinkAddress &address, bool is_open_to_all, std::string &message)
{
    if (address.kind == LinkAddress::Kind::local)
        return listen_locally(address, is_open_to_all, message);
    const AddressList found = resolve_numeric(address.host, address.port);
    const int one = 1;
    if (found != nullptr) {
        UniqueFd listener(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (listener.is_open() && setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
            bind(listener.get(), found->ai_addr, found->ai_addrlen) == 0 && listen(listener.get(), SOMAXCONN) == 0) {
            set_tcp_options(listener); // accepted connections inherit them
            return listener;
        }
    }
    message = with_errno("cannot listen at " + address.text());
    return {};
}

UniqueFd connect_link(const LinkAddress &address, std::string &message)
{
    UniqueFd result;
    int failure = EAFNOSUPPORT;
    if (address.kind == LinkAddress::Kind::local) {
        const sockaddr_un name = socket_name(address.path);
        result = UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        failure = connect(result.get(), reinterpret_cast<const sockaddr *>(&name), sizeof(name)) == 0 ? 0 : errno;
    } else if (const AddressList found = resolve_numeric(address.host, address.port); found != nullptr) {
        result = UniqueFd(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        set_tcp_options(result);
        failure = connect(result.get(), found->ai_addr, found->ai_addrlen) == 0 ? 0 : errno;
    }
    if (failure == 0 || failure == EINPROGRESS)
        return result;
    message = "cannot connect to " + address.text() + ": " + std::strerror(failure);
    return {};
}

} // namespace opendoca::card
