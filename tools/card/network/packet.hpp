// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Packets of RoCE v2 as they stand in a UDP datagram, without the ICRC: base transport header (BTH), extended headers,
// payload and padding. InfiniBand specification, volume 1, chapter 9, and annex A17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace opendoca::card {

inline constexpr std::uint16_t roce_port = 4791; ///< UDP port of RoCE v2

/// The upper three bits of a BTH opcode, for the transports that the card has.
enum class Transport : std::uint8_t { rc = 0, uc = 1, ud = 3 };

/// The lower five bits of a BTH opcode.
enum class PacketKind : std::uint8_t {
    send_first = 0x00,
    send_middle = 0x01,
    send_last = 0x02,
    send_last_immediate = 0x03,
    send_only = 0x04,
    send_only_immediate = 0x05,
    write_first = 0x06,
    write_middle = 0x07,
    write_last = 0x08,
    write_last_immediate = 0x09,
    write_only = 0x0a,
    write_only_immediate = 0x0b,
    read_request = 0x0c,
    read_response_first = 0x0d,
    read_response_middle = 0x0e,
    read_response_last = 0x0f,
    read_response_only = 0x10,
    acknowledge = 0x11,
    atomic_acknowledge = 0x12,
    compare_swap = 0x13,
    fetch_add = 0x14,
    send_last_invalidate = 0x16,
    send_only_invalidate = 0x17,
};

/// What a kind of packet has and means. An entry of a constant table.
struct PacketTraits {
    bool is_defined;
    bool is_response; ///< goes to the requester
    bool is_send, is_write;
    bool is_first, is_last; ///< an "only" packet is both, a "middle" packet neither
    bool has_remote_address, has_atomic, has_acknowledge, has_atomic_acknowledge;
    bool has_immediate; ///< immediate data, or the key to invalidate
    bool has_payload;
};
const PacketTraits &traits_of(PacketKind kind);

/// A packet with its headers decoded. Which fields are valid follows from transport and kind. `payload` refers to
/// memory that the packet does not own, and has no padding.
struct Packet {
    Transport transport = Transport::rc;
    PacketKind kind = PacketKind::send_only;
    bool is_solicited = false;
    bool wants_acknowledge = false;
    std::uint16_t partition_key = 0xffff;
    std::uint32_t destination = 0; ///< number of the queue pair that it is for
    std::uint32_t psn = 0;         ///< packet sequence number, 24 bits
    std::uint32_t qkey = 0;        ///< datagrams
    std::uint32_t source = 0;      ///< datagrams: number of the sender's queue pair
    std::uint64_t address = 0;     ///< reads, writes, atomics
    std::uint32_t key = 0;
    std::uint32_t length = 0;         ///< of the whole read or write
    std::uint64_t operand = 0;        ///< atomics: the value to swap in or to add
    std::uint64_t compare = 0;        ///< compare and swap
    std::uint8_t syndrome = 0;        ///< responses, see acknowledgement.hpp
    std::uint32_t message_number = 0; ///< responses: messages that the responder has completed, 24 bits
    std::uint64_t original = 0;       ///< response to an atomic
    std::uint32_t immediate = 0;      ///< immediate data or key to invalidate, in the byte order of the wire
    std::span<const std::uint8_t> payload;

    /// Returns the number of zero bytes behind the payload that make it a multiple of four.
    [[nodiscard]] std::size_t padding() const { return (0 - payload.size()) & 3; }
};

inline constexpr std::size_t max_header_bytes = 12 + 28; ///< BTH and AtomicETH
inline constexpr std::size_t icrc_bytes = 4;
inline constexpr std::size_t max_payload_bytes = 4096; ///< the largest path MTU

/// Writes the headers to @p to, which has room for max_header_bytes. Returns their size.
std::size_t write_headers(const Packet &packet, std::uint8_t *to);
/// Parses a datagram without its ICRC. Returns nothing if it is too short, of an unknown version or kind, or if it has
/// a payload or padding that its kind does not allow, or more payload than any path MTU.
std::optional<Packet> parse_packet(std::span<const std::uint8_t> datagram);

/// Sequence numbers of 24 bits, which wrap around.
constexpr std::uint32_t psn_mask = 0xffffff;
constexpr std::uint32_t psn_plus(std::uint32_t psn, std::uint32_t count)
{
    return (psn + count) & psn_mask;
}
/// Returns how far @p psn is ahead of @p from; negative if it is behind. The nearer direction counts.
constexpr std::int32_t psn_distance(std::uint32_t psn, std::uint32_t from)
{
    return static_cast<std::int32_t>((psn - from) << 8) >> 8;
}

} // namespace opendoca::card
