// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Connections to an address and a port. The two sides exchange the details of their queue pairs over TCP:
//
//     client  request(details) ->                        server: the program accepts or rejects it
//             <- accept(details), or reject
//             ready ->                                   both: established
//
// The TCP connection stays: its end is that of the connection.
#include <cerrno>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

#include "../../core/log.hpp"
#include "rdma.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_ADDRESSES);

using opendoca::UniqueFd;
using opendoca::v3::Handshake;
using opendoca::v3::Message;

namespace {

bool is_on_this_machine(const opendoca::DeviceFunction &function) noexcept
{
    return function.provider == "soft";
}

/// Whether a connection that was begun has been made; @p error otherwise, 0 while it is not known.
bool is_made(int socket, int &error) noexcept
{
    pollfd ready = {.fd = socket, .events = POLLOUT, .revents = 0};
    error = 0;
    if (poll(&ready, 1, 0) != 1)
        return false;
    socklen_t size = sizeof(error);
    if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        error = errno;
    return error == 0;
}

} // namespace

/// So that a sleeping program hears of it.
bool doca_rdma::watch(int fd) noexcept
{
    return completions().watch(fd) == DOCA_SUCCESS;
}

void doca_rdma::unwatch(Connection &connection) noexcept
{
    if (connection.handshake.is_open())
        completions().unwatch(connection.handshake.fd());
}

