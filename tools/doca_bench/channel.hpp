// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages between the two sides of a benchmark, which may be on different machines: JSON over a stream socket. What
// comes in is checked by whoever uses it; nothing in it is trusted.
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

/// Of the longest message.
inline constexpr std::size_t max_message_size = std::size_t{4} << 20;

/// Sends a message. Throws when the other side has gone.
void send_json(int socket, const Message &message);

/// False when the other side has ended the connection between two messages. Throws when it breaks within one, when a
/// message is too long, is no JSON object, or when the socket's receive timeout passes.
[[nodiscard]] bool receive_json(int socket, Message &message);

/// The member @p key of an object, which must be an integer within the bounds. Throws otherwise.
[[nodiscard]] std::uint64_t integer_of(const Message &message, const char *key, std::uint64_t least,
                                       std::uint64_t most);
/// The member @p key, which must be a string of at most @p max_size bytes. Control characters are replaced by '?', as the
/// text may end on a terminal.
[[nodiscard]] std::string text_of(const Message &message, const char *key, std::size_t max_size);

[[nodiscard]] std::string to_hex(std::span<const std::byte> bytes);
/// Throws when @p text is not made of pairs of hexadecimal digits.
[[nodiscard]] std::vector<std::byte> from_hex(std::string_view text);

} // namespace opendoca::tools
