// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The device's connector (rdma_cm) establishes connections by address if it has one, TcpConnector if not.
#include "connections_by_address.hpp"

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

namespace opendoca::v3 {

namespace {

using Connection = doca_rdma_connection;

/// Steps of handshakes that one progress call takes at most. Steps are not reported to the program; the limit keeps
/// many clients from delaying its tasks.
constexpr int max_steps = 64;

} // namespace

/// Called for each use of an address; only the first one after a start creates the connector and its timer. Both are
/// added to the event handle of the engine, so that a blocked program is woken by an event or a deadline. On failure
/// nothing is left open.
doca_error_t ConnectionsByAddress::open()
{
    if (connector_ != nullptr)
        return DOCA_SUCCESS;
    const DeviceFunction &device = rdma_.function();
    std::unique_ptr<Connector> made;
    doca_error_t status = rdma_.device().create_connector(made);
    const bool has_own = status == DOCA_SUCCESS;
    if (status == DOCA_ERROR_NOT_SUPPORTED)
        status = TcpConnector::create(device.provider == "soft", made);
    UniqueFd timer(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    if (status == DOCA_SUCCESS && !timer.is_open())
        status = DOCA_ERROR_OPERATING_SYSTEM;
    if (status == DOCA_SUCCESS)
        status = rdma_.completions().watch(made->fd());
    if (status == DOCA_SUCCESS && (status = rdma_.completions().watch(timer.get())) != DOCA_SUCCESS)
        rdma_.completions().unwatch(made->fd());
    if (status != DOCA_SUCCESS)
        return status;
    // One line per process for each of the two ways: they are not compatible with each other.
    static std::atomic<bool> was_logged[2];
    if (!was_logged[has_own].exchange(true, std::memory_order_relaxed))
        LOG_INFO("device %s: connections by address use %s", device.description().c_str(),
                 has_own ? "rdma_cm" : "TCP in place of rdma_cm: both sides must be programs of opendoca");
    connector_ = std::move(made);
    deadlines_ = std::move(timer);
    rdma_.request_progress();
    return DOCA_SUCCESS;
}

void ConnectionsByAddress::close() noexcept
{
    if (connector_ == nullptr)
        return;
    // A descriptor is removed from the event handle before it is closed.
    rdma_.completions().unwatch(connector_->fd());
    rdma_.completions().unwatch(deadlines_.get());
    deadlines_.reset();
    waiting_client_.reset(); // a link, which must not outlive the connector
    connector_.reset();
    has_deadline_passed_ = false;
}

void ConnectionsByAddress::stop() noexcept
{
    if (connector_ != nullptr)
        connector_->stop_listening();
    waiting_client_.reset();
}

doca_error_t ConnectionsByAddress::listen(std::uint16_t port)
{
    if (const doca_error_t status = rdma_.check_running("listen"); status != DOCA_SUCCESS)
        return status;
    if (port == 0) {
        LOG_ERR("port 0 is invalid: the program could not query the port that the kernel chooses");
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const doca_error_t status = open(); status != DOCA_SUCCESS)
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

doca_error_t ConnectionsByAddress::stop_listening(std::uint16_t port)
{
    if (connector_ == nullptr || !connector_->is_listening() || port != port_) {
        LOG_ERR("the instance does not listen on port %u", port);
        return DOCA_ERROR_INVALID_VALUE;
    }
    connector_->stop_listening();
    return DOCA_SUCCESS;
}

doca_error_t ConnectionsByAddress::connect(const doca_rdma_addr &address, doca_data connection_data)
{
    if (const doca_error_t status = rdma_.check_running("connect"); status != DOCA_SUCCESS)
        return status;
    Connection *made = nullptr;
    doca_error_t status = open();
    if (status == DOCA_SUCCESS)
        status = rdma_.add(Connection::Origin::outgoing, made);
    if (status != DOCA_SUCCESS)
        return status;
    const std::chrono::milliseconds timeout(rdma_.request_timeout);
    // std::bad_alloc is possible here. The connection is then removed again.
    status = guarded([&] {
        made->address = std::make_unique<doca_rdma_addr>(address);
        made->address->is_of_connection = true;
        return connector_->connect({address.text, address.type == DOCA_RDMA_ADDR_TYPE_GID, address.port}, timeout,
                                   *made->queue_pair, made->link);
    });
    if (status != DOCA_SUCCESS) {
        rdma_.drop_last();
        return status;
    }
    made->link->owner = made;
    made->user_data = connection_data;
    // The connector's own timeout is not enough: it does not apply to a server that connects and never answers.
    made->deadline = std::chrono::steady_clock::now() + timeout;
    set_timer();
    return DOCA_SUCCESS;
}

/// Sets the timer to the next deadline of a connection request, or stops it. All requests have the same timeout and
/// connections() is in order of creation, so the first request found has the first deadline.
void ConnectionsByAddress::set_timer() noexcept
{
    itimerspec when{};
    for (const auto &connection : rdma_.connections()) {
        if (!connection->is_requested())
            continue;
        // At least 1 ms: a value of 0 would stop the timer.
        const auto left = std::max<std::chrono::steady_clock::duration>(
            connection->deadline - std::chrono::steady_clock::now(), std::chrono::milliseconds(1));
        when.it_value.tv_sec = std::chrono::floor<std::chrono::seconds>(left).count();
        when.it_value.tv_nsec = (left % std::chrono::seconds(1)).count();
        break;
    }
    // Fails only for invalid values, which cannot occur here.
    (void)timerfd_settime(deadlines_.get(), 0, &when, nullptr);
}

/// Fails one connection request that is past its deadline. Returns true if it has failed one. The timer is read, and
/// so made unreadable, only once; has_deadline_passed_ then keeps the search going over several calls, one callback
/// each.
bool ConnectionsByAddress::expire_request() noexcept
{
    std::uint64_t count = 0;
    if (!has_deadline_passed_ && ::read(deadlines_.get(), &count, sizeof(count)) != sizeof(count))
        return false;
    has_deadline_passed_ = true;
    for (const auto &connection : rdma_.connections()) {
        if (!connection->is_requested() || connection->deadline > std::chrono::steady_clock::now())
            continue;
        LOG_ERR("%s has not answered within %u ms", connection->link->server.c_str(), rdma_.request_timeout);
        // The callback comes last, since it may end the context.
        rdma_.end(*connection);
        set_timer();
        rdma_.report_failure(*connection);
        return true;
    }
    has_deadline_passed_ = false;
    set_timer();
    return false;
}

doca_error_t ConnectionsByAddress::accept(Connection &connection, std::span<const std::byte> private_data)
{
    if (connection.origin != Connection::Origin::incoming || connection.state != Connection::State::initial) {
        LOG_ERR("connection %u is not a connection request that awaits an answer", connection.id);
        return DOCA_ERROR_BAD_STATE;
    }
    if (const doca_error_t status = connection.link->accept(*connection.queue_pair, private_data);
        status != DOCA_SUCCESS) {
        rdma_.end(connection); // the client has disconnected or its details are invalid; the caller has the error
        return status;
    }
    // The established callback follows with the client's confirmation or its first message. Receives are attached now,
    // since that message may arrive at any time.
    connection.state = Connection::State::ready;
    rdma_.receives().attach(*connection.queue_pair);
    return DOCA_SUCCESS;
}

doca_error_t ConnectionsByAddress::reject(Connection &connection)
{
    if (connection.origin != Connection::Origin::incoming || connection.state != Connection::State::initial) {
        LOG_ERR("connection %u is not a connection request that awaits an answer", connection.id);
        return DOCA_ERROR_BAD_STATE;
    }
    connection.link->reject();
    rdma_.end(connection);
    return DOCA_SUCCESS;
}

/// Processes events until one was reported to the program, no event is left, or max_steps are taken. The program may
/// stop the context in its callbacks, so nothing follows a callback.
bool ConnectionsByAddress::progress() noexcept
{
    if (expire_request())
        return true;
    for (int steps = 0; steps != max_steps; ++steps) {
        bool was_reported = false; // a callback was called
        // std::bad_alloc is possible here. The event is lost then, and only the connection that it concerns.
        const doca_error_t status = guarded([&] {
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
        if (status != DOCA_ERROR_NOT_FOUND)
            LOG_ERR("an event of a connection by address is lost: out of memory");
        return false;
    }
    return true;
}

/// Returns the oldest connection that the program has accepted and its client has not confirmed; null if there is none.
Connection *ConnectionsByAddress::oldest_half_open() noexcept
{
    const auto found = std::ranges::find_if(rdma_.connections(), [](const auto &one) {
        return one->origin == Connection::Origin::incoming && one->state == Connection::State::ready;
    });
    return found != rdma_.connections().end() ? found->get() : nullptr;
}

/// Reports a connection request, or rejects it: if the program has no callback for it, or if the instance has all its
/// connections. Half-open connections do not count there: the oldest of them is ended first and makes room. That calls
/// its failure callback, so the request itself is reported by a later step.
bool ConnectionsByAddress::handle_request(std::unique_ptr<Link> client)
{
    if (rdma_.callbacks.request == nullptr) {
        if (may_log_unauthenticated_client())
            LOG_ERR(
                "a client requests a connection and the program has set no request callback: the request is rejected");
        client->reject();
        return false;
    }
    if (Connection *const half_open = rdma_.is_full() ? oldest_half_open() : nullptr; half_open != nullptr) {
        if (may_log_unauthenticated_client())
            LOG_WARN("the instance has its maximum of %u connections: the oldest one that its client has not confirmed "
                     "is closed for a new client",
                     rdma_.max_connections);
        waiting_client_ = std::move(client); // before the callback, which may end the context
        rdma_.end(*half_open);
        rdma_.report_failure(*half_open);
        return true;
    }
    Connection *connection = nullptr;
    {
        DeferredLog log; // clients must not fill the log with messages of add()
        if (rdma_.add(Connection::Origin::incoming, connection) != DOCA_SUCCESS) {
            if (!may_log_unauthenticated_client())
                log.discard();
            client->reject();
            return false;
        }
    }
    connection->link = std::move(client);
    connection->link->owner = connection;
    rdma_.callbacks.request(connection, rdma_.user_data);
    return true;
}

/// Handles an event of a link that a connection owns. Returns whether it was reported to the program.
bool ConnectionsByAddress::handle_event(const LinkEvent &event)
{
    if (event.kind == LinkEvent::Kind::step)
        return false;
    Connection &connection = *static_cast<Connection *>(event.link->owner);
    if (event.kind == LinkEvent::Kind::failed) {
        rdma_.end(connection);
        rdma_.report_failure(connection);
    } else if (event.kind == LinkEvent::Kind::ended) {
        rdma_.handle_disconnect(connection);
    } else if (connection.state != Connection::State::connected) { // else: a message has already reported it
        rdma_.establish(connection);
    }
    return true;
}

} // namespace opendoca::v3
