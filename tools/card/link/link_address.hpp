// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "../../../src/core/base/unique_fd.hpp"

namespace opendoca::card {

/// The place at which the two sides of one card meet: the DPU's side listens there and the host's side connects to it.
/// A value; constant after parse().
struct LinkAddress {
    enum class Kind : unsigned char {
        local,    ///< a Unix socket
        loopback, ///< TCP without encryption, on a loopback address only
        tls,      ///< TCP with TLS and a key that both sides have
    };

    Kind kind = Kind::local;
    std::string path;       ///< of a Unix socket
    std::string host, port; ///< of TCP; both numeric

    /// Parses "unix:PATH" (absolute), "tcp:ADDRESS:PORT" or "tls:ADDRESS:PORT". Returns nothing, with the reason in @p
    /// message, for other text.
    static std::optional<LinkAddress> parse(std::string_view text, std::string &message);
    [[nodiscard]] std::string text() const;
    /// Returns what both sides have in common in their addresses, although a path may differ by the place at which a
    /// volume is mounted: the last part of the path, or the port. Not of TLS, of which both sides have the key in
    /// common.
    [[nodiscard]] std::string common_name() const;
};

/// Creates a listening socket that does not block. Replaces a Unix socket at which nothing listens any more. If
/// @p is_open_to_all, other users may connect as far as the folder's mode permits. Not open, with the reason in
/// @p message, if it cannot.
UniqueFd listen_for_link(const LinkAddress &address, bool is_open_to_all, std::string &message);

/// Begins to connect a socket that does not block; it is writable when it is connected or has failed. Not open, with
/// the reason in @p message, if it has failed already.
UniqueFd connect_link(const LinkAddress &address, std::string &message);

} // namespace opendoca::card
