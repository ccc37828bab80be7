// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "connection_poller.hpp"

#include <algorithm>
#include <cstddef>

#include "../../../log.hpp"
#include "queue_pair.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_POLLER);

namespace opendoca::soft {

doca_error_t ConnectionPoller::of(CompletionQueue &completions, std::shared_ptr<ConnectionPoller> &poller)
{
    if (auto *const known = completions.find_polled<ConnectionPoller>([](ConnectionPoller &) { return true; })) {
        poller = known->shared_from_this();
        return DOCA_SUCCESS;
    }
    std::shared_ptr<ConnectionPoller> created(new ConnectionPoller(completions));
    const doca_error_t status = created->open();
    if (status == DOCA_SUCCESS)
        poller = std::move(created);
    return status;
}

doca_error_t ConnectionPoller::open()
{
    connections_.reserve(most_polled_directly);
    completions_.reserve_polled();
    is_reserved_ = true;
    if (completions_.is_event_driven()) {
        doca_error_t status = open_doorbells();
        if (status == DOCA_SUCCESS)
            status = doorbells_->open_sleep();
        if (status == DOCA_SUCCESS)
            status = completions_.watch(doorbells_->sleep.wake_fd());
        if (status != DOCA_SUCCESS)
            return status;
    }
    completions_.start_polling(*this);
    return DOCA_SUCCESS;
}

ConnectionPoller::~ConnectionPoller()
{
    if (!is_reserved_)
        return;
    completions_.stop_polling(*this);
    completions_.unreserve_polled();
    if (!completions_.is_event_driven())
        return;
    if (doorbells_ != nullptr && doorbells_->sleep.is_open())
        completions_.unwatch(doorbells_->sleep.wake_fd());
    for (const Watched &watched : processes_)
        unwatch(*watched.process);
}

doca_error_t ConnectionPoller::open_doorbells()
{
    return doorbells_ != nullptr ? DOCA_SUCCESS : Doorbells::create(doorbells_);
}

doca_error_t ConnectionPoller::add(SoftQueuePair &connection, std::uint32_t &number)
{
    if (free_numbers_.empty() && connections_.size() == max_doorbells) {
        LOG_ERR("a work queue has %u connections, which is the limit", max_doorbells);
        return DOCA_ERROR_NO_MEMORY;
    }
    if (free_numbers_.empty()) {
        if (connections_.size() == connections_.capacity())
            connections_.reserve(2 * connections_.size());
        // So that remove() and watch() allocate nothing.
        free_numbers_.reserve(connections_.capacity());
        processes_.reserve(connections_.capacity());
        if (connections_.size() == most_polled_directly && !is_many_) {
            if (const doca_error_t status = open_doorbells(); status != DOCA_SUCCESS)
                return status;
            become_many();
        }
        free_numbers_.push_back(static_cast<std::uint32_t>(connections_.size()));
        connections_.push_back(nullptr);
    }
    number = free_numbers_.back();
    free_numbers_.pop_back();
    connections_[number] = &connection;
    remember_only();
    return DOCA_SUCCESS;
}

void ConnectionPoller::remove(std::uint32_t number) noexcept
{
    connections_[number] = nullptr;
    free_numbers_.push_back(number);
    remember_only();
}

void ConnectionPoller::remember_only() noexcept
{
    only_ = !is_many_ && !owes_rings_ && connections_.size() == 1 ? connections_.front() : nullptr;
}

void ConnectionPoller::owe_ring() noexcept
{
    owes_rings_ = true;
    remember_only();
    if (completions_.is_armed())
        completions_.wake(); // a blocked thread would not perform the pending action
}

/// Not in each poll while they fail: a try costs some system calls and a message.
void ConnectionPoller::make_owed_rings() noexcept
{
    constexpr std::chrono::milliseconds longest_pause(32);
    const auto now = std::chrono::steady_clock::now();
    if (now < next_ring_)
        return;
    owes_rings_ = false;
    for (SoftQueuePair *const connection : connections_) {
        if (connection != nullptr)
            connection->make_owed_ring(); // or it owes it again
    }
    ring_pause_ = owes_rings_ ? std::clamp(2 * ring_pause_, std::chrono::milliseconds(1), longest_pause)
                              : std::chrono::milliseconds(0);
    next_ring_ = now + ring_pause_;
    remember_only();
}

/// From now on the peers of all connections ring.
void ConnectionPoller::become_many() noexcept
{
    is_many_ = true;
    for (SoftQueuePair *const connection : connections_) {
        if (connection != nullptr)
            connection->ask_for_rings();
    }
    barrier_for_all(); // between ask_for_rings() and look_at(): pairs with SoftQueuePair::tell_peer()
    for (std::uint32_t number = 0; number != connections_.size(); ++number)
        look_at(number);
}

void ConnectionPoller::look_at(std::uint32_t number) noexcept
{
    if (is_many_)
        doorbells_->ring(number);
    if (completions_.is_armed())
        completions_.wake();
}

bool ConnectionPoller::watch(const std::shared_ptr<ExporterProcess> &process) noexcept
{
    if (process->is_self())
        return true;
    if (const auto known = std::ranges::find(processes_, process, &Watched::process); known != processes_.end()) {
        ++known->num_connections;
        return true;
    }
    if (completions_.is_event_driven() && process->exit_fd() >= 0 &&
        completions_.watch(process->exit_fd()) != DOCA_SUCCESS)
        return false;
    processes_.push_back({process, 1}); // add() has made room: each connection watches one
    return true;
}

void ConnectionPoller::watch_no_more(const ExporterProcess &process) noexcept
{
    const auto known =
        std::ranges::find(processes_, &process, [](const Watched &watched) { return watched.process.get(); });
    if (known == processes_.end() || --known->num_connections != 0)
        return;
    if (completions_.is_event_driven())
        unwatch(process);
    processes_.erase(known);
}

void ConnectionPoller::unwatch(const ExporterProcess &process) noexcept
{
    if (process.exit_fd() >= 0)
        completions_.unwatch(process.exit_fd());
}

Operation *ConnectionPoller::poll_one() noexcept
{
    if (only_ != nullptr) [[likely]]
        return only_->poll_one();
    ConnectionPoller::progress();
    return nullptr;
}

void ConnectionPoller::progress() noexcept
{
    if (owes_rings_) [[unlikely]]
        make_owed_rings();
    if (is_many_)
        return poll_by_rings();
    for (SoftQueuePair *const connection : connections_) {
        if (connection != nullptr)
            connection->progress();
    }
}

void ConnectionPoller::poll_by_rings() noexcept
{
    if (doorbells_->is_any_rung()) {
        doorbells_->collect([this](std::uint32_t number) {
            if (number < connections_.size() && connections_[number] != nullptr)
                connections_[number]->progress();
        });
    }
    look_around();
}

/// For what nobody rings: at most one process, and seldom one connection.
void ConnectionPoller::look_around() noexcept
{
    if (!processes_.empty()) {
        if (++next_process_ >= processes_.size())
            next_process_ = 0;
        if (processes_[next_process_].process->is_gone()) [[unlikely]]
            lose_process(next_process_);
    }
    if (polls_between_checks_.is_spent() && !connections_.empty()) [[unlikely]] {
        if (++next_look_ >= connections_.size())
            next_look_ = 0;
        if (connections_[next_look_] != nullptr)
            connections_[next_look_]->progress();
    }
}

/// The ended process may have stored messages without having rung for them.
void ConnectionPoller::lose_process(std::size_t index) noexcept
{
    const std::shared_ptr<ExporterProcess> process = processes_[index].process;
    if (completions_.is_event_driven())
        unwatch(*process);
    processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(index));
    for (SoftQueuePair *const connection : connections_) {
        if (connection != nullptr)
            connection->process_ended(*process);
    }
}

