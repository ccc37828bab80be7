// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The service role of an endpoint: accepting and removing clients; also the table of addresses, which clients use too.
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
#include "../limits.hpp"
#include "endpoint.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_SERVICE);

using namespace opendoca::comm_channel;
using opendoca::UniqueFd;

doca_error_t doca_comm_channel_ep_t::listen(const char *name)
{
    doca_error_t status = check_beginning(name, Role::service);
    if (status != DOCA_SUCCESS)
        return status;
    if (!device->function().can.representors_net) {
        LOG_ERR("device %s has no representors to listen on", device->description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (representor == nullptr) {
        LOG_ERR("the endpoint has no representor");
        return DOCA_ERROR_BAD_STATE;
    }
    const auto &info = representor_info_->info;
    const doca_dev &representor_device = *representor_info_->dev;
    // Devices may be opened several times: the functions are compared, not the objects.
    if (!representor_device.is_same_function(*device.get())) {
        LOG_ERR("representor %s is one of device %s, and the endpoint's device is %s", info.name.c_str(),
                representor_device.description().c_str(), device->description().c_str());
        return DOCA_ERROR_INVALID_VALUE;
    }
    const opendoca::FunctionIdentity function = info.identity();
    key_ = make_service_key(function.name, function.pci_address, name);
    std::string description = "service '" + std::string(name) + "' on " + info.name + " (" + info.pci_address + ")";
    EventChannel channel;
    // Everything that can fail comes before the members change, so that a failed listen leaves the endpoint idle.
    if (!channel.create()) {
        LOG_ERR("service '%s' cannot create its event channel: %s", name, std::strerror(errno));
        return DOCA_ERROR_INITIALIZATION;
    }
    Listener listener;
    status = listener.open(key_, name, device->function().services_at);
    if (status != DOCA_SUCCESS)
        return status;
    if (!channel.watch(listener.socket(), EPOLLIN, this)) {
        LOG_ERR("service '%s' cannot add its socket to its event channel: %s", name, std::strerror(errno));
        return DOCA_ERROR_INITIALIZATION;
    }
    recv_channel_ = std::move(channel);
    listener_ = std::move(listener);
    description_ = std::move(description);
    role_ = Role::service;
    return DOCA_SUCCESS;
}

void doca_comm_channel_ep_t::process_service_events()
{
    // At most 64 events at a time; the rest stay ready for the next check.
    std::array<epoll_event, 64> ready;
    const int count = recv_channel_.poll_events(ready.data(), static_cast<int>(ready.size()));
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
                handle_peer_end(peer);
        }
    }
    if (has_new_clients)
        accept_new_clients(); // last: it may remove other clients
    if (next_deadline_ != no_deadline && std::chrono::steady_clock::now() >= next_deadline_)
        close_late_clients();
    if (has_ended_peers_)
        retire_ended();
}

doca_comm_channel_addr_t &doca_comm_channel_ep_t::add(std::unique_ptr<Peer> peer)
{
    // Reserves first, so that push_back() cannot fail after emplace() has succeeded.
    if (peers_.size() == peers_.capacity())
        peers_.reserve(2 * peers_.size() + 1);
    Peer &added = *peer;
    addresses_.emplace(&added, std::move(peer));
    peers_.push_back(&added);
    return added;
}

/// Removes every reference to @p peer from the endpoint and returns it.
std::unique_ptr<doca_comm_channel_addr_t> doca_comm_channel_ep_t::detach_peer(const Peer &peer) noexcept
{
    unwatch(peer);
    auto found = addresses_.find(&peer);
    std::unique_ptr<Peer> taken = std::move(found->second);
    if (std::erase(peers_, &peer) != 0)
        next_ = 0;
    addresses_.erase(found);
    return taken;
}

/// Removes a client that has exchanged no message, so that nothing has to be drained.
void doca_comm_channel_ep_t::drop_client(const Peer &peer) noexcept
{
    detach_peer(peer)->shut_down();
}

/// Accepts a waiting connection, or returns null. The peer becomes a client when its hello has been received.
doca_comm_channel_addr_t *doca_comm_channel_ep_t::accept_client()
{
    for (UniqueFd socket = listener_.accept(); socket.is_open(); socket = listener_.accept()) {
        auto client = std::make_unique<Peer>(*this, Peer::Side::service, std::move(socket), *device);
        if (!watch_in(recv_channel_, *client)) {
            listener_.log_shortage("watched");
            continue;
        }
        next_deadline_ = std::min(next_deadline_, client->hello_deadline());
        return &add(std::move(client));
    }
    return nullptr;
}

std::size_t doca_comm_channel_ep_t::num_silent_clients() const noexcept
{
    return static_cast<std::size_t>(
        std::ranges::count_if(peers_, [](const Peer *known) { return known->state() == Peer::State::connecting; }));
}

