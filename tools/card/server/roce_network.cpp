// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "roce_network.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <system_error>

#include <netinet/in.h>
#include <sys/timerfd.h>

#include "big_endian.hpp"
#include "cm_constants.hpp"
#include "connection_manager.hpp"
#include "engine.hpp"
#include "limits.hpp"
#include "work_request.hpp"

namespace opendoca::card {

namespace {

constexpr unsigned packets_per_turn = 64; // of one connection, before others have their turn
constexpr unsigned reads_per_poll = 8;    // calls of recvmmsg on one socket
constexpr std::uint8_t type_of_roce_v2 = 2;
constexpr std::uint16_t partition_mask = 0x7fff; // of a key; the bit above is the kind of membership
/// A card whose sockets are never empty serves its timers all the same, after this time.
constexpr std::uint64_t longest_delay_of_timers_ns = 1'000'000'000;

/// Returns whether the packet's partition key is that of the queue pair, which is always the full default one.
bool is_same_partition(const Packet &packet, const QueuePair &qp)
{
    return (packet.partition_key & partition_mask) == partition_mask && has_partition_key(qp);
}

bool is_usable(const Function &function)
{
    return function.is_port_up && !function.is_dead && !function.is_unreachable;
}

} // namespace

std::array<std::uint8_t, datagram_header_bytes> network_header(const Address &source, const Address &destination,
                                                               std::size_t payload)
{
    constexpr std::size_t udp_base_and_datagram_bytes = 8 + 12 + 8 + icrc_bytes, ipv4_bytes = 20;
    constexpr std::uint8_t time_to_live = 64, protocol_udp = 17;
    std::array<std::uint8_t, datagram_header_bytes> header{};
    const std::size_t bytes = udp_base_and_datagram_bytes + ((payload + 3) & ~std::size_t{3});
    if (!source.is_ipv4()) {
        header[0] = 0x60;
        store_big(&header[4], static_cast<std::uint16_t>(bytes));
        header[6] = protocol_udp;
        header[7] = time_to_live;
        std::ranges::copy(source.gid, header.begin() + 8);
        std::ranges::copy(destination.gid, header.begin() + 24);
        return header;
    }
    std::uint8_t *ip = header.data() + header.size() - ipv4_bytes;
    ip[0] = 0x45;
    store_big(ip + 2, static_cast<std::uint16_t>(ipv4_bytes + bytes));
    ip[6] = 0x40; // don't fragment
    ip[8] = time_to_live;
    ip[9] = protocol_udp;
    std::copy_n(source.gid.begin() + 12, 4, ip + 12);
    std::copy_n(destination.gid.begin() + 12, 4, ip + 16);
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < ipv4_bytes; i += 2)
        sum += be16(ip + i);
    sum = (sum & 0xffff) + (sum >> 16);
    store_big(ip + 10, static_cast<std::uint16_t>(~((sum & 0xffff) + (sum >> 16))));
    return header;
}

RoceConnection::RoceConnection(QueuePair &qp, Network &network, Endpoint &endpoint, const Address &peer)
    : qp_(qp),
      network_(network),
      endpoint_(endpoint),
      peer_(peer)
{
}

RoceConnection::~RoceConnection()
{
    network_.forget(*this);
}

void RoceConnection::stop()
{
    requester.stop();
    responder.stop();
}

Transport RoceConnection::transport() const
{
    return qp_.type == QpType::rc ? Transport::rc : Transport::uc;
}

std::uint32_t RoceConnection::mtu() const
{
    return 128u << std::clamp<unsigned>(qp_.attributes.path_mtu, 1, 5); // ibv_mtu
}

void RoceConnection::send(Packet &packet)
{
    packet.transport = transport();
    packet.destination = qp_.attributes.destination;
    if (is_usable(qp_.file.function) && !qp_.file.card.faults.take_message_loss())
        endpoint_.add(peer_, packet);
}

void RoceConnection::handle(const Packet &packet)
{
    if (traits_of(packet.kind).is_response) {
        if (transport() == Transport::rc && (qp_.state == QpState::rts || qp_.state == QpState::sqd))
            requester.handle(packet);
    } else if (qp_.is_responding()) {
        responder.handle(packet);
    }
}

Network::Network(Card &card) : card_(card), alarm_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK))
{
    if (!alarm_.is_open())
        throw std::system_error(errno, std::generic_category());
}

Network::~Network() = default;

void Network::add(Function &function, const Address &address)
{
    ports_.push_back({&function, std::make_unique<Endpoint>(address)});
}

Endpoint *Network::endpoint_of(const Function &function) const
{
    const auto found = std::ranges::find(ports_, &function, &Port::function);
    return found == ports_.end() ? nullptr : found->endpoint.get();
}

