// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "packet.hpp"

#include <array>
#include <cstring>

#include "../server/big_endian.hpp"

namespace opendoca::card {

namespace {

constexpr std::size_t base_bytes = 12, datagram_bytes = 8, remote_bytes = 16, atomic_bytes = 28, acknowledge_bytes = 4,
                      atomic_acknowledge_bytes = 8, immediate_bytes = 4;
constexpr std::uint8_t is_solicited_bit = 0x80, version_mask = 0x0f, acknowledge_bit = 0x80;
constexpr unsigned padding_shift = 4, transport_shift = 5;
constexpr std::uint8_t kind_mask = 0x1f;

constexpr std::array<PacketTraits, 32> make_traits()
{
    std::array<PacketTraits, 32> all{};
    const auto at = [&all](PacketKind kind) -> PacketTraits & {
        PacketTraits &traits = all[static_cast<std::size_t>(kind)];
        traits.is_defined = true;
        return traits;
    };
    using enum PacketKind;
    for (const PacketKind kind : {send_first, send_middle, send_last, send_last_immediate, send_only,
                                  send_only_immediate, send_last_invalidate, send_only_invalidate})
        at(kind).is_send = at(kind).has_payload = true;
    for (const PacketKind kind :
         {write_first, write_middle, write_last, write_last_immediate, write_only, write_only_immediate})
        at(kind).is_write = at(kind).has_payload = true;
    for (const PacketKind kind : {read_response_first, read_response_middle, read_response_last, read_response_only})
        at(kind).is_response = at(kind).has_payload = true;
    for (const PacketKind kind : {acknowledge, atomic_acknowledge})
        at(kind).is_response = at(kind).is_first = at(kind).is_last = true;
    for (const PacketKind kind : {send_first, write_first, read_response_first})
        at(kind).is_first = true;
    for (const PacketKind kind :
         {send_last, send_last_immediate, send_last_invalidate, write_last, write_last_immediate, read_response_last})
        at(kind).is_last = true;
    for (const PacketKind kind : {send_only, send_only_immediate, send_only_invalidate, write_only,
                                  write_only_immediate, read_request, read_response_only, compare_swap, fetch_add})
        at(kind).is_first = at(kind).is_last = true;
    for (const PacketKind kind : {write_first, write_only, write_only_immediate, read_request})
        at(kind).has_remote_address = true;
    for (const PacketKind kind : {compare_swap, fetch_add})
        at(kind).has_atomic = true;
    for (const PacketKind kind :
         {read_response_first, read_response_last, read_response_only, acknowledge, atomic_acknowledge})
        at(kind).has_acknowledge = true;
    at(atomic_acknowledge).has_atomic_acknowledge = true;
    for (const PacketKind kind : {send_last_immediate, send_only_immediate, send_last_invalidate, send_only_invalidate,
                                  write_last_immediate, write_only_immediate})
        at(kind).has_immediate = true;
    return all;
}

constexpr std::array<PacketTraits, 32> all_traits = make_traits();

/// Returns whether a transport has this kind of packet. UC has sends and writes, UD single sends.
bool has_kind(Transport transport, PacketKind kind)
{
    switch (transport) {
    case Transport::rc:
        return all_traits[static_cast<std::size_t>(kind)].is_defined;
    case Transport::uc:
        return kind <= PacketKind::write_only_immediate;
    case Transport::ud:
        return kind == PacketKind::send_only || kind == PacketKind::send_only_immediate;
    }
    return false;
}

std::size_t header_bytes(Transport transport, const PacketTraits &traits)
{
    return base_bytes + (transport == Transport::ud ? datagram_bytes : 0) +
           (traits.has_remote_address ? remote_bytes : 0) + (traits.has_atomic ? atomic_bytes : 0) +
           (traits.has_acknowledge ? acknowledge_bytes : 0) +
           (traits.has_atomic_acknowledge ? atomic_acknowledge_bytes : 0) +
           (traits.has_immediate ? immediate_bytes : 0);
}

} // namespace

const PacketTraits &traits_of(PacketKind kind)
{
    return all_traits[static_cast<std::size_t>(kind) & kind_mask];
}

std::size_t write_headers(const Packet &packet, std::uint8_t *to)
{
    const PacketTraits &traits = traits_of(packet.kind);
    std::uint8_t *at = to;
    at[0] = static_cast<std::uint8_t>(static_cast<unsigned>(packet.transport) << transport_shift |
                                      static_cast<unsigned>(packet.kind));
    at[1] = static_cast<std::uint8_t>((packet.is_solicited ? is_solicited_bit : 0u) |
                                      static_cast<unsigned>(packet.padding() << padding_shift));
    store_big(at + 2, packet.partition_key);
    store_big(at + 4, packet.destination & psn_mask);
    store_big(at + 8, (packet.psn & psn_mask) | (packet.wants_acknowledge ? std::uint32_t{acknowledge_bit} << 24 : 0u));
    at += base_bytes;
    if (packet.transport == Transport::ud) {
        store_big(at, packet.qkey);
        store_big(at + 4, packet.source & psn_mask);
        at += datagram_bytes;
    }
    if (traits.has_remote_address) {
        store_big(at, packet.address);
        store_big(at + 8, packet.key);
        store_big(at + 12, packet.length);
        at += remote_bytes;
    }
    if (traits.has_atomic) {
        store_big(at, packet.address);
        store_big(at + 8, packet.key);
        store_big(at + 12, packet.operand);
        store_big(at + 20, packet.compare);
        at += atomic_bytes;
    }
    if (traits.has_acknowledge) {
        store_big(at, std::uint32_t{packet.syndrome} << 24 | (packet.message_number & psn_mask));
        at += acknowledge_bytes;
    }
    if (traits.has_atomic_acknowledge) {
        store_big(at, packet.original);
        at += atomic_acknowledge_bytes;
    }
    if (traits.has_immediate) {
        std::memcpy(at, &packet.immediate, sizeof(packet.immediate));
        at += immediate_bytes;
    }
    return static_cast<std::size_t>(at - to);
}

std::optional<Packet> parse_packet(std::span<const std::uint8_t> datagram)
{
    if (datagram.size() < base_bytes)
        return std::nullopt;
    Packet packet;
    const unsigned transport = datagram[0] >> transport_shift;
    packet.kind = static_cast<PacketKind>(datagram[0] & kind_mask);
    if (transport != static_cast<unsigned>(Transport::rc) && transport != static_cast<unsigned>(Transport::uc) &&
        transport != static_cast<unsigned>(Transport::ud))
        return std::nullopt;
    packet.transport = static_cast<Transport>(transport);
    const PacketTraits &traits = traits_of(packet.kind);
    const std::size_t headers = header_bytes(packet.transport, traits);
    const std::size_t padding = datagram[1] >> padding_shift & 3;
    if (!has_kind(packet.transport, packet.kind) || (datagram[1] & version_mask) != 0 ||
        datagram.size() < headers + padding)
        return std::nullopt;
    packet.payload = datagram.subspan(headers, datagram.size() - headers - padding);
    // UDP would carry 64 KiB, of which each connection could make the card keep many (Responder::hold).
    if ((!traits.has_payload && datagram.size() != headers) || packet.padding() != padding ||
        packet.payload.size() > max_payload_bytes)
        return std::nullopt;
    packet.is_solicited = (datagram[1] & is_solicited_bit) != 0;
    packet.partition_key = be16(&datagram[2]);
    packet.destination = be32(&datagram[4]) & psn_mask;
    packet.wants_acknowledge = (datagram[8] & acknowledge_bit) != 0;
    packet.psn = be32(&datagram[8]) & psn_mask;
    const std::uint8_t *at = &datagram[0] + base_bytes;
    if (packet.transport == Transport::ud) {
        packet.qkey = be32(at);
        packet.source = be32(at + 4) & psn_mask;
        at += datagram_bytes;
    }
    if (traits.has_remote_address) {
        packet.address = be64(at);
        packet.key = be32(at + 8);
        packet.length = be32(at + 12);
        at += remote_bytes;
    }
    if (traits.has_atomic) {
        packet.address = be64(at);
        packet.key = be32(at + 8);
        packet.operand = be64(at + 12);
        packet.compare = be64(at + 20);
        at += atomic_bytes;
    }
    if (traits.has_acknowledge) {
        packet.syndrome = *at;
        packet.message_number = be32(at) & psn_mask;
        at += acknowledge_bytes;
    }
    if (traits.has_atomic_acknowledge) {
        packet.original = be64(at);
        at += atomic_acknowledge_bytes;
    }
    if (traits.has_immediate)
        std::memcpy(&packet.immediate, at, sizeof(packet.immediate));
    return packet;
}

} // namespace opendoca::card
