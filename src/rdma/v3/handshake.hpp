// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The exchange of connection details between two instances that have an address and a port. It uses TCP; the TCP
// connection stays open to report the end of the peer. All data from it is untrusted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <doca_error.h>

#include "../../core/fork.hpp"
#include "../../core/unique_fd.hpp"

namespace opendoca::v3 {

inline constexpr std::size_t max_details = 256;

enum class Message : std::uint8_t { request = 1, accept, reject, ready };

/// One side of the conversation. Never waits.
class Handshake {
public:
    Handshake() = default;
    explicit Handshake(UniqueFd socket) noexcept : socket_(std::move(socket)) {}

    /// Begins to connect to a numeric IPv4 or IPv6 @p address, which messages call @p asked. INVALID_VALUE, or
    /// CONNECTION_ABORTED.
    [[nodiscard]] static doca_error_t connect(const std::string &address, std::uint16_t port, const std::string &asked,
                                              Handshake &made);

    [[nodiscard]] bool is_open() const noexcept { return socket_.is_open(); }
    [[nodiscard]] int fd() const noexcept { return socket_.get(); }
    void close() noexcept { socket_ = UniqueFd(); }

    /// False when the peer can't be reached any more.
    [[nodiscard]] bool send(Message kind, std::span<const std::byte> details) noexcept;

    enum class Arrival : std::uint8_t { nothing, message, ended };
    /// The next message of the peer, if there is one. What is not understood is an end.
    [[nodiscard]] Arrival receive() noexcept;
    // Fields of the message that receive() has returned.
    [[nodiscard]] Message kind() const noexcept { return static_cast<Message>(bytes_[4]); }
    [[nodiscard]] std::span<const std::byte> details() const noexcept
    {
        return std::span(bytes_).subspan(header_size, size_ - header_size);
    }

private:
    static constexpr std::size_t header_size = 8; ///< magic, kind, a zero, length in network order

    ProcessFd socket_;
    std::array<std::byte, header_size + max_details> bytes_{};
    std::size_t size_ = 0; ///< of what is in bytes_
    bool is_complete_ = false;
};

/// A TCP socket that listens on @p port, of this machine only when @p is_local. IN_USE, OPERATING_SYSTEM.
[[nodiscard]] doca_error_t listen_to(std::uint16_t port, bool is_local, UniqueFd &socket);

} // namespace opendoca::v3
