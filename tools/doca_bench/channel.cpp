// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "channel.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include <nlohmann/json.hpp>
#include <sys/socket.h>

namespace opendoca::tools {

namespace {

constexpr std::size_t header_size = 4; ///< the length of the following JSON text, in network order

/// Sends all bytes, in as many calls as the socket takes.
void send_all(int socket, std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            throw std::runtime_error(std::string("talking to the other side: ") + std::strerror(errno));
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

/// Receives until @p size bytes have arrived or the connection is closed; returns their number. Throws if it breaks.
std::size_t receive_up_to(int socket, char *bytes, std::size_t size)
{
    std::size_t done = 0;
    while (done < size) {
        const ssize_t received = recv(socket, bytes + done, size - done, 0);
        if (received < 0 && errno == EINTR)
            continue;
        if (received < 0)
            throw std::runtime_error(errno == EAGAIN || errno == EWOULDBLOCK
                                         ? "the other side does not answer"
                                         : std::string("the connection to the other side: ") + std::strerror(errno));
        if (received == 0)
            break;
        done += static_cast<std::size_t>(received);
    }
    return done;
}

} // namespace

// The JSON text is ASCII, with other characters escaped, and invalid UTF-8 is replaced instead of throwing.
void send_json(int socket, const Message &message)
{
    const std::string body = message.dump(-1, ' ', true, Message::error_handler_t::replace);
    if (body.size() > max_message_size)
        throw std::runtime_error("a message of " + std::to_string(body.size()) + " bytes is too long");
    std::string bytes;
    for (unsigned shift = 8 * header_size; shift != 0; shift -= 8)
        bytes += static_cast<char>((body.size() >> (shift - 8)) & 0xff);
    send_all(socket, bytes + body);
}

bool receive_json(int socket, Message &message)
{
    // The length is checked before memory is allocated: the bytes may come from any program.
    std::array<char, header_size> header{};
    const std::size_t started = receive_up_to(socket, header.data(), header.size());
    if (started == 0)
        return false;
    std::size_t size = 0;
    for (const char byte : header)
        size = size << 8 | static_cast<unsigned char>(byte);
    if (started == header.size() && size > max_message_size)
        throw std::runtime_error("the other side sends " + std::to_string(size) + " bytes at once, and not at most " +
                                 std::to_string(max_message_size) + ": is it doca_bench?");
    std::string body(started == header.size() ? size : 0, '\0');
    if (started != header.size() || receive_up_to(socket, body.data(), body.size()) != body.size())
        throw std::runtime_error("the other side has ended the connection within a message");
    // Without exceptions: a parse error results in a value that is no object.
    message = Message::parse(body, nullptr, false);
    if (!message.is_object())
        throw std::runtime_error("the other side has sent something else than a JSON object: is it doca_bench?");
    return true;
}

std::uint64_t integer_of(const Message &message, const char *key, std::uint64_t least, std::uint64_t most)
{
    const auto member = message.find(key);
    if (member == message.end() || !member->is_number_unsigned())
        throw std::runtime_error(std::string("the other side does not say '") + key + "' as a number");
    const auto value = member->get<std::uint64_t>();
    if (value < least || value > most)
        throw std::runtime_error(std::string("'") + key + "' is " + std::to_string(value) +
                                 " in the message, and not " + std::to_string(least) + " to " + std::to_string(most));
    return value;
}

std::string text_of(const Message &message, const char *key, std::size_t max_size)
{
    const auto member = message.find(key);
    if (member == message.end() || !member->is_string())
        throw std::runtime_error(std::string("the other side does not say '") + key + "' as a text");
    auto text = member->get<std::string>();
    if (text.size() > max_size)
        throw std::runtime_error(std::string("'") + key + "' has " + std::to_string(text.size()) +
                                 " bytes in the message, and not at most " + std::to_string(max_size));
    for (char &character : text) {
        if (static_cast<unsigned char>(character) < ' ' || character == '\x7f')
            character = '?';
    }
    return text;
}

std::string to_hex(std::span<const std::byte> bytes)
{
    constexpr const char *digits = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : bytes) {
        text += digits[std::to_integer<unsigned>(byte) >> 4];
        text += digits[std::to_integer<unsigned>(byte) & 15];
    }
    return text;
}

std::vector<std::byte> from_hex(std::string_view text)
{
    std::vector<std::byte> bytes;
    for (; text.size() >= 2; text.remove_prefix(2)) {
        unsigned value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + 2, value, 16);
        if (error != std::errc() || end != text.data() + 2)
            break;
        bytes.push_back(static_cast<std::byte>(value));
    }
    if (!text.empty())
        throw std::runtime_error("the other side has sent bytes that are not hexadecimal");
    return bytes;
}

} // namespace opendoca::tools
