// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "roce_responder.hpp"

#include <algorithm>
#include <span>

#include "../network/acknowledgement.hpp"
#include "big_endian.hpp"
#include "engine.hpp"
#include "limits.hpp"
#include "roce_network.hpp"

namespace opendoca::card {

namespace {

constexpr std::size_t max_held = 128; // packets; others are dropped, and the peer retransmits them
constexpr std::size_t max_reads = 64; // reads that wait for their response, repeated ones included

} // namespace

void Responder::start()
{
    stop();
    expected_psn_ = connection_.qp().attributes.receive_psn;
    message_number_ = 0;
    has_refused_sequence_ = false;
}

void Responder::stop()
{
    abandon_message();
    fail_receive(Syndrome::flushed);
    reads_.clear();
    past_reads_.clear();
    atomics_.clear();
    held_.clear();
    is_acknowledgement_due_ = false;
}

bool Responder::is_reliable() const
{
    return connection_.transport() == Transport::rc;
}

void Responder::respond(PacketKind kind, std::uint8_t syndrome, std::uint32_t psn, std::uint64_t original)
{
    Packet packet;
    packet.kind = kind;
    packet.psn = psn;
    packet.syndrome = syndrome;
    packet.message_number = message_number_;
    packet.original = original;
    connection_.send(packet);
}

void Responder::acknowledge()
{
    if (!is_acknowledgement_due_)
        return;
    is_acknowledgement_due_ = false;
    respond(PacketKind::acknowledge, acknowledgement::positive, psn_plus(expected_psn_, psn_mask)); // the one before
}

void Responder::handle(const Packet &packet)
{
    // Requests are carried out in their order, so those behind a read wait until its response was sent.
    if (!reads_.empty())
        hold(packet);
    else
        handle_now(packet);
}

void Responder::hold(const Packet &packet)
{
    if (held_.size() == max_held)
        return;
    Held &held = held_.emplace_back();
    held.packet = packet;
    held.payload.assign(packet.payload.begin(), packet.payload.end());
    held.packet.payload = held.payload;
}

void Responder::handle_now(const Packet &packet)
{
    const std::int32_t ahead = psn_distance(packet.psn, expected_psn_);
    if (!is_reliable()) {
        if (ahead != 0) {
            abandon_message();
            if (!traits_of(packet.kind).is_first)
                return; // the rest of a message of which a packet was lost
            expected_psn_ = packet.psn;
        }
        (void)execute(packet);
        return;
    }
    if (ahead < 0)
        return repeat(packet);
    if (ahead > 0) {
        // Sent once: the requester then retransmits all packets from there on.
        if (!has_refused_sequence_)
            respond(PacketKind::acknowledge, acknowledgement::sequence_error, expected_psn_);
        has_refused_sequence_ = true;
        return;
    }
    if (execute(packet)) {
        has_refused_sequence_ = false;
        // The response to a read or an atomic acknowledges it.
        if (packet.wants_acknowledge && !traits_of(packet.kind).has_atomic && packet.kind != PacketKind::read_request)
            is_acknowledgement_due_ = true;
    }
}

/// Handles a packet that was carried out before: its acknowledgement was lost.
void Responder::repeat(const Packet &packet)
{
    if (packet.kind == PacketKind::compare_swap || packet.kind == PacketKind::fetch_add) {
        const auto found = std::ranges::find(atomics_, packet.psn, &Atomic::psn);
        if (found != atomics_.end())
            respond(PacketKind::atomic_acknowledge, acknowledgement::positive, packet.psn, found->original);
        return;
    }
    if (packet.kind != PacketKind::read_request) {
        is_acknowledgement_due_ = true;
        return;
    }
    const std::uint32_t mtu = connection_.mtu();
    const std::uint32_t packets = packet.length == 0 ? 1 : (packet.length + mtu - 1) / mtu;
    // Only a part of an earlier read is repeated. It gets the present contents of the memory.
    const bool is_known = std::ranges::any_of(past_reads_, [&](const Read &read) {
        const std::int32_t from = psn_distance(packet.psn, read.first_psn);
        return from >= 0 && static_cast<std::uint32_t>(from) + packets <= read.packets && packet.key == read.key &&
               packet.address == read.address + static_cast<std::uint64_t>(from) * mtu &&
               packet.length <= read.length - static_cast<std::uint64_t>(from) * mtu;
    });
    if (is_known && reads_.size() < max_reads) {
        is_acknowledgement_due_ = false; // the response acknowledges all packets before it, and must be sent first
        reads_.push_back({packet.psn, packets, packet.address, packet.key, packet.length, 0});
        connection_.network().make_ready(connection_);
    }
}

bool Responder::execute(const Packet &packet)
{
    const PacketTraits &traits = traits_of(packet.kind);
    if (traits.is_send || traits.is_write)
        return execute_message(packet, traits);
    if (message_ != Message::none)
        return refuse(acknowledgement::invalid_request);
    return packet.kind == PacketKind::read_request ? execute_read(packet) : execute_atomic(packet);
}

bool Responder::has_right_length(const Packet &packet, const PacketTraits &traits) const
{
    const std::size_t mtu = connection_.mtu(), bytes = packet.payload.size();
    if (!traits.is_last)
        return bytes == mtu;
    return bytes <= mtu && (traits.is_first || bytes != 0);
}

bool Responder::execute_message(const Packet &packet, const PacketTraits &traits)
{
    const Message message = traits.is_send ? Message::send : Message::write;
    if (traits.is_first ? message_ != Message::none : message_ != message) {
        if (!is_reliable() && traits.is_first) {
            abandon_message();
        } else {
            return refuse(acknowledgement::invalid_request);
        }
    }
    if (!has_right_length(packet, traits))
        return refuse(acknowledgement::invalid_request);
    if (traits.is_first && message == Message::write && !begin_write(packet))
        return false;
    const bool needs_receive = message == Message::send ? traits.is_first : traits.has_immediate;
    if (needs_receive && !take_receive_request()) {
        // The peer sends the same packet again (RC), or the next message (UC).
        if (traits.is_first || !is_reliable())
            abandon_message();
        return false;
    }
    if (traits.is_first) {
        message_ = message;
        received_ = 0;
    }
    if (message == Message::send ? !store_send(packet) : !store_write(packet))
        return false;
    received_ += packet.payload.size();
    if (traits.is_last && !end_message(packet))
        return false;
    expected_psn_ = psn_plus(expected_psn_, 1);
    return true;
}

bool Responder::find(std::uint32_t right, std::uint32_t key, std::uint64_t address, std::uint64_t length,
                     SegmentList &list) const
{
    const QueuePair &qp = connection_.qp();
    list.clear();
    return length == 0 || add_range(qp.file.card, list, {qp.pd->number(), right, qp.number()}, key, address, length);
}

bool Responder::begin_write(const Packet &packet)
{
    static SegmentList all;
    if ((connection_.qp().attributes.access & right::remote_write) == 0)
        return refuse(acknowledgement::invalid_request);
    // The whole range is checked with the first packet.
    if (!find(right::remote_write, packet.key, packet.address, packet.length, all))
        return refuse(acknowledgement::remote_access_error);
    write_address_ = packet.address;
    write_key_ = packet.key;
    write_length_ = packet.length;
    return true;
}

bool Responder::take_receive_request()
{
    QueuePair &qp = connection_.qp();
    if (has_receive_)
        return true; // left from a message of UC of which a packet was lost
    switch (take_receive(qp, receive_)) {
    case Take::taken:
        has_receive_ = true;
        return true;
    case Take::gone:
        return false; // no response, as if the machine had gone
    case Take::none:
        break;
    }
    if (is_reliable()) {
        respond(PacketKind::acknowledge,
                static_cast<std::uint8_t>(acknowledgement::receiver_not_ready | qp.attributes.rnr_timer),
                expected_psn_);
        has_refused_sequence_ = true;
    } else {
        expected_psn_ = psn_plus(expected_psn_, 1); // the message is lost
    }
    return false;
}

bool Responder::store_send(const Packet &packet)
{
    if (!resolve_again(connection_.qp(), receive_)) {
        fail_receive(Syndrome::local_protection);
        return refuse(acknowledgement::remote_operational_error);
    }
    if (received_ + packet.payload.size() > receive_.list.length) {
        fail_receive(Syndrome::local_length);
        return refuse(acknowledgement::invalid_request);
    }
    switch (write_to(receive_.list, received_, packet.payload)) {
    case Access::done:
        return true;
    case Access::gone:
        return false;
    case Access::fault:
        break;
    }
    fail_receive(Syndrome::local_protection);
    return refuse(acknowledgement::remote_operational_error);
}

bool Responder::store_write(const Packet &packet)
{
    static SegmentList place;
    const std::uint64_t bytes = packet.payload.size();
    if (received_ + bytes > write_length_)
        return refuse(acknowledgement::invalid_request);
    // The key is looked up for each packet: it may have been destroyed meanwhile.
    if (!find(right::remote_write, write_key_, write_address_ + received_, bytes, place))
        return refuse(acknowledgement::remote_access_error);
    switch (write_to(place, 0, packet.payload)) {
    case Access::done:
        return true;
    case Access::gone:
        return false;
    case Access::fault:
        break;
    }
    return refuse(acknowledgement::remote_access_error);
}

bool Responder::end_message(const Packet &packet)
{
    QueuePair &qp = connection_.qp();
    const PacketTraits &traits = traits_of(packet.kind);
    if (message_ == Message::write && received_ != write_length_)
        return refuse(acknowledgement::invalid_request);
    Entry kind = Entry::receive;
    if (packet.kind == PacketKind::send_last_invalidate || packet.kind == PacketKind::send_only_invalidate) {
        kind = Entry::receive_invalidate;
        if (!invalidate(qp, swap_on_little_endian(packet.immediate))) {
            fail_receive(Syndrome::local_protection);
            return refuse(acknowledgement::remote_access_error);
        }
    } else if (traits.has_immediate) {
        kind = message_ == Message::write ? Entry::receive_write_immediate : Entry::receive_immediate;
    }
    if (has_receive_) {
        ++qp.file.card.messages;
        qp.file.card.message_bytes += received_;
        complete_receive(qp, kind,
                         {receive_.index, static_cast<std::uint32_t>(received_), qp.attributes.destination,
                          packet.immediate, packet.is_solicited});
    }
    message_ = Message::none;
    has_receive_ = false;
    message_number_ = psn_plus(message_number_, 1);
    return true;
}

bool Responder::execute_read(const Packet &packet)
{
    static SegmentList all;
    const QpAttributes &attributes = connection_.qp().attributes;
    if ((attributes.access & right::remote_read) == 0 || attributes.max_reads_of_peer == 0 ||
        packet.length > max_message_bytes)
        return refuse(acknowledgement::invalid_request);
    if (!find(right::remote_read, packet.key, packet.address, packet.length, all))
        return refuse(acknowledgement::remote_access_error);
    const std::uint32_t mtu = connection_.mtu();
    const std::uint32_t packets = packet.length == 0 ? 1 : (packet.length + mtu - 1) / mtu;
    const Read read{packet.psn, packets, packet.address, packet.key, packet.length, 0};
    expected_psn_ = psn_plus(expected_psn_, packets);
    message_number_ = psn_plus(message_number_, 1);
    is_acknowledgement_due_ = false; // the response acknowledges what was before it
    reads_.push_back(read);
    past_reads_.push_back(read);
    if (past_reads_.size() > attributes.max_reads_of_peer)
        past_reads_.pop_front();
    connection_.network().make_ready(connection_);
    return true;
}

bool Responder::execute_atomic(const Packet &packet)
{
    static SegmentList place;
    QueuePair &qp = connection_.qp();
    if ((qp.attributes.access & right::remote_atomic) == 0 || qp.attributes.max_reads_of_peer == 0 ||
        packet.address % sizeof(std::uint64_t) != 0)
        return refuse(acknowledgement::invalid_request);
    if (!find(right::remote_atomic, packet.key, packet.address, sizeof(std::uint64_t), place))
        return refuse(acknowledgement::remote_access_error);
    std::uint64_t old = 0;
    Access access = read_from(place, 0, {reinterpret_cast<std::uint8_t *>(&old), sizeof(old)});
    if (access == Access::done) {
        const std::uint64_t changed = packet.kind == PacketKind::fetch_add ? old + packet.operand
                                      : old == packet.compare              ? packet.operand
                                                                           : old;
        access = write_to(place, 0, {reinterpret_cast<const std::uint8_t *>(&changed), sizeof(changed)});
    }
    if (access == Access::gone)
        return false;
    if (access == Access::fault)
        return refuse(acknowledgement::remote_access_error);
    expected_psn_ = psn_plus(expected_psn_, 1);
    message_number_ = psn_plus(message_number_, 1);
    atomics_.push_back({packet.psn, old});
    if (atomics_.size() > qp.attributes.max_reads_of_peer)
        atomics_.pop_front();
    is_acknowledgement_due_ = false;
    respond(PacketKind::atomic_acknowledge, acknowledgement::positive, packet.psn, old);
    return true;
}

unsigned Responder::transmit(unsigned budget)
{
    static SegmentList place;
    const std::uint32_t mtu = connection_.mtu();
    unsigned done = 0;
    while (done < budget && !reads_.empty()) {
        Read &read = reads_.front();
        const std::uint32_t count = std::min(budget - done, read.packets - read.sent);
        const std::uint64_t offset = std::uint64_t{read.sent} * mtu;
        const std::uint64_t bytes = std::min(read.length - offset, std::uint64_t{count} * mtu);
        const std::span<std::uint8_t> room = connection_.endpoint().room(bytes);
        Access access = Access::fault;
        if (find(right::remote_read, read.key, read.address + offset, bytes, place))
            access = read_from(place, 0, room.first(bytes));
        if (access != Access::done) {
            const std::uint32_t psn = psn_plus(read.first_psn, read.sent);
            reads_.clear();
            held_.clear(); // the peer retransmits them after this read
            if (access == Access::fault) {
                respond(PacketKind::acknowledge, acknowledgement::remote_access_error, psn);
                break_queue_pair(connection_.qp(), Event::qp_access_error);
            }
            return done + 1;
        }
        for (std::uint32_t i = 0; i < count; ++i) {
            const bool is_first = read.sent == 0, is_last = read.sent + 1 == read.packets;
            Packet packet;
            packet.kind = is_first && is_last ? PacketKind::read_response_only
                          : is_first          ? PacketKind::read_response_first
                          : is_last           ? PacketKind::read_response_last
                                              : PacketKind::read_response_middle;
            packet.psn = psn_plus(read.first_psn, read.sent++);
            packet.syndrome = acknowledgement::positive;
            packet.message_number = message_number_;
            const std::uint64_t at = std::uint64_t{i} * mtu;
            packet.payload = room.subspan(at, std::min<std::uint64_t>(mtu, bytes - at));
            connection_.send(packet);
        }
        done += count;
        if (read.sent == read.packets)
            reads_.pop_front();
    }
    while (reads_.empty() && !held_.empty()) {
        const Held held = std::move(held_.front());
        held_.pop_front();
        handle_now(held.packet);
    }
    return done;
}

/// Drops the message in progress. Its receive request is used for the next message.
void Responder::abandon_message()
{
    message_ = Message::none;
    received_ = 0;
}

void Responder::fail_receive(Syndrome syndrome)
{
    QueuePair &qp = connection_.qp();
    if (has_receive_)
        complete_error(*qp.receive_cq, qp, Entry::receive_error, receive_.index, 0, syndrome);
    has_receive_ = false;
}

bool Responder::refuse(std::uint8_t syndrome)
{
    QueuePair &qp = connection_.qp();
    if (!is_reliable()) {
        expected_psn_ = psn_plus(expected_psn_, 1);
        abandon_message();
        return false;
    }
    respond(PacketKind::acknowledge, syndrome, expected_psn_);
    fail_receive(syndrome == acknowledgement::remote_access_error ? Syndrome::remote_access : Syndrome::remote_invalid);
    break_queue_pair(qp, syndrome == acknowledgement::remote_access_error ? Event::qp_access_error
                         : syndrome == acknowledgement::invalid_request   ? Event::qp_request_error
                                                                          : Event::qp_fatal);
    return false;
}

} // namespace opendoca::card
