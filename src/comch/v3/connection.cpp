// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sending and receiving on a connection, from any thread.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "../../core/log/log.hpp"
#include "../../core/process/unauthenticated_clients.hpp"
#include "control.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMCH_CONNECTION);

using opendoca::comch::ControlKind;
using opendoca::comch::ControlMessage;

doca_comch_connection::doca_comch_connection(opendoca::comch::Control &owner, Link::Side side,
                                             opendoca::UniqueFd socket)
    : EventOrigin(Kind::connection),
      control(owner),
      link(side, std::move(socket), *owner.device(), Link::Watching::by_one_channel),
      fast(std::make_shared<opendoca::comch::FastPath>(*this))
{
    link.offer_control_messages();
}

doca_comch_connection::~doca_comch_connection()
{
    fast->detach_link(); // first: from then on no member adds a descriptor
    control.watches().remove(*this);
}

void doca_comch_connection::disconnect() noexcept
{
    link.leave();
    (void)link.check_end();
}

bool doca_comch_connection::watch_control_messages() noexcept
{
    return control.watches().add_control_messages(*this);
}

void doca_comch_connection::send_control_messages() noexcept
{
    // peek() and sent(): a message leaves the queue only after it was put into the ring.
    ControlMessage message;
    while (first_waiting == nullptr && fast->to_peer.peek(message)) {
        if (link.send(&message, sizeof(message), static_cast<std::uint32_t>(message.kind)) == DOCA_ERROR_AGAIN)
            return;
        fast->sent(message);
    }
}

doca_comch_connection::Arrival doca_comch_connection::receive_next(std::span<std::byte> into, std::size_t &length,
                                                                   ConsumerEvent &event) noexcept
{
    length = into.size();
    std::uint32_t kind = 0;
    if (link.receive(into.data(), length, kind) != DOCA_SUCCESS)
        return Arrival::nothing;
    if (kind == 0)
        return Arrival::message;
    ControlMessage message;
    // The length is fixed by the wire format: any other length is a protocol violation.
    if (length != sizeof(message)) {
        if (opendoca::may_log_unauthenticated_client())
            LOG_ERR("a control message of %zu bytes is invalid", length);
        return disconnect(), Arrival::nothing;
    }
    std::memcpy(&message, into.data(), sizeof(message));
    message.kind = static_cast<ControlKind>(kind);
    bool is_for_program = false;
    if (!fast->take(message, is_for_program))
        return disconnect(), Arrival::nothing;
    // Sent at once: the peer waits for the reply, and the program's callback may run for long.
    if (fast->to_peer.has_message())
        send_control_messages();
    event = {message.kind, message.consumer};
    return is_for_program ? Arrival::consumer_event : Arrival::control_message;
}

bool doca_comch_connection::take_unreported(ConsumerEvent &event) noexcept
{
    if (num_unreported_ == 0)
        return false;
    // The array is short and nearly always empty: a shift is simpler than a ring.
    event = unreported_[0];
    std::copy(unreported_.begin() + 1, unreported_.begin() + static_cast<std::ptrdiff_t>(num_unreported_--),
              unreported_.begin());
    return true;
}

doca_comch_connection::Arrival doca_comch_connection::receive(std::span<std::byte> into, std::size_t &length,
                                                              ConsumerEvent &event) noexcept
{
    if (take_unreported(event)) [[unlikely]]
        return Arrival::consumer_event;
    if (held_length_ != 0) [[unlikely]] {
        std::memcpy(into.data(), held_.data(), held_length_);
        length = std::exchange(held_length_, 0);
        return Arrival::message;
    }
    return receive_next(into, length, event);
}

/// Stops at the first message of the program, which the control context's thread delivers.
void doca_comch_connection::progress_control_messages() noexcept
{
    if (link.state() != Link::State::connected || fast->has_failed())
        return;
    if (fast->to_peer.has_message())
        send_control_messages();
    bool has_some = false;
    while (held_length_ == 0 && num_unreported_ != unreported_.size()) {
        std::size_t length = 0;
        ConsumerEvent event{};
        const Arrival arrival = receive_next(held_, length, event);
        if (arrival == Arrival::message)
            held_length_ = length;
        else if (arrival == Arrival::consumer_event)
            unreported_[num_unreported_++] = event;
        else if (arrival == Arrival::nothing)
            break;
        has_some = has_some || arrival != Arrival::control_message;
    }
    // Wakes the waiter on the control context's engine, which itself tracks unsent messages.
    if (has_some || link.has_ended() || link.has_pending_doorbell())
        fast->to_peer.wake();
}
