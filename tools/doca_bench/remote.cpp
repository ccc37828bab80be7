// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "remote.hpp"

#include <cerrno>
#include <cstring>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string_view>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace opendoca::tools {

namespace {

constexpr int first_byte_seconds = 10; ///< limit for a client's first byte
/// Limit for other bytes: clients pause while another benchmark runs and while they wait for a quiet machine.
constexpr int receive_timeout_seconds = 600;
constexpr int backlog = 8; ///< clients that wait for their turn

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// Resolves a host's name. Throws if there is no address.
Addresses look_up(const char *host, std::uint16_t port, int flags)
{
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    addrinfo *found = nullptr;
    const int status = getaddrinfo(host, std::to_string(port).c_str(), &hints, &found);
    if (status != 0)
        throw std::runtime_error(std::string(host == nullptr ? "any address" : host) + ": " + gai_strerror(status));
    return {found, &freeaddrinfo};
}

/// Sets an integer option. An error is ignored, as connections work without the option.
void set(int socket, int level, int name, int value)
{
    (void)setsockopt(socket, level, name, &value, sizeof(value));
}

/// Sets the receive timeout.
void set_receive_timeout(int socket, int seconds)
{
    const timeval limit = {seconds, 0};
    (void)setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

/// Sets the options of a connection: short messages are sent without delay, and a machine that has vanished is detected
/// within 40 seconds.
void set_up(int socket)
{
    set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 10);
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set(socket, IPPROTO_TCP, TCP_KEEPCNT, 6);
    set_receive_timeout(socket, receive_timeout_seconds);
}

/// Formats an address: "192.0.2.1 port 18617".
std::string name_of(const sockaddr *address, socklen_t size)
{
    char host[NI_MAXHOST] = "?";
    char port[NI_MAXSERV] = "?";
    (void)getnameinfo(address, size, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
    std::string_view shown = host;
    if (shown.starts_with("::ffff:") && shown.find('.') != std::string_view::npos)
        shown.remove_prefix(7); // an IPv4 address on an IPv6 socket
    return std::string(shown) + " port " + port;
}

/// Returns whether data arrive within first_byte_seconds, and leaves them in the socket.
bool sends_something(int socket)
{
    set_receive_timeout(socket, first_byte_seconds);
    char byte = 0;
    const bool has_come = recv(socket, &byte, 1, MSG_PEEK) == 1;
    set_receive_timeout(socket, receive_timeout_seconds);
    return has_come;
}

} // namespace

UniqueFd listen_at(const std::string &address, std::uint16_t port)
{
    const Addresses addresses = look_up(address.empty() ? nullptr : address.c_str(), port, AI_PASSIVE);
    std::string problem;
    // An IPv6 socket for all addresses accepts IPv4 as well; the machine may lack IPv6.
    for (const int family : {AF_INET6, AF_INET}) {
        for (const addrinfo *one = addresses.get(); one != nullptr; one = one->ai_next) {
            if (one->ai_family != family)
                continue;
            UniqueFd listener(socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol));
            if (listener.is_open()) {
                set(listener.get(), SOL_SOCKET, SO_REUSEADDR, 1);
                if (family == AF_INET6)
                    set(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
                if (bind(listener.get(), one->ai_addr, one->ai_addrlen) == 0 && listen(listener.get(), backlog) == 0)
                    return listener;
            }
            problem = "listening at " + name_of(one->ai_addr, one->ai_addrlen) + ": " + std::strerror(errno);
        }
    }
    throw std::runtime_error(problem);
}

std::uint16_t port_of(const UniqueFd &listener)
{
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    if (getsockname(listener.get(), reinterpret_cast<sockaddr *>(&address), &size) != 0)
        throw std::runtime_error(std::string("getsockname: ") + std::strerror(errno));
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6 *>(&address)->sin6_port
                                               : reinterpret_cast<const sockaddr_in *>(&address)->sin_port);
}

UniqueFd accept_from(const UniqueFd &listener, std::string &name)
{
    for (;;) {
        sockaddr_storage address{};
        socklen_t size = sizeof(address);
        UniqueFd socket(accept4(listener.get(), reinterpret_cast<sockaddr *>(&address), &size, SOCK_CLOEXEC));
        if (!socket.is_open()) {
            if (errno == EINTR || errno == ECONNABORTED)
                continue;
            throw std::runtime_error(std::string("accept: ") + std::strerror(errno));
        }
        name = name_of(reinterpret_cast<const sockaddr *>(&address), size);
        set_up(socket.get());
        if (sends_something(socket.get()))
            return socket;
        std::cerr << name << " has connected and said nothing\n";
    }
}

UniqueFd connect_to(const std::string &host, std::uint16_t port)
{
    const Addresses addresses = look_up(host.c_str(), port, 0);
    std::string problem;
    for (const addrinfo *one = addresses.get(); one != nullptr; one = one->ai_next) {
        UniqueFd made(socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol));
        if (made.is_open() && connect(made.get(), one->ai_addr, one->ai_addrlen) == 0) {
            set_up(made.get());
            return made;
        }
        problem = name_of(one->ai_addr, one->ai_addrlen) + ": " + std::strerror(errno) +
                  " (is doca_bench rdma --server running there?)";
    }
    throw std::runtime_error(problem);
}

} // namespace opendoca::tools
