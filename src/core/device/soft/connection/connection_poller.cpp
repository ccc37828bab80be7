// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "connection_poller.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "../../../log/log.hpp"
#include "queue_pair.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_POLLER);

namespace opendoca::soft {

doca_error_t ConnectionPoller::of(CompletionQueue &root, std::shared_ptr<ConnectionPoller> &poller)
{
    if (auto *const existing = dynamic_cast<ConnectionPoller *>(root.shared_pollable)) {
        poller = existing->shared_from_this();
        return DOCA_SUCCESS;
    }
    std::shared_ptr<ConnectionPoller> created(new ConnectionPoller(root));
    const doca_error_t status = created->open();
    if (status == DOCA_SUCCESS)
        poller = std::move(created);
    return status;
}

/// After a failure the destructor undoes the steps that were done.
doca_error_t ConnectionPoller::open()
{
    root_.reserve_polled();
    is_reserved_ = true;
    root_.shared_pollable = this;
    if (!root_.is_event_driven())
        return DOCA_SUCCESS;
    doca_error_t status = open_doorbells();
    if (status == DOCA_SUCCESS)
        status = doorbells_->open_wake_up();
    if (status == DOCA_SUCCESS)
        status = root_.watch(doorbells_->wake_up.wake_fd());
    return status;
}

ConnectionPoller::~ConnectionPoller()
{
    if (!is_reserved_)
        return;
    root_.shared_pollable = nullptr;
    root_.stop_polling(*this);
    root_.unreserve_polled();
    if (!root_.is_event_driven())
        return;
    if (doorbells_ != nullptr && doorbells_->wake_up.is_open())
        root_.unwatch(doorbells_->wake_up.wake_fd());
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
        LOG_ERR("a thread has %u connections, which is the limit", max_doorbells);
        return DOCA_ERROR_NO_MEMORY;
    }
    if (free_numbers_.empty()) {
        if (connections_.size() == connections_.capacity())
            connections_.reserve(std::max<std::size_t>(2 * connections_.size(), 8));
        // remove() and watch() are noexcept and must not allocate: there is room for each number and one process each.
        free_numbers_.reserve(connections_.capacity());
        processes_.reserve(connections_.capacity());
        free_numbers_.push_back(static_cast<std::uint32_t>(connections_.size()));
        connections_.push_back(nullptr);
    }
    number = free_numbers_.back();
    free_numbers_.pop_back();
    connections_[number] = &connection;
    return DOCA_SUCCESS;
}

void ConnectionPoller::remove(std::uint32_t number) noexcept
{
    connections_[number] = nullptr;
    free_numbers_.push_back(number);
}

void ConnectionPoller::add_user() noexcept
{
    ++num_users_;
    update_polling();
}

void ConnectionPoller::remove_user() noexcept
{
    --num_users_;
    update_polling();
}

/// Called after each change of the two values on which it depends whether there is anything to poll.
void ConnectionPoller::update_polling() noexcept
{
    if (num_users_ != 0 || has_pending_doorbells_)
        root_.start_polling(*this);
    else
        root_.stop_polling(*this);
}

void ConnectionPoller::schedule_doorbell_retry() noexcept
{
    has_pending_doorbells_ = true;
    update_polling();
    root_.wake_if_waiting(); // a blocked thread would not retry
}

/// Retries all pending doorbells, unless the last retry was too recent. Backs off from 1 to 32 ms while they fail: an
/// attempt costs several system calls and a log message.
void ConnectionPoller::retry_pending_doorbells() noexcept
{
    constexpr std::chrono::milliseconds longest_delay(32);
    const auto now = std::chrono::steady_clock::now();
    if (now < next_retry_)
        return;
    has_pending_doorbells_ = false;
    for (SoftQueuePair *const connection : connections_) {
        if (connection != nullptr)
            connection->retry_pending_doorbell(); // sets has_pending_doorbells_ again if it fails
    }
    retry_delay_ = has_pending_doorbells_ ? std::clamp(2 * retry_delay_, std::chrono::milliseconds(1), longest_delay)
                                          : std::chrono::milliseconds(0);
    next_retry_ = now + retry_delay_;
    update_polling();
}

