// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages between the two sides of a benchmark, which may run on different machines: JSON objects over a stream
// socket, each after its length as four bytes in network order. Received messages are untrusted; all values are checked
// before use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace opendoca::tools {

using Message = nlohmann::json;

/// The size limit of a message in bytes.
inline constexpr std::size_t max_message_size = std::size_t{4} << 20;

/// Sends a message. Throws if the connection is closed.
void send_json(int socket, const Message &message);

/// Receives a message. Returns false if the peer has closed the connection between two messages. Throws if the
/// connection breaks inside of one, if the message is too long or no JSON object, or if the socket's receive timeout
/// expires.
[[nodiscard]] bool receive_json(int socket, Message &message);

/// Returns the member @p key of an object, which must be an integer within the bounds. Throws otherwise.
[[nodiscard]] std::uint64_t integer_of(const Message &message, const char *key, std::uint64_t least,
                                       std::uint64_t most);
/// Returns the member @p key, which must be a string of at most @p max_size bytes. Control characters are replaced by
/// '?', since the text may be printed on a terminal.
[[nodiscard]] std::string text_of(const Message &message, const char *key, std::size_t max_size);

/// Encodes bytes as pairs of hexadecimal digits, for JSON has no type for them.
[[nodiscard]] std::string to_hex(std::span<const std::byte> bytes);
/// Decodes pairs of hexadecimal digits. Throws if @p text has anything else.
[[nodiscard]] std::vector<std::byte> from_hex(std::string_view text);

} // namespace opendoca::tools
