// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Connections to an address and a port: by what the device has for them (rdma_cm), or by our own over TCP.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <sys/timerfd.h>
#include <unistd.h>

#include "../../core/deferred_log.hpp"
#include "../../core/device/device.hpp"
#include "../../core/log.hpp"
#include "../../core/unauthenticated_clients.hpp"
#include "rdma.hpp"
#include "tcp_connector.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_ADDRESSES);

using opendoca::Link;
using opendoca::LinkEvent;
using opendoca::UniqueFd;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int most_steps = 64; ///< steps of handshakes in one progress call that are not reported to the program

} // namespace

/// With the first address of this run.
doca_error_t doca_rdma::open_connector()
{
    if (connector_ != nullptr)
        return DOCA_SUCCESS;
    const opendoca::DeviceFunction &device = function();
    std::unique_ptr<opendoca::Connector> made;
    doca_error_t status = dev()->device().create_connector(made);
    const bool has_own = status == DOCA_SUCCESS;
    if (status == DOCA_ERROR_NOT_SUPPORTED)
        status = opendoca::v3::TcpConnector::create(device.provider == "soft", made);
    UniqueFd timer(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    if (status == DOCA_SUCCESS && !timer.is_open())
        status = DOCA_ERROR_OPERATING_SYSTEM;
    if (status == DOCA_SUCCESS)
        status = completions().watch(made->fd());
    if (status == DOCA_SUCCESS && (status = completions().watch(timer.get())) != DOCA_SUCCESS)
        completions().unwatch(made->fd());
    if (status != DOCA_SUCCESS)
        return status;
    static std::atomic<bool> was_said[2];
    if (!was_said[has_own].exchange(true, std::memory_order_relaxed))
        LOG_INFO("device %s: connections by address are made %s", device.description().c_str(),
                 has_own ? "by rdma_cm" : "over TCP in place of rdma_cm, between programs of opendoca alone");
    connector_ = std::move(made);
    deadlines_ = std::move(timer);
    set_progress_requested(true);
    return DOCA_SUCCESS;
}

void doca_rdma::close_connector() noexcept
{
    if (connector_ == nullptr)
        return;
    completions().unwatch(connector_->fd());
    completions().unwatch(deadlines_.get());
    deadlines_.reset();
    waiting_client_.reset();
    connector_.reset();
    is_overdue_ = false;
}

doca_error_t doca_rdma::listen(std::uint16_t port)
{
    if (const doca_error_t status = check_running("listen"); status != DOCA_SUCCESS)
        return status;
    if (port == 0) {
        LOG_ERR("port 0 is invalid: a program could not publish the port that it would get");
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const doca_error_t status = open_connector(); status != DOCA_SUCCESS)
        return status;
    if (connector_->is_listening()) {
        LOG_ERR("the instance listens to port %u already", port_);
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    const doca_error_t status = connector_->listen(port);
    if (status == DOCA_SUCCESS)
        port_ = port;
    return status;
}

doca_error_t doca_rdma::stop_listening(std::uint16_t port)
{
    if (connector_ == nullptr || !connector_->is_listening() || port != port_) {
        LOG_ERR("the instance does not listen to port %u", port);
        return DOCA_ERROR_INVALID_VALUE;
    }
    connector_->stop_listening();
    return DOCA_SUCCESS;
}

doca_error_t doca_rdma::connect_to(const doca_rdma_addr &address, doca_data connection_data)
{
    if (const doca_error_t status = check_running("connect"); status != DOCA_SUCCESS)
        return status;
    Connection *made = nullptr;
    doca_error_t status = open_connector();
    if (status == DOCA_SUCCESS)
        status = add(Connection::Origin::address, made);
    if (status != DOCA_SUCCESS)
        return status;
    const std::chrono::milliseconds timeout(request_timeout);
    status = opendoca::guarded([&] {
        made->address = std::make_unique<doca_rdma_addr>(address);
        made->address->is_of_connection = true;
        return connector_->connect({address.text, address.type == DOCA_RDMA_ADDR_TYPE_GID, address.port}, timeout,
                                   *made->queue_pair, made->link);
    });
    if (status != DOCA_SUCCESS) {
        drop_last();
        return status;
    }
    made->link->owner = made;
    made->user_data = connection_data;
    made->deadline = Clock::now() + timeout;
    set_timer();
    return DOCA_SUCCESS;
}

/// Wakes a sleeping program at the next deadline. All connections have the same time, so the first of them is the
/// oldest.
void doca_rdma::set_timer() noexcept
{
    itimerspec when{};
    for (const auto &connection : connections_) {
        if (!connection->is_requested())
            continue;
        const auto left = std::max<Clock::duration>(connection->deadline - Clock::now(), std::chrono::milliseconds(1));
        when.it_value.tv_sec = std::chrono::floor<std::chrono::seconds>(left).count();
        when.it_value.tv_nsec = (left % std::chrono::seconds(1)).count();
        break;
    }
    (void)timerfd_settime(deadlines_.get(), 0, &when, nullptr); // fails for no values that are possible here
}

bool doca_rdma::has_callback_pending() const noexcept
{
    return std::ranges::any_of(connections_, [](const auto &connection) { return connection->is_callback_pending(); });
}

/// Wakes the program at once if an established callback is pending: no event of the device announces it.
void doca_rdma::arm() noexcept
{
    doca_ctx::arm();
    if (has_callback_pending())
        completions().wake();
}

/// The program is about to sleep, or was woken: then it looks once for what has woken it.
void doca_rdma::clear() noexcept
{
    looks_now_ = true;
    doca_ctx::clear();
}

/// Whether a request was given up.
bool doca_rdma::look_at_deadlines() noexcept
{
    std::uint64_t count = 0;
    if (!is_overdue_ && ::read(deadlines_.get(), &count, sizeof(count)) != sizeof(count))
        return false;
    is_overdue_ = true;
    for (const auto &connection : connections_) {
        if (!connection->is_requested() || connection->deadline > Clock::now())
            continue;
        LOG_ERR("%s has not answered within %u ms", connection->link->server.c_str(), request_timeout);
        end(*connection);
        set_timer();
        tell_failure(*connection);
        return true;
    }
    is_overdue_ = false;
    set_timer();
    return false;
}

doca_error_t doca_rdma::accept(Connection &connection, std::span<const std::byte> private_data)
{
    if (connection.origin != Connection::Origin::accepted || connection.state != Connection::State::initial) {
        LOG_ERR("connection %u is none that waits for an answer", connection.id);
        return DOCA_ERROR_BAD_STATE;
    }
    if (const doca_error_t status = connection.link->accept(*connection.queue_pair, private_data);
        status != DOCA_SUCCESS) {
        end(connection);
        return status;
    }
    connection.state = Connection::State::ready;
    receives_->give_to(*connection.queue_pair);
    return DOCA_SUCCESS;
}

doca_error_t doca_rdma::reject(Connection &connection)
{
    if (connection.origin != Connection::Origin::accepted || connection.state != Connection::State::initial) {
        LOG_ERR("connection %u is none that waits for an answer", connection.id);
        return DOCA_ERROR_BAD_STATE;
    }
    connection.link->reject();
    end(connection);
    return DOCA_SUCCESS;
}

/// What has happened to connections by address: one thing that the program is told of, or steps that it is not. While
/// there was something, there may be more, which the next progress looks for. The program may end the context in its
/// callbacks, so nothing follows them.
bool doca_rdma::progress_connector() noexcept
{
    looks_now_ = true;
    if (look_at_deadlines())
        return true;
    for (int steps = 0; steps != most_steps; ++steps) {
        bool was_told = false;
        const doca_error_t status = opendoca::guarded([&] {
            if (waiting_client_ != nullptr) {
                was_told = take_client(std::move(waiting_client_));
                return DOCA_SUCCESS;
            }
            LinkEvent event = connector_->poll();
            if (event.kind == LinkEvent::Kind::nothing)
                return DOCA_ERROR_NOT_FOUND;
            was_told = event.kind == LinkEvent::Kind::request ? take_client(std::move(event.client)) : take(event);
            return DOCA_SUCCESS;
        });
        if (was_told)
            return true;
        if (status == DOCA_SUCCESS)
            continue;
        looks_now_ = false;
        if (status != DOCA_ERROR_NOT_FOUND)
            LOG_ERR("something of a connection by address is lost: out of memory");
        return false;
    }
    return true;
}

/// Returns the oldest connection that the program has accepted and its client has not confirmed; null if there is none.
doca_rdma::Connection *doca_rdma::oldest_half_open() noexcept
{
    const auto found = std::ranges::find_if(connections_, [](const auto &one) {
        return one->origin == Connection::Origin::accepted && one->state == Connection::State::ready;
    });
    return found != connections_.end() ? found->get() : nullptr;
}

bool doca_rdma::take_client(std::unique_ptr<Link> client)
{
    if (callbacks.request == nullptr) {
        if (opendoca::may_log_unauthenticated_client())
            LOG_ERR("a client asks for a connection, and the program has no callback for that: it is refused");
        client->reject();
        return false;
    }
    if (Connection *const half_open = is_full() ? oldest_half_open() : nullptr; half_open != nullptr) {
        if (opendoca::may_log_unauthenticated_client())
            LOG_WARN("the instance has its %u connections: one that its client has not confirmed makes room for "
                     "another client",
                     max_connections);
        waiting_client_ = std::move(client); // the callback may end the context
        end(*half_open);
        tell_failure(*half_open);
        return true;
    }
    Connection *connection = nullptr;
    {
        opendoca::DeferredLog log;
        if (add(Connection::Origin::accepted, connection) != DOCA_SUCCESS) {
            if (!opendoca::may_log_unauthenticated_client())
                log.discard();
            client->reject();
            return false;
        }
    }
    connection->link = std::move(client);
    connection->link->owner = connection;
    callbacks.request(connection, user_data);
    return true;
}

bool doca_rdma::take(const LinkEvent &event)
{
    if (event.kind == LinkEvent::Kind::step)
        return false;
    Connection &connection = *static_cast<Connection *>(event.link->owner);
    if (event.kind == LinkEvent::Kind::failed) {
        end(connection);
        tell_failure(connection);
    } else if (event.kind == LinkEvent::Kind::ended) {
        note_end(connection);
    } else if (connection.state != Connection::State::connected) { // not yet reported to it by a message
        establish(connection);
    }
    return true;
}

void doca_rdma::note_message(Connection &connection)
{
    if (connection.state == Connection::State::ready)
        establish(connection);
}

void doca_rdma::establish(Connection &connection)
{
    if (connection.origin == Connection::Origin::address)
        receives_->give_to(*connection.queue_pair);
    connection.state = Connection::State::connected;
    connection.was_established = true;
    if (callbacks.established != nullptr)
        callbacks.established(&connection, connection.user_data, user_data);
}

void doca_rdma::tell_failure(Connection &connection) noexcept
{
    if (callbacks.failure != nullptr)
        callbacks.failure(&connection, connection.user_data, user_data);
}
