// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "handshake.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "../../core/log/log.hpp"
#include "../../core/process/unauthenticated_clients.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_HANDSHAKE);

namespace opendoca::v3 {

namespace {

/// Identifies the protocol and its version.
constexpr std::array<std::byte, 4> magic = {std::byte{'O'}, std::byte{'D'}, std::byte{'R'}, std::byte{'1'}};

/// A socket address of either family.
union SocketAddress {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
};

/// Sets @p address from a numeric IPv4 or IPv6 address. Returns its size in bytes, or 0 if @p text is neither.
socklen_t parse(const std::string &text, std::uint16_t port, SocketAddress &address) noexcept
{
    address = {};
    if (inet_pton(AF_INET, text.c_str(), &address.v4.sin_addr) == 1) {
        address.v4.sin_family = AF_INET;
        address.v4.sin_port = htons(port);
        return sizeof(address.v4);
    }
    if (inet_pton(AF_INET6, text.c_str(), &address.v6.sin6_addr) == 1) {
        address.v6.sin6_family = AF_INET6;
        address.v6.sin6_port = htons(port);
        return sizeof(address.v6);
    }
    return 0;
}

/// Turns off Nagle's algorithm: a handshake is three small messages, none of which may wait for an acknowledgement. A
/// failure costs time only.
void send_at_once(int socket) noexcept
{
    const int yes = 1;
    (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

} // namespace

doca_error_t Handshake::connect(const std::string &text, std::uint16_t port, const std::string &server_name,
                                Handshake &made)
{
    SocketAddress address;
    const socklen_t size = parse(text, port, address);
    if (size == 0) {
        LOG_ERR("'%s' is not an IPv4 or IPv6 address", text.c_str());
        return DOCA_ERROR_INVALID_VALUE;
    }
    UniqueFd socket(::socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket.is_open() || (::connect(socket.get(), &address.any, size) != 0 && errno != EINPROGRESS)) {
        LOG_ERR("%s: %s", server_name.c_str(), std::strerror(errno));
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    send_at_once(socket.get());
    // Its TCP user timeout would also end a live peer with a full receive buffer. Not here: all three short messages of
    // a handshake fit into that buffer.
    end_with_silent_host(socket.get());
    made = Handshake(std::move(socket));
    return DOCA_SUCCESS;
}

bool Handshake::send(Message kind, std::span<const std::byte> details) noexcept
{
    std::array<std::byte, header_size + max_details> message{};
    if (details.size() > max_details)
        return false;
    std::memcpy(message.data(), magic.data(), magic.size());
    message[4] = static_cast<std::byte>(kind);
    const std::uint16_t length = htons(static_cast<std::uint16_t>(details.size()));
    std::memcpy(&message[6], &length, sizeof(length));
    std::ranges::copy(details, message.begin() + header_size);
    const std::size_t size = header_size + details.size();
    // A partial send cannot occur: at most three messages are ever in flight, and the send buffer has space for them.
    return ::send(socket_.get(), message.data(), size, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(size);
}

Handshake::Arrival Handshake::receive() noexcept
{
    if (is_complete_) {
        is_complete_ = false;
        size_ = 0;
    }
    // The header first, then as many bytes as it announces: nothing of a following message is read.
    for (;;) {
        std::size_t wanted = header_size;
        if (size_ >= header_size) {
            std::uint16_t length = 0;
            std::memcpy(&length, &bytes_[6], sizeof(length));
            wanted = header_size + ntohs(length);
            const auto kind = static_cast<std::uint8_t>(bytes_[4]);
            // Any client may connect and send anything. `wanted` is checked before bytes_ is filled up to it.
            if (std::memcmp(bytes_.data(), magic.data(), magic.size()) != 0 || wanted > bytes_.size() || kind == 0 ||
                kind > static_cast<std::uint8_t>(Message::ready)) {
                if (may_log_unauthenticated_client())
                    LOG_ERR("a peer has sent bytes that are not a handshake message of RDMA instances; the connection "
                            "is closed");
                return Arrival::ended;
            }
            if (size_ == wanted) {
                is_complete_ = true;
                return Arrival::message;
            }
        }
        const ssize_t size = recv(socket_.get(), &bytes_[size_], wanted - size_, MSG_DONTWAIT);
        // ENOTCONN: TCP is still connecting.
        if (size < 0 && (errno == EAGAIN || errno == ENOTCONN))
            return Arrival::nothing;
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0) // the peer has closed the connection, or it is broken
            return Arrival::ended;
        size_ += static_cast<std::size_t>(size);
    }
}

doca_error_t listen_to(std::uint16_t port, bool is_local, UniqueFd &socket)
{
    // One IPv6 socket serves both families; IPv4 only where the kernel has no IPv6.
    UniqueFd made(::socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const bool has_v6 = made.is_open();
    if (!has_v6)
        made = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!made.is_open()) {
        LOG_ERR("socket: %s", std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    const int no = 0, yes = 1;
    (void)setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
    // A server that restarts can listen although connections of its predecessor are in TIME_WAIT.
    (void)setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    SocketAddress address;
    // For loopback the IPv4 address, IPv4-mapped for an IPv6 socket: clients of this machine connect to 127.0.0.1.
    const socklen_t size = parse(!has_v6    ? (is_local ? "127.0.0.1" : "0.0.0.0")
                                 : is_local ? "::ffff:127.0.0.1"
                                            : "::",
                                 port, address);
    if (bind(made.get(), &address.any, size) != 0 || listen(made.get(), SOMAXCONN) != 0) {
        LOG_ERR("listening on port %u has failed: %s", port, std::strerror(errno));
        return errno == EADDRINUSE ? DOCA_ERROR_IN_USE : DOCA_ERROR_OPERATING_SYSTEM;
    }
    socket = std::move(made);
    return DOCA_SUCCESS;
}

} // namespace opendoca::v3
