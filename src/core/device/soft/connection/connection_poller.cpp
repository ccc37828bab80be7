// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "connection_poller.hpp"

#include <algorithm>
#include <cstddef>

#include "../../../log/log.hpp"
#include "queue_pair.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_POLLER);

namespace opendoca::soft {

doca_error_t ConnectionPoller::of(CompletionQueue &completions, std::shared_ptr<ConnectionPoller> &poller)
{
    if (auto *const existing = completions.find_polled<ConnectionPoller>([](ConnectionPoller &) { return true; })) {
        poller = existing->shared_from_this();
        return DOCA_SUCCESS;
    }
    std::shared_ptr<ConnectionPoller> created(new ConnectionPoller(completions));
    const doca_error_t status = created->open();
    if (status == DOCA_SUCCESS)
        poller = std::move(created);
    return status;
}

/// Adds this object to the queue's pollables. start_polling() comes last, as the only step that cannot fail: after an
/// earlier failure the destructor undoes the steps that were done.
doca_error_t ConnectionPoller::open()
{
    connections_.reserve(most_polled_directly);
    completions_.reserve_polled();
    is_reserved_ = true;
    if (completions_.is_event_driven()) {
        doca_error_t status = open_doorbells();
        if (status == DOCA_SUCCESS)
            status = doorbells_->open_wake_up();
        if (status == DOCA_SUCCESS)
            status = completions_.watch(doorbells_->wake_up.wake_fd());
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
    if (doorbells_ != nullptr && doorbells_->wake_up.is_open())
        completions_.unwatch(doorbells_->wake_up.wake_fd());
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
        // remove() and watch() are noexcept and must not allocate: there is room for each number and one process each.
        free_numbers_.reserve(connections_.capacity());
        processes_.reserve(connections_.capacity());
        // The first failure leaves all as it was: the doorbells are created before the mode changes.
        if (connections_.size() == most_polled_directly && !polls_by_doorbells_) {
            if (const doca_error_t status = open_doorbells(); status != DOCA_SUCCESS)
                return status;
            switch_to_doorbells();
        }
        free_numbers_.push_back(static_cast<std::uint32_t>(connections_.size()));
        connections_.push_back(nullptr);
    }
    number = free_numbers_.back();
    free_numbers_.pop_back();
    connections_[number] = &connection;
    update_only_connection();
    return DOCA_SUCCESS;
}

void ConnectionPoller::remove(std::uint32_t number) noexcept
{
    connections_[number] = nullptr;
    free_numbers_.push_back(number);
    update_only_connection();
}

/// Called after each change of the three values on which only_connection_ depends.
void ConnectionPoller::update_only_connection() noexcept
{
    only_connection_ =
        !polls_by_doorbells_ && !has_pending_doorbells_ && connections_.size() == 1 ? connections_.front() : nullptr;
}

void ConnectionPoller::schedule_doorbell_retry() noexcept
{
    has_pending_doorbells_ = true;
    update_only_connection();
    if (completions_.is_armed())
        completions_.wake(); // a blocked thread would not retry
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
    update_only_connection();
}

/// Requests the doorbells of all connections from now on. Events that came before the peers see the request are found
/// by one check of each connection.
void ConnectionPoller::switch_to_doorbells() noexcept
{
    polls_by_doorbells_ = true;
    for (SoftQueuePair *const connection : connections_) {
        if (connection != nullptr)
            connection->request_doorbells();
    }
    // Between the stores of the requests and the checks: pairs with light_barrier() in
    // SoftQueuePair::notify_peer().
    heavy_barrier();
    for (std::uint32_t number = 0; number != connections_.size(); ++number)
        schedule_check(number);
}

void ConnectionPoller::schedule_check(std::uint32_t number) noexcept
{
    if (polls_by_doorbells_)
        doorbells_->ring(number);
    if (completions_.is_armed())
        completions_.wake();
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
    if (completions_.is_event_driven() && process->exit_fd() >= 0 &&
        completions_.watch(process->exit_fd()) != DOCA_SUCCESS)
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
    if (completions_.is_event_driven())
        unwatch(process);
    processes_.erase(existing);
}

/// Removes the process's descriptor from the queue's event handle. Only in event-driven mode.
void ConnectionPoller::unwatch(const ExporterProcess &process) noexcept
{
    if (process.exit_fd() >= 0)
        completions_.unwatch(process.exit_fd());
}

Operation *ConnectionPoller::poll_one() noexcept
{
    if (only_connection_ != nullptr) [[likely]]
        return only_connection_->poll_one();
    ConnectionPoller::progress();
    return nullptr;
}

void ConnectionPoller::progress() noexcept
{
    // Peers that could not be woken come first: they may be blocked.
    if (has_pending_doorbells_) [[unlikely]]
        retry_pending_doorbells();
    if (polls_by_doorbells_)
        return poll_rung_connections();
    for (SoftQueuePair *const connection : connections_) {
        if (connection != nullptr)
            connection->progress();
    }
}

/// Checks the connections with a rung doorbell. A peer can set any bit, so free numbers are skipped.
void ConnectionPoller::poll_rung_connections() noexcept
{
    if (doorbells_->is_any_rung()) {
        doorbells_->collect([this](std::uint32_t number) {
            if (number < connections_.size() && connections_[number] != nullptr)
                connections_[number]->progress();
        });
    }
    check_unnotified();
}

/// Checks for events without a doorbell: in each poll whether one of the peer processes has ended, and every 256 polls
/// or 100 ms one connection. So the cost of a poll does not grow with their numbers.
void ConnectionPoller::check_unnotified() noexcept
{
    if (!processes_.empty()) {
        if (++last_process_ >= processes_.size())
            last_process_ = 0;
        if (processes_[last_process_].process->is_gone()) [[unlikely]]
            handle_process_exit(last_process_);
    }
    if (polls_between_checks_.is_spent() && !connections_.empty()) [[unlikely]] {
        if (++last_checked_ >= connections_.size())
            last_checked_ = 0;
        if (connections_[last_checked_] != nullptr)
            connections_[last_checked_]->progress();
    }
}

/// Checks all connections with the process at @p index, which has ended: it may have stored messages without having
/// rung for them. Stops watching it, since the descriptor of an ended process stays readable.
void ConnectionPoller::handle_process_exit(std::size_t index) noexcept
{
    const std::shared_ptr<ExporterProcess> process = processes_[index].process;
    if (completions_.is_event_driven())
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
    // While a doorbell is pending, the thread must not block: only its polls retry, and the peer may be blocked too.
    return arm_doorbells() || has_pending_doorbells_;
}

/// Arms wake_up, then checks for events once more. Returns whether there are any: the thread must then not block.
/// Connections that are polled directly request doorbells only for as long as the queue is armed.
bool ConnectionPoller::arm_doorbells() noexcept
{
    if (polls_by_doorbells_) {
        doorbells_->wake_up.arm(DoorbellPage::any_event);
        return doorbells_->is_any_rung();
    }
    // Clears rings of an earlier arming: otherwise a later switch to doorbells would check these connections
    // needlessly.
    doorbells_->collect([](std::uint32_t) {});
    doorbells_->wake_up.arm(DoorbellPage::any_event);
    for (SoftQueuePair *const connection : connections_) {
        if (connection != nullptr)
            connection->request_doorbells();
    }
    // Between the stores of the requests and the checks below: pairs with light_barrier() in notify_peer().
    heavy_barrier();
    return std::ranges::any_of(connections_, [](const SoftQueuePair *connection) {
        return connection != nullptr && connection->can_progress();
    });
}

void ConnectionPoller::disarm() noexcept
{
    const bool was_woken = doorbells_->wake_up.disarm();
    if (!polls_by_doorbells_) {
        for (SoftQueuePair *const connection : connections_) {
            if (connection != nullptr)
                connection->withdraw_doorbell_request();
        }
    }
    // With a byte in the pipe, a doorbell was rung; exits are found by later polls. Without one, the wake-up may come
    // from a pidfd, which stays readable until it is removed. From the back, as elements are erased.
    if (was_woken)
        return;
    for (std::size_t i = processes_.size(); i-- != 0;) {
        if (processes_[i].process->is_gone())
            handle_process_exit(i);
    }
}

} // namespace opendoca::soft
