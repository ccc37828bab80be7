// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "queue_connections.hpp"

#include <algorithm>
#include <utility>

#include "queue_pair.hpp"

namespace opendoca::soft {

doca_error_t QueueConnections::of(CompletionQueue &completions, std::shared_ptr<QueueConnections> &connections)
{
    if (auto *const existing = dynamic_cast<QueueConnections *>(completions.own_pollable)) {
        connections = existing->shared_from_this();
        return DOCA_SUCCESS;
    }
    std::shared_ptr<ConnectionPoller> poller;
    if (const doca_error_t status = ConnectionPoller::of(completions.root(), poller); status != DOCA_SUCCESS)
        return status;
    std::shared_ptr<QueueConnections> created(new QueueConnections(completions, std::move(poller)));
    created->direct_.reserve(most_polled_directly);
    completions.reserve_polled();
    created->is_reserved_ = true; // the destructor undoes this and the rest
    completions.own_pollable = created.get();
    completions.start_polling(*created);
    connections = std::move(created);
    return DOCA_SUCCESS;
}

QueueConnections::~QueueConnections()
{
    if (!is_reserved_)
        return;
    completions_.own_pollable = nullptr;
    completions_.stop_polling(*this);
    completions_.unreserve_polled();
    if (polls_by_doorbells())
        poller_->remove_user();
}

doca_error_t QueueConnections::add(SoftQueuePair &connection, std::uint32_t &number)
{
    completions_.resume();
    const bool is_one_too_many = direct_.size() == most_polled_directly;
    // The first failure leaves all as it was: the doorbells are created before the mode changes.
    if (is_one_too_many) {
        if (const doca_error_t status = poller_->open_doorbells(); status != DOCA_SUCCESS)
            return status;
    }
    if (const doca_error_t status = poller_->add(connection, number); status != DOCA_SUCCESS)
        return status;
    if (is_one_too_many)
        switch_to_doorbells();
    else if (!polls_by_doorbells_)
        direct_.push_back(&connection); // within the room that of() has reserved
    update_only_connection();
    return DOCA_SUCCESS;
}

void QueueConnections::remove(SoftQueuePair &connection, std::uint32_t number) noexcept
{
    std::erase(direct_, &connection);
    poller_->remove(number);
    update_only_connection();
}

void QueueConnections::update_only_connection() noexcept
{
    only_connection_ = direct_.size() == 1 ? direct_.front() : nullptr;
}

void QueueConnections::schedule_check(std::uint32_t number) noexcept
{
    if (polls_by_doorbells())
        poller_->ring(number);
    completions_.wake_if_waiting();
    completions_.root().wake_if_waiting();
}

/// Requests the doorbells of all connections from now on. Events that came before the peers see the request are found
/// by one check of each connection. What is left to poll, arm and park is the poller's.
void QueueConnections::switch_to_doorbells() noexcept
{
    (void)request_doorbells();
    polls_by_doorbells_ = true;
    poller_->add_user();
    for (const SoftQueuePair *const connection : direct_)
        connection->schedule_check();
    direct_.clear();
    completions_.stop_polling(*this);
}

/// Requests the doorbells of the connections that are polled directly. Returns whether there are events already.
bool QueueConnections::request_doorbells() noexcept
{
    for (SoftQueuePair *const connection : direct_)
        connection->request_doorbells();
    // Between the stores of the requests and the checks: pairs with light_barrier() in SoftQueuePair::notify_peer().
    heavy_barrier();
    return std::ranges::any_of(direct_, [](const SoftQueuePair *connection) { return connection->can_progress(); });
}

void QueueConnections::withdraw_doorbell_requests() noexcept
{
    for (SoftQueuePair *const connection : direct_)
        connection->withdraw_doorbell_request();
}

Operation *QueueConnections::poll_one() noexcept
{
    if (only_connection_ != nullptr) [[likely]]
        return only_connection_->poll_one();
    QueueConnections::progress();
    return nullptr;
}

void QueueConnections::progress() noexcept
{
    for (SoftQueuePair *const connection : direct_)
        connection->progress();
}

/// Connections that are polled directly request doorbells only for as long as the queue is armed.
bool QueueConnections::arm() noexcept
{
    poller_->arm_wake_up();
    return request_doorbells();
}

void QueueConnections::disarm() noexcept
{
    poller_->disarm();
    withdraw_doorbell_requests();
}

bool QueueConnections::park() noexcept
{
    if (!poller_->has_doorbells() || request_doorbells()) {
        if (poller_->has_doorbells())
            withdraw_doorbell_requests();
        return false;
    }
    poller_->add_user();
    is_parked_ = true;
    return true;
}

void QueueConnections::unpark() noexcept
{
    if (!std::exchange(is_parked_, false))
        return;
    poller_->remove_user();
    withdraw_doorbell_requests();
}

} // namespace opendoca::soft
