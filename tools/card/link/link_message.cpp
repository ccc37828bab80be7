// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "link_message.hpp"

#include <algorithm>
#include <string_view>

#include "../server/big_endian.hpp"

namespace opendoca::card {

namespace {

constexpr std::uint32_t hello_magic = 0x4f44434c; // "ODCL"
// A hello: magic, version, side, number of functions, GUID, name of the profile; then the functions.
constexpr std::size_t at_version = 4, at_side = 6, at_count = 7, at_guid = 8, at_profile = 16, profile_bytes = 32,
                      hello_bytes = at_profile + profile_bytes;
// A function: VHCA, vport, kind, three bytes of 0, number of the subfunction, device, PCI address.
constexpr std::size_t at_vport = 2, at_kind = 4, at_subfunction = 8, at_device = 12, device_bytes = 16,
                      at_pci = at_device + device_bytes, pci_bytes = 16, function_bytes = at_pci + pci_bytes;

void put_text(std::uint8_t *to, std::size_t size, std::string_view text)
{
    std::copy_n(text.begin(), std::min(text.size(), size), to);
}

/// Returns the text of a field, which ends with the field or before the first zero.
std::string text_of(const std::uint8_t *from, std::size_t size)
{
    return {from, std::find(from, from + size, std::uint8_t{0})};
}

} // namespace

std::vector<std::uint8_t> LinkHello::encode() const
{
    std::vector<std::uint8_t> body(hello_bytes + functions.size() * function_bytes);
    store_big(&body[0], hello_magic);
    store_big(&body[at_version], link_version);
    body[at_side] = side;
    body[at_count] = static_cast<std::uint8_t>(functions.size());
    store_big(&body[at_guid], guid);
    put_text(&body[at_profile], profile_bytes, profile);
    std::uint8_t *at = body.data() + hello_bytes;
    for (const LinkFunction &function : functions) {
        store_big(at, function.vhca_id);
        store_big(at + at_vport, function.vport);
        at[at_kind] = function.kind;
        store_big(at + at_subfunction, function.subfunction);
        put_text(at + at_device, device_bytes, function.device_name);
        put_text(at + at_pci, pci_bytes, function.pci_address);
        at += function_bytes;
    }
    return body;
}

std::optional<LinkHello> LinkHello::decode(std::span<const std::uint8_t> body, std::string &message)
{
    if (body.size() < hello_bytes || be32(&body[0]) != hello_magic) {
        message = "its first message of " + std::to_string(body.size()) + " bytes is not that of a card";
        return std::nullopt;
    }
    if (const std::uint16_t version = be16(&body[at_version]); version != link_version) {
        message = "it has version " + std::to_string(version) + " of the link's protocol, and this side version " +
                  std::to_string(link_version) + ": both sides must be of the same release";
        return std::nullopt;
    }
    const std::size_t count = body[at_count];
    if (count > max_functions || body.size() != hello_bytes + count * function_bytes) {
        message = "its first message has " + std::to_string(body.size()) + " bytes for " + std::to_string(count) +
                  " functions";
        return std::nullopt;
    }
    LinkHello hello;
    hello.side = body[at_side];
    hello.guid = be64(&body[at_guid]);
    hello.profile = text_of(&body[at_profile], profile_bytes);
    for (const std::uint8_t *at = body.data() + hello_bytes; at != body.data() + body.size(); at += function_bytes)
        hello.functions.push_back({be16(at), be16(at + at_vport), at[at_kind], be32(at + at_subfunction),
                                   text_of(at + at_device, device_bytes), text_of(at + at_pci, pci_bytes)});
    return hello;
}

std::vector<std::uint8_t> LinkOpen::encode() const
{
    std::vector<std::uint8_t> body(bytes);
    store_big(&body[0], vhca_id);
    store_big(&body[4], object_id);
    std::ranges::copy(access_key, &body[8]);
    return body;
}

LinkOpen LinkOpen::decode(std::span<const std::uint8_t, bytes> body)
{
    LinkOpen result{be16(&body[0]), be32(&body[4]), {}};
    std::ranges::copy(body.subspan<8>(), result.access_key.begin());
    return result;
}

void LinkRange::encode(std::span<std::uint8_t, bytes> body) const
{
    store_big(&body[0], handle);
    store_big(&body[4], rights);
    store_big(&body[8], address);
    store_big(&body[16], length);
    store_big(&body[24], offset);
    store_big(&body[32], count);
    store_big(&body[36], std::uint32_t{0});
}

LinkRange LinkRange::decode(std::span<const std::uint8_t, bytes> body)
{
    return {be32(&body[0]), be32(&body[4]), be64(&body[8]), be64(&body[16]), be64(&body[24]), be32(&body[32])};
}

void LinkAtomic::encode(std::span<std::uint8_t, bytes> body) const
{
    store_big(&body[0], std::uint64_t{is_add});
    store_big(&body[8], operand);
    store_big(&body[16], compare);
}

LinkAtomic LinkAtomic::decode(std::span<const std::uint8_t, bytes> body)
{
    return {be64(&body[0]) != 0, be64(&body[8]), be64(&body[16])};
}

} // namespace opendoca::card