doca_error_t doca_rdma::listen(std::uint16_t port)
{
    if (const doca_error_t status = check_running("listen"); status != DOCA_SUCCESS)
        return status;
    if (port == 0) {
        LOG_ERR("port 0 is none: a program could not tell its clients which one it got");
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (listener_.is_open()) {
        LOG_ERR("the instance listens to port %u already", port_);
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    UniqueFd socket;
    if (opendoca::v3::listen_to(port, is_on_this_machine(function()), socket) != DOCA_SUCCESS)
        return DOCA_ERROR_CONNECTION_ABORTED;
    if (!watch(socket.get()))
        return DOCA_ERROR_OPERATING_SYSTEM;
    listener_ = std::move(socket);
    port_ = port;
    asks_for_progress(true);
    return DOCA_SUCCESS;
}

doca_error_t doca_rdma::stop_listening(std::uint16_t port)
{
    if (!listener_.is_open() || port != port_) {
        LOG_ERR("the instance does not listen to port %u", port);
        return DOCA_ERROR_INVALID_VALUE;
    }
    completions().unwatch(listener_.get());
    listener_ = UniqueFd();
    return DOCA_SUCCESS;
}

bool doca_rdma::accept_client() noexcept
{
    UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.is_open())
        return false;
    const doca_error_t status = opendoca::guarded([&] {
        Connection *connection = nullptr;
        const doca_error_t full = add(Connection::Origin::accepted, connection);
        if (full == DOCA_SUCCESS) {
            connection->handshake = Handshake(std::move(socket));
            if (!watch(connection->handshake.fd()))
                end(*connection);
        }
        return full;
    });
    if (status != DOCA_SUCCESS)
        LOG_ERR("a client is turned away");
    return false; // nothing that the program hears of
}

doca_error_t doca_rdma::connect_to(doca_rdma_addr &address, doca_data connection_data)
{
    if (const doca_error_t status = check_running("connect"); status != DOCA_SUCCESS)
        return status;
    Connection *made = nullptr;
    doca_error_t status = add(Connection::Origin::address, made);
    if (status != DOCA_SUCCESS)
        return status;
    // All software devices are on this machine, whatever their addresses.
    status = Handshake::connect(is_on_this_machine(function()) ? "127.0.0.1" : address.text, address.port,
                                made->handshake);
    if (status == DOCA_SUCCESS && !watch(made->handshake.fd()))
        status = DOCA_ERROR_OPERATING_SYSTEM;
    if (status != DOCA_SUCCESS) {
        drop_last();
        return status;
    }
    made->address = &address;
    ++address.num_users;
    made->user_data = connection_data;
    made->is_connecting = true;
    ++num_connecting_;
    made->deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(request_timeout);
    asks_for_progress(true);
    return DOCA_SUCCESS;
}

doca_error_t doca_rdma::accept(Connection &connection)
{
    if (connection.origin != Connection::Origin::accepted || connection.state != Connection::State::initial) {
        LOG_ERR("connection %u is none that waits for an answer", connection.id);
        return DOCA_ERROR_BAD_STATE;
    }
    if (!connection.handshake.is_open() || connection.queue_pair->connect(connection.handshake.details()) != DOCA_SUCCESS ||
        !connection.handshake.send(Message::accept, connection.queue_pair->details())) {
        LOG_ERR("the client of connection %u has gone, or its details can't be used", connection.id);
        end(connection);
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    connection.state = Connection::State::answered;
    receives_->give_to(*connection.queue_pair);
    return DOCA_SUCCESS;
}

doca_error_t doca_rdma::reject(Connection &connection)
{
    if (connection.origin != Connection::Origin::accepted || connection.state != Connection::State::initial) {
        LOG_ERR("connection %u is none that waits for an answer", connection.id);
        return DOCA_ERROR_BAD_STATE;
    }
    (void)connection.handshake.send(Message::reject, {});
    end(connection);
    return DOCA_SUCCESS;
}

/// What has come by the socket. True when the program was told of something.
bool doca_rdma::progress(Connection &connection) noexcept
{
    if (connection.origin == Connection::Origin::address && connection.state != Connection::State::connected &&
        std::chrono::steady_clock::now() > connection.deadline) {
        LOG_ERR("%s, port %u, has not answered within %u ms", connection.address->text.c_str(),
                connection.address->port, request_timeout);
        return fail_to_connect(connection);
    }
    if (connection.origin == Connection::Origin::address && connection.state == Connection::State::initial) {
        int error = 0;
        if (is_made(connection.handshake.fd(), error)) {
            connection.state = Connection::State::answered;
            if (!connection.handshake.send(Message::request, connection.queue_pair->details()))
                return fail_to_connect(connection);
        } else if (error != 0) {
            LOG_ERR("%s, port %u: %s", connection.address->text.c_str(), connection.address->port, std::strerror(error));
            return fail_to_connect(connection);
        }
        return false;
    }
    if (connection.origin == Connection::Origin::accepted && connection.state == Connection::State::initial &&
        connection.is_asked)
        return false; // until the program has answered
    switch (connection.handshake.receive()) {
    case Handshake::Arrival::nothing:
        return false;
    case Handshake::Arrival::message:
        return take(connection);
    case Handshake::Arrival::ended:
        break;
    }
    return connection.state == Connection::State::connected ? note_end(connection) : fail_to_connect(connection);
}

bool doca_rdma::take(Connection &connection) noexcept
{
    const Message kind = connection.handshake.kind();
    const bool is_server = connection.origin == Connection::Origin::accepted;
    if (is_server && connection.state == Connection::State::initial && kind == Message::request) {
        connection.is_asked = true;
        if (callbacks.request != nullptr) {
            callbacks.request(&connection, user_data);
        } else {
            LOG_ERR("a client asks for a connection, and the program has no callback for that: it is refused");
            (void)reject(connection);
        }
        return true;
    }
    if (is_server && connection.state == Connection::State::answered && kind == Message::ready)
        return establish(connection);
    if (!is_server && connection.state == Connection::State::answered && kind == Message::accept) {
        if (connection.queue_pair->connect(connection.handshake.details()) != DOCA_SUCCESS ||
            !connection.handshake.send(Message::ready, {}))
            return fail_to_connect(connection);
        receives_->give_to(*connection.queue_pair);
        return establish(connection);
    }
    if (!is_server && kind == Message::reject)
        LOG_ERR("the server at %s, port %u, has rejected the connection", connection.address->text.c_str(),
                connection.address->port);
    else
        LOG_ERR("the peer of connection %u says something out of turn", connection.id);
    return fail_to_connect(connection);
}

bool doca_rdma::establish(Connection &connection) noexcept
{
    connection.state = Connection::State::connected;
    num_connecting_ -= std::exchange(connection.is_connecting, false) ? 1 : 0;
    if (callbacks.established != nullptr)
        callbacks.established(&connection, connection.user_data, user_data);
    return true;
}

bool doca_rdma::fail_to_connect(Connection &connection) noexcept
{
    const bool was_told = connection.origin == Connection::Origin::address || connection.is_asked;
    end(connection);
    if (was_told && callbacks.failure != nullptr)
        callbacks.failure(&connection, connection.user_data, user_data);
    return was_told;
}
