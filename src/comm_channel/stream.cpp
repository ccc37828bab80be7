// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "stream.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>

#include "../core/log/log.hpp"
#include "../core/process/unauthenticated_clients.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_STREAM);

namespace opendoca::comm_channel {

namespace {

/// Limits of one pump(), so that one connection cannot starve others.
constexpr unsigned max_frames_per_pump = 64;  ///< sent
constexpr unsigned max_receives_per_pump = 4; ///< system calls

} // namespace

bool Stream::open()
{
    transport_.open();
    return events_.open();
}

bool Stream::flush() noexcept
{
    while (!out_.is_empty()) {
        const std::size_t sent = transport_.send(out_.unsent());
        if (sent == 0)
            break;
        out_.drop(sent);
    }
    return out_.is_empty();
}

void Stream::put(StreamKind kind, std::span<const std::byte> bytes) noexcept
{
    out_.append(static_cast<std::uint32_t>(kind), bytes);
    flush_later(!flush());
}

bool Stream::receive() noexcept
{
    if (transport_.has_ended())
        return false;
    const std::span<std::byte> space = in_.space();
    if (space.empty())
        return false;
    const std::size_t size = transport_.receive(space);
    in_.add(size);
    return size != 0;
}

Arrival Stream::take(StreamKind kind, std::span<std::byte> bytes) noexcept
{
    flush_later(!flush());
    FrameHeader header{};
    IncomingFrames::Next next = in_.find(header);
    while (next == IncomingFrames::Next::incomplete && receive())
        next = in_.find(header);
    if (next == IncomingFrames::Next::incomplete)
        return transport_.has_ended() ? Arrival::ended : Arrival::nothing;
    // The size must be exact: a handshake frame of another version differs in its size, not in its kind.
    if (next == IncomingFrames::Next::damaged || header.kind != static_cast<std::uint32_t>(kind) ||
        header.length != bytes.size())
        return Arrival::malformed;
    std::copy_n(in_.content(), bytes.size(), bytes.data());
    in_.drop(header);
    return Arrival::complete;
}

std::optional<StreamKind> Stream::next_kind() noexcept
{
    FrameHeader header{};
    while (!in_.peek(header)) {
        if (!receive())
            return {};
    }
    return StreamKind{header.kind};
}

bool Stream::make_link(const std::shared_ptr<const DeviceFunction> &function, RingShape outgoing,
                       RingShape incoming) noexcept
{
    if (events_.prepare_for_link() && transport_.create_link(function, events_.handle(), outgoing, incoming))
        return true;
    if (may_log_unauthenticated_client())
        LOG_WARN("messages use TCP: device %s cannot create a queue pair for them", function->name.c_str());
    return false;
}

void Stream::accept_service_offer(const std::shared_ptr<const DeviceFunction> &function, RingShape outgoing,
                                  RingShape incoming, const Offer &offer) noexcept
{
    if (make_link(function, outgoing, incoming)) {
        transport_.connect_to_service(offer);
        choose_events();
    }
    put(StreamKind::offer, bytes_of(this->offer()));
    arm_link();
}

/// Service: processes the offer of a client that has connected its queue pair.
bool Stream::accept_offer(std::span<const std::byte> bytes) noexcept
{
    Offer offer;
    // A second offer, or one to a service that has no queue pair, is a protocol violation.
    if (!is_service_ || transport_.link() == nullptr || transport_.is_linked() || bytes.size() != sizeof(offer))
        return false;
    std::memcpy(&offer, bytes.data(), sizeof(offer));
    transport_.connect_to_client(offer);
    choose_events();
    const std::uint32_t is_connected = transport_.link() != nullptr ? 1 : 0;
    put(StreamKind::connected, bytes_of(is_connected));
    if (is_connected != 0)
        transport_.probe();
    return true;
}

bool Stream::accept_connected(std::span<const std::byte> bytes) noexcept
{
    std::uint32_t is_connected = 2;
    if (bytes.size() == sizeof(is_connected))
        std::memcpy(&is_connected, bytes.data(), sizeof(is_connected));
    if (is_service_ || is_connected > 1 || !transport_.note_service_connected(is_connected != 0))
        return false;
    choose_events();
    return true;
}

/// Processes the peer's last frame by TCP: everything after it arrives by the queue pair.
bool Stream::accept_switch() noexcept
{
    // by_queue_pair is the last frame by TCP: nothing may follow it.
    const bool is_last = in_.size() == sizeof(FrameHeader);
    if (!is_last || transport_.receives_by_link() || !transport_.is_linked())
        return false;
    transport_.switch_receives();
    choose_events();
    return true;
}

void Stream::check_link() noexcept
{
    if (!transport_.has_lost_link())
        return;
    // The queue pair may have received messages before it failed. They are delivered before the connection ends.
    if (receive() || in_.is_full() || transport_.has_ended())
        return;
    transport_.end_after_failure();
}

void Stream::attach(SharedMemory &memory, bool is_service, RingShape to_service, RingShape to_client)
{
    SharedPage &page = memory.page();
    if (is_service) {
        outgoing_.attach(page.to_client, memory.to_client(), to_client);
        incoming_.attach(page.to_service, memory.to_service(), to_service);
    } else {
        outgoing_.attach(page.to_service, memory.to_service(), to_service);
        incoming_.attach(page.to_client, memory.to_client(), to_client);
    }
    is_service_ = is_service;
    incoming_shape_ = is_service ? to_service : to_client;
    (void)events_.request_for_message(false);
    choose_events();
    peer_left_ = is_service ? &page.client_left : &page.service_left;
}

bool Stream::frame_next() noexcept
{
    const std::span<std::byte> content = out_.content();
    const std::uint64_t received = incoming_.num_received();
    if (transport_.sends_by_link()) {
        // A message that is sent next carries the count, so no frame of its own is needed for it.
        QueuePairLink &link = *transport_.link();
        link.set_received(received);
        if (outgoing_.check_message() != RingResult::done) { // otherwise the message carries the count
            link.send_received_count();
            return false;
        }
    } else if (received != num_reported_) {
        // Reports go before messages: the peer's sender may be waiting for the space.
        num_reported_ = received;
        std::memcpy(content.data(), &received, sizeof(received));
        out_.make(static_cast<std::uint32_t>(StreamKind::received), sizeof(received));
        return true;
    }
    std::size_t length = content.size();
    std::uint32_t kind = 0;
    if (outgoing_.take(content.data(), length, kind) != RingResult::done)
        return false;
    out_.make(kind, length);
    return true;
}

void Stream::push() noexcept
{
    bool is_done = flush();
    if (is_done && transport_.is_probe_acknowledged()) {
        out_.make(static_cast<std::uint32_t>(StreamKind::by_queue_pair), 0);
        transport_.begin_switch();
        is_done = flush();
    }
    if (is_done && transport_.is_switching()) {
        transport_.switch_sends();
        choose_events();
    }
    for (unsigned i = 0; is_done && i != max_frames_per_pump && frame_next(); ++i)
        is_done = flush();
    flush_later(!is_done);
}

/// Processes the count of messages that the peer's program has received. Returns false if it is impossible or
/// decreases.
bool Stream::note_received(std::uint64_t count) noexcept
{
    if (count < num_received_by_peer_ || count > outgoing_.num_taken())
        return false;
    num_received_by_peer_ = count;
    outgoing_.free_records(count);
    if (outgoing_.disarm_for_space())
        events_.wake_for_space();
    return true;
}

bool Stream::accept(const FrameHeader &header, bool &has_received_message) noexcept
{
    const std::byte *const bytes = in_.content();
    // Kinds at and above StreamKind::hello are the transport's; all others are the program's or Comch's, with data.
    std::uint64_t count = 0;
    switch (static_cast<StreamKind>(header.kind)) {
    case StreamKind::received:
        if (header.length != sizeof(count))
            return false;
        std::memcpy(&count, bytes, sizeof(count));
        return note_received(count);
    case StreamKind::offer:
        return accept_offer({bytes, header.length});
    case StreamKind::connected:
        return accept_connected({bytes, header.length});
    case StreamKind::by_queue_pair:
        return header.length == 0 && accept_switch();
    case StreamKind::leaving:
        // Release: pairs with the acquire load in Connection::record_end().
        peer_left_->store(1, std::memory_order_release);
        return header.length == 0;
    default:
        has_received_message = true;
        return header.kind < static_cast<std::uint32_t>(StreamKind::hello) && header.length != 0 &&
               header.length <= incoming_shape_.message_size &&
               incoming_.send(bytes, header.length, header.kind) == RingResult::done;
    }
}

bool Stream::pull(bool &has_received_message) noexcept
{
    // Frames that were received together are processed without another system call.
    for (unsigned receives = 0;;) {
        FrameHeader header{};
        switch (in_.find(header)) {
        case IncomingFrames::Next::damaged:
            return false;
        case IncomingFrames::Next::incomplete:
            if (receives++ == max_receives_per_pump || !receive())
                return true;
            continue;
        case IncomingFrames::Next::frame:
            break;
        }
        if (!accept(header, has_received_message))
            return false;
        in_.drop(header);
    }
}

bool Stream::pump() noexcept
{
    check_link();
    push();
    bool has_received_message = false;
    bool is_good = pull(has_received_message);
    if (is_good && transport_.receives_by_link() && transport_.link() != nullptr) {
        // The link reports 32 bits of the count, which is enough to extend the last known value.
        const std::uint32_t more =
            transport_.link()->num_received_by_peer() - static_cast<std::uint32_t>(num_received_by_peer_);
        // The probe may carry an older count than one that TCP has delivered since.
        is_good = static_cast<std::int32_t>(more) <= 0 || note_received(num_received_by_peer_ + more);
    }
    if (has_received_message && incoming_.disarm_for_message())
        events_.wake_for_message();
    return is_good;
}

void Stream::wake_for_message(bool is_wanted) noexcept
{
    const bool changes = events_.request_for_message(is_wanted);
    if (changes)
        choose_events();
    if (changes || is_wanted)
        arm_link();
}

void Stream::wake_for_space(bool is_wanted) noexcept
{
    const bool changes = events_.request_for_space(is_wanted);
    if (changes)
        choose_events();
    if (changes || is_wanted)
        arm_link();
}

void Stream::flush_later(bool is_needed) noexcept
{
    if (std::exchange(has_unsent_, is_needed) != is_needed)
        choose_events();
}

void Stream::choose_events() noexcept
{
    events_.choose(!transport_.receives_by_link(), has_unsent_ && !transport_.sends_by_link(),
                   transport_.link() != nullptr);
}

void Stream::arm_link() noexcept
{
    QueuePairLink *const link = transport_.link();
    if (link == nullptr)
        return;
    // Armed anew at each request: arming polls once, so that completions from before it raise an event as well.
    link->disarm();
    if (events_.is_any_requested())
        link->arm();
    // A wake-up before this call may have been consumed while messages are still unread.
    if (events_.is_message_requested() && peer_left_ != nullptr && incoming_.in_flight() != 0)
        events_.wake_for_message();
}

void Stream::drain_and_leave() noexcept
{
    if (peer_left_ == nullptr || transport_.has_ended())
        return;
    const auto begin = std::chrono::steady_clock::now();
    for (bool has_framed_notice = false, has_sent = false; !has_sent;) {
        // In this order: the remaining messages, the notice, and the wait until the transport has sent all of it.
        push();
        const bool is_flushed = out_.is_empty();
        if (is_flushed && !has_framed_notice && outgoing_.check_message() != RingResult::done) {
            out_.make(static_cast<std::uint32_t>(StreamKind::leaving), 0);
            has_framed_notice = true;
        } else if (is_flushed && has_framed_notice &&
                   (!transport_.sends_by_link() || !transport_.link()->has_unsent())) {
            has_sent = true;
        } else if ((!is_flushed || has_framed_notice) && !transport_.wait_to_send(begin, *events_.handle())) {
            return;
        }
    }
    // Closing a socket with unread input resets the connection: data that the peer's kernel has not acknowledged is
    // lost.
    transport_.wait_for_acknowledgement(begin);
}

} // namespace opendoca::comm_channel
