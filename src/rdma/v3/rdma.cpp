// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The life cycle of an instance, and its connections.
#include "rdma.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../../core/base/public_values.hpp"
#include "../../core/log/log.hpp"
#include "bridged_connections.hpp"
#include "rdma_tasks.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA);

using opendoca::ConnectionState;
using opendoca::QueuePair;

namespace {

/// Limits for the number of messages in transit to one connection with shared receives. Only the software device uses
/// this: the cells for messages that no receive has taken yet. The minimum keeps a connection fast in an instance with
/// few receive tasks; the maximum bounds the memory per connection.
constexpr std::uint32_t min_messages = 16;
constexpr std::uint32_t max_messages = 1024;

} // namespace

doca_rdma::doca_rdma(doca_dev &dev) : doca_ctx(&dev)
{
    // The defaults that doca_rdma.h documents. Sizes and MTU depend on the device.
    settings = {};
    settings.recv_chain_length = 1;
    settings.permissions = opendoca::Access::local_read_write;
    settings.mtu = can().active_mtu;
    settings.has_grh = true;
    max_send_list = std::max(can().max_chain_length, 1U);
}

std::uint32_t doca_rdma::num_sends() const noexcept
{
    std::uint32_t count = 0;
    for (const opendoca::v3::TaskTypeBase *type : std::initializer_list<const opendoca::v3::TaskTypeBase *>{
             &send, &send_imm, &read, &write, &write_imm, &compare_and_swap, &fetch_and_add, &event_get, &event_set,
             &event_add})
        count += type->conf().count;
    return count;
}

doca_error_t doca_rdma::on_start()
{
    const std::uint32_t largest = function().max_queue_size();
    const std::uint32_t receives = receive.conf().count;
    if (largest == 0) {
        LOG_ERR("device %s cannot have connections", function().description().c_str());
        return DOCA_ERROR_DRIVER;
    }
    // Sizes are rounded up to powers of two, as QueuePairSettings requires, but never above the device's limit.
    const std::uint32_t sends = is_send_queue_size_set ? settings.send_queue_size : std::max(num_sends(), 1U);
    settings.send_queue_size = std::bit_ceil(std::min(sends, largest));
    // With shared receives, only the software device uses this: the cells for messages that no receive has taken yet.
    // Without, it is the size of the receive queue.
    settings.recv_queue_size = std::min(std::bit_ceil(std::clamp(receives, min_messages, max_messages)), largest);
    if (!can().shared_receives)
        settings.recv_queue_size = std::min(std::bit_ceil(std::max(receives, 1U)), largest);
    const doca_error_t status =
        opendoca::v3::Receives::create(dev()->device(), completions(), receives, settings.recv_chain_length, receives_);
    if (status != DOCA_SUCCESS)
        return status;
    // After the receives: the pool of receive tasks posts to them.
    opendoca::v3::create_rdma_pools(*this, *dev());
    return waits_for_connection_ ? DOCA_ERROR_IN_PROGRESS : DOCA_SUCCESS;
}

doca_error_t doca_rdma::on_stop() noexcept
{
    is_start_pending_ = false;
    // No new connections first, then the flush of all that exist. Tasks in flight complete with SHUTDOWN, and the
    // context becomes idle when the last callback has returned.
    by_address_.stop();
    for (const auto &connection : connections_)
        end(*connection);
    // After the connections: a shared receive belongs to none of them.
    if (receives_ != nullptr)
        receives_->flush(failures_);
    return DOCA_SUCCESS;
}

void doca_rdma::on_idle() noexcept
{
    only_connection_ = nullptr;
    // Links before the connector, and queue pairs before the shared receive queue: each refers to the latter.
    connections_.clear();
    ended_.drop_to(0);
    ended_clients_.drop_to(0);
    by_address_.close();
    receives_.reset();
    last_examined_ = 0;
    num_created_ = num_open_ = 0;
    has_ended_connections_ = is_poll_due_ = must_examine_ = false;
}

