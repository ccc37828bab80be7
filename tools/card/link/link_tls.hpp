// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <sys/types.h>

struct ssl_st;
struct ssl_ctx_st;

namespace opendoca::card {

/// The secret that both sides of a link have. Made from a file's content, of which it shows nothing.
struct LinkKey {
    static constexpr std::size_t min_file_bytes = 16, max_file_bytes = 4096;
    std::array<std::uint8_t, 32> secret{}; ///< for TLS
    std::array<std::uint8_t, 8> name{};    ///< the same on both sides, and different for other keys; no secret

    /// Reads a file that only its owner, this user, may read. Returns nothing, with the reason in @p message, for
    /// other files and if the content is too short or too long.
    static std::optional<LinkKey> read(const std::string &path, std::string &message);
};

/// TLS 1.3 with a pre-shared key above a connected socket: each side proves that it has the key, and what is sent is
/// encrypted. There are no certificates. Never blocks. Owned by LinkStream; the socket must live longer.
class LinkTls {
public:
    /// Throws std::system_error if the library lacks what is needed.
    LinkTls(int socket, bool is_server, const LinkKey &key);
    ~LinkTls();
    LinkTls(const LinkTls &) = delete;
    LinkTls &operator=(const LinkTls &) = delete;

    /// As recv() and send() without blocking: errno is EAGAIN if nothing can be moved at present, and EPROTO after an
    /// error of TLS, which error() describes.
    ssize_t receive(std::span<std::uint8_t> to);
    ssize_t send(std::span<const std::uint8_t> from);
    /// Returns whether send() has to wait for bytes of the other side.
    [[nodiscard]] bool is_send_waiting_for_input() const { return is_send_waiting_for_input_; }
    [[nodiscard]] const std::string &error() const { return error_; }

private:
    ssize_t fail(int result);

    std::array<std::uint8_t, 32> secret_;
    std::unique_ptr<ssl_ctx_st, void (*)(ssl_ctx_st *)> context_;
    std::unique_ptr<ssl_st, void (*)(ssl_st *)> ssl_;
    bool is_send_waiting_for_input_ = false;
    bool is_established_ = false; ///< the other side has proved that it has the key
    std::string error_;
};

} // namespace opendoca::card
