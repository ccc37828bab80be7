// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "counter_waits.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>

#include "../../../engine/completion_queue.hpp"
#include "../../../engine/ready_descriptors.hpp"
#include "../../../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_COUNTER_WAITS);

namespace opendoca::soft {

SoftCounterWaits::SoftCounterWaits(SoftCounter &counter, CompletionQueue &completions)
    : completions_(completions),
      counter_(counter),
      pending_(completions)
{
}

doca_error_t SoftCounterWaits::open()
{
    if (counter_.has_remote_publisher())
        importers_ =
            std::make_unique<Importers>(*counter_.page(), completions_.is_event_driven() ? &completions_ : nullptr);
    if (completions_.is_event_driven()) {
        if (const doca_error_t status = watch_for_wake_ups(); status != DOCA_SUCCESS)
            return status;
    }
    completions_.reserve_polled();
    completions_.start_polling(*this);
    is_polled_ = true;
    return DOCA_SUCCESS;
}

doca_error_t SoftCounterWaits::watch_for_wake_ups()
{
    doca_error_t status = CounterWaiter::create(counter_.page(), waiter_);
    if (status == DOCA_SUCCESS)
        status = completions_.watch(waiter_->wake_fd());
    if (status != DOCA_SUCCESS) {
        waiter_.reset();
        return status;
    }
    if (status = completions_.open_timer(); status != DOCA_SUCCESS)
        return status;
    const ExporterProcess *const holder = counter_.holder();
    if (holder == nullptr || holder->is_self() || holder->exit_fd() < 0)
        return DOCA_SUCCESS;
    // A duplicate, as epoll accepts each descriptor once, and the queue may wait for several events of that process.
    UniqueFd exit(fcntl(holder->exit_fd(), F_DUPFD_CLOEXEC, 0));
    if (!exit.is_open()) {
        LOG_ERR("watching process %d: %s", holder->pid(), std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    status = completions_.watch(exit.get());
    if (status == DOCA_SUCCESS)
        holder_exit_fd_ = std::move(exit);
    return status;
}

SoftCounterWaits::~SoftCounterWaits()
{
    if (is_polled_) {
        completions_.stop_polling(*this);
        completions_.unreserve_polled();
    }
    if (holder_exit_fd_.is_open())
        completions_.unwatch(holder_exit_fd_.get());
    if (waiter_ != nullptr)
        completions_.unwatch(waiter_->wake_fd());
}

doca_error_t SoftCounterWaits::wait(Tag tag, const WaitCondition &condition) noexcept
{
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY; // not logged: programs drain the queue and retry
    std::uint64_t value = 0;
    const doca_error_t status = counter_.confirm(value);
    if (status != DOCA_SUCCESS || condition.is_met_by(value)) {
        completions_.done(tag, *this, status);
        return DOCA_SUCCESS;
    }
    if (pending_.is_empty())
        notice_.end_wait(); // the earlier waits are over: the duration counts from this one
    pending_.add(tag, *this, condition);
    has_seen_ = false; // the last value may meet the new condition
    // The program may block on the armed queue next, without arming it again: does what arm() does for the new wait.
    if (completions_.is_armed()) {
        waiter_->add_target(condition);
        waiter_->arm();
        start_ticker();
        check_process_ends(false);
        const bool has_timer = completions_.wake_within_a_second();
        if (can_complete())
            progress(); // completes the wait, which wakes the queue
        if (!has_timer)
            completions_.wake();
    }
    return DOCA_SUCCESS;
}

/// Returns whether a wait would complete now, successfully or not.
bool SoftCounterWaits::can_complete() noexcept
{
    std::uint64_t value = 0;
    return counter_.confirm(value) != DOCA_SUCCESS || pending_.is_any_met(value) || has_lost_publishers();
}

/// Returns whether no process is left that could update the counter. Refreshes the importers before it returns true:
/// one may have been added since the last check.
bool SoftCounterWaits::has_lost_publishers() noexcept
{
    if (!counter_.has_lost_publishers(importers_.get())) [[likely]]
        return false;
    if (importers_ != nullptr)
        importers_->refresh(true);
    return counter_.has_lost_publishers(importers_.get());
}

/// Makes the checks that need system calls: of the importers, and whether the wait has lasted long enough to be logged.
void SoftCounterWaits::check_importers() noexcept
{
    if (importers_ != nullptr)
        importers_->refresh(true);
    if (notice_.is_due())
        counter_.log_wait(pending_.first());
}

/// Completes the waits that are met. If @p returns_operation is set and the only wait is met, returns it instead. A
/// target that was reached before the other side ended counts: the processes are checked before the counter is loaded.
Operation *SoftCounterWaits::check(bool returns_operation) noexcept
{
    if (pending_.is_empty())
        return nullptr;
    if (polls_between_checks_.is_spent()) [[unlikely]]
        check_importers();
    const bool has_lost_publishers_now = has_lost_publishers();
    std::uint64_t value = 0;
    doca_error_t status = counter_.peek(value);
    if (status == DOCA_SUCCESS) {
        const bool is_unchanged = has_seen_ && value == seen_;
        if (!is_unchanged && pending_.is_any_met(value)) {
            status = counter_.confirm(value);
            if (status == DOCA_SUCCESS && returns_operation)
                if (Operation *const operation = pending_.take_if_only(value))
                    return operation;
            if (status == DOCA_SUCCESS)
                pending_.complete_met(value);
        }
        seen_ = value;
        has_seen_ = true;
    }
    if (!pending_.is_empty() && (status != DOCA_SUCCESS || has_lost_publishers_now)) [[unlikely]]
        pending_.complete_all(status == DOCA_SUCCESS ? counter_.explain_loss() : status);
    return nullptr;
}

/// Starts the ticker, which wakes the queue at intervals, for changes without a notification. If it cannot be opened,
/// wake_within_a_second() still makes the queue check.
void SoftCounterWaits::start_ticker() noexcept
{
    if (!counter_.changes_silently())
        return;
    if (ticker_.is_open() || ticker_.open(completions_) == DOCA_SUCCESS)
        ticker_.start();
}

bool SoftCounterWaits::arm() noexcept
{
    if (pending_.is_empty())
        return false;
    pending_.each_condition([&](const WaitCondition &condition) { waiter_->add_target(condition); });
    waiter_->arm();
    start_ticker();
    check_process_ends(false);
    // A fallback: an updating process may fail to wake this thread and never retry.
    const bool has_timer = completions_.wake_within_a_second();
    // After arming: pairs with SoftCounter::wake_waiters(), which loads the mask after its change.
    return can_complete() || !has_timer;
}

void SoftCounterWaits::disarm() noexcept
{
    // Most wake-ups are updates, so the processes are only checked after others. A process that has ended at the same
    // time makes the handle readable again.
    const bool was_updated = waiter_->disarm();
    ticker_.stop();
    check_process_ends(!was_updated);
}

/// Without a wait, only the end of the event's holder is left, as its descriptor must not stay readable. Importers end
/// in any number.
bool SoftCounterWaits::park() noexcept
{
    return pending_.is_empty() && importers_ == nullptr &&
           (!holder_exit_fd_.is_open() || completions_.root().descriptors->add(holder_exit_fd_.get(), completions_));
}

void SoftCounterWaits::unpark() noexcept
{
    if (!holder_exit_fd_.is_open())
        return;
    completions_.root().descriptors->remove(holder_exit_fd_.get());
    check_process_ends(false);
}

/// Stops watching processes that have ended: their descriptors stay readable, and would wake the queue again and again.
/// With @p checks_ends, also checks importers with a system call each.
void SoftCounterWaits::check_process_ends(bool checks_ends) noexcept
{
    if (holder_exit_fd_.is_open() && counter_.holder()->is_gone()) {
        completions_.unwatch(holder_exit_fd_.get());
        holder_exit_fd_ = UniqueFd();
    }
    if (importers_ != nullptr)
        importers_->refresh(checks_ends);
}

} // namespace opendoca::soft
