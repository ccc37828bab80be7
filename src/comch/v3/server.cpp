// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "../../core/log/log.hpp"
#include "../../core/v3/pe.hpp"
#include "control.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMCH_SERVER);

using namespace opendoca::comm_channel;
using Link = doca_comch_connection::Link;

namespace {

/// Connections up to which all are polled, whether they are idle or not.
constexpr std::size_t most_polled_in_any_case = 8;
/// Polls of all connections that find nothing, without a find of its own, after which a connection waits.
constexpr std::uint32_t polls_until_waiting = 4096;
/// Connections that are polled for each one that begins to wait in one call.
constexpr std::size_t polled_for_each_waiting = 16;

/// Returns whether the connection has ended and the program has been notified, if it had received the connection.
bool is_end_reported(const doca_comch_connection &connection) noexcept
{
    const Link::State state = connection.link.state();
    return !connection.is_reported && state != Link::State::connecting && state != Link::State::connected;
}

/// Returns whether, in addition, no consumer or producer uses the connection.
bool is_over(const doca_comch_connection &connection) noexcept
{
    return is_end_reported(connection) && connection.fast->num_members() == 0;
}

} // namespace

doca_comch_server::doca_comch_server(doca_dev &dev, doca_dev_rep &rep, const char *name)
    : Control(dev, name),
      representor(&rep)
{
    const opendoca::FunctionIdentity function = rep.info->info.identity();
    key_ = make_service_key(function.name, function.pci_address, name_);
}

doca_error_t doca_comch_server::on_start()
{
    wait_for_client_.reset();
    doca_error_t status = open();
    if (status == DOCA_SUCCESS)
        status = listener_.open(key_, name_.c_str(), device()->function().services_at);
    if (status == DOCA_SUCCESS && !watches_.add(listener_.socket())) {
        LOG_ERR("server '%s' cannot add its socket to its event channel: %s", name_.c_str(), std::strerror(errno));
        status = DOCA_ERROR_INITIALIZATION;
    }
    return status;
}

doca_error_t doca_comch_server::on_stop() noexcept
{
    listener_.close();
    for (const auto &connection : connections_) {
        leave(*connection);
        resume(*connection);
    }
    // The disconnect events of these connections are reported by progress calls, so the stop takes time.
    const bool has_unreported_ends =
        std::ranges::any_of(connections_, [](const auto &known) { return known->is_reported; });
    return has_unreported_ends ? DOCA_ERROR_IN_PROGRESS : DOCA_SUCCESS;
}

void doca_comch_server::on_idle() noexcept
{
    for (const auto &connection : connections_)
        leave(*connection);
    polled_.clear();
    connections_.clear();
    listener_.close();
    close();
}

bool doca_comch_server::has(const Connection &connection) const noexcept
{
    return std::ranges::any_of(connections_, [&](const auto &known) { return known.get() == &connection; });
}

/// Accepts waiting connections and processes the hellos that have arrived, which is nearly always all. Closes the
/// oldest connections without hello when there are too many.
void doca_comch_server::accept_clients() noexcept
{
    // Bounded, so that clients that connect in a loop cannot keep the program's thread here.
    for (std::uint32_t i = 0; i != max_silent_clients; ++i) {
        opendoca::UniqueFd socket = listener_.accept();
        if (!socket.is_open())
            return;
        (void)opendoca::guarded([&] {
            auto made = std::make_unique<Connection>(*this, Link::Side::service, std::move(socket));
            if (!watches_.add(*made)) {
                listener_.log_shortage("watched");
                return DOCA_SUCCESS;
            }
            // First, so that a failure leaves both lists as they were, and resume() finds room.
            if (connections_.size() == connections_.capacity())
                connections_.reserve(std::max<std::size_t>(2 * connections_.size(), most_polled_in_any_case));
            polled_.reserve(connections_.capacity());
            connections_.push_back(std::move(made));
            polled_.push_back(connections_.back().get());
            process_hello(*connections_.back());
            return DOCA_SUCCESS;
        });
        close_silent_clients();
    }
}

