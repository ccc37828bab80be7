// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What comes and goes on a connection, in whichever thread.
#include <algorithm>
#include <cstring>
#include <utility>

#include "../../core/log.hpp"
#include "../../core/unauthenticated_clients.hpp"
#include "control.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMCH_CONNECTION);

using opendoca::comch::ControlKind;
using opendoca::comch::ControlMessage;

doca_comch_connection::doca_comch_connection(opendoca::comch::Control &owner, Link::Side side,
                                             opendoca::UniqueFd socket)
    : control(owner),
      link(side, std::move(socket), *owner.device()),
      fast(std::make_shared<opendoca::comch::FastPath>(*this))
{
    link.descriptors_are_together();
}

void doca_comch_connection::give_up() noexcept
{
    link.leave();
    (void)link.check_end();
}

void doca_comch_connection::send_control_messages() noexcept
{
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
    if (length != sizeof(message)) {
        if (opendoca::may_log_unauthenticated_client())
            LOG_ERR("a control message of %zu bytes is none", length);
        return give_up(), Arrival::nothing;
    }
    std::memcpy(&message, into.data(), sizeof(message));
    message.kind = static_cast<ControlKind>(kind);
    bool tells = false;
    if (!fast->take(message, tells))
        return give_up(), Arrival::nothing;
    // At once: the peer waits for an answer, and a program may do something else for long after its callback.
    if (fast->to_peer.has_message())
        send_control_messages();
    event = {message.kind, message.consumer};
    return tells ? Arrival::consumer_event : Arrival::control_message;
}

bool doca_comch_connection::take_untold(ConsumerEvent &event) noexcept
{
    if (num_untold_ == 0)
        return false;
    event = untold_[0];
    std::copy(untold_.begin() + 1, untold_.begin() + static_cast<std::ptrdiff_t>(num_untold_--), untold_.begin());
    return true;
}

doca_comch_connection::Arrival doca_comch_connection::receive(std::span<std::byte> into, std::size_t &length,
                                                              ConsumerEvent &event) noexcept
{
    if (take_untold(event)) [[unlikely]]
        return Arrival::consumer_event;
    if (held_length_ != 0) [[unlikely]] {
        std::memcpy(into.data(), held_.data(), held_length_);
        length = std::exchange(held_length_, 0);
        return Arrival::message;
    }
    return receive_next(into, length, event);
}

/// As far as the first message of the program's, which is for the thread of the control context.
void doca_comch_connection::progress_control_messages() noexcept
{
    if (link.state() != Link::State::connected || fast->has_failed())
        return;
    if (fast->to_peer.has_message())
        send_control_messages();
    bool has_some = false;
    while (held_length_ == 0 && num_untold_ != untold_.size()) {
        std::size_t length = 0;
        ConsumerEvent event{};
        const Arrival arrival = receive_next(held_, length, event);
        if (arrival == Arrival::message)
            held_length_ = length;
        else if (arrival == Arrival::consumer_event)
            untold_[num_untold_++] = event;
        else if (arrival == Arrival::nothing)
            break;
        has_some = has_some || arrival != Arrival::control_message;
    }
    // Whoever sleeps on the control context's engine. It knows of what is still to be sent.
    if (has_some || link.has_ended() || link.has_pending_doorbell())
        fast->to_peer.wake();
}
