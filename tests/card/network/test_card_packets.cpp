// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Packets of RoCE v2: headers, ICRC, sequence numbers. With the argument --print, all kinds of packets as bytes, for
// another implementation to look at: test_packets.py.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "network/acknowledgement.hpp"
#include "network/icrc.hpp"
#include "network/packet.hpp"
#include "server/addresses.hpp"

namespace opendoca::card {
namespace {

using Bytes = std::vector<std::uint8_t>;

Flow flow_between(const char *source, const char *destination, std::uint16_t source_port)
{
    return {*Address::parse(source), *Address::parse(destination), source_port, roce_port};
}

/// A packet as it stands in a datagram, with the ICRC of an IPv4 header with this ID.
Bytes datagram_of(const Packet &packet, const Flow &flow, std::uint16_t identification = 0)
{
    Bytes bytes(max_header_bytes);
    bytes.resize(write_headers(packet, bytes.data()));
    const std::size_t headers = bytes.size();
    bytes.insert(bytes.end(), packet.payload.begin(), packet.payload.end());
    bytes.resize(bytes.size() + packet.padding());
    std::uint32_t crc = icrc_prefix(flow, bytes.size() + icrc_bytes, identification);
    crc = icrc_headers(crc, std::span(bytes).first(headers));
    crc = icrc_bytes_of(crc, std::span(bytes).subspan(headers));
    for (unsigned i = 0; i < icrc_bytes; ++i)
        bytes.push_back(static_cast<std::uint8_t>(crc >> 8 * i));
    return bytes;
}

std::string hex(std::span<const std::uint8_t> bytes)
{
    std::string text;
    for (const std::uint8_t byte : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof(digits), "%02x", byte);
        text += digits;
    }
    return text;
}

const std::array<std::uint8_t, 5> hello = {'h', 'e', 'l', 'l', 'o'};

Packet hello_packet()
{
    Packet packet;
    packet.destination = 0x123;
    packet.psn = 0xabcd;
    packet.wants_acknowledge = true;
    packet.payload = hello;
    return packet;
}

// The same packets were computed with zlib, bit by bit, and by scapy.
TEST(CardPackets, KnownBytesWithTheirIcrc)
{
    EXPECT_EQ(hex(datagram_of(hello_packet(), flow_between("192.0.2.1", "192.0.2.2", 0xc123))),
              "0430ffff000001238000abcd68656c6c6f000000db6e663a");
    Packet answer;
    answer.kind = PacketKind::acknowledge;
    answer.destination = 0x456;
    answer.psn = 0xabcd;
    answer.syndrome = acknowledgement::positive;
    answer.message_number = 1;
    EXPECT_EQ(hex(datagram_of(answer, flow_between("192.0.2.2", "192.0.2.1", 0xc123))),
              "1100ffff000004560000abcd1f00000119216914");
    const Bytes ipv6 = datagram_of(hello_packet(), flow_between("2001:db8::1", "2001:db8::2", 0xc123));
    EXPECT_EQ(hex(std::span(ipv6).last(4)), "0f0e5ff9");
}

TEST(CardPackets, IcrcDetectsEveryChangedBit)
{
    for (const char *const source : {"192.0.2.1", "2001:db8::1"}) {
        const Flow flow = flow_between(source, source, 0xc123);
        Bytes bytes = datagram_of(hello_packet(), flow);
        EXPECT_TRUE(is_intact(flow, bytes, true));
        for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
            bytes[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
            // Byte 4 has the congestion bits, which a switch may set.
            EXPECT_EQ(is_intact(flow, bytes, true), bit / 8 == 4) << bit;
            bytes[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
        }
        EXPECT_FALSE(is_intact(flow_between(source, "198.51.100.7", 0xc123), bytes, true));
        EXPECT_FALSE(is_intact({flow.source, flow.destination, 0xc124, roce_port}, bytes, true));
    }
}

// Soft-RoCE counts the ID of its IPv4 headers up, which a UDP socket does not see.
TEST(CardPackets, AnyIdOfTheIpHeaderIsAcceptedButNoOtherChange)
{
    const Flow flow = flow_between("192.0.2.1", "192.0.2.2", 0xc123);
    std::mt19937 random(1);
    for (std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{256}, std::size_t{4096}}) {
        const Bytes payload(length, 0x5a);
        Packet packet = hello_packet();
        packet.payload = payload;
        unsigned accepted = 0;
        for (int i = 0; i < 500; ++i) {
            const auto identification = static_cast<std::uint16_t>(random());
            Bytes bytes = datagram_of(packet, flow, identification);
            EXPECT_TRUE(is_intact(flow, bytes, false)) << identification;
            EXPECT_EQ(is_intact(flow, bytes, true), identification == 0);
            bytes[8 + random() % (bytes.size() - 8)] ^= static_cast<std::uint8_t>(1 + random() % 255);
            accepted += is_intact(flow, bytes, false);
        }
        EXPECT_LE(accepted, 1u) << "16 bits of the CRC are checked";
    }
}

/// All transports and kinds, with values that fill their fields.
std::vector<Packet> all_packets(std::span<const std::uint8_t> payload)
{
    std::vector<Packet> packets;
    for (const Transport transport : {Transport::rc, Transport::uc, Transport::ud}) {
        for (unsigned kind = 0; kind < 32; ++kind) {
            Packet packet;
            packet.transport = transport;
            packet.kind = static_cast<PacketKind>(kind);
            packet.is_solicited = kind % 2 != 0;
            packet.wants_acknowledge = kind % 3 != 0;
            packet.partition_key = 0x7fff;
            packet.destination = 0xfedcba;
            packet.psn = 0x123456;
            packet.qkey = 0x11223344;
            packet.source = 0x998877;
            packet.address = 0x0123456789abcdef;
            packet.key = 0xaabbccdd;
            packet.length = 0x01020304;
            packet.operand = 0x1122334455667788;
            packet.compare = 0x99aabbccddeeff00;
            packet.syndrome = 0x3f;
            packet.message_number = 0xabcdef;
            packet.original = 0x8877665544332211;
            packet.immediate = 0x78563412;
            if (traits_of(packet.kind).has_payload)
                packet.payload = payload;
            Bytes bytes(2 * max_header_bytes); // also for what no transport has
            bytes.resize(write_headers(packet, bytes.data()));
            bytes.insert(bytes.end(), packet.payload.begin(), packet.payload.end());
            bytes.resize(bytes.size() + packet.padding());
            if (parse_packet(bytes))
                packets.push_back(packet);
        }
    }
    return packets;
}

TEST(CardPackets, EveryKindIsParsedAsItWasWritten)
{
    const std::vector<Packet> packets = all_packets(hello);
    EXPECT_EQ(packets.size(), 23u + 12u + 2u) << "kinds of RC, UC and UD";
    for (const Packet &sent : packets) {
        Bytes bytes = datagram_of(sent, flow_between("192.0.2.1", "192.0.2.2", roce_port));
        bytes.resize(bytes.size() - icrc_bytes);
        const std::optional<Packet> got = parse_packet(bytes);
        ASSERT_TRUE(got);
        const PacketTraits &traits = traits_of(sent.kind);
        EXPECT_EQ(got->kind, sent.kind);
        EXPECT_EQ(got->transport, sent.transport);
        EXPECT_EQ(got->is_solicited, sent.is_solicited);
        EXPECT_EQ(got->wants_acknowledge, sent.wants_acknowledge);
        EXPECT_EQ(got->partition_key, sent.partition_key);
        EXPECT_EQ(got->destination, sent.destination);
        EXPECT_EQ(got->psn, sent.psn);
        EXPECT_TRUE(std::ranges::equal(got->payload, sent.payload));
        if (sent.transport == Transport::ud) {
            EXPECT_EQ(got->qkey, sent.qkey);
            EXPECT_EQ(got->source, sent.source);
        }
        if (traits.has_remote_address || traits.has_atomic) {
            EXPECT_EQ(got->address, sent.address);
            EXPECT_EQ(got->key, sent.key);
        }
        if (traits.has_remote_address) {
            EXPECT_EQ(got->length, sent.length);
        }
        if (traits.has_atomic) {
            EXPECT_EQ(got->operand, sent.operand);
            EXPECT_EQ(got->compare, sent.compare);
        }
        if (traits.has_acknowledge) {
            EXPECT_EQ(got->syndrome, sent.syndrome);
            EXPECT_EQ(got->message_number, sent.message_number);
        }
        if (traits.has_atomic_acknowledge) {
            EXPECT_EQ(got->original, sent.original);
        }
        if (traits.has_immediate) {
            EXPECT_EQ(got->immediate, sent.immediate);
        }
        // Neither shorter, nor of another version, nor with more padding than the payload needs.
        for (std::size_t length = 0; length < bytes.size() - sent.payload.size() - sent.padding(); ++length)
            EXPECT_FALSE(parse_packet(std::span(bytes).first(length))) << length;
        Bytes other = bytes;
        other[1] |= 1;
        EXPECT_FALSE(parse_packet(other));
        other = bytes;
        other[0] = static_cast<std::uint8_t>(other[0] | 0xe0); // a transport that the card has not
        EXPECT_FALSE(parse_packet(other));
    }
}

TEST(CardPackets, PayloadLongerThanEveryPathMtuIsNone)
{
    for (const std::size_t length : {std::size_t{4095}, std::size_t{4096}, std::size_t{4097}, std::size_t{60000}}) {
        const Bytes payload(length, 0x5a);
        Packet packet = hello_packet();
        packet.payload = payload;
        Bytes bytes = datagram_of(packet, flow_between("192.0.2.1", "192.0.2.2", 0xc123));
        bytes.resize(bytes.size() - icrc_bytes);
        EXPECT_EQ(parse_packet(bytes).has_value(), length <= 4096) << length;
    }
}

TEST(CardPackets, RandomBytesAreParsedWithinTheirBounds)
{
    std::mt19937 random(7);
    std::size_t parsed = 0;
    for (int i = 0; i < 200'000; ++i) {
        Bytes bytes(random() % 64); // on the heap, so that sanitizers see every byte too far
        for (std::uint8_t &byte : bytes)
            byte = static_cast<std::uint8_t>(random());
        if (!bytes.empty() && i % 2 == 0)
            bytes[0] &= 0x3f;
        if (bytes.size() > 1)
            bytes[1] &= 0xf0;
        const std::optional<Packet> packet = parse_packet(bytes);
        if (!packet)
            continue;
        ++parsed;
        ASSERT_LE(packet->payload.size(), bytes.size());
        if (!packet->payload.empty()) {
            ASSERT_GE(packet->payload.data(), bytes.data());
            ASSERT_LE(packet->payload.data() + packet->payload.size(), bytes.data() + bytes.size());
        }
    }
    EXPECT_GT(parsed, 1000u);
}

TEST(CardPackets, SequenceNumbersWrapAround)
{
    EXPECT_EQ(psn_plus(0xffffff, 1), 0u);
    EXPECT_EQ(psn_plus(0, psn_mask), 0xffffffu);
    EXPECT_EQ(psn_distance(0, 0xffffff), 1);
    EXPECT_EQ(psn_distance(0xffffff, 0), -1);
    EXPECT_EQ(psn_distance(0x7fffff, 0), 0x7fffff);
    EXPECT_EQ(psn_distance(0x800000, 0), -0x800000);
    EXPECT_EQ(psn_distance(5, 5), 0);
}

TEST(CardAddresses, AreParsedWithTheirFunction)
{
    std::string message;
    const auto parse = [&](std::string_view text) { return parse_assignment(text, Side::host, message); };
    const auto plain = parse("192.0.2.1");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->side, Side::host);
    EXPECT_EQ(plain->device, "");
    EXPECT_EQ(plain->address.text(), "192.0.2.1");
    const auto named = parse("dpu/mlx5_1=2001:db8::1");
    ASSERT_TRUE(named);
    EXPECT_EQ(named->side, Side::dpu);
    EXPECT_EQ(named->device, "mlx5_1");
    EXPECT_EQ(named->address.text(), "2001:db8::1");
    for (const char *const wrong : {"", "mlx5_0=", "192.0.2", "192.0.2.1:80", "mlx5_0=mlx5_1=192.0.2.1", "a/192.0.2.1",
                                    "0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "fe80::1", "ff02::1"}) {
        message.clear();
        EXPECT_FALSE(parse(wrong)) << wrong;
        EXPECT_FALSE(message.empty()) << wrong;
    }
}

/// Prints each packet as a line: name, source, destination, and the datagram with its ICRC, in hexadecimal digits.
void print_packets()
{
    for (const auto &[source, destination] :
         {std::pair("192.0.2.1", "192.0.2.2"), std::pair("2001:db8::1", "2001:db8::2")}) {
        for (const std::size_t length : {0, 1, 2, 3, 4, 256}) {
            const Bytes payload(length, 0xa5);
            for (const Packet &packet : all_packets(payload))
                std::printf("%s %s %s\n", source, destination,
                            hex(datagram_of(packet, flow_between(source, destination, roce_port))).c_str());
        }
    }
}

} // namespace
} // namespace opendoca::card

int main(int argc, char **argv)
{
    if (argc > 1 && std::string_view(argv[1]) == "--print") {
        opendoca::card::print_packets();
        return 0;
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