void doca_comch_server::close_silent_clients() noexcept
{
    const auto is_silent = [](const auto &known) { return known->link.state() == Link::State::connecting; };
    while (std::ranges::count_if(connections_, is_silent) > static_cast<long>(max_silent_clients)) {
        const auto oldest = std::ranges::find_if(connections_, is_silent);
        process_hello(**oldest); // the hello may have arrived since
        if (!is_silent(*oldest))
            continue;
        if (!std::exchange(has_logged_silent_clients_, true))
            LOG_WARN("more than %u clients of server '%s' have connected without sending a hello: the oldest of these "
                     "connections are closed",
                     max_silent_clients, name_.c_str());
        connections_.erase(oldest);
        list_polled();
    }
}

/// Logs that no client is connected: the program may be polling while its client uses another name.
void doca_comch_server::log_if_without_client() noexcept
{
    if (std::ranges::any_of(connections_, [](const auto &known) { return known->is_reported; }))
        return wait_for_client_.end_wait();
    const auto &info = representor->info->info;
    if (wait_for_client_.is_due())
        LOG_INFO("server '%s' on representor %s (%s) waits for a client", name_.c_str(), info.name.c_str(),
                 info.pci_address.c_str());
}

/// Processes the hello of a client if it has arrived. The program is notified by a later serve().
void doca_comch_server::process_hello(Connection &connection) noexcept
{
    const auto num_connected = std::ranges::count_if(
        connections_, [](const auto &known) { return known->link.state() == Link::State::connected; });
    const doca_error_t status = opendoca::guarded([&] {
        return connection.link.receive_hello(key_, limits(), num_connected < static_cast<long>(max_connections),
                                             [&] { return watches_.add_space(connection); });
    });
    if (status == DOCA_ERROR_CONNECTION_INPROGRESS)
        return;
    if (status != DOCA_SUCCESS) {
        if (status == DOCA_ERROR_OPERATING_SYSTEM)
            listener_.log_shortage("taken in");
        // The connection stays in the list until drop_ended(): callers iterate over it.
        connection.link.fail();
        watches_.remove(connection);
        has_ended_ = true;
        return;
    }
    listener_.reset_shortage();
}

bool doca_comch_server::report_end(Connection &connection) noexcept
{
    if (end_of_peer(connection))
        return true; // more events may follow
    has_ended_ = true;
    if (!connection.is_reported)
        return false;
    if (disconnected != nullptr) {
        doca_comch_event_connection_status_changed event;
        disconnected(&event, &connection, 1); // may stop the server, and use the connection until it returns
    }
    connection.is_reported = false;
    return true;
}

void doca_comch_server::drop_ended() noexcept
{
    std::erase_if(connections_, [this](const auto &known) {
        // No task refers to a client that was never accepted.
        return is_over(*known) && (!completions_may_be_pending() || known->link.state() == Link::State::failed);
    });
    has_ended_ = std::ranges::any_of(connections_, [](const auto &known) { return is_end_reported(*known); });
    list_polled();
}

bool doca_comch_server::on_progress() noexcept
{
    const bool is_stopping = !is_running();
    const bool checks_sockets = is_stopping || is_socket_check_due();
    if (checks_sockets && !is_stopping) {
        accept_clients();
        log_if_without_client();
        if (has_ended_)
            drop_ended();
        if (polled_.size() != connections_.size())
            resume_rung();
    }
    if (std::exchange(has_idle_, false) && polled_.size() > most_polled_in_any_case && !is_stopping)
        let_idle_wait();
    // Round-robin, one message or event per call: a busy client cannot starve others.
    for (std::size_t left = polled_.size(); left != 0; --left) {
        next_ = next_ + 1 < polled_.size() ? next_ + 1 : 0;
        Connection &connection = *polled_[next_];
        if (progress_one(connection, checks_sockets))
            return true;
        has_idle_ = ++num_polls_ - connection.last_found > polls_until_waiting || has_idle_;
    }
    if (is_stopping)
        stopped();
    return is_stopping;
}

/// Returns true if a callback was called. It may have stopped the server or disconnected the client.
bool doca_comch_server::progress_one(Connection &connection, bool checks_sockets) noexcept
{
    const bool is_stopping = !is_running();
    // Hellos arrive rarely, so they are looked for only when the sockets are checked.
    if (connection.link.state() == Link::State::connecting) {
        if (!checks_sockets || is_stopping)
            return false;
        process_hello(connection);
    }
    if (!connection.is_reported) {
        has_ended_ = has_ended_ || connection.link.has_ended(); // before the program knew of it
        if (is_stopping || connection.link.state() != Link::State::connected)
            return false;
        connection.is_reported = true;
        connection.last_found = num_polls_;
        completions().wake_if_waiting(); // no doorbells were requested for the connection
        if (connected != nullptr) {
            doca_comch_event_connection_status_changed event;
            connected(&event, &connection, 1);
        }
        return true;
    }
    if ((is_stopping || connection.fast->has_ended()) && report_end(connection))
        return true;
    const std::uint32_t before =
        std::exchange(connection.last_found, num_polls_); // the callback may drop the connection
    if (serve(connection))
        return true;
    connection.last_found = before;
    if (checks_sockets)
        check_sockets(connection);
    return has_nothing_more(connection) && report_end(connection);
}

