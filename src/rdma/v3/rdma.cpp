// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The life cycle of an instance, and connections by details. Connections by address are in rdma_addresses.cpp.
#include "rdma.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../../core/log.hpp"
#include "../../core/public_values.hpp"
#include "rdma_tasks.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA);

using opendoca::ConnectionState;
using opendoca::QueuePair;

namespace {

/// The number of messages in flight to a connection with shared receives.
constexpr std::uint32_t least_messages = 16;
constexpr std::uint32_t most_messages = 1024;

} // namespace

doca_rdma::doca_rdma(doca_dev &dev) : doca_ctx(&dev)
{
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
    const std::uint32_t sends = is_queue_size_set ? settings.send_queue_size : std::max(num_sends(), 1U);
    settings.send_queue_size = std::bit_ceil(std::min(sends, largest));
    settings.recv_queue_size = std::min(std::bit_ceil(std::clamp(receives, least_messages, most_messages)), largest);
    if (!can().shared_receives)
        settings.recv_queue_size = std::min(std::bit_ceil(std::max(receives, 1U)), largest);
    const doca_error_t status =
        opendoca::v3::Receives::create(dev()->device(), completions(), receives, settings.recv_chain_length, receives_);
    if (status != DOCA_SUCCESS)
        return status;
    opendoca::v3::create_rdma_pools(*this, *dev());
    return DOCA_SUCCESS;
}

doca_error_t doca_rdma::on_stop() noexcept
{
    if (connector_ != nullptr)
        connector_->stop_listening();
    waiting_client_.reset();
    for (const auto &connection : connections_)
        end(*connection);
    if (receives_ != nullptr)
        receives_->flush(failures_);
    return DOCA_SUCCESS;
}

void doca_rdma::on_idle() noexcept
{
    connections_.clear();
    ended_.drop_to(0);
    ended_clients_.drop_to(0);
    close_connector();
    receives_.reset();
    next_ = 0;
    num_made_ = 0;
    has_ended_ = looks_now_ = false;
}

doca_error_t doca_rdma::check_running(const char *what) const noexcept
{
    if (is_running())
        return DOCA_SUCCESS;
    LOG_ERR("the context is not running: it can't %s", what);
    return DOCA_ERROR_BAD_STATE;
}

bool doca_rdma::is_full() const noexcept
{
    const auto open =
        std::ranges::count_if(connections_, [](const auto &known) { return known->state != Connection::State::ended; });
    return static_cast<std::uint32_t>(open) >= max_connections;
}

doca_error_t doca_rdma::add(Connection::Origin origin, Connection *&connection)
{
    if (is_full()) {
        LOG_ERR("the instance has its %u connections already", max_connections);
        return DOCA_ERROR_FULL;
    }
    connections_.push_back(std::make_unique<Connection>(*this, origin, num_made_));
    ++num_made_;
    connection = connections_.back().get();
    const doca_error_t status = opendoca::guarded([&] { return create_queue_pair(*connection); });
    if (status != DOCA_SUCCESS)
        drop_last();
    return status;
}

doca_error_t doca_rdma::create_queue_pair(Connection &connection)
{
    opendoca::QueuePairSettings of_this = settings;
    of_this.send_chain_length = max_send_list;
    of_this.shared_receives = receives_->shared();
    of_this.completions = &completions();
    std::unique_ptr<QueuePair> made;
    doca_error_t status = dev()->device().create_queue_pair(of_this, connection.queue_pair_state, made);
    if (status != DOCA_SUCCESS)
        return status;
    connection.queue_pair_state.store(ConnectionState::initial, std::memory_order_release);
    made->owner = &connection;
    status = made->attach(completions());
    if (status == DOCA_SUCCESS)
        connection.queue_pair = std::move(made);
    return status;
}

doca_error_t doca_rdma::export_connection(std::span<const std::byte> &details, Connection *&connection)
{
    if (const doca_error_t status = check_running("export connections"); status != DOCA_SUCCESS)
        return status;
    Connection *made = nullptr;
    const doca_error_t status = add(Connection::Origin::exported, made);
    if (status == DOCA_SUCCESS) {
        connection = made;
        details = made->queue_pair->details();
        set_progress_requested(true); // for its end
    }
    return status;
}

