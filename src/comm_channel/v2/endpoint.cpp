// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What both roles share: properties, messages, and the end of connections. Event channels are in events.cpp.
#include "endpoint.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "../../core/base/guard.hpp"
#include "../../core/log/log.hpp"
#include "../limits.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMM_CHANNEL);

using namespace opendoca::comm_channel;

/// Holds what was removed from an endpoint under its lock. The destructor runs after the lock is released, since it
/// blocks until peers have received all messages.
struct doca_comm_channel_ep_t::Departure {
    Departure() = default;
    Departure(const Departure &) = delete;
    Departure &operator=(const Departure &) = delete;
    ~Departure()
    {
        if (peer != nullptr)
            leave(*peer);
        for (const auto &[address, one] : addresses)
            leave(*one);
    }

    // Destroyed in reverse order: watched descriptors are closed before the channels that watch them.
    EventChannel recv_channel, send_channel, service_channel;
    Listener listener;
    std::unordered_map<const Peer *, std::unique_ptr<Peer>> addresses;
    std::unique_ptr<Peer> peer; ///< set if a single peer is disconnected

private:
    static void leave(Peer &one) noexcept
    {
        if (!one.is_released())
            one.leave();
    }
};

doca_comm_channel_ep_t::~doca_comm_channel_ep_t()
{
    // A service that has accepted this client in the meantime receives a disconnect notice.
    if (is_client())
        (void)opendoca::guarded([this] { return complete(*peers_.front()); });
    Departure departure;
    detach_all(departure);
}

