// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "endpoint.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../../core/base/guard.hpp"
#include "../../core/log/log.hpp"
#include "../limits.hpp"
#include "../tcp.hpp"

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
    EndpointEvents::Channels channels;
    Listener listener;
    PeerTable::Addresses addresses;
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
        (void)opendoca::guarded([this] { return complete(service_peer()); });
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
        LOG_ERR("device %s: Comm Channel has no path to the other side: %s", dev.description().c_str(),
                dev.function().reason_against(opendoca::Ability::message_channel).c_str());
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
    const ServiceKey key = make_service_key(function.name, function.pci_address, name);
    status = clients_.begin(*device, key, limits, name,
                            "service '" + std::string(name) + "' on " + info.name + " (" + info.pci_address + ")");
    if (status == DOCA_SUCCESS)
        role_ = Role::service;
    return status;
}

/// Reserves the endpoint for a connection attempt: from here until become_client() or a failure its role is connecting.
doca_error_t doca_comm_channel_ep_t::begin_to_connect(const char *name)
{
    if (const doca_error_t status = check_beginning(name, Role::client); status != DOCA_SUCCESS)
        return status;
    const auto &behind_port = device->function().behind_port;
    if (!behind_port) {
        LOG_ERR("device %s is a port of the DPU, where services are, and acts for no function of the host; "
                "clients connect from functions behind it%s",
                device->description().c_str(),
                device->function().strict_suffix(opendoca::StrictRule::dpu_port_is_no_host));
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    key_ = make_service_key(behind_port->name, behind_port->pci_address, name);
    role_ = Role::connecting;
    return DOCA_SUCCESS;
}

/// Turns a connected socket into the endpoint's one peer and sends the hello. The acceptance is awaited by complete().
doca_error_t doca_comm_channel_ep_t::become_client(opendoca::UniqueFd socket, Peer *&peer)
{
    Peer &made = peers_.add(std::make_unique<Peer>(*this, Peer::Side::client, std::move(socket), *device));
    // The peer is removed on failure, so that the endpoint can connect again.
    if (const doca_error_t status = made.send_hello(key_, limits); status != DOCA_SUCCESS) {
        events_.unwatch(made);
        peers_.remove(made)->shut_down();
        return status;
    }
    made.is_reported = true;
    peer = &made;
    role_ = Role::client;
    return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_t::connect(const char *name, Peer *&peer)
{
    {
        const EndpointGuard guard(lock);
        if (const doca_error_t status = begin_to_connect(name); status != DOCA_SUCCESS)
            return status;
    }
    // Blocks for up to a second. No other call changes what is used here while the role is connecting.
    opendoca::UniqueFd socket;
    const std::string &services_at = device->function().services_at;
    doca_error_t status = opendoca::guarded([&] {
        return services_at.empty() ? ServiceSearch().connect(key_, name, socket)
                                   : connect_at(services_at, key_, name, socket);
    });
    if (status == DOCA_ERROR_NOT_FOUND) {
        LOG_ERR("no service '%s' listens for this function", name);
        status = DOCA_ERROR_CONNECTION_ABORTED;
    }
    const EndpointGuard guard(lock);
    if (status == DOCA_SUCCESS)
        status = opendoca::guarded([&] { return become_client(std::move(socket), peer); });
    if (status != DOCA_SUCCESS)
        role_ = Role::none;
    return status;
}

/// Completes a client's pending connection. Returns CONNECTION_INPROGRESS, SUCCESS, or CONNECTION_ABORTED.
doca_error_t doca_comm_channel_ep_t::complete(Peer &peer)
{
    if (peer.state() == Peer::State::failed)
        return DOCA_ERROR_CONNECTION_ABORTED;
    if (peer.state() != Peer::State::connecting)
        return DOCA_SUCCESS;
    doca_error_t status = peer.receive_welcome(limits);
    if (status == DOCA_SUCCESS && !events_.watch(peer)) {
        LOG_ERR("a connection cannot be added to the event channels: %s", std::strerror(errno));
        status = DOCA_ERROR_CONNECTION_ABORTED;
    }
    if (status != DOCA_SUCCESS && status != DOCA_ERROR_CONNECTION_INPROGRESS)
        peer.fail();
    // The peer may have sent before it could see that a doorbell is requested: such a message rings none.
    if (status == DOCA_SUCCESS && events_.is_recv_armed()) {
        events_.arm_for_messages();
        if (peer.has_message())
            events_.recv().kick(); // a message arrived before the doorbell was requested
    }
    return status;
}

doca_error_t doca_comm_channel_ep_t::send(const void *message, std::size_t length, int flags, const Peer *to)
{
    Peer *const peer = peers_.find(to);
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
        events_.arm_send_when_connected();
        return DOCA_ERROR_AGAIN;
    }
    if (length > peer->max_send_length()) {
        LOG_ERR("a message of %zu bytes: the peer takes at most %u", length, peer->max_send_length());
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (peer->is_end_check_due() && peer->check_end())
        handle_peer_end(*peer);
    if (peer->has_ended()) {
        // Behaves as if the message had been sent before the disconnect, until all messages of the peer are received.
        if (peer->state() != Peer::State::left || !peer->has_message())
            return DOCA_ERROR_CONNECTION_RESET;
        peer->count_lost_send(length);
        return DOCA_SUCCESS;
    }
    doca_error_t status = peer->send(message, length);
    if (status == DOCA_ERROR_AGAIN && events_.send().is_open()) {
        // After arming the ring is tried again, since space that came before rings no doorbell.
        events_.arm_send_to(*peer);
        status = peer->send(message, length);
    }
    if (status == DOCA_SUCCESS)
        events_.disarm_send(*peer);
    if (status == DOCA_ERROR_CONNECTION_RESET)
        handle_peer_end(*peer);
    events_.add_pending_doorbells(peer->has_pending_doorbell());
    events_.keep_readable_for_doorbells();
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
        if (!std::exchange(has_received_, true) && service_peer().num_sent() >= 2 && !events_.is_used())
            return DOCA_ERROR_AGAIN;
    } else if (messages_between_checks_.is_spent()) {
        return receive_again(message, length, from);
    }
    const doca_error_t status = receive_from_any(message, length, from);
    if (status != DOCA_ERROR_AGAIN)
        return status;
    // A client that waits for no events gets no doorbells: its socket shows nothing but the end of the service.
    if (is_client() && !events_.is_used() && !service_peer().is_end_check_due())
        return status;
    return receive_again(message, length, from);
}

/// Receives after checking for new clients, ended peers and doorbells.
doca_error_t doca_comm_channel_ep_t::receive_again(void *message, std::size_t &length, Peer *&from)
{
    check_sockets();
    if (events_.is_recv_armed())
        events_.arm_for_messages();
    const doca_error_t status = receive_from_any(message, length, from);
    if (status != DOCA_ERROR_AGAIN) {
        if (events_.is_recv_armed())
            events_.recv().kick(); // draining removed the doorbells of the remaining messages
        return status;
    }
    events_.recv().clear();
    // The program may block after AGAIN, so pending doorbells are retried by keeping its channels readable.
    events_.keep_readable_for_doorbells();
    if (is_service())
        clients_.log_if_none();
    return clients_.take_reset() ? DOCA_ERROR_CONNECTION_RESET : DOCA_ERROR_AGAIN;
}

doca_error_t doca_comm_channel_ep_t::receive_from_any(void *message, std::size_t &length, Peer *&from)
{
    if (is_client()) {
        Peer &service = service_peer();
        if (service.state() == Peer::State::failed)
            return DOCA_ERROR_INITIALIZATION;
        const doca_error_t status = service.receive(message, length);
        events_.set_pending_doorbells(service.has_pending_doorbell());
        if (status == DOCA_SUCCESS)
            from = &service;
        return status == DOCA_ERROR_AGAIN && service.has_ended() ? DOCA_ERROR_CONNECTION_RESET : status;
    }
    const std::vector<Peer *> &clients = peers_.polled();
    const std::size_t count = clients.size();
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = peers_.next + i < count ? peers_.next + i : peers_.next + i - count;
        Peer &client = *clients[at];
        const doca_error_t status = client.receive(message, length);
        if (status == DOCA_ERROR_AGAIN)
            continue;
        if (status == DOCA_ERROR_CONNECTION_RESET) { // the client violates the protocol
            clients_.handle_end(client);
            continue;
        }
        if (status == DOCA_SUCCESS) {
            peers_.next = at + 1 == count ? 0 : at + 1; // round-robin: one busy client cannot starve others
            client.is_reported = true;
            events_.add_pending_doorbells(client.has_pending_doorbell());
            from = &client;
        }
        return status;
    }
    return DOCA_ERROR_AGAIN;
}

