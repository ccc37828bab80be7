// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Send requests of unreliable datagrams (UD). A message that cannot be delivered is lost without notice to the sender.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "big_endian.hpp"
#include "engine.hpp"
#include "limits.hpp"
#include "roce_network.hpp"
#include "work_request.hpp"

namespace opendoca::card {

namespace {

// Offsets in a request: the address vector (mlx5_wqe_av of mlx5dv.h) follows the control segment.
constexpr std::size_t at_qkey = 16, at_destination = 24, at_lid = 30, at_gid_flag = 44, at_gid = 48, at_data = 64;
/// Delivers a message to a queue pair of this card.
void deliver(const QueuePair &qp, QueuePair &peer, const WorkRequest &request, const SegmentList &message)
{
    constexpr std::uint8_t next_header_infiniband = 0x1b, type_roce_v2 = 2;
    // The sender's address handle names its GID. libibverbs makes the address of the answer from this header.
    const std::vector<Gid> &gids = qp.file.function.profile.gids;
    const std::size_t index = std::min<std::size_t>(be32(&request.bytes[at_gid_flag]) >> 20 & 0xff, gids.size() - 1);
    std::array<std::uint8_t, datagram_header_bytes> header{};
    Received received{.source_qp = qp.number(), .immediate = request.immediate, .is_solicited = request.is_solicited};
    if (gids[index].type == type_roce_v2) {
        const Address source = Address::of_gid(gids[index].raw.data());
        header = network_header(source, Address::of_gid(&request.bytes[at_gid]), message.length);
        received.header = source.is_ipv4() ? DatagramHeader::ipv4_and_udp : DatagramHeader::ipv6_and_udp;
    } else {
        header[0] = 0x60; // IP version 6
        store_big(&header[4], static_cast<std::uint16_t>(message.length));
        header[6] = next_header_infiniband;
        std::ranges::copy(gids[index].raw, header.begin() + 8);
        std::copy_n(request.bytes.begin() + at_gid, 16, header.begin() + 24);
    }
    deliver_datagram(peer, header, message,
                     request.opcode == Opcode::send_immediate ? Entry::receive_immediate : Entry::receive, received);
}

/// Sends a message to an address outside of the card.
void send_by_network(QueuePair &qp, const WorkRequest &request, const SegmentList &message, std::uint32_t qkey)
{
    Packet packet;
    packet.kind = request.opcode == Opcode::send_immediate ? PacketKind::send_only_immediate : PacketKind::send_only;
    packet.is_solicited = request.is_solicited;
    packet.destination = be32(&request.bytes[at_destination]) & 0xffffff;
    packet.qkey = qkey;
    packet.source = qp.number();
    packet.immediate = request.immediate;
    qp.file.card.network->send_datagram(qp, Address::of_gid(&request.bytes[at_gid]), packet, message);
}

} // namespace

void deliver_datagram(QueuePair &receiver, std::span<const std::uint8_t, datagram_header_bytes> header,
                      const SegmentList &payload, Entry kind, Received received)
{
    static Receive receive;
    static SegmentList datagram;
    if (take_receive(receiver, receive) != Take::taken)
        return;
    datagram.clear();
    datagram.segments.push_back({nullptr, reinterpret_cast<std::uintptr_t>(header.data()), header.size()});
    datagram.segments.insert(datagram.segments.end(), payload.segments.begin(), payload.segments.end());
    datagram.length = header.size() + payload.length;
    receive.is_valid = receive.is_valid && !is_at_other_side(receive.list);
    if (!receive.is_valid || receive.list.length < datagram.length) {
        complete_error(*receiver.receive_cq, receiver, Entry::receive_error, receive.index, 0,
                       receive.is_valid ? Syndrome::local_length : Syndrome::local_protection);
        break_queue_pair(receiver, Event::qp_fatal);
        return;
    }
    if (copy(datagram, receive.list, 0, datagram.length) != CopyResult::done)
        return;
    received.index = receive.index;
    received.bytes = static_cast<std::uint32_t>(datagram.length);
    complete_receive(receiver, kind, received);
}

Outcome execute_datagram(QueuePair &qp, const WorkRequest &request)
{
    // A request with this bit in its qkey is sent with the queue pair's own one (InfiniBand specification, Q_Keys).
    constexpr std::uint32_t use_default_qkey = 0x80000000;
    if (request.bytes.size() < at_data)
        return fail(qp, nullptr, request, Syndrome::local_operation);
    static SegmentList message;
    const Syndrome syndrome = add_data_segments(qp, request, at_data, 0, message);
    if (syndrome != Syndrome::none)
        return fail(qp, nullptr, request, syndrome);
    // A datagram is carried out at once, and so cannot wait for the other side of the card.
    if (is_at_other_side(message))
        return fail(qp, nullptr, request, Syndrome::local_protection);
    const std::uint64_t length = message.length;
    if (length > max_datagram_bytes)
        return fail(qp, nullptr, request, Syndrome::local_length);
    const std::uint32_t given_qkey = be32(&request.bytes[at_qkey]);
    const std::uint32_t qkey = (given_qkey & use_default_qkey) != 0 ? qp.attributes.qkey : given_qkey;
    auto *peer = qp.file.card.objects.by_number<QueuePair>(be32(&request.bytes[at_destination]) & 0xffffff);
    const bool is_global = qp.file.card.profile.is_ethernet || (request.bytes[at_gid_flag] & 0x40) != 0;
    const auto gid = request.bytes.subspan<at_gid, 16>();
    if (peer != nullptr && peer->type == QpType::ud && peer->is_responding() && peer->attributes.qkey == qkey &&
        has_partition_key(qp) && has_partition_key(*peer) && is_reachable(qp.file.function, peer->file.function) &&
        is_path_to(peer->file.function, is_global, gid, be16(&request.bytes[at_lid])) &&
        !qp.file.card.faults.take_message_loss())
        deliver(qp, *peer, request, message);
    else if (qp.file.card.network != nullptr && is_global)
        send_by_network(qp, request, message, qkey);
    return finish(qp, request, length);
}

} // namespace opendoca::card
