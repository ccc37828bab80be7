// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "endpoint_events.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "../../core/log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_EVENTS);

namespace opendoca::comm_channel {

void EndpointEvents::begin_service(EventChannel &&recv, int listener) noexcept
{
    channels_.recv = std::move(recv);
    listener_ = listener;
}

EndpointEvents::Channels EndpointEvents::remove_all() noexcept
{
    listener_ = -1;
    is_recv_armed_ = is_send_armed_ = is_used_ = has_pending_doorbells_ = false;
    return std::exchange(channels_, {});
}

/// Peers that come later are added by watch().
doca_error_t EndpointEvents::open(EventChannel &channel)
{
    if (channel.is_open())
        return DOCA_SUCCESS;
    bool is_complete = channel.create_with_kicks();
    // A service's own channel also wakes for connections that wait to be accepted.
    if (&channel == &channels_.service)
        is_complete = is_complete && channel.watch(listener_, EPOLLIN, this);
    for (Peer *const peer : peers_.polled())
        is_complete = is_complete && watch_in(channel, *peer);
    if (!is_complete) {
        LOG_ERR("an event channel cannot be created: %s", std::strerror(errno));
        channel.close();
        return DOCA_ERROR_NOT_FOUND;
    }
    return DOCA_SUCCESS;
}

/// Adds the descriptors of a peer to one channel.
bool EndpointEvents::watch_in(EventChannel &channel, Peer &peer) noexcept
{
    const bool is_connecting = peer.state() == Peer::State::connecting;
    const bool is_unused = listener_ >= 0 && (is_connecting || peer.has_ended()); // not connected yet, or ended
    const bool is_for_messages = &channel == &channels_.recv;
    if (!is_for_messages && is_unused)
        return true;
    if (peer.process_fd() >= 0 && !channel.watch(peer.process_fd(), EPOLLIN, &peer))
        return false;
    if (is_for_messages)
        return channel.watch(peer.message_fd(), EPOLLIN, &peer);
    if (&channel == &channels_.service)
        return channel.watch(peer.socket(), EPOLLRDHUP, &peer);
    // A client's channel also wakes when the connection is made; after a failed attempt, only at the peer's end.
    const bool has_space_fd = !is_connecting && peer.state() != Peer::State::failed;
    return channel.watch(peer.socket(), is_connecting ? EPOLLIN | EPOLLRDHUP : EPOLLRDHUP, &peer) &&
           (!has_space_fd || channel.watch(peer.space_fd(), EPOLLIN, &peer));
}

bool EndpointEvents::watch(Peer &peer) noexcept
{
    if (listener_ < 0) {
        if (!channels_.send.is_open())
            return true;
        // The socket was watched for the service's answer. From now on it shows the end of the service only.
        channels_.send.change(peer.socket(), EPOLLRDHUP, &peer);
        if (is_send_armed_)
            channels_.send.kick();
        return channels_.send.watch(peer.space_fd(), EPOLLIN, &peer);
    }
    if (channels_.send.is_open() && is_send_armed_)
        channels_.send.kick();
    return (!channels_.send.is_open() || watch_in(channels_.send, peer)) &&
           (!channels_.service.is_open() || watch_in(channels_.service, peer));
}

void EndpointEvents::unwatch(const Peer &peer) noexcept
{
    // The channels may not watch every one of these: unwatch() ignores those.
    channels_.recv.unwatch(peer.message_fd());
    for (EventChannel *const channel : {&channels_.send, &channels_.service})
        channel->unwatch(peer.socket());
    for (EventChannel *const channel : {&channels_.recv, &channels_.send, &channels_.service})
        channel->unwatch(peer.process_fd());
    channels_.send.unwatch(peer.space_fd());
}

void EndpointEvents::note_end(const Peer &peer) noexcept
{
    unwatch(peer);
    channels_.service.kick();
    // Wakes a blocked program, which can receive remaining messages but must not wait for space.
    channels_.recv.kick();
    if (is_send_armed_)
        channels_.send.kick();
}

void EndpointEvents::arm_send()
{
    is_used_ = true;
    is_send_armed_ = true;
    for (Peer *const peer : peers_.polled()) {
        if (peer->state() != Peer::State::connected)
            continue;
        // Checked after arming: space that came in between rings no doorbell.
        if (!peer->has_space())
            peer->arm_for_space();
        if (peer->has_space())
            channels_.send.kick();
    }
    keep_readable_for_doorbells();
}

void EndpointEvents::arm_recv(bool is_due)
{
    is_used_ = true;
    is_recv_armed_ = true;
    arm_for_messages();
    if (has_message() || is_due)
        channels_.recv.kick();
    keep_readable_for_doorbells();
}

void EndpointEvents::arm_for_messages() noexcept
{
    for (Peer *const peer : peers_.polled()) {
        if (peer->state() == Peer::State::connected)
            peer->arm_for_message();
    }
}

void EndpointEvents::arm_send_to(Peer &peer) noexcept
{
    // Drained before arming: an old doorbell would wake the program although there is no space.
    channels_.send.clear();
    peer.drain_space_doorbells();
    is_send_armed_ = true;
    peer.arm_for_space();
}

void EndpointEvents::drop_send_request(Peer &peer) noexcept
{
    is_send_armed_ = false;
    channels_.send.clear();
    peer.drain_space_doorbells();
}

void EndpointEvents::keep_readable() noexcept
{
    has_pending_doorbells_ =
        std::ranges::any_of(peers_.polled(), [](const Peer *peer) { return peer->has_pending_doorbell(); });
    if (has_pending_doorbells_ && is_recv_armed_)
        channels_.recv.kick();
    if (has_pending_doorbells_ && is_send_armed_)
        channels_.send.kick();
}

bool EndpointEvents::has_message() noexcept
{
    for (Peer *const peer : peers_.polled()) {
        if (peer->has_message())
            return true;
    }
    return false;
}

} // namespace opendoca::comm_channel