bool ConnectionPoller::watch(const std::shared_ptr<ExporterProcess> &process) noexcept
{
    // While this thread runs, this process has not ended.
    if (process->is_self())
        return true;
    if (const auto existing = std::ranges::find(processes_, process, &Watched::process); existing != processes_.end()) {
        ++existing->num_connections;
        return true;
    }
    if (root_.is_event_driven() && process->exit_fd() >= 0 && root_.watch(process->exit_fd()) != DOCA_SUCCESS)
        return false;
    processes_.push_back({process, 1}); // does not allocate: add() has reserved one for each connection
    return true;
}

void ConnectionPoller::stop_watching(const ExporterProcess &process) noexcept
{
    const auto existing =
        std::ranges::find(processes_, &process, [](const Watched &watched) { return watched.process.get(); });
    if (existing == processes_.end() || --existing->num_connections != 0)
        return;
    if (root_.is_event_driven())
        unwatch(process);
    processes_.erase(existing);
}

/// Removes the process's descriptor from the queue's event handle. Only in event-driven mode.
void ConnectionPoller::unwatch(const ExporterProcess &process) noexcept
{
    if (process.exit_fd() >= 0)
        root_.unwatch(process.exit_fd());
}

void ConnectionPoller::progress() noexcept
{
    // Peers that could not be woken come first: they may be blocked.
    if (has_pending_doorbells_) [[unlikely]]
        retry_pending_doorbells();
    if (num_users_ == 0)
        return;
    check_rung_connections();
    if (--polls_until_check_ == 0) [[unlikely]]
        check_unnotified();
}

Operation *ConnectionPoller::poll_one() noexcept
{
    ConnectionPoller::progress();
    return nullptr;
}

/// Checks the connections with a rung doorbell. A peer can set any bit, so free numbers are skipped.
void ConnectionPoller::check_rung_connections() noexcept
{
    if (!doorbells_->is_any_rung())
        return;
    doorbells_->collect([this](std::uint32_t number) {
        if (number < connections_.size() && connections_[number] != nullptr)
            connections_[number]->handle_doorbell();
    });
}

/// Checks for events without a doorbell: whether one of the peer processes has ended, and every 1,024 polls or 100 ms
/// one connection. So the cost of a poll does not grow with their numbers.
void ConnectionPoller::check_unnotified() noexcept
{
    polls_until_check_ = polls_between_checks;
    if (!processes_.empty()) {
        if (++last_process_ >= processes_.size())
            last_process_ = 0;
        if (processes_[last_process_].process->is_gone()) [[unlikely]]
            handle_process_exit(last_process_);
    }
    if (connection_budget_.is_spent() && !connections_.empty()) [[unlikely]] {
        if (++last_checked_ >= connections_.size())
            last_checked_ = 0;
        if (connections_[last_checked_] != nullptr)
            connections_[last_checked_]->check_without_doorbell();
    }
}

/// Checks all connections with the process at @p index, which has ended: it may have stored messages without having
/// rung for them. Stops watching it, since the descriptor of an ended process stays readable.
void ConnectionPoller::handle_process_exit(std::size_t index) noexcept
{
    const std::shared_ptr<ExporterProcess> process = processes_[index].process;
    if (root_.is_event_driven())
        unwatch(*process);
    processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(index));
    for (SoftQueuePair *const connection : connections_) {
        if (connection != nullptr)
            connection->handle_exit_of(*process);
    }
}

bool ConnectionPoller::arm() noexcept
{
    if (has_pending_doorbells_) [[unlikely]]
        retry_pending_doorbells();
    arm_wake_up();
    // While a doorbell is pending, the thread must not block: only its polls retry, and the peer may be blocked too.
    return doorbells_->is_any_rung() || has_pending_doorbells_;
}

void ConnectionPoller::arm_wake_up() noexcept
{
    if (std::exchange(is_wake_up_armed_, true))
        return;
    // Clears rings of an earlier arming for connections that are polled directly: they would wake the thread again.
    check_rung_connections();
    doorbells_->wake_up.arm(DoorbellPage::any_event);
}

void ConnectionPoller::disarm() noexcept
{
    if (!std::exchange(is_wake_up_armed_, false))
        return;
    // With a byte in the pipe, a doorbell was rung; exits are found by later polls. Without one, the wake-up may come
    // from a pidfd, which stays readable until it is removed. From the back, as elements are erased.
    if (doorbells_->wake_up.disarm())
        return;
    for (std::size_t i = processes_.size(); i-- != 0;) {
        if (processes_[i].process->is_gone())
            handle_process_exit(i);
    }
}

} // namespace opendoca::soft
