// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The client role of an endpoint: connecting to a service.
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "../../core/base/guard.hpp"
#include "../../core/log/log.hpp"
#include "../tcp.hpp"
#include "endpoint.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_CLIENT);

using namespace opendoca::comm_channel;

/// Reserves the endpoint for a connection attempt: from here until become_client() or a failure its role is connecting.
doca_error_t doca_comm_channel_ep_t::begin_to_connect(const char *name)
{
    if (const doca_error_t status = check_beginning(name, Role::client); status != DOCA_SUCCESS)
        return status;
    const auto &behind_port = device->function().behind_port;
    if (!behind_port) {
        LOG_ERR("device %s is a port of the DPU, where services are, and acts for no function of the host; "
                "clients connect from functions behind it",
                device->description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    key_ = make_service_key(behind_port->name, behind_port->pci_address, name);
    role_ = Role::connecting;
    return DOCA_SUCCESS;
}

/// Turns a connected socket into the endpoint's one peer and sends the hello. The acceptance is awaited by complete().
doca_error_t doca_comm_channel_ep_t::become_client(opendoca::UniqueFd socket, Peer *&peer)
{
    Peer &made = add(std::make_unique<Peer>(*this, Peer::Side::client, std::move(socket), *device));
    // The peer is removed on failure, so that the endpoint can connect again.
    if (const doca_error_t status = made.send_hello(key_, limits); status != DOCA_SUCCESS) {
        drop_client(made);
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
    if (status == DOCA_SUCCESS && !watch(peer)) {
        LOG_ERR("a connection cannot be added to the event channels: %s", std::strerror(errno));
        status = DOCA_ERROR_CONNECTION_ABORTED;
    }
    if (status != DOCA_SUCCESS && status != DOCA_ERROR_CONNECTION_INPROGRESS)
        peer.fail();
    // The peer may have sent before it could see that a doorbell is requested: such a message rings none.
    if (status == DOCA_SUCCESS && is_recv_armed_) {
        arm_for_messages();
        if (peer.has_message())
            recv_channel_.kick(); // a message arrived before the doorbell was requested
    }
    return status;
}
