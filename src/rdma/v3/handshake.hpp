// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The exchange of connection details between a client and a server over TCP, for devices without rdma_cm. The TCP
// connection stays open afterwards: its end reports the end of the peer. All received bytes are untrusted.
//
// A message is a header of 8 bytes and up to 256 bytes of connection details:
//     0  4 bytes  "ODR1"
//     4  1 byte   Message
//     5  1 byte   0
//     6  2 bytes  number of bytes of details, big endian
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <doca_error.h>

#include "../../core/base/unique_fd.hpp"
#include "../../core/process/fork.hpp"

namespace opendoca::v3 {

inline constexpr std::size_t max_details = 256; ///< bytes; see QueuePair::details()

/// Kinds of messages, in the order of a handshake; reject takes the place of accept. The values are sent.
enum class Message : std::uint8_t { request = 1, accept, reject, ready };

/// One end of the TCP connection. Owned by a TcpLink and used by the thread of its instance. No function blocks: the
/// socket is non-blocking, and a message fits into the send buffer, as at most three are ever in flight.
class Handshake {
public:
    Handshake() = default;
    explicit Handshake(UniqueFd socket) noexcept : socket_(std::move(socket)) {}

    /// Starts to connect to @p address, a numeric IPv4 or IPv6 address; the socket becomes writable when TCP has
    /// connected or failed. @p server_name is the name of the server in log messages. INVALID_VALUE for another
    /// notation, CONNECTION_ABORTED if the attempt fails at once.
    [[nodiscard]] static doca_error_t connect(const std::string &address, std::uint16_t port,
                                              const std::string &server_name, Handshake &made);

    [[nodiscard]] bool is_open() const noexcept { return socket_.is_open(); }
    [[nodiscard]] int fd() const noexcept { return socket_.get(); }
    void close() noexcept { socket_ = UniqueFd(); }

    /// Sends a message with @p details. Returns false if the connection is broken or @p details are too long.
    [[nodiscard]] bool send(Message kind, std::span<const std::byte> details) noexcept;

    enum class Arrival : std::uint8_t { nothing, message, ended };
    /// Reads the next message. Returns `nothing` until all of it has arrived, and `ended` if the peer has closed the
    /// connection or has sent anything that is not a message.
    [[nodiscard]] Arrival receive() noexcept;
    // Fields of the message that receive() has returned last; valid until its next call.
    [[nodiscard]] Message kind() const noexcept { return static_cast<Message>(bytes_[4]); }
    [[nodiscard]] std::span<const std::byte> details() const noexcept
    {
        return std::span(bytes_).subspan(header_size, size_ - header_size);
    }

private:
    static constexpr std::size_t header_size = 8; ///< magic, kind, a zero, length in network order

    ProcessFd socket_;
    std::array<std::byte, header_size + max_details> bytes_{}; ///< the message that is being received
    std::size_t size_ = 0;                                     ///< bytes of the message that have arrived
    bool is_complete_ = false; ///< receive() has returned the message, so the next call starts a new one
};

/// Creates a TCP socket that listens on @p port, on all addresses or, if @p is_local, on loopback only. IN_USE if
/// another socket has the port, OPERATING_SYSTEM for any other failure.
[[nodiscard]] doca_error_t listen_to(std::uint16_t port, bool is_local, UniqueFd &socket);

} // namespace opendoca::v3