bool ConnectionPoller::arm() noexcept
{
    if (owes_rings_) [[unlikely]]
        make_owed_rings();
    return look_and_sleep() || owes_rings_; // a thread with a pending doorbell must not block
}

bool ConnectionPoller::look_and_sleep() noexcept
{
    if (is_many_) {
        doorbells_->sleep.arm(1);
        return doorbells_->is_any_rung();
    }
    doorbells_->collect([](std::uint32_t) {}); // left from an earlier arming: progress() has checked since
    doorbells_->sleep.arm(1);
    for (SoftQueuePair *const connection : connections_) {
        if (connection != nullptr)
            connection->ask_for_rings();
    }
    barrier_for_all(); // pairs with SoftQueuePair::tell_peer()
    return std::ranges::any_of(connections_, [](const SoftQueuePair *connection) {
        return connection != nullptr && connection->can_progress();
    });
}

void ConnectionPoller::disarm() noexcept
{
    const bool was_woken = doorbells_->sleep.disarm();
    if (!is_many_) {
        for (SoftQueuePair *const connection : connections_) {
            if (connection != nullptr)
                connection->ask_for_no_rings();
        }
    }
    // The end of a process is reported until the process is no longer watched.
    for (std::size_t i = was_woken ? 0 : processes_.size(); i-- != 0;) {
        if (processes_[i].process->is_gone())
            lose_process(i);
    }
}

} // namespace opendoca::soft