doca_error_t doca_comm_channel_ep_t::find_device(bool)
{
    return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_t::check_idle() const
{
    if (role_ == Role::none)
        return DOCA_SUCCESS;
    LOG_ERR("this endpoint is %s, and its properties cannot be changed", is_service()  ? "listening"
                                                                         : is_client() ? "connected"
                                                                                       : "connecting");
    return DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_comm_channel_ep_t::set_device(doca_dev &dev)
{
    if (const doca_error_t status = check_idle(); status != DOCA_SUCCESS)
        return status;
    if (!dev.function().can.comm_channel) {
        LOG_ERR("device %s: Comm Channel has no path to the other side: neither tmfifo_net0 nor "
                "DOCA_COMM_CHANNEL_ADDRESS is there",
                dev.description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    device = opendoca::use(dev);
    return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_t::set_representor(doca_dev_rep &rep)
{
    if (const doca_error_t status = check_idle(); status != DOCA_SUCCESS)
        return status;
    representor = &rep;
    representor_info_ = rep.info;
    return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_t::set_message_size(std::uint16_t size)
{
    if (const doca_error_t status = check_idle(); status != DOCA_SUCCESS)
        return status;
    if (size == 0 || size > max_message_size) {
        LOG_ERR("messages of %u bytes are not between 1 and %u", size, max_message_size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    // Rings have records of at least min_message_size bytes, so a smaller limit is raised.
    limits.message_size = std::max<std::uint16_t>(size, min_message_size);
    return DOCA_SUCCESS;
}

namespace {

doca_error_t set_queue_size(std::uint16_t &field, std::uint16_t size)
{
    if (size == 0 || size > max_queue_size) {
        LOG_ERR("a queue of %u messages is not between 1 and %u", size, max_queue_size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    field = std::max<std::uint16_t>(std::bit_ceil(size), min_queue_size);
    return DOCA_SUCCESS;
}

} // namespace

doca_error_t doca_comm_channel_ep_t::set_send_queue_size(std::uint16_t size)
{
    const doca_error_t status = check_idle();
    return status == DOCA_SUCCESS ? set_queue_size(limits.send_queue, size) : status;
}

doca_error_t doca_comm_channel_ep_t::set_recv_queue_size(std::uint16_t size)
{
    const doca_error_t status = check_idle();
    return status == DOCA_SUCCESS ? set_queue_size(limits.recv_queue, size) : status;
}

doca_error_t doca_comm_channel_ep_t::check_beginning(const char *name, Role role)
{
    if (role_ != Role::none) {
        LOG_ERR("this endpoint is %s already", is_service() ? "listening" : is_client() ? "connected" : "connecting");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if (device == nullptr) {
        if (const doca_error_t status = find_device(role == Role::service); status != DOCA_SUCCESS)
            return status;
    }
    if (device == nullptr) {
        LOG_ERR("the endpoint has no device");
        return DOCA_ERROR_BAD_STATE;
    }
    const std::size_t length = strnlen(name, max_service_name_size);
    if (length == 0 || length == max_service_name_size) {
        LOG_ERR("the name of a service has 1 to %u bytes", max_service_name_size - 1);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

/// Returns null if @p peer is not an address of this endpoint; the pointer is not dereferenced. Searches the few peers
/// before the table, which is faster in the common case.
doca_comm_channel_addr_t *doca_comm_channel_ep_t::find(const Peer *peer) noexcept
{
    for (Peer *const known : peers_) {
        if (known == peer)
            return known;
    }
    const auto gone = addresses_.find(peer);
    return gone == addresses_.end() ? nullptr : gone->second.get();
}

doca_error_t doca_comm_channel_ep_t::send(const void *message, std::size_t length, int flags, const Peer *to)
{
    Peer *const peer = find(to);
    if (peer == nullptr) {
        LOG_ERR("%p is not an address of this endpoint", static_cast<const void *>(to));
        return DOCA_ERROR_NOT_CONNECTED;
    }
    if (flags != 0 || length == 0 || length > limits.message_size) {
        LOG_ERR("a message of %zu bytes with flags %d: 1 to %u bytes and no flags are possible", length, flags,
                limits.message_size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const doca_error_t status = complete(*peer); status != DOCA_SUCCESS) {
        if (status != DOCA_ERROR_CONNECTION_INPROGRESS)
            // A pending connection has no ring yet. The channel wakes when the service's answer arrives.
            return DOCA_ERROR_INITIALIZATION;
        is_send_armed_ = send_channel_.is_open();
        return DOCA_ERROR_AGAIN;
    }
    if (length > peer->max_send_length()) {
        LOG_ERR("a message of %zu bytes: the peer takes at most %u", length, peer->max_send_length());
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (peer->check_end())
        handle_peer_end(*peer);
    if (peer->has_ended()) {
        // Behaves as if the message had been sent before the disconnect, until all messages of the peer are received.
        if (peer->state() != Peer::State::left || !peer->has_message())
            return DOCA_ERROR_CONNECTION_RESET;
        peer->count_lost_send(length);
        return DOCA_SUCCESS;
    }
    doca_error_t status = peer->send(message, length);
    if (status == DOCA_ERROR_AGAIN && send_channel_.is_open()) {
        // Drained before arming: an old doorbell would wake the program although there is no space. After arming the
        // ring is tried again, since space that came before rings none.
        send_channel_.clear();
        peer->drain_space_doorbells();
        is_send_armed_ = true;
        peer->arm_for_space();
        status = peer->send(message, length);
    }
    if (status == DOCA_SUCCESS && is_send_armed_) {
        is_send_armed_ = false;
        send_channel_.clear();
        peer->drain_space_doorbells();
    }
    if (status == DOCA_ERROR_CONNECTION_RESET)
        handle_peer_end(*peer);
    has_pending_doorbells_ = has_pending_doorbells_ || peer->has_pending_doorbell();
    keep_channels_readable_for_doorbells();
    return status;
}

doca_error_t doca_comm_channel_ep_t::receive(void *message, std::size_t &length, Peer *&from)
{
    if (is_idle()) {
        LOG_ERR("the endpoint is neither listening nor connected");
        return DOCA_ERROR_NOT_CONNECTED;
    }
    if (is_client()) {
        // Protects programs that send twice and ignore the result of one receive. Programs that poll call again, and
        // programs that wait for events have requested event channels before.
        if (!std::exchange(has_received_, true) && peers_.front()->num_sent() >= 2 && !has_requested_channels_)
            return DOCA_ERROR_AGAIN;
    } else if (messages_between_checks_.is_spent()) {
        return receive_again(message, length, from);
    }
    const doca_error_t status = receive_from_any(message, length, from);
    return status == DOCA_ERROR_AGAIN ? receive_again(message, length, from) : status;
}

/// Receives after checking for new clients, ended peers and doorbells.
doca_error_t doca_comm_channel_ep_t::receive_again(void *message, std::size_t &length, Peer *&from)
{
    check_sockets();
    if (is_recv_armed_)
        arm_for_messages();
    const doca_error_t status = receive_from_any(message, length, from);
    if (status != DOCA_ERROR_AGAIN) {
        if (is_recv_armed_)
            recv_channel_.kick(); // draining removed the doorbells of the remaining messages
        return status;
    }
    recv_channel_.clear();
    // The program may block after AGAIN, so pending doorbells are retried by keeping its channels readable.
    keep_channels_readable_for_doorbells();
    if (is_service())
        log_if_without_client();
    return std::exchange(has_unreported_reset_, false) ? DOCA_ERROR_CONNECTION_RESET : DOCA_ERROR_AGAIN;
}

doca_error_t doca_comm_channel_ep_t::receive_from_any(void *message, std::size_t &length, Peer *&from)
{
    if (is_client()) {
        Peer &service = *peers_.front();
        if (service.state() == Peer::State::failed)
            return DOCA_ERROR_INITIALIZATION;
        const doca_error_t status = service.receive(message, length);
        has_pending_doorbells_ = service.has_pending_doorbell();
        if (status == DOCA_SUCCESS)
            from = &service;
        return status == DOCA_ERROR_AGAIN && service.has_ended() ? DOCA_ERROR_CONNECTION_RESET : status;
    }
    const std::size_t count = peers_.size();
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = next_ + i < count ? next_ + i : next_ + i - count;
        Peer &client = *peers_[at];
        const doca_error_t status = client.receive(message, length);
        if (status == DOCA_ERROR_AGAIN)
            continue;
        if (status == DOCA_ERROR_CONNECTION_RESET) { // the client violates the protocol
            handle_peer_end(client);
            continue;
        }
        if (status == DOCA_SUCCESS) {
            next_ = at + 1 == count ? 0 : at + 1; // round-robin: one busy client cannot starve others
            client.is_reported = true;
            has_pending_doorbells_ = has_pending_doorbells_ || client.has_pending_doorbell();
            from = &client;
        }
        return status;
    }
    return DOCA_ERROR_AGAIN;
}

void doca_comm_channel_ep_t::check_sockets()
{
    messages_between_checks_.restart();
    recv_channel_.clear();
    if (is_service()) {
        process_service_events();
        return;
    }
    Peer &service = *peers_.front();
    if (service.state() == Peer::State::connecting) {
        if (complete(service) == DOCA_SUCCESS && service.check_end()) // the service may have ended since
            handle_peer_end(service);
    } else if (service.drain_message_doorbells()) {
        handle_peer_end(service);
    }
}

doca_error_t doca_comm_channel_ep_t::update_peer(Peer &peer)
{
    if (const doca_error_t status = complete(peer); status != DOCA_SUCCESS)
        return status;
    if (peer.check_end())
        handle_peer_end(peer);
    peer.update_counters();
    const bool is_usable = !peer.has_ended() || (peer.state() == Peer::State::left && peer.has_message());
    return is_usable ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_ABORTED;
}

doca_error_t doca_comm_channel_ep_t::disconnect(const Peer *address)
{
    Departure departure; // declared first: destroyed after the lock is released
    const EndpointGuard guard(lock);
    Peer *const peer = find(address);
    if (peer == nullptr) {
        LOG_ERR("%p is not an address of this endpoint", static_cast<const void *>(address));
        return DOCA_ERROR_NOT_CONNECTED;
    }
    // A service may have accepted this client since the last call: it then receives a disconnect notice.
    (void)complete(*peer);
    (void)peer->check_end();
    const bool was_fine = peer->state() == Peer::State::connected || peer->state() == Peer::State::left;
    if (is_client())
        detach_all(departure);
    else
        departure.peer = detach_peer(*peer);
    return was_fine ? DOCA_SUCCESS : DOCA_ERROR_NOT_CONNECTED;
}

/// Returns the endpoint to its state before it listened or connected.
void doca_comm_channel_ep_t::detach_all(Departure &all) noexcept
{
    all.recv_channel = std::move(recv_channel_);
    all.send_channel = std::move(send_channel_);
    all.service_channel = std::move(service_channel_);
    all.listener = std::move(listener_);
    all.addresses.swap(addresses_);
    peers_.clear();
    recv_channel_.close();
    send_channel_.close();
    service_channel_.close();
    listener_.close();
    listed_peers.clear();
    pending_connections = 0;
    next_ = 0;
    is_recv_armed_ = is_send_armed_ = has_requested_channels_ = has_received_ = false;
    has_had_client_ = has_pending_doorbells_ = has_ended_peers_ = has_unreported_reset_ = has_logged_silent_clients_ =
        false;
    wait_for_client_.reset();
    next_deadline_ = no_deadline;
    role_ = Role::none;
}
