// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "service_clients.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "../../core/log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_SERVICE);

namespace opendoca::comm_channel {

doca_error_t ServiceClients::begin(const doca_dev &device, const ServiceKey &key, const Limits &limits,
                                   const char *name, std::string description)
{
    EventChannel channel;
    // Everything that can fail comes before the members change, so that a failed listen leaves the endpoint idle.
    if (!channel.create_with_kicks()) {
        LOG_ERR("service '%s' cannot create its event channel: %s", name, std::strerror(errno));
        return DOCA_ERROR_INITIALIZATION;
    }
    Listener listener;
    const doca_error_t status = listener.open(key, name, device.function().services_at);
    if (status != DOCA_SUCCESS)
        return status;
    if (!channel.watch(listener.socket(), EPOLLIN, this)) {
        LOG_ERR("service '%s' cannot add its socket to its event channel: %s", name, std::strerror(errno));
        return DOCA_ERROR_INITIALIZATION;
    }
    listener_ = std::move(listener);
    events_.begin_service(std::move(channel), listener_.socket());
    device_ = &device;
    key_ = key;
    limits_ = limits;
    description_ = std::move(description);
    return DOCA_SUCCESS;
}

Listener ServiceClients::end() noexcept
{
    listed_.clear();
    num_pending_ = 0;
    has_had_one_ = has_ended_ = has_unreported_reset_ = has_logged_silent_ = false;
    wait_.reset();
    next_deadline_ = no_deadline;
    device_ = nullptr;
    return std::exchange(listener_, {});
}

void ServiceClients::process_events()
{
    // At most 64 events at a time; the rest stay ready for the next check.
    std::array<epoll_event, 64> ready;
    const int count = events_.recv().poll_events(ready.data(), static_cast<int>(ready.size()));
    bool has_new_clients = false;
    for (int i = 0; i < count; ++i) {
        void *const tag = ready[static_cast<std::size_t>(i)].data.ptr;
        if (tag == this) {
            has_new_clients = true;
        } else if (tag != nullptr) {
            Peer &peer = *static_cast<Peer *>(tag);
            if (peer.state() == Peer::State::connecting)
                process_hello(peer);
            else if (peer.drain_message_doorbells() || peer.has_ended())
                handle_end(peer);
        }
    }
    if (has_new_clients)
        accept_new(); // last: it may remove other clients
    if (next_deadline_ != no_deadline && std::chrono::steady_clock::now() >= next_deadline_)
        close_late();
    if (has_ended_)
        retire_ended();
}

/// Removes a client that has exchanged no message, so that nothing has to be drained.
void ServiceClients::drop(const Peer &peer) noexcept
{
    events_.unwatch(peer);
    peers_.remove(peer)->shut_down();
}

/// Accepts a waiting connection, or returns null. The peer becomes a client when its hello has been received.
doca_comm_channel_addr_t *ServiceClients::accept_client()
{
    for (UniqueFd socket = listener_.accept(); socket.is_open(); socket = listener_.accept()) {
        auto client = std::make_unique<Peer>(endpoint_, Peer::Side::service, std::move(socket), *device_);
        if (!events_.watch_for_messages(*client)) {
            listener_.log_shortage("watched");
            continue;
        }
        next_deadline_ = std::min(next_deadline_, client->hello_deadline());
        return &peers_.add(std::move(client));
    }
    return nullptr;
}

std::size_t ServiceClients::num_silent() const noexcept
{
    return static_cast<std::size_t>(std::ranges::count_if(
        peers_.polled(), [](const Peer *known) { return known->state() == Peer::State::connecting; }));
}

/// Accepts connections and processes the hellos that have arrived, which is nearly always all. Closes the oldest
/// connections without hello when there are too many.
void ServiceClients::accept_new()
{
    for (std::uint32_t i = 0; i < max_connections; ++i) {
        Peer *const client = accept_client();
        if (client == nullptr)
            return;
        process_hello(*client); // may remove the client
        if (num_silent() <= max_silent_clients)
            continue;
        if (!std::exchange(has_logged_silent_, true))
            LOG_WARN("more than %u clients have connected without sending a hello: the oldest of these connections are "
                     "closed",
                     max_silent_clients);
        drop(**std::ranges::find(peers_.polled(), Peer::State::connecting,
                                 [](const Peer *known) { return known->state(); }));
    }
}

/// Closes connections that have not sent a hello before their deadline.
void ServiceClients::close_late()
{
    const auto now = std::chrono::steady_clock::now();
    const auto is_late = [now](const Peer *peer) {
        return peer->state() == Peer::State::connecting && peer->hello_deadline() <= now;
    };
    for (auto late = std::ranges::find_if(peers_.polled(), is_late); late != peers_.polled().end();
         late = std::ranges::find_if(peers_.polled(), is_late))
        process_hello(**late); // accepts the client, or removes it
    next_deadline_ = no_deadline;
    for (const Peer *const peer : peers_.polled()) {
        if (peer->state() == Peer::State::connecting)
            next_deadline_ = std::min(next_deadline_, peer->hello_deadline());
    }
}

void ServiceClients::process_hello(Peer &peer)
{
    const auto connected = std::ranges::count_if(
        peers_.polled(), [](const Peer *known) { return known->state() == Peer::State::connected; });
    const doca_error_t status =
        peer.receive_hello(key_, limits_, connected < static_cast<long>(max_connections), [] { return true; });
    if (status == DOCA_ERROR_CONNECTION_INPROGRESS)
        return;
    // The client has been sent an acceptance already if only watching failed: its connection is closed again.
    const bool is_watched = status == DOCA_SUCCESS && events_.watch(peer);
    if (!is_watched) {
        if (status == DOCA_SUCCESS || status == DOCA_ERROR_OPERATING_SYSTEM)
            listener_.log_shortage("taken in");
        drop(peer);
        return;
    }
    listener_.reset_shortage();
    if (!std::exchange(has_had_one_, true))
        wait_.reset();
    if (events_.is_recv_armed())
        peer.arm_for_message();
    events_.service().kick();
}

/// Logs that no client is connected: the program may be polling for a host that never comes, or has ended.
void ServiceClients::log_if_none()
{
    if (std::ranges::any_of(peers_.polled(),
                            [](const Peer *peer) { return peer->state() == Peer::State::connected; })) {
        wait_.end_wait();
        return;
    }
    if (!wait_.is_due())
        return;
    LOG_INFO("%s waits for a client: %s", description_.c_str(),
             has_had_one_ ? "the last one has gone" : "none has come yet");
}

/// Removes ended clients without remaining messages from the peers that are polled. Deletes those of which the program
/// has no address.
void ServiceClients::retire_ended()
{
    has_ended_ = false;
    bool has_connected = false;
    bool was_one_of_ours = false;
    for (Peer *const peer : peers_.polled()) {
        has_connected = has_connected || peer->state() == Peer::State::connected;
        if (!peer->has_ended())
            continue;
        if (peer->has_message()) {
            has_ended_ = true;
            continue;
        }
        was_one_of_ours = was_one_of_ours || (peer->state() == Peer::State::died && peer->num_received() != 0);
        events_.unwatch(*peer);
        peer->release();
    }
    // The program may wait for a reply that can no longer arrive.
    has_unreported_reset_ = has_unreported_reset_ || (was_one_of_ours && !has_connected);
    peers_.retire_released();
}

void ServiceClients::update()
{
    events_.service().clear();
    for (Peer *const peer : peers_.polled()) {
        if (peer->check_end())
            handle_end(*peer);
    }
    // handle_end() has kicked the channel for ends that this very call reports.
    events_.service().clear();
    while (num_silent() < max_silent_clients && accept_client() != nullptr) {
        // The next receive processes its hello.
    }
    log_if_none();
    num_pending_ = 0;
    listed_.clear();
    for (Peer *const peer : peers_.polled()) {
        if (peer->state() == Peer::State::connecting) {
            ++num_pending_;
        } else if (peer->state() == Peer::State::connected) {
            listed_.push_back(peer);
            peer->is_reported = true;
        }
    }
}

} // namespace opendoca::comm_channel
