// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "tcp.hpp"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "../core/base/poll_one.hpp"
#include "../core/log/log.hpp"
#include "limits.hpp"
#include "relay_wire.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_TCP);

namespace opendoca::comm_channel {

namespace {

/// Default ports of services, outside the range from which kernels choose ports for clients.
constexpr std::uint16_t first_port = 20000;
constexpr std::uint64_t num_ports = 8192;
constexpr auto connect_timeout = std::chrono::seconds(1); ///< for a connection to be accepted by the peer's kernel

struct Address {
    sockaddr_storage bytes{};
    socklen_t size = 0;
    std::uint16_t port = 0;

    [[nodiscard]] const sockaddr *get() const noexcept { return reinterpret_cast<const sockaddr *>(&bytes); }
};

/// Accepts "1.2.3.4", "1.2.3.4:5", "::1" and "[::1]:5". Refuses scoped addresses such as "fe80::1%eth0". Without a port
/// it is derived from the key: client and service compute the same one.
std::optional<Address> parse(const std::string &at, const ServiceKey &key)
{
    Address address;
    std::string host = at, port;
    const std::size_t colon = at.rfind(':');
    const bool is_bracketed = at.starts_with('[');
    // The last colon separates a port only if it is the one colon of an IPv4 address or follows a bracket.
    if (colon != std::string::npos && (is_bracketed ? colon != 0 && at[colon - 1] == ']' : at.find(':') == colon)) {
        host = at.substr(0, colon);
        port = at.substr(colon + 1);
    }
    if (is_bracketed) {
        if (!host.ends_with(']'))
            return {};
        host = host.substr(1, host.size() - 2);
    }
    address.port = static_cast<std::uint16_t>(first_port + key[0] % num_ports);
    if (!port.empty()) {
        const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
        if (error != std::errc{} || end != port.data() + port.size() || address.port == 0)
            return {};
    } else if (colon != std::string::npos && colon + 1 == at.size() && !is_bracketed) {
        return {};
    }
    auto &v4 = reinterpret_cast<sockaddr_in &>(address.bytes);
    auto &v6 = reinterpret_cast<sockaddr_in6 &>(address.bytes);
    if (inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
        v4.sin_family = AF_INET;
        v4.sin_port = htons(address.port);
        address.size = sizeof(v4);
    } else if (inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(address.port);
        address.size = sizeof(v6);
    } else {
        return {};
    }
    return address;
}

/// Parses the address and creates a socket for it. Logs the reason of a failure.
doca_error_t make(const std::string &at, const ServiceKey &key, Address &address, UniqueFd &socket)
{
    const auto parsed = parse(at, key);
    if (!parsed) {
        LOG_ERR("'%s' is not an address for services: use a numeric IP address, with or without a port", at.c_str());
        return DOCA_ERROR_INVALID_VALUE;
    }
    address = *parsed;
    socket = UniqueFd(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.is_open())
        return DOCA_SUCCESS;
    LOG_ERR("a socket cannot be created: %s", std::strerror(errno));
    return DOCA_ERROR_INITIALIZATION;
}

/// Blocks until the connection is made or the time is over. Returns 0 or an errno.
int finish_connecting(int socket) noexcept
{
    if (poll_one(socket, POLLOUT, connect_timeout) == 0)
        return ETIMEDOUT;
    int error = 0;
    socklen_t size = sizeof(error);
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

} // namespace

doca_error_t listen_at(const std::string &at, const ServiceKey &key, const char *service, ProcessFd &socket)
{
    Address address;
    UniqueFd made;
    if (const doca_error_t status = make(at, key, address, made); status != DOCA_SUCCESS)
        return status;
    const int yes = 1; // allows a port that only closed connections still occupy
    if (setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
        bind(made.get(), address.get(), address.size) == 0 &&
        listen(made.get(), static_cast<int>(max_connections)) == 0) {
        LOG_INFO("service '%s' listens at %s, port %u", service, at.c_str(), address.port);
        socket = std::move(made);
        return DOCA_SUCCESS;
    }
    if (errno == EADDRINUSE) {
        LOG_ERR("service '%s': port %u of %s is in use, by the same service or by another program; "
                "DOCA_COMM_CHANNEL_ADDRESS can set another port",
                service, address.port, at.c_str());
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    LOG_ERR("service '%s' cannot listen at %s, port %u: %s", service, at.c_str(), address.port, std::strerror(errno));
    return DOCA_ERROR_INITIALIZATION;
}

doca_error_t connect_at(const std::string &at, const ServiceKey &key, const char *service, UniqueFd &socket)
{
    if (at.starts_with(relay_prefix)) {
        std::string directory;
        const doca_error_t status = parse_relay(at, directory);
        return status == DOCA_SUCCESS ? connect_by_relay(directory, key, service, socket) : status;
    }
    Address address;
    UniqueFd made;
    if (const doca_error_t status = make(at, key, address, made); status != DOCA_SUCCESS)
        return status;
    int error = connect(made.get(), address.get(), address.size) == 0 ? 0 : errno;
    if (error == EINPROGRESS || error == EINTR) // a signal does not abort connect()
        error = finish_connecting(made.get());
    if (error == 0) {
        socket = std::move(made);
        return DOCA_SUCCESS;
    }
    LOG_DBG("service '%s' is not at %s, port %u: %s", service, at.c_str(), address.port, std::strerror(error));
    return DOCA_ERROR_NOT_FOUND;
}

} // namespace opendoca::comm_channel