/// Polls the connections from now on that have rung. While the engine is armed, their doorbells are not drained: the
/// program blocks on them next.
void doca_comch_server::resume_rung() noexcept
{
    if (!pe()->is_armed())
        return drain_all_doorbells();
    std::array<opendoca::comch::WatchedEvent, 64> events;
    for (const auto &event : std::span(events).first(watches_.poll(events)))
        resume_for(event);
}

/// Polls @p connection from now on.
void doca_comch_server::resume(Connection &connection) noexcept
{
    if (!std::exchange(connection.is_waiting, false))
        return;
    connection.last_found = num_polls_;
    polled_.push_back(&connection); // accept_clients() has reserved room for all
}

void doca_comch_server::resume_all_of(const opendoca::comch::WatchedProcess &process) noexcept
{
    for (const auto &connection : connections_) {
        if (connection->watched.process == &process)
            resume(*connection);
    }
}

/// Lets connections wait that have been idle for long: what they cost in a poll must not grow with their number.
void doca_comch_server::let_idle_wait() noexcept
{
    std::size_t left = polled_.size() / polled_for_each_waiting + 1;
    for (std::size_t i = polled_.size(); i-- != 0 && left != 0;) {
        Connection &connection = *polled_[i];
        if (num_polls_ - connection.last_found <= polls_until_waiting)
            continue;
        --left;
        if (let_wait(connection)) {
            polled_[i] = polled_.back();
            polled_.pop_back();
        } else {
            connection.last_found = num_polls_; // tried again later
        }
    }
}

/// Requests doorbells for what may happen next. Returns false if the connection has something now, or changes.
/// Consumers and producers of other threads take messages out of a connection without a doorbell.
bool doca_comch_server::let_wait(Connection &connection) noexcept
{
    if (!connection.is_reported || connection.link.state() != Link::State::connected || connection.fast->has_ended() ||
        connection.fast->num_members() != 0 || connection.first_waiting != nullptr || !connection.link.is_end_shown())
        return false;
    request_doorbells(connection);
    connection.is_waiting = !has_something(connection);
    return connection.is_waiting;
}

/// Lists the connections that do not wait, in the order of their arrival, after some were destroyed.
void doca_comch_server::list_polled() noexcept
{
    polled_.clear();
    for (const auto &connection : connections_) {
        if (!connection->is_waiting)
            polled_.push_back(connection.get());
    }
    next_ = 0;
}

bool doca_comch_server::can_wait() const noexcept
{
    // Without a client, a line is logged after a while.
    return !has_ended_ && !connections_.empty() && std::ranges::all_of(polled_, [](const auto &known) {
        return known->is_reported && !known->fast->has_ended() && known->link.state() == Link::State::connected &&
               known->link.is_end_shown();
    });
}

bool doca_comch_server::can_progress() noexcept
{
    bool can = false;
    for (Connection *const connection : polled_) {
        if (connection->link.state() != Link::State::connected) {
            can = can || connection->is_reported || is_over(*connection); // a client to report, or to remove
            continue;
        }
        can = can || !connection->is_reported;
        request_doorbells(*connection);
        can = has_something(*connection) || can;
    }
    return can;
}

doca_error_t doca_comch_server::disconnect(Connection &connection)
{
    if (!has(connection) || !connection.is_reported || connection.fast->has_ended()) {
        LOG_ERR("%p is not a connected client", static_cast<void *>(&connection));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const std::uint32_t count = connection.fast->num_members(); count != 0) {
        LOG_ERR("%u consumers and producers are still on the connection", count);
        return DOCA_ERROR_IN_USE;
    }
    completions().resume();
    resume(connection);
    const std::lock_guard guard(connection.fast->link_lock);
    connection.disconnect();
    return DOCA_SUCCESS; // reported like any other end
}
