// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "roce_requester.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "../network/acknowledgement.hpp"
#include "big_endian.hpp"
#include "limits.hpp"
#include "roce_network.hpp"
#include "work_request.hpp"

namespace opendoca::card {

namespace {

constexpr std::size_t max_taken = 256;     // requests of one queue pair that are in flight
constexpr std::uint32_t first_window = 32; // packets; grows while nothing is lost
constexpr std::uint32_t least_window = 4, greatest_window = 128;
constexpr unsigned max_batch = 64; // packets that are read from the program's memory and sent together
/// Minimum of the acknowledge timeout; real cards have one as well. With a shorter timeout, a peer whose process the
/// scheduler has delayed would count as a lost packet.
constexpr std::uint64_t least_timeout_ns = 4'000'000;
constexpr std::uint8_t unlimited_retries = 7; // of rnr_retry only

bool is_message(Opcode opcode)
{
    return has_remote_address(opcode) || opcode == Opcode::send || opcode == Opcode::send_immediate ||
           opcode == Opcode::send_invalidate;
}

/// Returns the kind of a packet of a send or write, by its place in the message.
PacketKind kind_of(Opcode opcode, bool is_first, bool is_last)
{
    using enum PacketKind;
    const bool is_write = opcode == Opcode::write || opcode == Opcode::write_immediate;
    if (!is_last)
        return is_write ? (is_first ? write_first : write_middle) : (is_first ? send_first : send_middle);
    switch (opcode) {
    case Opcode::write:
        return is_first ? write_only : write_last;
    case Opcode::write_immediate:
        return is_first ? write_only_immediate : write_last_immediate;
    case Opcode::send_immediate:
        return is_first ? send_only_immediate : send_last_immediate;
    case Opcode::send_invalidate:
        return is_first ? send_only_invalidate : send_last_invalidate;
    default:
        return is_first ? send_only : send_last;
    }
}

} // namespace

void Requester::start()
{
    stop();
    const QueuePair &qp = connection_.qp();
    taken_ = qp.send_consumed;
    acknowledged_ = next_psn_ = sent_psn_ = end_psn_ = grown_at_ = qp.attributes.send_psn;
    window_ = first_window;
    retries_left_ = qp.attributes.retry_count;
    rnr_retries_left_ = qp.attributes.rnr_retry;
}

void Requester::stop()
{
    sent_.clear();
    reads_.clear();
    parts_.clear();
    sending_ = 0;
    end_psn_ = next_psn_ = sent_psn_ = acknowledged_;
    taken_ = connection_.qp().send_consumed;
    is_retrying_ = false;
    timeout_at_ = receiver_ready_at_ = 0;
}

void Requester::post(std::uint16_t produced, Progress &progress)
{
    static SlotWindow window;
    QueuePair &qp = connection_.qp();
    while (qp.state == QpState::rts && taken_ != produced && sent_.size() < max_taken) {
        const auto ready = static_cast<std::uint16_t>(produced - taken_);
        if (ready > qp.send_slots)
            return; // the program has overwritten requests that are not done
        const std::uint32_t slots = std::min<std::uint32_t>(ready, window_slots);
        if (!read_slots(qp, taken_, slots, window)) {
            if (!qp.process->is_dead())
                break_queue_pair(qp, Event::qp_fatal);
            return;
        }
        for (std::size_t at = 0; at < slots && sent_.size() < max_taken;) {
            const std::span<const std::uint8_t> rest =
                std::span(window).subspan(at * slot_bytes, (slots - at) * slot_bytes);
            const std::size_t request_slots = (WorkRequest::bytes_of(rest) + slot_bytes - 1) / slot_bytes;
            if (request_slots > slots - at) {
                if (ready <= window_slots || at == 0) {
                    break_queue_pair(qp, Event::qp_fatal); // the request extends beyond the last posted slot
                    return;
                }
                break; // it continues beyond the window
            }
            const WorkRequest request = WorkRequest::parse(rest, taken_);
            if (is_message(request.opcode)) {
                take(request, static_cast<std::uint16_t>(request_slots));
            } else {
                // A request without a peer is carried out when those before it are complete, to keep their order.
                if (!sent_.empty()) {
                    if (can_transmit())
                        connection_.network().make_ready(connection_);
                    return;
                }
                if (execute(qp, request) == Outcome::more) {
                    ++progress.done;
                    return;
                }
                qp.send_consumed = static_cast<std::uint16_t>(qp.send_consumed + request_slots);
                if (qp.state != QpState::rts)
                    return;
            }
            taken_ = static_cast<std::uint16_t>(taken_ + request_slots);
            at += request_slots;
            ++progress.done;
        }
    }
    if (can_transmit())
        connection_.network().make_ready(connection_);
}

void Requester::take(const WorkRequest &request, std::uint16_t slots)
{
    constexpr std::size_t at_flags = 11;
    constexpr std::uint8_t fence_mask = 0xe0;
    const std::uint32_t mtu = connection_.mtu();
    Sent sent;
    sent.bytes.assign(request.bytes.begin(), request.bytes.end());
    sent.index = request.index;
    sent.slots = slots;
    sent.opcode = request.opcode;
    sent.is_fenced = (request.bytes[at_flags] & fence_mask) != 0;
    sent.first_psn = end_psn_;
    sent.error = measure(request, sent);
    const bool is_single = sent.error != Syndrome::none || sent.is_atomic() || sent.length == 0;
    sent.packets = is_single ? 1 : static_cast<std::uint32_t>((sent.length + mtu - 1) / mtu);
    end_psn_ = sent.end_psn();
    sent_.push_back(std::move(sent));
}

/// Computes the length of a request. Returns why it cannot be carried out, or none.
Syndrome Requester::measure(const WorkRequest &request, Sent &sent) const
{
    static SegmentList local;
    const QueuePair &qp = connection_.qp();
    if (request.bytes.size() < data_offset(request.opcode))
        return Syndrome::local_operation;
    if (qp.type == QpType::uc && (sent.needs_data() || request.opcode == Opcode::send_invalidate))
        return Syndrome::local_operation;
    if (const Syndrome syndrome = add_data_segments(qp, request, data_offset(request.opcode),
                                                    sent.needs_data() ? right::local_write : 0, local);
        syndrome != Syndrome::none)
        return syndrome;
    sent.length = local.length;
    if (local.length > max_message_bytes)
        return Syndrome::local_length;
    if (sent.needs_data() && qp.attributes.max_reads == 0)
        return Syndrome::local_operation; // as in connected.cpp
    if (sent.is_atomic() &&
        (local.length != sizeof(std::uint64_t) || be64(&request.bytes[at_remote_address]) % sizeof(std::uint64_t) != 0))
        return Syndrome::remote_invalid;
    return Syndrome::none;
}

Syndrome Requester::resolve(const Sent &sent, SegmentList &local) const
{
    const Syndrome syndrome = add_data_segments(connection_.qp(), sent.request(), data_offset(sent.opcode),
                                                sent.needs_data() ? right::local_write : 0, local);
    return syndrome == Syndrome::none && local.length != sent.length ? Syndrome::local_protection : syndrome;
}

std::uint32_t Requester::window_left() const
{
    const std::int32_t in_flight = psn_distance(next_psn_, acknowledged_);
    if (connection_.transport() == Transport::uc)
        return greatest_window;
    return static_cast<std::uint32_t>(in_flight) >= window_ ? 0 : window_ - static_cast<std::uint32_t>(in_flight);
}

bool Requester::can_transmit() const
{
    if (sending_ >= sent_.size() || window_left() == 0 || receiver_ready_at_ != 0)
        return false;
    const Sent &sent = sent_[sending_];
    // While the send queue drains (SQD), no request is begun.
    const bool is_new = next_psn_ == sent.first_psn && psn_distance(next_psn_, sent_psn_) >= 0;
    if (is_new && connection_.qp().state == QpState::sqd)
        return false;
    if (sent.error != Syndrome::none)
        return sending_ == 0; // then it fails
    if (sent.is_fenced && next_psn_ == sent.first_psn && !reads_.empty())
        return false;
    return !sent.needs_data() || reads_.size() < connection_.qp().attributes.max_reads;
}

unsigned Requester::transmit(unsigned budget)
{
    unsigned done = 0;
    while (done < budget && can_transmit()) {
        Sent &sent = sent_[sending_];
        if (sent.error != Syndrome::none) {
            fail_first(sent.error);
            break;
        }
        if (sent.is_atomic()) {
            send_atomic(sent);
            ++done;
        } else if (sent.is_read()) {
            done += send_read(sent, budget - done);
        } else {
            const unsigned packets = send_payload(sent, budget - done);
            if (packets == 0) // the request has failed, or will once those before it are complete
                break;
            done += packets;
        }
        if (next_psn_ == sent_[sending_].end_psn()) {
            ++sending_;
            // Nothing acknowledges a message of UC.
            if (connection_.transport() == Transport::uc) {
                acknowledged_ = next_psn_;
                complete_first();
            }
        }
    }
    if (psn_distance(next_psn_, sent_psn_) > 0)
        sent_psn_ = next_psn_;
    if (done != 0 && timeout_at_ == 0 && connection_.transport() == Transport::rc &&
        connection_.qp().attributes.timeout != 0) {
        timeout_at_ = now_ns() + timeout_ns();
        connection_.network().update_timer(connection_);
    }
    return done;
}

/// Sends the next packets of a send or write. Returns how many; 0 if the request has failed.
unsigned Requester::send_payload(Sent &sent, unsigned budget)
{
    static SegmentList local;
    const std::uint32_t mtu = connection_.mtu();
    const auto begun = static_cast<std::uint32_t>(psn_distance(next_psn_, sent.first_psn));
    const std::uint32_t count = std::min({budget, max_batch, window_left(), sent.packets - begun});
    const std::uint64_t offset = std::uint64_t{begun} * mtu;
    const std::uint64_t bytes = std::min(sent.length - offset, std::uint64_t{count} * mtu);
    const std::span<std::uint8_t> room = connection_.endpoint().room(bytes);
    Syndrome syndrome = resolve(sent, local);
    if (syndrome == Syndrome::none) {
        // Also if the process has ended while another one keeps the queue pair open: nothing can be sent then.
        if (read_from(local, offset, room.first(bytes)) != Access::done)
            syndrome = Syndrome::local_protection;
    }
    if (syndrome != Syndrome::none) {
        sent.error = syndrome;
        if (sending_ == 0)
            fail_first(syndrome);
        return 0;
    }
    const WorkRequest request = sent.request();
    for (std::uint32_t i = 0; i < count; ++i) {
        const bool is_first = begun + i == 0, is_last = begun + i + 1 == sent.packets;
        Packet packet;
        packet.kind = kind_of(sent.opcode, is_first, is_last);
        packet.is_solicited = is_last && request.is_solicited;
        packet.wants_acknowledge = connection_.transport() == Transport::rc && (is_last || i + 1 == count);
        packet.psn = next_psn_;
        packet.immediate = request.immediate;
        if (is_first && has_remote_address(sent.opcode)) {
            packet.address = be64(&sent.bytes[at_remote_address]);
            packet.key = be32(&sent.bytes[at_remote_key]);
            packet.length = static_cast<std::uint32_t>(sent.length);
        }
        const std::uint64_t at = std::uint64_t{i} * mtu;
        packet.payload = room.subspan(at, std::min<std::uint64_t>(mtu, bytes - at));
        connection_.send(packet);
        next_psn_ = psn_plus(next_psn_, 1);
    }
    return count;
}

/// Requests the next part of a read. A part has as many packets as the window allows, so that the responder cannot send
/// more than this side is prepared for.
unsigned Requester::send_read(const Sent &sent, unsigned budget)
{
    const std::uint32_t mtu = connection_.mtu();
    const auto begun = static_cast<std::uint32_t>(psn_distance(next_psn_, sent.first_psn));
    std::uint32_t count = std::min({budget, max_batch, window_left(), sent.packets - begun});
    const auto part =
        std::ranges::find_if(parts_, [this](std::uint32_t end) { return psn_distance(end, next_psn_) > 0; });
    if (part != parts_.end())
        count = std::min(count, static_cast<std::uint32_t>(psn_distance(*part, next_psn_)));
    const std::uint32_t end_of_part = psn_plus(next_psn_, count);
    if (part == parts_.end() || *part != end_of_part)
        parts_.insert(part, end_of_part);
    const std::uint64_t offset = std::uint64_t{begun} * mtu;
    Packet packet;
    packet.kind = PacketKind::read_request;
    packet.wants_acknowledge = true;
    packet.psn = next_psn_;
    packet.address = be64(&sent.bytes[at_remote_address]) + offset;
    packet.key = be32(&sent.bytes[at_remote_key]);
    packet.length = static_cast<std::uint32_t>(std::min(sent.length - offset, std::uint64_t{count} * mtu));
    connection_.send(packet);
    next_psn_ = psn_plus(next_psn_, count);
    reads_.push_back(next_psn_);
    return count;
}

void Requester::send_atomic(const Sent &sent)
{
    Packet packet;
    packet.kind = sent.opcode == Opcode::fetch_add ? PacketKind::fetch_add : PacketKind::compare_swap;
    packet.wants_acknowledge = true;
    packet.psn = next_psn_;
    packet.address = be64(&sent.bytes[at_remote_address]);
    packet.key = be32(&sent.bytes[at_remote_key]);
    packet.operand = be64(&sent.bytes[at_atomic_operand]);
    packet.compare = sent.opcode == Opcode::fetch_add ? 0 : be64(&sent.bytes[at_atomic_compare]);
    connection_.send(packet);
    next_psn_ = psn_plus(next_psn_, 1);
    reads_.push_back(next_psn_);
}

void Requester::complete_first()
{
    QueuePair &qp = connection_.qp();
    const Sent sent = std::move(sent_.front());
    sent_.pop_front();
    sending_ -= sending_ != 0;
    if (has_remote_address(sent.opcode))
        ++qp.file.card.remote_accesses;
    qp.send_consumed = static_cast<std::uint16_t>(qp.send_consumed + sent.slots);
    (void)finish(qp, sent.request(), sent.length);
    qp.process->needs_poll = true; // there may be more in the send queue
}

void Requester::fail_first(Syndrome syndrome)
{
    QueuePair &qp = connection_.qp();
    const Sent sent = std::move(sent_.front());
    qp.send_consumed = static_cast<std::uint16_t>(qp.send_consumed + sent.slots);
    (void)fail(qp, nullptr, sent.request(), syndrome); // breaks the queue pair, which calls stop()
}

void Requester::note_progress()
{
    // Packets that were to be retransmitted have been acknowledged meanwhile.
    if (psn_distance(acknowledged_, next_psn_) > 0) {
        next_psn_ = acknowledged_;
        find_sending();
    }
    const QpAttributes &attributes = connection_.qp().attributes;
    retries_left_ = attributes.retry_count;
    rnr_retries_left_ = attributes.rnr_retry;
    is_retrying_ = false;
    receiver_ready_at_ = 0;
    if (psn_distance(acknowledged_, grown_at_) >= 0) {
        window_ = std::min(window_ + std::max(window_ / 4, 1u), greatest_window);
        grown_at_ = next_psn_;
    }
    while (!reads_.empty() && psn_distance(reads_.front(), acknowledged_) <= 0)
        reads_.pop_front();
    while (!parts_.empty() && psn_distance(parts_.front(), acknowledged_) <= 0)
        parts_.pop_front();
    timeout_at_ = acknowledged_ != next_psn_ && attributes.timeout != 0 ? now_ns() + timeout_ns() : 0;
    connection_.network().update_timer(connection_);
}

bool Requester::acknowledge_before(std::uint32_t psn)
{
    bool has_progress = false, is_complete = true;
    while (!sent_.empty() && psn_distance(psn, acknowledged_) > 0) {
        const Sent &first = sent_.front();
        if (first.needs_data()) {
            is_complete = false; // its response would have arrived first, so it is lost
            break;
        }
        has_progress = true;
        const bool is_whole = psn_distance(psn, first.end_psn()) >= 0;
        acknowledged_ = is_whole ? first.end_psn() : psn;
        if (is_whole)
            complete_first();
    }
    if (has_progress)
        note_progress();
    if (!is_complete)
        lose(acknowledged_);
    return is_complete;
}

void Requester::handle(const Packet &packet)
{
    // Only for packets that were sent and are not acknowledged.
    if (psn_distance(packet.psn, acknowledged_) < 0 || psn_distance(packet.psn, sent_psn_) >= 0)
        return;
    const PacketTraits &traits = traits_of(packet.kind);
    if (traits.has_acknowledge && (packet.syndrome & acknowledgement::class_mask) != 0) {
        if (!acknowledge_before(packet.psn) || connection_.qp().state == QpState::error)
            return;
        switch (packet.syndrome) {
        case acknowledgement::sequence_error:
            return lose(packet.psn);
        case acknowledgement::invalid_request:
            return fail_first(Syndrome::remote_invalid);
        case acknowledgement::remote_access_error:
            return fail_first(Syndrome::remote_access);
        case acknowledgement::remote_operational_error:
            return fail_first(Syndrome::remote_operation);
        default:
            if ((packet.syndrome & acknowledgement::class_mask) == acknowledgement::receiver_not_ready)
                wait_for_receiver(packet);
            return;
        }
    }
    if (packet.kind == PacketKind::acknowledge)
        (void)acknowledge_before(psn_plus(packet.psn, 1));
    else
        take_data(packet);
    if (can_transmit())
        connection_.network().make_ready(connection_);
}

/// Takes a packet of a read response, or the response to an atomic.
void Requester::take_data(const Packet &packet)
{
    static SegmentList local;
    if (!acknowledge_before(packet.psn) || sent_.empty() || packet.psn != acknowledged_)
        return;
    const Sent &first = sent_.front();
    const bool is_atomic = packet.kind == PacketKind::atomic_acknowledge;
    if (is_atomic ? !first.is_atomic() : !first.is_read())
        return fail_first(Syndrome::bad_response);
    const std::uint32_t mtu = connection_.mtu();
    const std::uint64_t offset = static_cast<std::uint64_t>(psn_distance(packet.psn, first.first_psn)) * mtu;
    std::span<const std::uint8_t> data = packet.payload;
    if (is_atomic)
        data = {reinterpret_cast<const std::uint8_t *>(&packet.original), sizeof(packet.original)};
    else if (data.size() != std::min<std::uint64_t>(mtu, first.length - offset))
        return fail_first(Syndrome::bad_response);
    if (const Syndrome syndrome = resolve(first, local); syndrome != Syndrome::none)
        return fail_first(syndrome);
    if (const Access access = write_to(local, offset, data); access == Access::fault)
        return fail_first(Syndrome::local_protection);
    else if (access == Access::gone)
        return;
    acknowledged_ = psn_plus(acknowledged_, 1);
    if (acknowledged_ == first.end_psn())
        complete_first();
    note_progress();
}

void Requester::find_sending()
{
    sending_ = 0;
    while (sending_ < sent_.size() && psn_distance(next_psn_, sent_[sending_].end_psn()) >= 0)
        ++sending_;
}

void Requester::retry_from(std::uint32_t psn)
{
    next_psn_ = psn;
    find_sending();
    while (!reads_.empty() && psn_distance(reads_.back(), psn) > 0)
        reads_.pop_back();
    window_ = std::max(window_ / 2, least_window);
    grown_at_ = psn;
    connection_.network().make_ready(connection_);
}

/// Retransmits from a lost packet on. A loss that is reported again before anything was acknowledged is the same one,
/// and uses up no further retry.
void Requester::lose(std::uint32_t psn)
{
    if (is_retrying_)
        return;
    if (retries_left_ == 0)
        return fail_first(Syndrome::retries_exceeded);
    --retries_left_;
    is_retrying_ = true;
    retry_from(psn);
}

void Requester::wait_for_receiver(const Packet &packet)
{
    if (receiver_ready_at_ != 0)
        return;
    if (rnr_retries_left_ == 0)
        return fail_first(Syndrome::receiver_not_ready);
    if (rnr_retries_left_ != unlimited_retries)
        --rnr_retries_left_;
    receiver_ready_at_ = now_ns() + rnr_timeout_ns(packet.syndrome & acknowledgement::timer_mask);
    timeout_at_ = 0;
    retry_from(packet.psn);
    connection_.network().update_timer(connection_);
}

std::uint64_t Requester::timeout_ns() const
{
    return std::max(std::uint64_t{4096} << connection_.qp().attributes.timeout, least_timeout_ns);
}

std::uint64_t Requester::deadline() const
{
    return receiver_ready_at_ != 0 ? receiver_ready_at_ : timeout_at_;
}

void Requester::expire(std::uint64_t now)
{
    if (receiver_ready_at_ != 0 && receiver_ready_at_ <= now) {
        receiver_ready_at_ = 0;
        connection_.network().make_ready(connection_);
    } else if (timeout_at_ != 0 && timeout_at_ <= now) {
        timeout_at_ = 0;
        if (sent_.empty())
            return;
        if (retries_left_ == 0)
            return fail_first(Syndrome::retries_exceeded);
        --retries_left_;
        is_retrying_ = false; // a loss of the packets that are sent now is another one
        retry_from(acknowledged_);
    }
}

} // namespace opendoca::card
