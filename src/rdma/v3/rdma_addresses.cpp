// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Connections by address and port. The device's connector (rdma_cm) establishes them if it has one, TcpConnector if
// not.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <sys/timerfd.h>
#include <unistd.h>

#include "../../core/device/device.hpp"
#include "../../core/log/deferred_log.hpp"
#include "../../core/log/log.hpp"
#include "../../core/process/unauthenticated_clients.hpp"
#include "rdma.hpp"
#include "tcp_connector.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_ADDRESSES);

using opendoca::Link;
using opendoca::LinkEvent;
using opendoca::UniqueFd;
using Clock = std::chrono::steady_clock;

namespace {

/// Steps of handshakes that one progress call takes at most. Steps are not reported to the program; the limit keeps
/// many clients from delaying its tasks.
constexpr int max_steps = 64;

} // namespace

/// Called for each use of an address; only the first one after a start creates the connector and its timer. Both are
/// added to the event handle of the engine, so that a blocked program is woken by an event or a deadline. On failure
/// nothing is left open.
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
    // One line per process for each of the two ways: they are not compatible with each other.
    static std::atomic<bool> was_logged[2];
    if (!was_logged[has_own].exchange(true, std::memory_order_relaxed))
        LOG_INFO("device %s: connections by address use %s", device.description().c_str(),
                 has_own ? "rdma_cm" : "TCP in place of rdma_cm: both sides must be programs of opendoca");
    connector_ = std::move(made);
    deadlines_ = std::move(timer);
    set_progress_requested(true);
    return DOCA_SUCCESS;
}

void doca_rdma::close_connector() noexcept
{
    if (connector_ == nullptr)
        return;
    // A descriptor is removed from the event handle before it is closed.
    completions().unwatch(connector_->fd());
    completions().unwatch(deadlines_.get());
    deadlines_.reset();
    waiting_client_.reset(); // a link, which must not outlive the connector
    connector_.reset();
    has_deadline_passed_ = false;
}

