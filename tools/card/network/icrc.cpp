// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "icrc.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#ifdef HAS_LIBDEFLATE
#include <libdeflate.h>
#endif

#include "../server/big_endian.hpp"
#include "packet.hpp"

namespace opendoca::card {

namespace {

constexpr std::size_t ipv4_bytes = 20, ipv6_bytes = 40, udp_bytes = 8, before_ip_bytes = 8;
constexpr std::uint8_t protocol_udp = 17;
constexpr std::size_t at_ipv4_id = 4;
constexpr std::uint32_t polynomial = 0xedb88320; // of CRC-32, with the coefficient of x^0 in bit 31

#ifdef HAS_LIBDEFLATE
std::uint32_t crc32(std::uint32_t crc, std::span<const std::uint8_t> bytes)
{
    // For a null pointer libdeflate returns the CRC of nothing.
    return bytes.empty() ? crc : libdeflate_crc32(crc, bytes.data(), bytes.size());
}
#else
constexpr std::array<std::uint32_t, 256> make_table()
{
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        table[i] = i;
        for (int bit = 0; bit < 8; ++bit)
            table[i] = (table[i] & 1) != 0 ? (table[i] >> 1) ^ polynomial : table[i] >> 1;
    }
    return table;
}
constexpr std::array<std::uint32_t, 256> table = make_table();

/// The same without libdeflate.
std::uint32_t crc32(std::uint32_t crc, std::span<const std::uint8_t> bytes)
{
    crc = ~crc;
    for (const std::uint8_t byte : bytes)
        crc = (crc >> 8) ^ table[(crc ^ byte) & 0xff];
    return ~crc;
}
#endif

/// Multiplies two polynomials modulo the CRC's. Bit 31 is the coefficient of x^0.
constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b)
{
    std::uint32_t product = 0;
    for (std::uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
        if ((a & bit) != 0)
            product ^= b;
        b = (b & 1) != 0 ? (b >> 1) ^ polynomial : b >> 1;
    }
    return product;
}

/// Inverses of x^(8 * 2^i): a multiplication undoes the effect of 2^i zero bytes on the CRC's register.
constexpr std::array<std::uint32_t, 17> make_inverses()
{
    // x^-1 is (polynomial - 1) / x, since polynomial = 0: all coefficients but the constant one, moved by one.
    constexpr std::uint32_t inverse_of_x = polynomial << 1 | 1u;
    std::array<std::uint32_t, 17> inverses{};
    std::uint32_t power = inverse_of_x;
    for (int i = 0; i < 3; ++i)
        power = multiply(power, power);
    for (std::uint32_t &inverse : inverses) {
        inverse = power;
        power = multiply(power, power);
    }
    return inverses;
}
constexpr std::array<std::uint32_t, 17> inverses = make_inverses();

/// Undoes the effect of @p count zero bytes on the CRC's register.
std::uint32_t undo_zero_bytes(std::uint32_t value, std::size_t count)
{
    // Most packets of a stream have the same length, so the factor of the last one is kept.
    thread_local std::size_t last_count = 0;
    thread_local std::uint32_t last_factor = 1u << 31; // x^0
    if (count != last_count) {
        last_count = count;
        last_factor = 1u << 31;
        for (std::size_t i = 0; i < inverses.size(); ++i) {
            if ((count >> i & 1) != 0)
                last_factor = multiply(last_factor, inverses[i]);
        }
    }
    return multiply(value, last_factor);
}

} // namespace

std::uint32_t icrc_prefix(const Flow &flow, std::size_t packet_bytes, std::uint16_t identification)
{
    std::array<std::uint8_t, before_ip_bytes + ipv6_bytes + udp_bytes> bytes;
    bytes.fill(0xff); // eight bytes stand for the header of InfiniBand that RoCE has not
    std::uint8_t *ip = bytes.data() + before_ip_bytes;
    std::uint8_t *udp = nullptr;
    if (flow.source.is_ipv4()) {
        constexpr std::uint16_t dont_fragment = 0x4000;
        ip[0] = 0x45;
        store_big(ip + 2, static_cast<std::uint16_t>(ipv4_bytes + udp_bytes + packet_bytes));
        store_big(ip + at_ipv4_id, identification);
        store_big(ip + 6, dont_fragment);
        ip[9] = protocol_udp;
        std::copy_n(flow.source.gid.begin() + 12, 4, ip + 12);
        std::copy_n(flow.destination.gid.begin() + 12, 4, ip + 16);
        udp = ip + ipv4_bytes;
    } else {
        ip[0] = 0x6f;
        store_big(ip + 4, static_cast<std::uint16_t>(udp_bytes + packet_bytes));
        ip[6] = protocol_udp;
        std::ranges::copy(flow.source.gid, ip + 8);
        std::ranges::copy(flow.destination.gid, ip + 24);
        udp = ip + ipv6_bytes;
    }
    store_big(udp, flow.source_port);
    store_big(udp + 2, flow.destination_port);
    store_big(udp + 4, static_cast<std::uint16_t>(udp_bytes + packet_bytes));
    return crc32(0, std::span(bytes).first(static_cast<std::size_t>(udp + udp_bytes - bytes.data())));
}

std::uint32_t icrc_headers(std::uint32_t crc, std::span<const std::uint8_t> headers)
{
    constexpr std::size_t at_congestion = 4; // FECN, BECN and reserved bits, which count as ones
    std::array<std::uint8_t, max_header_bytes> masked;
    std::ranges::copy(headers, masked.begin());
    masked[at_congestion] = 0xff;
    return crc32(crc, std::span(masked).first(headers.size()));
}

std::uint32_t icrc_bytes_of(std::uint32_t crc, std::span<const std::uint8_t> bytes)
{
    return crc32(crc, bytes);
}

bool is_intact(const Flow &flow, std::span<const std::uint8_t> packet, bool has_zero_id)
{
    constexpr std::size_t base_bytes = 12;
    if (packet.size() < base_bytes + icrc_bytes)
        return false;
    const std::size_t covered = packet.size() - icrc_bytes;
    std::uint32_t crc = icrc_prefix(flow, packet.size(), 0);
    crc = icrc_headers(crc, packet.first(base_bytes));
    crc = icrc_bytes_of(crc, packet.subspan(base_bytes, covered - base_bytes));
    // The least significant byte is sent first.
    const std::uint8_t *at = &packet[covered];
    const std::uint32_t received =
        at[0] | std::uint32_t{at[1]} << 8 | std::uint32_t{at[2]} << 16 | std::uint32_t{at[3]} << 24;
    const std::uint32_t difference = crc ^ received;
    if (difference == 0)
        return true;
    if (has_zero_id || !flow.source.is_ipv4())
        return false;
    // Feeding two bytes to a register of zero is the same as to have them in its low 16 bits and to feed two zeros. So
    // the difference, taken back over the ID and all that follows it, has its upper 16 bits clear for every ID.
    const std::size_t from_id = ipv4_bytes - at_ipv4_id + udp_bytes + covered;
    return undo_zero_bytes(difference, from_id) <= 0xffff;
}

} // namespace opendoca::card
