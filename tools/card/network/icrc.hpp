// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The invariant CRC of RoCE v2 (InfiniBand specification, annex A17): a CRC-32 over the IP and UDP headers and the
// packet, in which the fields that routers change count as ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "address.hpp"

namespace opendoca::card {

/// The addresses and UDP ports of a datagram, which the ICRC covers.
struct Flow {
    Address source, destination;
    std::uint16_t source_port, destination_port;
};

/// Returns the CRC-32 over everything before the packet's headers: masked IP and UDP headers for a packet of
/// @p packet_bytes with its ICRC. @p identification is the ID of the IPv4 header; IPv6 has none.
std::uint32_t icrc_prefix(const Flow &flow, std::size_t packet_bytes, std::uint16_t identification);
/// Continues the CRC with the packet's headers, which begin with the BTH.
std::uint32_t icrc_headers(std::uint32_t crc, std::span<const std::uint8_t> headers);
/// Continues it with other bytes.
std::uint32_t icrc_bytes_of(std::uint32_t crc, std::span<const std::uint8_t> bytes);

/// Returns whether @p packet, with its ICRC in the last four bytes, is as it was sent. A UDP socket does not see the ID
/// of the IPv4 header, which some senders count up: the CRC is linear, so the ID is what remains of the difference, and
/// the other 16 bits of the CRC are checked. @p has_zero_id demands an ID of zero and checks all 32 bits.
bool is_intact(const Flow &flow, std::span<const std::uint8_t> packet, bool has_zero_id);

} // namespace opendoca::card