/// Accepts connections and processes the hellos that have arrived, which is nearly always all. Closes the oldest
/// connections without hello when there are too many.
void doca_comm_channel_ep_t::accept_new_clients()
{
    for (std::uint32_t i = 0; i < max_connections; ++i) {
        Peer *const client = accept_client();
        if (client == nullptr)
            return;
        process_hello(*client); // may remove the client
        if (num_silent_clients() <= max_silent_clients)
            continue;
        if (!std::exchange(has_logged_silent_clients_, true))
            LOG_WARN("more than %u clients have connected without sending a hello: the oldest of these connections are "
                     "closed",
                     max_silent_clients);
        drop_client(
            **std::ranges::find(peers_, Peer::State::connecting, [](const Peer *known) { return known->state(); }));
    }
}

/// Closes connections that have not sent a hello before their deadline.
void doca_comm_channel_ep_t::close_late_clients()
{
    const auto now = std::chrono::steady_clock::now();
    const auto is_late = [now](const Peer *peer) {
        return peer->state() == Peer::State::connecting && peer->hello_deadline() <= now;
    };
    for (auto late = std::ranges::find_if(peers_, is_late); late != peers_.end();
         late = std::ranges::find_if(peers_, is_late))
        process_hello(**late); // accepts the client, or removes it
    next_deadline_ = no_deadline;
    for (const Peer *const peer : peers_) {
        if (peer->state() == Peer::State::connecting)
            next_deadline_ = std::min(next_deadline_, peer->hello_deadline());
    }
}

void doca_comm_channel_ep_t::process_hello(Peer &peer)
{
    const auto connected =
        std::ranges::count_if(peers_, [](const Peer *known) { return known->state() == Peer::State::connected; });
    const doca_error_t status =
        peer.receive_hello(key_, limits, connected < static_cast<long>(max_connections), [] { return true; });
    if (status == DOCA_ERROR_CONNECTION_INPROGRESS)
        return;
    // The client has been sent an acceptance already if only watching failed: its connection is closed again.
    const bool is_watched = status == DOCA_SUCCESS && watch(peer);
    if (!is_watched) {
        if (status == DOCA_SUCCESS || status == DOCA_ERROR_OPERATING_SYSTEM)
            listener_.log_shortage("taken in");
        drop_client(peer);
        return;
    }
    listener_.reset_shortage();
    if (!std::exchange(has_had_client_, true))
        wait_for_client_.reset();
    if (is_recv_armed_)
        peer.arm_for_message();
    service_channel_.kick();
}

/// Logs that no client is connected: the program may be polling for a host that never comes, or has ended.
void doca_comm_channel_ep_t::log_if_without_client()
{
    if (std::ranges::any_of(peers_, [](const Peer *peer) { return peer->state() == Peer::State::connected; })) {
        wait_for_client_.end_wait();
        return;
    }
    if (!wait_for_client_.is_due())
        return;
    LOG_INFO("%s waits for a client: %s", description_.c_str(),
             has_had_client_ ? "the last one has gone" : "none has come yet");
}

/// Removes ended clients without remaining messages from the peers that are polled. Deletes those whose address the
/// program has not received.
void doca_comm_channel_ep_t::retire_ended()
{
    has_ended_peers_ = false;
    bool has_connected = false;
    bool was_one_of_ours = false;
    for (Peer *const peer : peers_) {
        has_connected = has_connected || peer->state() == Peer::State::connected;
        if (!peer->has_ended())
            continue;
        if (peer->has_message()) {
            has_ended_peers_ = true;
            continue;
        }
        was_one_of_ours = was_one_of_ours || (peer->state() == Peer::State::died && peer->num_received() != 0);
        unwatch(*peer);
        peer->release();
    }
    // The program may wait for a reply that can no longer arrive.
    has_unreported_reset_ = has_unreported_reset_ || (was_one_of_ours && !has_connected);
    std::erase_if(peers_, [this](Peer *peer) {
        const bool is_over = peer->is_released();
        if (is_over && !peer->is_reported)
            addresses_.erase(peer);
        return is_over;
    });
    next_ = 0;
}

doca_error_t doca_comm_channel_ep_t::check_service() const
{
    if (is_service())
        return DOCA_SUCCESS;
    LOG_ERR("the endpoint does not listen, and only services have a state");
    return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_comm_channel_ep_t::update_service_state()
{
    if (const doca_error_t status = check_service(); status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status = open_channel(service_channel_); status != DOCA_SUCCESS)
        return status;
    service_channel_.clear();
    for (Peer *const peer : peers_) {
        if (peer->check_end())
            handle_peer_end(*peer);
    }
    // handle_peer_end() has kicked the channel for ends that this very call reports.
    service_channel_.clear();
    while (num_silent_clients() < max_silent_clients && accept_client() != nullptr) {
        // The next receive processes its hello.
    }
    log_if_without_client();
    pending_connections = 0;
    listed_peers.clear();
    for (Peer *const peer : peers_) {
        if (peer->state() == Peer::State::connecting) {
            ++pending_connections;
        } else if (peer->state() == Peer::State::connected) {
            listed_peers.push_back(peer);
            peer->is_reported = true;
        }
    }
    return DOCA_SUCCESS;
}
