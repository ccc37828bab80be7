// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <doca_error.h>

#include "../event_channel.hpp"
#include "peer_table.hpp"

namespace opendoca::comm_channel {

/// The event channels of an endpoint: descriptors for the program's own epoll, created when it asks for them. Owned by
/// the endpoint and used under its lock. A peer rings a doorbell only if it was requested, so programs that poll cost
/// their peers no system calls. Invariant: an open channel watches all polled peers of which it can show something.
class EndpointEvents {
public:
    using Peer = doca_comm_channel_addr_t;
    struct Channels {
        EventChannel recv, send, service;
    };

    /// @p peers are those of the endpoint, and outlive the object.
    explicit EndpointEvents(const PeerTable &peers) noexcept : peers_(peers) {}

    /// Starts with the channel for messages of a service, which watches its socket @p listener already.
    void begin_service(EventChannel &&recv, int listener) noexcept;
    /// Returns the channels, and forgets all requests.
    [[nodiscard]] Channels remove_all() noexcept;

    /// Create a channel at its first use, and add what exists so far. NOT_FOUND, with a message, if that fails.
    [[nodiscard]] doca_error_t open_recv() { return open(channels_.recv); }
    [[nodiscard]] doca_error_t open_send() { return open(channels_.send); }
    [[nodiscard]] doca_error_t open_service() { return open(channels_.service); }
    [[nodiscard]] EventChannel &recv() noexcept { return channels_.recv; }
    [[nodiscard]] EventChannel &send() noexcept { return channels_.send; }
    [[nodiscard]] EventChannel &service() noexcept { return channels_.service; }

    /// Adds a service's new connection, which has sent nothing yet, to the channel for messages.
    [[nodiscard]] bool watch_for_messages(Peer &peer) noexcept { return watch_in(channels_.recv, peer); }
    /// Adds a peer that has become connected to all open channels. Returns false with errno on failure.
    [[nodiscard]] bool watch(Peer &peer) noexcept;
    void unwatch(const Peer &peer) noexcept;
    /// Service: shows the end of a client, which is watched no longer.
    void note_end(const Peer &peer) noexcept;

    // Request a wake-up of a channel, which must be open. Each leaves the channel readable if a send or receive is
    // possible at once, or @p is_due.
    void arm_send();
    void arm_recv(bool is_due);
    [[nodiscard]] bool is_recv_armed() const noexcept { return is_recv_armed_; }
    /// Requests the doorbells of all connected peers again.
    void arm_for_messages() noexcept;
    /// A send has found no space: requests a wake-up for space of @p peer, of which old ones are dropped. The caller
    /// must try again afterwards.
    void arm_send_to(Peer &peer) noexcept;
    /// The same for a client that is not connected yet: the channel shows the service's answer.
    void arm_send_when_connected() noexcept { is_send_armed_ = channels_.send.is_open(); }
    /// A send to @p peer has succeeded: drops the request, if there is one.
    void disarm_send(Peer &peer) noexcept
    {
        if (is_send_armed_)
            drop_send_request(peer);
    }
    /// The program waits for events, by whatever channel.
    void note_use() noexcept { is_used_ = true; }
    [[nodiscard]] bool is_used() const noexcept { return is_used_; }

    // Pending doorbells (Connection::has_pending_doorbell()): channels stay readable while there are some, since the
    // program must not block before a retry succeeds.

    void set_pending_doorbells(bool are_there) noexcept { has_pending_doorbells_ = are_there; }
    void add_pending_doorbells(bool are_there) noexcept
    {
        has_pending_doorbells_ = has_pending_doorbells_ || are_there;
    }
    void keep_readable_for_doorbells() noexcept
    {
        if (has_pending_doorbells_) [[unlikely]]
            keep_readable();
    }

private:
    [[nodiscard]] doca_error_t open(EventChannel &channel);
    [[nodiscard]] bool watch_in(EventChannel &channel, Peer &peer) noexcept;
    void drop_send_request(Peer &peer) noexcept;
    void keep_readable() noexcept;
    [[nodiscard]] bool has_message() noexcept;

    const PeerTable &peers_;
    Channels channels_;
    int listener_ = -1;                  ///< the socket of a service; -1 for a client
    bool is_recv_armed_ = false;         ///< wake-ups for messages are requested: new peers are armed as well
    bool is_send_armed_ = false;         ///< a wake-up for space is requested, until a send succeeds
    bool is_used_ = false;               ///< see note_use()
    bool has_pending_doorbells_ = false; ///< some peers may have a pending doorbell
};

} // namespace opendoca::comm_channel
