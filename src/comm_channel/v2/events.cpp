// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The event channels of an endpoint. A peer rings a doorbell only if it was requested, so programs that poll cost their
// peers no system calls.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "../../core/log/log.hpp"
#include "endpoint.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_EVENTS);

using namespace opendoca::comm_channel;

/// Creates a channel at its first use and adds what exists so far; peers that come later are added by watch().
doca_error_t doca_comm_channel_ep_t::open_channel(EventChannel &channel)
{
    if (channel.is_open())
        return DOCA_SUCCESS;
    bool is_complete = channel.create();
    // A service's own channel also wakes for connections that wait to be accepted.
    if (&channel == &service_channel_)
        is_complete = is_complete && channel.watch(listener_.socket(), EPOLLIN, this);
    for (Peer *const peer : peers_)
        is_complete = is_complete && watch_in(channel, *peer);
    if (!is_complete) {
        LOG_ERR("an event channel cannot be created: %s", std::strerror(errno));
        channel.close();
        return DOCA_ERROR_NOT_FOUND;
    }
    return DOCA_SUCCESS;
}

/// Adds the descriptors of a peer to one channel.
bool doca_comm_channel_ep_t::watch_in(EventChannel &channel, Peer &peer) noexcept
{
    const bool is_connecting = peer.state() == Peer::State::connecting;
    const bool is_unused = is_service() && (is_connecting || peer.has_ended()); // not connected yet, or ended
    const bool is_for_messages = &channel == &recv_channel_;
    if (!is_for_messages && is_unused)
        return true;
    if (peer.process_fd() >= 0 && !channel.watch(peer.process_fd(), EPOLLIN, &peer))
        return false;
    if (is_for_messages)
        return channel.watch(peer.message_fd(), EPOLLIN, &peer);
    if (&channel == &service_channel_)
        return channel.watch(peer.socket(), EPOLLRDHUP, &peer);
    // A client's channel also wakes when the connection is made; after a failed attempt, only at the peer's end.
    const bool has_space_fd = !is_connecting && peer.state() != Peer::State::failed;
    return channel.watch(peer.socket(), is_connecting ? EPOLLIN | EPOLLRDHUP : EPOLLRDHUP, &peer) &&
           (!has_space_fd || channel.watch(peer.space_fd(), EPOLLIN, &peer));
}

/// Adds a peer that has become connected to all open channels.
bool doca_comm_channel_ep_t::watch(Peer &peer) noexcept
{
    if (is_client()) {
        if (!send_channel_.is_open())
            return true;
        // The socket was watched for the service's answer. From now on it shows the end of the service only.
        send_channel_.change(peer.socket(), EPOLLRDHUP, &peer);
        if (is_send_armed_)
            send_channel_.kick();
        return send_channel_.watch(peer.space_fd(), EPOLLIN, &peer);
    }
    if (send_channel_.is_open() && is_send_armed_)
        send_channel_.kick();
    return (!send_channel_.is_open() || watch_in(send_channel_, peer)) &&
           (!service_channel_.is_open() || watch_in(service_channel_, peer));
}

void doca_comm_channel_ep_t::unwatch(const Peer &peer) noexcept
{
    // The channels may not watch every one of these: unwatch() ignores those.
    recv_channel_.unwatch(peer.message_fd());
    for (EventChannel *const channel : {&send_channel_, &service_channel_})
        channel->unwatch(peer.socket());
    for (EventChannel *const channel : {&recv_channel_, &send_channel_, &service_channel_})
        channel->unwatch(peer.process_fd());
    send_channel_.unwatch(peer.space_fd());
}

doca_error_t doca_comm_channel_ep_t::get_event_channels(int *send, int *recv)
{
    if (is_idle()) {
        LOG_ERR("the endpoint is neither listening nor connected, and has no event channels yet");
        return DOCA_ERROR_BAD_STATE;
    }
    if (send != nullptr) {
        if (const doca_error_t status = open_channel(send_channel_); status != DOCA_SUCCESS)
            return status;
    }
    if (recv != nullptr) {
        if (const doca_error_t status = open_channel(recv_channel_); status != DOCA_SUCCESS)
            return status;
    }
    has_requested_channels_ = true;
    if (send != nullptr)
        *send = send_channel_.get();
    if (recv != nullptr)
        *recv = recv_channel_.get();
    return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_t::get_service_event_channel(int &service)
{
    if (is_client()) {
        LOG_ERR("the endpoint is a client, and only services have a service event channel");
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (is_idle()) {
        LOG_ERR("the endpoint is not listening, and has no event channels yet");
        return DOCA_ERROR_BAD_STATE;
    }
    const doca_error_t status = open_channel(service_channel_);
    if (status == DOCA_SUCCESS)
        service = service_channel_.get();
    return status;
}

doca_error_t doca_comm_channel_ep_t::arm_send()
{
    if (is_idle() || open_channel(send_channel_) != DOCA_SUCCESS)
        return DOCA_ERROR_INVALID_VALUE;
    has_requested_channels_ = true;
    is_send_armed_ = true;
    for (Peer *const peer : peers_) {
        if (peer->state() != Peer::State::connected)
            continue;
        // Checked after arming: space that came in between rings no doorbell.
        if (!peer->has_space())
            peer->arm_for_space();
        if (peer->has_space())
            send_channel_.kick();
    }
    keep_channels_readable_for_doorbells();
    return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_t::arm_recv()
{
    if (is_idle() || open_channel(recv_channel_) != DOCA_SUCCESS)
        return DOCA_ERROR_INVALID_VALUE;
    has_requested_channels_ = true;
    is_recv_armed_ = true;
    arm_for_messages();
    if (has_message() || has_unreported_reset_)
        recv_channel_.kick();
    keep_channels_readable_for_doorbells();
    return DOCA_SUCCESS;
}

void doca_comm_channel_ep_t::handle_peer_end(Peer &peer)
{
    if (is_client())
        return; // the descriptors of an ended service stay readable
    has_ended_peers_ = true;
    unwatch(peer);
    service_channel_.kick();
    // Wakes a blocked program, which can receive remaining messages but must not wait for space.
    recv_channel_.kick();
    if (is_send_armed_)
        send_channel_.kick();
}

void doca_comm_channel_ep_t::keep_channels_readable() noexcept
{
    has_pending_doorbells_ = std::ranges::any_of(peers_, [](const Peer *peer) { return peer->has_pending_doorbell(); });
    if (has_pending_doorbells_ && is_recv_armed_)
        recv_channel_.kick();
    if (has_pending_doorbells_ && is_send_armed_)
        send_channel_.kick();
}

void doca_comm_channel_ep_t::arm_for_messages() noexcept
{
    for (Peer *const peer : peers_) {
        if (peer->state() == Peer::State::connected)
            peer->arm_for_message();
    }
}

bool doca_comm_channel_ep_t::has_message() noexcept
{
    for (Peer *const peer : peers_) {
        if (peer->has_message())
            return true;
    }
    return false;
}