std::array<std::uint64_t, 3> Network::packets() const
{
    std::array<std::uint64_t, 3> all{};
    for (const Port &port : ports_) {
        all[0] += port.endpoint->sent_packets;
        all[1] += port.endpoint->received_packets;
        all[2] += port.endpoint->dropped_packets;
    }
    return all;
}

std::vector<int> Network::descriptors() const
{
    std::vector<int> all = {alarm_.get()};
    for (const Port &port : ports_)
        all.push_back(port.endpoint->fd());
    return all;
}

bool Network::is_on_card(const Address &address) const
{
    return std::ranges::any_of(card_.functions, [&](const Function &function) {
        return std::ranges::any_of(function.profile.gids,
                                   [&](const Gid &gid) { return gid.is_set() && gid.raw == address.gid; });
    });
}

void Network::connect(QueuePair &qp)
{
    qp.roce.reset();
    const Function &function = qp.file.function;
    Endpoint *endpoint = endpoint_of(function);
    const ib_uverbs_qp_dest &path = qp.attributes.path;
    const Address peer = Address::of_gid(path.dgid);
    const std::vector<Gid> &gids = function.profile.gids;
    if (endpoint == nullptr || qp.type == QpType::ud || path.is_global == 0 || !peer.is_usable() || is_on_card(peer) ||
        peer.is_ipv4() != endpoint->address().is_ipv4() ||
        (!qp.is_created_by_devx && (path.sgid_index >= gids.size() || gids[path.sgid_index].type != type_of_roce_v2)))
        return;
    qp.roce = std::make_unique<RoceConnection>(qp, *this, *endpoint, peer);
    qp.roce->responder.start();
}

void Network::send_datagram(QueuePair &qp, const Address &destination, Packet packet, const SegmentList &message)
{
    const Function &function = qp.file.function;
    Endpoint *endpoint = endpoint_of(function);
    if (endpoint == nullptr || !is_usable(function) || !destination.is_usable() || is_on_card(destination) ||
        destination.is_ipv4() != endpoint->address().is_ipv4())
        return;
    const std::span<std::uint8_t> room = endpoint->room(message.length).first(message.length);
    if (read_from(message, 0, room) != Access::done || card_.faults.take_message_loss())
        return; // it is lost
    packet.transport = Transport::ud;
    packet.payload = room;
    endpoint->add(destination, packet);
    has_datagrams_ = true;
}

void Network::send_management(const Function &function, const Address &destination,
                              std::span<const std::uint8_t> datagram)
{
    Endpoint *endpoint = endpoint_of(function);
    if (endpoint == nullptr || !is_usable(function) || destination.is_ipv4() != endpoint->address().is_ipv4() ||
        card_.faults.take_message_loss())
        return;
    const std::span<std::uint8_t> room = endpoint->room(datagram.size()).first(datagram.size());
    std::ranges::copy(datagram, room.begin());
    Packet packet;
    packet.transport = Transport::ud;
    packet.destination = packet.source = management_qpn;
    packet.qkey = management_qkey;
    packet.payload = room;
    endpoint->add(destination, packet);
    endpoint->flush(); // also where the card ends next
}

unsigned Network::progress()
{
    unsigned done = 0;
    bool has_read_all = true;
    for (const Port &port : ports_) {
        std::size_t count = 1;
        for (unsigned i = 0; i < reads_per_poll && count != 0; ++i) {
            count = port.endpoint->receive(
                [&](const Address &source, const Packet &packet) { handle(port, source, packet); });
            done += static_cast<unsigned>(count);
        }
        has_read_all = has_read_all && count == 0;
    }
    // An acknowledgement that waits in a socket is not late: this card has not read it yet.
    if (has_read_all)
        unread_since_ = 0;
    else if (unread_since_ == 0)
        unread_since_ = now_ns();
    if (has_read_all || now_ns() - unread_since_ >= longest_delay_of_timers_ns)
        done += serve_timers();
    // Acknowledgements are sent before new packets, so that the peer can continue.
    for (RoceConnection *connection : std::exchange(acknowledging_, {})) {
        connection->has_acknowledgement_ = false;
        connection->responder.acknowledge();
    }
    // A transmit() may break or destroy connections, and so remove them from ready_.
    for (std::size_t left = ready_.size(); left != 0 && !ready_.empty(); --left) {
        RoceConnection &connection = *ready_.front();
        ready_.pop_front();
        connection.is_ready_ = false;
        done += connection.responder.transmit(packets_per_turn);
        if (connection.responder.has_due_acknowledgement())
            connection.responder.acknowledge();
        done += connection.requester.transmit(packets_per_turn);
        if (connection.requester.can_transmit() || connection.responder.can_transmit())
            make_ready(connection);
    }
    for (const Port &port : ports_)
        port.endpoint->flush();
    has_datagrams_ = false;
    return done;
}

