// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "cm_message.hpp"

#include <algorithm>
#include <iterator>

#include "big_endian.hpp"
#include "cm_constants.hpp"

namespace opendoca::card {

namespace {

using MessageKind = CmMessage::Kind;

// The header of management datagrams.
constexpr std::size_t at_transaction = 8, at_attribute = 16, mad_header_bytes = 24;
constexpr std::array<std::uint8_t, 4> class_and_method = {1, 7, 2, 3}; // version, communication management, 2, Send

/// Number of a kind of message, and where its private data are, from the end of the header on.
struct Attribute {
    std::uint16_t number;
    MessageKind kind;
    std::size_t at_data, data_bytes;
};
constexpr Attribute attribute_table[] = {
    {0x10, MessageKind::request, 140, 92},
    {0x11, MessageKind::receipt, 10, 222},
    {0x12, MessageKind::reject, 84, max_reject_data},
    {0x13, MessageKind::reply, 36, max_reply_data},
    {0x14, MessageKind::ready_to_use, 8, max_ready_data},
    {0x15, MessageKind::disconnect, 12, max_disconnect_data},
    {0x16, MessageKind::disconnect_reply, 8, max_ready_data},
    {0x17, MessageKind::resolve_service, 16, 216},
    {0x18, MessageKind::resolve_service_reply, 96, max_resolve_reply_data},
    {0x19, MessageKind::load_alternate, 64, 168},
    {0x1a, MessageKind::alternate_reply, 84, 148},
};
static_assert(std::ranges::all_of(attribute_table, [](const Attribute &its) {
    return mad_header_bytes + its.at_data + its.data_bytes == management_datagram_bytes;
}));

constexpr std::uint32_t qpn_mask = 0xffffff;
constexpr std::uint8_t transport_rc = 0, transport_uc = 1;

/// Stores a number of 24 bits.
void store_24(std::uint8_t *to, std::uint32_t value)
{
    to[0] = static_cast<std::uint8_t>(value >> 16);
    to[1] = static_cast<std::uint8_t>(value >> 8);
    to[2] = static_cast<std::uint8_t>(value);
}
std::uint32_t load_24(const std::uint8_t *from)
{
    return static_cast<std::uint32_t>(from[0]) << 16 | static_cast<std::uint32_t>(from[1]) << 8 | from[2];
}

/// Stores several fields of one byte: the value that is shifted by `shift` is the upper one.
std::uint8_t join(unsigned upper, unsigned shift, unsigned lower)
{
    return static_cast<std::uint8_t>(upper << shift | lower);
}

std::uint64_t service_of(const CmMessage &message)
{
    return static_cast<std::uint64_t>(message.port_space) << 16 | message.destination.port;
}

void parse_service(std::uint64_t service, CmMessage &message)
{
    if (service >> 32 == 0)
        message.port_space = static_cast<std::uint16_t>(service >> 16);
    message.destination.port = static_cast<std::uint16_t>(service);
}

/// The private data of requests begin with the addresses of both ends: version, IP version, source port, source,
/// destination.
namespace addresses {
constexpr std::size_t at_ip_version = 1, at_source_port = 2, at_source = 4, at_destination = 20, at_ipv4 = 12;

void store(const CmMessage &message, std::uint8_t *to)
{
    constexpr unsigned ipv4 = 4, ipv6 = 6;
    const bool is_ipv6 = message.source.is_ipv6 || message.destination.is_ipv6;
    to[at_ip_version] = join(is_ipv6 ? ipv6 : ipv4, 4, 0);
    store_big(to + at_source_port, message.source.port);
    const std::size_t skipped = is_ipv6 ? 0 : at_ipv4; // of an IPv4 address, the prefix of a mapped one
    std::copy(message.source.ip.gid.begin() + static_cast<std::ptrdiff_t>(skipped), message.source.ip.gid.end(),
              to + at_source + skipped);
    std::copy(message.destination.ip.gid.begin() + static_cast<std::ptrdiff_t>(skipped),
              message.destination.ip.gid.end(), to + at_destination + skipped);
}

Address load_address(const std::uint8_t *from, bool is_ipv6)
{
    Address address = Address::of_gid(from);
    if (!is_ipv6) {
        std::fill_n(address.gid.begin(), at_ipv4, std::uint8_t{0});
        address.gid[10] = address.gid[11] = 0xff;
    }
    return address;
}

/// Returns false if there are none, as in requests of services other than IP addresses.
bool load(const std::uint8_t *from, CmMessage &message)
{
    const unsigned version = from[at_ip_version] >> 4;
    if (from[0] != 0 || (version != 4 && version != 6))
        return false;
    message.source.is_ipv6 = message.destination.is_ipv6 = version == 6;
    message.source.port = load_big<std::uint16_t>(from + at_source_port);
    message.source.ip = load_address(from + at_source, version == 6);
    message.destination.ip = load_address(from + at_destination, version == 6);
    return true;
}
} // namespace addresses

void store_request(const CmMessage &message, std::uint8_t *body)
{
    constexpr std::uint16_t permissive_lid = 0xffff; // RoCE has no LIDs
    store_big(body + 0, message.sender);
    store_big(body + 8, service_of(message));
    store_big(body + 16, message.node_guid);
    store_big(body + 28, message.qkey);
    store_24(body + 32, message.qpn);
    body[35] = message.responder_resources;
    body[39] = message.initiator_depth;
    body[43] = join(response_timeout, 3,
                    join(message.qp_type == qp_type_uc ? transport_uc : transport_rc, 1, message.flow_control));
    store_24(body + 44, message.psn);
    body[47] = join(response_timeout, 3, message.retry_count);
    store_big(body + 48, default_partition);
    body[50] = join(message.path_mtu, 4, message.rnr_retry_count);
    body[51] = join(max_repetitions, 4, join(message.srq, 3, 0));
    store_big(body + 52, permissive_lid);
    store_big(body + 54, permissive_lid);
    std::ranges::copy(message.source_gid.gid, body + 56);
    std::ranges::copy(message.destination_gid.gid, body + 72);
    body[92] = message.traffic_class;
    body[93] = hop_limit;
    body[95] = join(message.ack_timeout, 3, 0);
}

void load_request(const std::uint8_t *body, CmMessage &message)
{
    message.sender = load_big<std::uint32_t>(body + 0);
    parse_service(load_big<std::uint64_t>(body + 8), message);
    message.node_guid = load_big<std::uint64_t>(body + 16);
    message.qkey = load_big<std::uint32_t>(body + 28);
    message.qpn = load_24(body + 32);
    message.responder_resources = body[35];
    message.initiator_depth = body[39];
    const unsigned transport = body[43] >> 1 & 3;
    message.qp_type = transport == transport_rc ? qp_type_rc : transport == transport_uc ? qp_type_uc : std::uint8_t{0};
    message.flow_control = body[43] & 1;
    message.psn = load_24(body + 44);
    message.retry_count = body[47] & 7;
    message.path_mtu = body[50] >> 4;
    message.rnr_retry_count = body[50] & 7;
    message.srq = body[51] >> 3 & 1;
    message.source_gid = Address::of_gid(body + 56);
    message.destination_gid = Address::of_gid(body + 72);
    message.traffic_class = body[92];
    message.ack_timeout = body[95] >> 3;
}

void store_reply(const CmMessage &message, std::uint8_t *body)
{
    store_big(body + 8, message.qkey);
    store_24(body + 12, message.qpn);
    store_24(body + 20, message.psn);
    body[24] = message.responder_resources;
    body[25] = message.initiator_depth;
    body[26] = message.flow_control;
    body[27] = join(message.rnr_retry_count, 5, join(message.srq, 4, 0));
    store_big(body + 28, message.node_guid);
}

void load_reply(const std::uint8_t *body, CmMessage &message)
{
    message.qkey = load_big<std::uint32_t>(body + 8);
    message.qpn = load_24(body + 12);
    message.psn = load_24(body + 20);
    message.responder_resources = body[24];
    message.initiator_depth = body[25];
    message.flow_control = body[26] & 1;
    message.rnr_retry_count = body[27] >> 5;
    message.srq = body[27] >> 4 & 1;
    message.node_guid = load_big<std::uint64_t>(body + 28);
}

bool has_two_ids(MessageKind kind)
{
    return kind != MessageKind::request && kind != MessageKind::resolve_service &&
           kind != MessageKind::resolve_service_reply;
}

bool has_addresses(MessageKind kind)
{
    return kind == MessageKind::request || kind == MessageKind::resolve_service;
}

/// Stores what is neither a request nor the two ids nor private data.
void store_fields(const CmMessage &message, std::uint8_t *body)
{
    constexpr std::uint8_t path_unsupported = 2;
    const auto answered = static_cast<std::uint8_t>(message.answered);
    switch (message.kind) {
    case MessageKind::request:
        return store_request(message, body);
    case MessageKind::reply:
        return store_reply(message, body);
    case MessageKind::receipt:
        body[8] = join(answered, 6, 0);
        body[9] = join(message.timeout, 3, 0);
        return;
    case MessageKind::reject:
        body[8] = join(answered, 6, 0);
        store_big(body + 10, message.reason);
        if (message.reason == reject_timeout) { // with the requester's node, since there is no other id to go by
            body[9] = join(sizeof(message.node_guid), 1, 0);
            store_big(body + 12, message.node_guid);
        }
        return;
    case MessageKind::disconnect:
        return store_24(body + 8, message.remote_qpn);
    case MessageKind::resolve_service:
        store_big(body + 0, message.sender);
        store_big(body + 4, default_partition);
        return store_big(body + 8, service_of(message));
    case MessageKind::resolve_service_reply:
        store_big(body + 0, message.receiver);
        body[4] = static_cast<std::uint8_t>(message.reason);
        store_24(body + 8, message.qpn);
        store_big(body + 12, service_of(message));
        return store_big(body + 20, message.qkey);
    case MessageKind::alternate_reply:
        body[9] = path_unsupported;
        return;
    case MessageKind::ready_to_use:
    case MessageKind::disconnect_reply:
    case MessageKind::load_alternate:
        return;
    }
}

void load_fields(const std::uint8_t *body, CmMessage &message)
{
    switch (message.kind) {
    case MessageKind::request:
        return load_request(body, message);
    case MessageKind::reply:
        return load_reply(body, message);
    case MessageKind::receipt:
    case MessageKind::reject:
        message.answered = static_cast<CmMessage::Answered>(std::min<unsigned>(body[8] >> 6, 2));
        message.timeout = body[9] >> 3;
        message.reason = load_big<std::uint16_t>(body + 10);
        return;
    case MessageKind::disconnect:
        message.remote_qpn = load_24(body + 8);
        return;
    case MessageKind::resolve_service:
        message.sender = load_big<std::uint32_t>(body + 0);
        return parse_service(load_big<std::uint64_t>(body + 8), message);
    case MessageKind::resolve_service_reply:
        message.receiver = load_big<std::uint32_t>(body + 0);
        message.reason = body[4];
        message.qpn = load_24(body + 8);
        message.qkey = load_big<std::uint32_t>(body + 20);
        return;
    case MessageKind::ready_to_use:
    case MessageKind::disconnect_reply:
    case MessageKind::load_alternate:
    case MessageKind::alternate_reply:
        return;
    }
}

} // namespace

ManagementDatagram encode(const CmMessage &message)
{
    const Attribute &its = *std::ranges::find(attribute_table, message.kind, &Attribute::kind);
    ManagementDatagram datagram{};
    std::ranges::copy(class_and_method, datagram.begin());
    store_big(&datagram[at_transaction], message.transaction);
    store_big(&datagram[at_attribute], its.number);
    std::uint8_t *body = &datagram[mad_header_bytes];
    if (has_two_ids(message.kind)) {
        store_big(body + 0, message.sender);
        store_big(body + 4, message.receiver);
    }
    store_fields(message, body);
    std::uint8_t *data = body + its.at_data;
    const std::size_t taken = has_addresses(message.kind) ? address_header_bytes : 0;
    if (taken != 0)
        addresses::store(message, data);
    std::copy_n(message.private_data.begin(), its.data_bytes - taken, data + taken);
    return datagram;
}

std::optional<CmMessage> decode(std::span<const std::uint8_t, management_datagram_bytes> datagram)
{
    const auto number = load_big<std::uint16_t>(&datagram[at_attribute]);
    const auto *its = std::ranges::find(attribute_table, number, &Attribute::number);
    if (!std::ranges::equal(datagram.first<class_and_method.size()>(), class_and_method) ||
        its == std::end(attribute_table))
        return std::nullopt;
    CmMessage message;
    message.kind = its->kind;
    message.transaction = load_big<std::uint64_t>(&datagram[at_transaction]);
    const std::uint8_t *body = &datagram[mad_header_bytes];
    if (has_two_ids(message.kind)) {
        message.sender = load_big<std::uint32_t>(body + 0);
        message.receiver = load_big<std::uint32_t>(body + 4);
    }
    load_fields(body, message);
    const std::uint8_t *data = body + its->at_data;
    const std::size_t taken = has_addresses(message.kind) ? address_header_bytes : 0;
    if (taken != 0 && !addresses::load(data, message))
        message.port_space = 0;
    std::copy_n(data + taken, its->data_bytes - taken, message.private_data.begin());
    return message;
}

} // namespace opendoca::card
