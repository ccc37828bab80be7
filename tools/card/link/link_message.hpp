// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages between the two sides of one card, when each has a card process of its own. All numbers are big endian. A
// message consists of a header of 16 bytes (length of the body, type, number of the request) and a body, the length of
// which follows from its type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace opendoca::card {

inline constexpr std::uint16_t link_version = 2;
inline constexpr std::size_t link_header_bytes = 16;
inline constexpr std::size_t max_link_data = 64 << 10; ///< data bytes of one message
inline constexpr std::size_t max_link_body = max_link_data + 64;
inline constexpr std::size_t link_window = 64;           ///< requests of one side that have no reply yet
inline constexpr std::size_t max_link_connections = 512; ///< of programs, at a time
/// Bytes of a connection in one direction that were sent and not credited yet.
inline constexpr std::size_t link_connection_window = 64 << 10;

enum class LinkType : std::uint8_t {
    hello = 1,    ///< first message of both sides: LinkHello
    ping = 2,     ///< empty; asks for a pong
    pong = 3,     ///< empty
    open = 4,     ///< opens an alias of a key: LinkOpen
    opened = 5,   ///< status, handle, rights of the key
    close = 6,    ///< handle of an alias that is not used any more; has no reply
    read = 7,     ///< LinkRange
    data = 8,     ///< status; if it is `done`, also the bytes that were read
    write = 9,    ///< LinkRange and the bytes
    written = 10, ///< status
    atomic = 11,  ///< LinkRange with 8 bytes, operand and value to compare with
    swapped = 12, ///< status and the value before
    // Connections of the host's programs with services of the DPU's. The host's side gives each a new number, which is
    // in the place of that of a request.
    connect = 13,   ///< host to DPU: the key of a service, link_key_bytes
    connected = 14, ///< the reply: status; `done`: the connection is there
    bytes = 15,     ///< 1 to max_link_data bytes; no more than link_connection_window without credit
    credit = 16,    ///< number of bytes that were delivered, in 4 bytes
    end = 17,       ///< empty; the last message of this side for the connection, which ends when both have sent it
};
inline constexpr LinkType last_link_type = LinkType::end;

/// Status of a reply.
enum class LinkStatus : std::uint32_t {
    done = 0,
    refused = 1, ///< no such key, or not with this right or range, or the memory is not mapped
    gone = 2,    ///< the program that owns the memory is dead or dying
    full = 3,    ///< the other side has no more room for aliases or connections
};

inline constexpr std::size_t link_key_bytes = 16, link_credit_bytes = 4;

// Bodies of replies: the status; the value before at `link_at_swapped`; the handle at `link_at_handle` and the rights
// of the key at `link_at_access`.
inline constexpr std::size_t link_status_bytes = 4, link_swapped_bytes = 16, link_at_swapped = 8,
                             link_opened_bytes = 16, link_at_handle = 4, link_at_access = 8;

/// A complete message. `body` refers to the buffer of the stream.
struct LinkMessage {
    LinkType type;
    std::uint64_t id; ///< number of the request, which its reply repeats; 0 for messages without a reply
    std::span<const std::uint8_t> body;
};

/// A function as the other side describes it.
struct LinkFunction {
    std::uint16_t vhca_id = 0, vport = 0;
    std::uint8_t kind = 0; ///< FunctionKind
    std::uint32_t subfunction = 0;
    std::string device_name, pci_address;

    bool operator==(const LinkFunction &) const = default;
};

/// The first message of each side.
struct LinkHello {
    static constexpr std::size_t max_functions = 64;
    std::uint8_t side = 0; ///< Side
    std::uint64_t guid = 0;
    std::string profile;
    std::vector<LinkFunction> functions;

    [[nodiscard]] std::vector<std::uint8_t> encode() const;
    /// Returns nothing, with the reason in @p message, if the body is malformed or of another version.
    static std::optional<LinkHello> decode(std::span<const std::uint8_t> body, std::string &message);
};

/// Request to open an alias of a key of the other side.
struct LinkOpen {
    static constexpr std::size_t bytes = 40;
    std::uint16_t vhca_id = 0;   ///< function that owns the key
    std::uint32_t object_id = 0; ///< index of the key
    std::array<std::uint8_t, 32> access_key{};

    [[nodiscard]] std::vector<std::uint8_t> encode() const;
    static LinkOpen decode(std::span<const std::uint8_t, bytes> body);
    auto operator<=>(const LinkOpen &) const = default;
};

/// Part of the memory of a key: bytes [offset, offset + count) of the range, which is checked as a whole.
struct LinkRange {
    static constexpr std::size_t bytes = 40;
    std::uint32_t handle = 0; ///< of the alias, as the owner has assigned it
    std::uint32_t rights = 0; ///< bits of `right` that the access needs
    std::uint64_t address = 0, length = 0;
    std::uint64_t offset = 0;
    std::uint32_t count = 0;

    void encode(std::span<std::uint8_t, bytes> body) const;
    static LinkRange decode(std::span<const std::uint8_t, bytes> body);
};

/// What follows the range in an atomic request.
struct LinkAtomic {
    static constexpr std::size_t bytes = 24;
    bool is_add = false; ///< fetch and add; otherwise compare and swap
    std::uint64_t operand = 0, compare = 0;

    void encode(std::span<std::uint8_t, bytes> body) const;
    static LinkAtomic decode(std::span<const std::uint8_t, bytes> body);
};

} // namespace opendoca::card