doca_error_t doca_rdma::listen(std::uint16_t port)
{
    if (const doca_error_t status = check_running("listen"); status != DOCA_SUCCESS)
        return status;
    if (port == 0) {
        LOG_ERR("port 0 is invalid: the program could not query the port that the kernel chooses");
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const doca_error_t status = open_connector(); status != DOCA_SUCCESS)
        return status;
    if (connector_->is_listening()) {
        LOG_ERR("the instance listens on port %u already", port_);
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
        LOG_ERR("the instance does not listen on port %u", port);
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
        status = add(Connection::Origin::outgoing, made);
    if (status != DOCA_SUCCESS)
        return status;
    const std::chrono::milliseconds timeout(request_timeout);
    // std::bad_alloc is possible here. The connection is then removed again.
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
    // The connector's own timeout is not enough: it does not apply to a server that connects and never answers.
    made->deadline = Clock::now() + timeout;
    set_timer();
    return DOCA_SUCCESS;
}

/// Sets the timer to the next deadline of a connection request, or stops it. All requests have the same timeout and
/// connections_ is in order of creation, so the first request found has the first deadline.
void doca_rdma::set_timer() noexcept
{
    itimerspec when{};
    for (const auto &connection : connections_) {
        if (!connection->is_requested())
            continue;
        // At least 1 ms: a value of 0 would stop the timer.
        const auto left = std::max<Clock::duration>(connection->deadline - Clock::now(), std::chrono::milliseconds(1));
        when.it_value.tv_sec = std::chrono::floor<std::chrono::seconds>(left).count();
        when.it_value.tv_nsec = (left % std::chrono::seconds(1)).count();
        break;
    }
    // Fails only for invalid values, which cannot occur here.
    (void)timerfd_settime(deadlines_.get(), 0, &when, nullptr);
}

bool doca_rdma::has_callback_pending() const noexcept
{
    return is_start_pending_ ||
           std::ranges::any_of(connections_, [](const auto &connection) { return connection->is_callback_pending(); });
}

/// If a callback is pending, wakes the program at once: no descriptor becomes readable for it.
void doca_rdma::arm() noexcept
{
    doca_ctx::arm();
    if (has_callback_pending())
        completions().wake();
}

/// Called when a program is about to block or was woken. The next progress polls the connector once, whatever is left
/// of the poll budget: the event that has woken the program may be one of a connection.
void doca_rdma::clear() noexcept
{
    is_poll_due_ = true;
    doca_ctx::clear();
}

/// Fails one connection request that is past its deadline. Returns true if it has failed one. The timer is read, and
/// so made unreadable, only once; has_deadline_passed_ then keeps the search going over several calls, one callback
/// each.
bool doca_rdma::expire_request() noexcept
{
    std::uint64_t count = 0;
    if (!has_deadline_passed_ && ::read(deadlines_.get(), &count, sizeof(count)) != sizeof(count))
        return false;
    has_deadline_passed_ = true;
    for (const auto &connection : connections_) {
        if (!connection->is_requested() || connection->deadline > Clock::now())
            continue;
        LOG_ERR("%s has not answered within %u ms", connection->link->server.c_str(), request_timeout);
        // The callback comes last, since it may end the context.
        end(*connection);
        set_timer();
        report_failure(*connection);
        return true;
    }
    has_deadline_passed_ = false;
    set_timer();
    return false;
}

doca_error_t doca_rdma::accept(Connection &connection, std::span<const std::byte> private_data)
{
    if (connection.origin != Connection::Origin::incoming || connection.state != Connection::State::initial) {
        LOG_ERR("connection %u is not a connection request that awaits an answer", connection.id);
        return DOCA_ERROR_BAD_STATE;
    }
    if (const doca_error_t status = connection.link->accept(*connection.queue_pair, private_data);
        status != DOCA_SUCCESS) {
        end(connection); // the client has disconnected or its details are invalid; the caller has the error
        return status;
    }
    // The established callback follows with the client's confirmation or its first message. Receives are attached now,
    // since that message may arrive at any time.
    connection.state = Connection::State::ready;
    receives_->attach(*connection.queue_pair);
    return DOCA_SUCCESS;
}

doca_error_t doca_rdma::reject(Connection &connection)
{
    if (connection.origin != Connection::Origin::incoming || connection.state != Connection::State::initial) {
        LOG_ERR("connection %u is not a connection request that awaits an answer", connection.id);
        return DOCA_ERROR_BAD_STATE;
    }
    connection.link->reject();
    end(connection);
    return DOCA_SUCCESS;
}

/// Processes events of connections by address until one was reported to the program, no event is left, or max_steps
/// are taken. In the first and the last case more events are likely, so the next progress polls again. The program may
/// stop the context in its callbacks, so nothing follows a callback.
bool doca_rdma::progress_connector() noexcept
{
    is_poll_due_ = true;
    if (expire_request())
        return true;
    for (int steps = 0; steps != max_steps; ++steps) {
        bool was_reported = false; // a callback was called
        // std::bad_alloc is possible here. The event is lost then, and only the connection that it concerns.
        const doca_error_t status = opendoca::guarded([&] {
            if (waiting_client_ != nullptr) {
                was_reported = handle_request(std::move(waiting_client_));
                return DOCA_SUCCESS;
            }
            LinkEvent event = connector_->poll();
            if (event.kind == LinkEvent::Kind::nothing)
                return DOCA_ERROR_NOT_FOUND;
            was_reported =
                event.kind == LinkEvent::Kind::request ? handle_request(std::move(event.client)) : handle_event(event);
            return DOCA_SUCCESS;
        });
        if (was_reported)
            return true;
        if (status == DOCA_SUCCESS)
            continue;
        is_poll_due_ = false;
        if (status != DOCA_ERROR_NOT_FOUND)
            LOG_ERR("an event of a connection by address is lost: out of memory");
        return false;
    }
    return true;
}

/// Returns the oldest connection that the program has accepted and its client has not confirmed; null if there is none.
doca_rdma::Connection *doca_rdma::oldest_half_open() noexcept
{
    const auto found = std::ranges::find_if(connections_, [](const auto &one) {
        return one->origin == Connection::Origin::incoming && one->state == Connection::State::ready;
    });
    return found != connections_.end() ? found->get() : nullptr;
}

/// Reports a connection request, or rejects it: if the program has no callback for it, or if the instance has all its
/// connections. Half-open connections do not count there: the oldest of them is ended first and makes room. That calls
/// its failure callback, so the request itself is reported by a later step.
bool doca_rdma::handle_request(std::unique_ptr<Link> client)
{
    if (callbacks.request == nullptr) {
        if (opendoca::may_log_unauthenticated_client())
            LOG_ERR(
                "a client requests a connection and the program has set no request callback: the request is rejected");
        client->reject();
        return false;
    }
    if (Connection *const half_open = is_full() ? oldest_half_open() : nullptr; half_open != nullptr) {
        if (opendoca::may_log_unauthenticated_client())
            LOG_WARN("the instance has its maximum of %u connections: the oldest one that its client has not confirmed "
                     "is closed for a new client",
                     max_connections);
        waiting_client_ = std::move(client); // before the callback, which may end the context
        end(*half_open);
        report_failure(*half_open);
        return true;
    }
    Connection *connection = nullptr;
    {
        opendoca::DeferredLog log; // clients must not fill the log with messages of add()
        if (add(Connection::Origin::incoming, connection) != DOCA_SUCCESS) {
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

/// Handles an event of a link that a connection owns. Returns whether it was reported to the program.
bool doca_rdma::handle_event(const LinkEvent &event)
{
    if (event.kind == LinkEvent::Kind::step)
        return false;
    Connection &connection = *static_cast<Connection *>(event.link->owner);
    if (event.kind == LinkEvent::Kind::failed) {
        end(connection);
        report_failure(connection);
    } else if (event.kind == LinkEvent::Kind::ended) {
        handle_disconnect(connection);
    } else if (connection.state != Connection::State::connected) { // else: a message has already reported it
        establish(connection);
    }
    return true;
}

void doca_rdma::handle_message(Connection &connection)
{
    if (connection.state == Connection::State::ready)
        establish(connection);
}

/// Changes @p connection to connected and calls the established callback. Receives of a connection that this side has
/// requested are attached here: before the server's answer its queue pair is not connected.
void doca_rdma::establish(Connection &connection)
{
    if (connection.origin == Connection::Origin::outgoing)
        receives_->attach(*connection.queue_pair);
    connection.state = Connection::State::connected;
    connection.was_established = true;
    if (callbacks.established != nullptr)
        callbacks.established(&connection, connection.user_data, user_data);
}

void doca_rdma::report_failure(Connection &connection) noexcept
{
    if (callbacks.failure != nullptr)
        callbacks.failure(&connection, connection.user_data, user_data);
}
