// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "counter_waits.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>

#include "../../../engine/completion_queue.hpp"
#include "../../../log.hpp"

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
    doca_error_t status = OwnSleeper::create(counter_.page(), sleeper_);
    if (status == DOCA_SUCCESS)
        status = completions_.watch(sleeper_->wake_fd());
    if (status != DOCA_SUCCESS) {
        sleeper_.reset();
        return status;
    }
    if (status = completions_.open_timer(); status != DOCA_SUCCESS)
        return status;
    const ExporterProcess *const holder = counter_.holder();
    if (holder == nullptr || holder->is_self() || holder->exit_fd() < 0)
        return DOCA_SUCCESS;
    // A descriptor of its own: a work queue can have several events of that process.
    UniqueFd exit(fcntl(holder->exit_fd(), F_DUPFD_CLOEXEC, 0));
    if (!exit.is_open()) {
        LOG_ERR("watching process %d: %s", holder->pid(), std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    status = completions_.watch(exit.get());
    if (status == DOCA_SUCCESS)
        holder_exit_ = std::move(exit);
    return status;
}

SoftCounterWaits::~SoftCounterWaits()
{
    if (is_polled_) {
        completions_.stop_polling(*this);
        completions_.unreserve_polled();
    }
    if (holder_exit_.is_open())
        completions_.unwatch(holder_exit_.get());
    if (sleeper_ != nullptr)
        completions_.unwatch(sleeper_->wake_fd());
}

doca_error_t SoftCounterWaits::wait(Tag tag, const WaitCondition &condition) noexcept
{
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY; // not worth a message: programs drain the queue and try again
    std::uint64_t value = 0;
    const doca_error_t status = counter_.confirm(value);
    if (status != DOCA_SUCCESS || condition.is_met_by(value)) {
        completions_.done(tag, *this, status);
        return DOCA_SUCCESS;
    }
    if (pending_.is_empty())
        notice_.end_wait(); // of those before
    pending_.add(tag, *this, condition);
    has_seen_ = false;
    if (completions_.is_armed()) {
        sleeper_->add_target(condition);
        sleeper_->arm();
        tick();
        notice_ends(false);
        const bool is_looked_after = completions_.wake_within_a_second();
        if (could_end())
            progress(); // which wakes
        if (!is_looked_after)
            completions_.wake();
    }
    return DOCA_SUCCESS;
}

bool SoftCounterWaits::could_end() noexcept
{
    std::uint64_t value = 0;
    return counter_.confirm(value) != DOCA_SUCCESS || pending_.is_any_met(value) || is_deserted();
}

/// An importer that was added since the last check counts.
bool SoftCounterWaits::is_deserted() noexcept
{
    if (!counter_.is_deserted(importers_.get())) [[likely]]
        return false;
    if (importers_ != nullptr)
        importers_->refresh(true);
    return counter_.is_deserted(importers_.get());
}

void SoftCounterWaits::look_around() noexcept
{
    if (importers_ != nullptr)
        importers_->refresh(true);
    if (notice_.is_due())
        counter_.tell_of_wait(pending_.first());
}

/// Ends the waits that are met; with @p hands_out, a single one is returned instead. What was reached before the other
/// side has ended counts: the counter is looked at first.
Operation *SoftCounterWaits::look(bool hands_out) noexcept
{
    if (pending_.is_empty())
        return nullptr;
    if (polls_between_checks_.is_spent()) [[unlikely]]
        look_around();
    const bool has_no_others = is_deserted();
    std::uint64_t value = 0;
    doca_error_t status = counter_.peek(value);
    if (status == DOCA_SUCCESS) {
        const bool is_known = has_seen_ && value == seen_;
        if (!is_known && pending_.is_any_met(value)) {
            status = counter_.confirm(value);
            if (status == DOCA_SUCCESS && hands_out)
                if (Operation *const operation = pending_.take_if_alone(value))
                    return operation;
            if (status == DOCA_SUCCESS)
                pending_.end_those_met(value);
        }
        seen_ = value;
        has_seen_ = true;
    }
    if (!pending_.is_empty() && (status != DOCA_SUCCESS || has_no_others)) [[unlikely]]
        pending_.end_all(status == DOCA_SUCCESS ? counter_.explain_end() : status);
    return nullptr;
}

/// Schedules a check at intervals, for changes without a notification.
void SoftCounterWaits::tick() noexcept
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
    pending_.each_condition([&](const WaitCondition &condition) { sleeper_->add_target(condition); });
    sleeper_->arm();
    tick();
    notice_ends(false);
    // An updating process may fail to wake this thread and never retry.
    const bool is_looked_after = completions_.wake_within_a_second();
    return could_end() || !is_looked_after;
}

void SoftCounterWaits::disarm() noexcept
{
    // What has woken it is mostly an update; a process that has ended as well will do it again.
    const bool was_updated = sleeper_->disarm();
    ticker_.stop();
    notice_ends(!was_updated);
}

/// The descriptor of a process that has ended stays readable, and must not wake again and again.
void SoftCounterWaits::notice_ends(bool polls) noexcept
{
    if (holder_exit_.is_open() && counter_.holder()->is_gone()) {
        completions_.unwatch(holder_exit_.get());
        holder_exit_ = UniqueFd();
    }
    if (importers_ != nullptr)
        importers_->refresh(polls);
}

} // namespace opendoca::soft