void doca_comm_channel_ep_t::check_sockets()
{
    messages_between_checks_.restart();
    events_.recv().clear();
    if (is_service()) {
        clients_.process_events();
        return;
    }
    Peer &service = service_peer();
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
    Peer *const peer = peers_.find(address);
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
        departure.peer = remove(*peer);
    return was_fine ? DOCA_SUCCESS : DOCA_ERROR_NOT_CONNECTED;
}

/// Returns the endpoint to its state before it listened or connected.
void doca_comm_channel_ep_t::detach_all(Departure &all) noexcept
{
    all.channels = events_.remove_all();
    all.listener = clients_.end();
    all.addresses = peers_.remove_all();
    has_received_ = false;
    role_ = Role::none;
}

/// Removes every reference to @p peer from the endpoint and returns it.
std::unique_ptr<doca_comm_channel_addr_t> doca_comm_channel_ep_t::remove(const Peer &peer) noexcept
{
    events_.unwatch(peer);
    return peers_.remove(peer);
}

/// Called when the end of a peer was detected, or a violation of the protocol.
void doca_comm_channel_ep_t::handle_peer_end(const Peer &peer) noexcept
{
    if (is_service()) // otherwise the descriptors of an ended service stay readable
        clients_.handle_end(peer);
}

doca_error_t doca_comm_channel_ep_t::get_event_channels(int *send, int *recv)
{
    if (is_idle()) {
        LOG_ERR("the endpoint is neither listening nor connected, and has no event channels yet");
        return DOCA_ERROR_BAD_STATE;
    }
    if (send != nullptr) {
        if (const doca_error_t status = events_.open_send(); status != DOCA_SUCCESS)
            return status;
    }
    if (recv != nullptr) {
        if (const doca_error_t status = events_.open_recv(); status != DOCA_SUCCESS)
            return status;
    }
    events_.note_use();
    if (send != nullptr)
        *send = events_.send().get();
    if (recv != nullptr)
        *recv = events_.recv().get();
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
    const doca_error_t status = events_.open_service();
    if (status == DOCA_SUCCESS)
        service = events_.service().get();
    return status;
}

doca_error_t doca_comm_channel_ep_t::arm_send()
{
    if (is_idle() || events_.open_send() != DOCA_SUCCESS)
        return DOCA_ERROR_INVALID_VALUE;
    events_.arm_send();
    return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_t::arm_recv()
{
    if (is_idle() || events_.open_recv() != DOCA_SUCCESS)
        return DOCA_ERROR_INVALID_VALUE;
    events_.arm_recv(clients_.has_unreported_reset());
    return DOCA_SUCCESS;
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
    const doca_error_t status = events_.open_service();
    if (status == DOCA_SUCCESS)
        clients_.update();
    return status;
}