doca_error_t doca_rdma::check_configurable(const char *what) const noexcept
{
    if (is_idle())
        return DOCA_SUCCESS;
    LOG_ERR("the context is not idle: its %s can't be changed", what);
    return DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_rdma::check_running(const char *what) const noexcept
{
    if (is_running())
        return DOCA_SUCCESS;
    LOG_ERR("the context is not running: it cannot %s", what);
    return DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_rdma::check_connectable(const char *what) const noexcept
{
    const bool waits = waits_for_connection_ && state() == DOCA_CTX_STATE_STARTING;
    return waits ? DOCA_SUCCESS : check_running(what);
}

doca_error_t doca_rdma::add(Connection::Origin origin, Connection *&connection)
{
    if (is_full()) {
        LOG_ERR("the instance has its %u connections already", max_connections);
        return DOCA_ERROR_FULL;
    }
    connections_.push_back(std::make_unique<Connection>(*this, origin, num_created_));
    ++num_created_;
    ++num_open_;
    // std::bad_alloc is possible in create_queue_pair(). The connection is then removed again, and the caller's pointer
    // is void.
    connection = connections_.back().get();
    const doca_error_t status = opendoca::guarded([&] { return create_queue_pair(*connection); });
    if (status != DOCA_SUCCESS)
        drop_last();
    return status;
}

doca_error_t doca_rdma::create_queue_pair(Connection &connection)
{
    opendoca::QueuePairSettings queue_pair_settings = settings;
    queue_pair_settings.send_chain_length = max_send_list;
    queue_pair_settings.shared_receives = receives_->shared();
    queue_pair_settings.completions = &completions();
    std::unique_ptr<QueuePair> made;
    doca_error_t status = dev()->device().create_queue_pair(queue_pair_settings, connection.queue_pair_state, made);
    if (status != DOCA_SUCCESS)
        return status;
    // Release: pairs with the acquire load in QueuePair::state().
    connection.queue_pair_state.store(ConnectionState::initial, std::memory_order_release);
    made->owner = &connection; // ReceivePool::set_result() reads it
    status = made->attach(completions());
    if (status == DOCA_SUCCESS)
        connection.queue_pair = std::move(made);
    return status;
}

doca_error_t doca_rdma::export_connection(std::span<const std::byte> &details, Connection *&connection)
{
    if (const doca_error_t status = check_connectable("export connections"); status != DOCA_SUCCESS)
        return status;
    Connection *made = nullptr;
    const doca_error_t status = add(Connection::Origin::exported, made);
    if (status == DOCA_SUCCESS) {
        connection = made;
        details = made->queue_pair->details();
        request_progress(); // on_progress() detects the end of the connection
    }
    return status;
}

doca_error_t doca_rdma::connect(std::span<const std::byte> details, Connection &connection)
{
    if (const doca_error_t status = check_connectable("connect"); status != DOCA_SUCCESS)
        return status;
    if (connection.origin != Connection::Origin::exported || connection.state != Connection::State::initial) {
        LOG_ERR("connection %u is %s", connection.id,
                connection.origin != Connection::Origin::exported ? "not one by details"
                                                                  : "connected already, or has ended");
        return DOCA_ERROR_BAD_STATE;
    }
    const doca_error_t status = connection.queue_pair->connect(details);
    if (status != DOCA_SUCCESS)
        return status;
    receives_->attach(*connection.queue_pair);
    connection.state = Connection::State::ready;
    is_start_pending_ = state() == DOCA_CTX_STATE_STARTING;
    request_established_callback(connection);
    if (is_start_pending_)
        completions().note_event();
    return DOCA_SUCCESS;
}

/// Callbacks are called by the next progress and not here: programs store the connection after their call returns.
void doca_rdma::request_established_callback(Connection &connection) noexcept
{
    if (connection.state != Connection::State::ready)
        return; // a message has reported it
    if (callbacks.established == nullptr)
        connection.state = Connection::State::connected;
    else
        completions().note_event();
}

doca_error_t doca_rdma::export_only_connection(std::span<const std::byte> &details)
{
    if (only_connection_ == nullptr) {
        std::span<const std::byte> unused;
        if (const doca_error_t status = export_connection(unused, only_connection_); status != DOCA_SUCCESS)
            return status;
    }
    if (only_connection_->queue_pair == nullptr) {
        LOG_ERR("the connection of the instance has ended: stop and start the context for another one");
        return DOCA_ERROR_BAD_STATE;
    }
    details = only_connection_->queue_pair->details();
    return DOCA_SUCCESS;
}

doca_error_t doca_rdma::connect_only_connection(std::span<const std::byte> details)
{
    std::span<const std::byte> own;
    const doca_error_t status = export_only_connection(own);
    return status == DOCA_SUCCESS ? connect(details, *only_connection_) : status;
}

/// Sends the disconnect notice before the flush. A connection by address that was requested and never established has
/// no operations in flight, so its queue pair is destroyed at once. That of a bridged one may have received messages:
/// librdmacm connects it before the program reports it.
void doca_rdma::end(Connection &connection) noexcept
{
    if (connection.state == Connection::State::ended)
        return;
    completions().resume();
    using Origin = Connection::Origin;
    const bool was_unanswered = connection.state == Connection::State::initial &&
                                (connection.origin == Origin::incoming || connection.origin == Origin::outgoing);
    if (connection.link != nullptr)
        connection.link->disconnect();
    connection.state = Connection::State::ended;
    --num_open_;
    has_ended_connections_ = is_poll_due_ = true;
    if (was_unanswered) {
        connection.drop_queue_pair();
    } else if (connection.queue_pair != nullptr) {
        connection.queue_pair->flush();
        receives_->detach(*connection.queue_pair);
    }
}

doca_error_t doca_rdma::disconnect(Connection &connection)
{
    end(connection);
    // Success also if the peer has ended the connection: programs call this in the disconnection callback.
    return DOCA_SUCCESS;
}

/// Destroys the queue pair and the link of each ended connection as soon as the callbacks of its flushed tasks have
/// returned: completions refer to the queue pair. The connection object is then moved to a list of ended connections,
/// since the program may still query it.
/// Clients must not be able to exhaust memory: connections that were rejected or never confirmed are destroyed at
/// once, and of the others the newest max_connections are kept.
void doca_rdma::drop_ended() noexcept
{
    has_ended_connections_ = false;
    auto kept = connections_.begin();
    for (auto &connection : connections_) {
        if (connection->state == Connection::State::ended) {
            if (connection->queue_pair != nullptr && completions().num_outstanding(*connection->queue_pair) == 0)
                connection->drop_queue_pair();
            if (connection->queue_pair == nullptr && (connection->link == nullptr || connection->link->is_over())) {
                connection->link.reset();
                using Origin = Connection::Origin;
                if (connection->origin == Origin::exported || connection->origin == Origin::outgoing)
                    ended_.add(std::move(connection));
                else if (connection->was_established || connection->origin == Origin::bridged)
                    ended_clients_.add(std::move(connection));
                else
                    connection.reset();
                continue;
            }
            has_ended_connections_ =
                true; // tasks are still in flight, or the peer has not received the disconnect notice
        }
        std::swap(*kept++, connection); // keeps the order of creation
    }
    connections_.erase(kept, connections_.end());
    ended_clients_.drop_to(max_connections);
    last_examined_ = 0;
}

/// The connections need no poll if none has a callback pending and none has failed. The next such event wakes the
/// completion queue: see CompletionQueue::note_event().
bool doca_rdma::can_park() const noexcept
{
    return is_running() && !is_start_pending_ && !has_ended_connections_ && !by_address_.is_open() &&
           std::ranges::none_of(connections_, [](const auto &connection) {
               return connection->is_callback_pending() || connection->has_failed();
           });
}

/// Reports at most one event per call, since a callback may stop the context or change connections_. Round-robin over
/// the connections, so that one that fails again and again cannot starve the others. All are examined after an event.
/// Connections by address are polled less often, as that takes system calls.
bool doca_rdma::on_progress() noexcept
{
    if (is_start_pending_) {
        is_start_pending_ = false;
        started();
        return true;
    }
    must_examine_ = must_examine_ || completions().take_event();
    if (must_examine_ && is_running() && receives_->has_lost_device()) {
        fail(); // ends all connections, without their callbacks, as doca_ctx_stop() does
        return true;
    }
    for (std::size_t left = must_examine_ ? connections_.size() : 0; left != 0; --left) {
        last_examined_ = last_examined_ + 1 < connections_.size() ? last_examined_ + 1 : 0;
        Connection &connection = *connections_[last_examined_];
        if (connection.is_callback_pending()) {
            establish(connection);
            return true;
        }
        if (connection.has_failed()) {
            receives_->check_for_failure();
            if (receives_->has_lost_device())
                fail();
            else
                handle_disconnect(connection);
            return true;
        }
    }
    must_examine_ = false;
    if ((!by_address_.is_open() && !has_ended_connections_) || (!is_poll_due_ && !poll_budget_.is_spent()))
        return false;
    is_poll_due_ = false;
    if (has_ended_connections_)
        drop_ended();
    if (!by_address_.is_open())
        return false;
    is_poll_due_ = true; // set before, since the program may end the context in a callback
    if (by_address_.progress())
        return true;
    is_poll_due_ = false;
    return false;
}

bool doca_rdma::stops_on_failure_of(const doca_task &) const noexcept
{
    return receives_->has_lost_device();
}

/// If a callback is pending, wakes the program at once: no descriptor becomes readable for it.
void doca_rdma::arm() noexcept
{
    doca_ctx::arm();
    if (is_start_pending_ || must_examine_ || completions().has_event())
        completions().wake();
}

/// Called when a program is about to block or was woken. The next progress polls the connector once, whatever is left
/// of the poll budget: the event that has woken the program may be one of a connection.
void doca_rdma::clear() noexcept
{
    is_poll_due_ = true;
    doca_ctx::clear();
}

void doca_rdma::handle_disconnect(Connection &connection) noexcept
{
    end(connection); // before the callback, in which the program may destroy what the tasks use
    if (callbacks.disconnection != nullptr)
        callbacks.disconnection(&connection, connection.user_data, user_data);
}

/// One comparison for a connection in use. A bridged connection of a client may be in state initial: librdmacm has
/// connected its queue pair, and the program has not reported that yet.
void doca_rdma::handle_message(Connection &connection)
{
    if (connection.state > Connection::State::ready) [[likely]]
        return;
    if (connection.state == Connection::State::initial && connection.origin == Connection::Origin::bridged)
        (void)opendoca::v3::connect_bridged(connection);
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
    must_examine_ = true; // its queue pair may have failed before
    if (callbacks.established != nullptr)
        callbacks.established(&connection, connection.user_data, user_data);
}

void doca_rdma::report_failure(Connection &connection) noexcept
{
    if (callbacks.failure != nullptr)
        callbacks.failure(&connection, connection.user_data, user_data);
}