doca_error_t doca_rdma::connect(std::span<const std::byte> details, Connection &connection)
{
    if (const doca_error_t status = check_running("connect"); status != DOCA_SUCCESS)
        return status;
    if (connection.origin != Connection::Origin::exported || connection.state != Connection::State::initial) {
        LOG_ERR("connection %u is %s", connection.id,
                connection.origin != Connection::Origin::exported ? "one by address"
                                                                  : "connected already, or has ended");
        return DOCA_ERROR_BAD_STATE;
    }
    const doca_error_t status = connection.queue_pair->connect(details);
    if (status != DOCA_SUCCESS)
        return status;
    receives_->give_to(*connection.queue_pair);
    connection.state = Connection::State::connected;
    if (callbacks.established != nullptr) {
        connection.state = Connection::State::ready; // on_progress() calls it
        if (completions().is_armed())
            completions().wake();
    }
    return DOCA_SUCCESS;
}

/// What is in flight on it is flushed. Nothing where it has ended before.
void doca_rdma::end(Connection &connection) noexcept
{
    if (connection.state == Connection::State::ended)
        return;
    const bool was_unknown =
        connection.state == Connection::State::initial && connection.origin != Connection::Origin::exported;
    if (connection.link != nullptr)
        connection.link->disconnect();
    connection.state = Connection::State::ended;
    has_ended_ = looks_now_ = true;
    if (was_unknown) {
        connection.drop_queue_pair(); // nothing was ever asked of it
    } else if (connection.queue_pair != nullptr) {
        connection.queue_pair->flush();
        receives_->take_from(*connection.queue_pair);
    }
}

doca_error_t doca_rdma::disconnect(Connection &connection)
{
    end(connection);
    return DOCA_SUCCESS; // also for a connection that the peer has ended: programs call it in the disconnect callback
}

/// Of a connection that has ended, what it is made of goes when its flushed tasks have been told, with the queue pair
/// that their ends name. The object stays, but clients cannot make this side keep what they like: nothing of those that
/// were refused or never confirmed, and the newest max_connections of the others.
void doca_rdma::drop_ended() noexcept
{
    has_ended_ = false;
    auto kept = connections_.begin();
    for (auto &connection : connections_) {
        if (connection->state == Connection::State::ended) {
            if (connection->queue_pair != nullptr && completions().in_flight(*connection->queue_pair) == 0)
                connection->drop_queue_pair();
            if (connection->queue_pair == nullptr && (connection->link == nullptr || connection->link->is_over())) {
                connection->link.reset();
                if (connection->origin != Connection::Origin::accepted)
                    ended_.add(std::move(connection));
                else if (connection->was_established)
                    ended_clients_.add(std::move(connection));
                else
                    connection.reset();
                continue;
            }
            has_ended_ = true;
        }
        std::swap(*kept++, connection);
    }
    connections_.erase(kept, connections_.end());
    ended_clients_.drop_to(max_connections);
    next_ = 0;
}

bool doca_rdma::on_progress() noexcept
{
    for (std::size_t left = connections_.size(); left != 0; --left) {
        next_ = next_ + 1 < connections_.size() ? next_ + 1 : 0;
        Connection &connection = *connections_[next_];
        if (connection.is_callback_pending()) {
            establish(connection);
            return true;
        }
        if (connection.state == Connection::State::connected &&
            connection.queue_pair->state() == ConnectionState::failed) {
            note_end(connection);
            return true;
        }
    }
    if ((connector_ == nullptr && !has_ended_) || (!looks_now_ && !polls_between_looks_.is_spent()))
        return false;
    looks_now_ = false;
    if (has_ended_)
        drop_ended();
    return connector_ != nullptr && progress_connector();
}

/// The peer has gone, or a task has failed.
void doca_rdma::note_end(Connection &connection) noexcept
{
    end(connection);
    if (callbacks.disconnection != nullptr)
        callbacks.disconnection(&connection, connection.user_data, user_data);
}