unsigned Network::serve_timers()
{
    if (alarm_at_ == 0 || alarm_at_ > now_ns())
        return 0;
    alarm_at_ = 0; // set_alarm() below arms or disarms the alarm, after which it is not readable
    unsigned done = 0;
    const std::uint64_t now = now_ns();
    while (!timers_.empty() && timers_.begin()->first <= now) {
        RoceConnection &connection = *timers_.begin()->second;
        timers_.erase(timers_.begin());
        connection.timer_ = 0;
        const std::uint64_t deadline = connection.requester.deadline();
        if (deadline != 0 && deadline <= now) {
            connection.requester.expire(now);
            ++done;
        }
        update_timer(connection);
    }
    set_alarm();
    return done;
}

void Network::make_ready(RoceConnection &connection)
{
    if (!std::exchange(connection.is_ready_, true))
        ready_.push_back(&connection);
}

/// If the deadline has become later, the entry in timers_ stays as it is, and serve_timers() corrects it when it
/// expires: most deadlines become later with each acknowledgement.
void Network::update_timer(RoceConnection &connection)
{
    const std::uint64_t deadline = connection.requester.deadline();
    if (deadline == 0 || (connection.timer_ != 0 && connection.timer_ <= deadline))
        return;
    if (connection.timer_ != 0) {
        const auto [first, last] = timers_.equal_range(connection.timer_);
        for (auto entry = first; entry != last; ++entry) {
            if (entry->second == &connection) {
                timers_.erase(entry);
                break;
            }
        }
    }
    connection.timer_ = deadline;
    timers_.emplace(deadline, &connection);
    set_alarm();
}

void Network::set_alarm()
{
    const std::uint64_t next = timers_.empty() ? 0 : timers_.begin()->first;
    if (alarm_at_ != 0 && (next == 0 || alarm_at_ <= next))
        return;       // the alarm expires early, and serve_timers() sets it again
    alarm_at_ = next; // 0 disarms it
    itimerspec time{};
    time.it_value.tv_sec = static_cast<time_t>(alarm_at_ / 1'000'000'000);
    time.it_value.tv_nsec = static_cast<long>(alarm_at_ % 1'000'000'000);
    timerfd_settime(alarm_.get(), TFD_TIMER_ABSTIME, &time, nullptr);
}

void Network::forget(RoceConnection &connection)
{
    std::erase(ready_, &connection);
    std::erase(acknowledging_, &connection);
    std::erase_if(timers_, [&](const auto &entry) { return entry.second == &connection; });
}

void Network::handle(const Port &port, const Address &source, const Packet &packet)
{
    if (packet.destination == management_qpn)
        return handle_management(port, source, packet);
    auto *qp = card_.objects.by_number<QueuePair>(packet.destination);
    if (qp == nullptr || &qp->file.function != port.function || !is_usable(*port.function) ||
        !is_same_partition(packet, *qp))
        return;
    if (packet.transport == Transport::ud)
        return handle_datagram(*qp, port, source, packet);
    if (qp->roce == nullptr || qp->roce->transport() != packet.transport || qp->roce->peer() != source)
        return;
    RoceConnection &connection = *qp->roce;
    connection.handle(packet);
    if (connection.responder.has_due_acknowledgement() && !std::exchange(connection.has_acknowledgement_, true))
        acknowledging_.push_back(&connection);
}

void Network::handle_management(const Port &port, const Address &source, const Packet &packet)
{
    if (packet.transport == Transport::ud && packet.kind == PacketKind::send_only && packet.qkey == management_qkey &&
        (packet.partition_key & partition_mask) == partition_mask && is_usable(*port.function) &&
        packet.payload.size() == management_datagram_bytes)
        card_.connections->receive(*port.function, source, packet.payload.first<management_datagram_bytes>());
}

void Network::handle_datagram(QueuePair &qp, const Port &port, const Address &source, const Packet &packet)
{
    static SegmentList payload;
    if (qp.type != QpType::ud || !qp.is_responding() || qp.attributes.qkey != packet.qkey)
        return;
    payload.clear();
    payload.segments.push_back(
        {nullptr, reinterpret_cast<std::uintptr_t>(packet.payload.data()), packet.payload.size()});
    payload.length = packet.payload.size();
    deliver_datagram(qp, network_header(source, port.endpoint->address(), packet.payload.size()), payload,
                     traits_of(packet.kind).has_immediate ? Entry::receive_immediate : Entry::receive,
                     {.source_qp = packet.source,
                      .immediate = packet.immediate,
                      .is_solicited = packet.is_solicited,
                      .header = source.is_ipv4() ? DatagramHeader::ipv4_and_udp : DatagramHeader::ipv6_and_udp});
}

} // namespace opendoca::card
