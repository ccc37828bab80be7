// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "waiters.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cinttypes>
#include <cstddef>
#include <cstdint>

#include "../process/directory.hpp"

#include "../../../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_WAITERS);

namespace opendoca::soft {

namespace {

constexpr std::uint32_t any_event = 1; ///< the only event of the SleepState: the targets are more specific

/// Loads a target. Relaxed: is_target() explains why values of two targets may be mixed.
WaitCondition condition_of(const WaiterEntry::Target &target) noexcept
{
    return {target.first.load(std::memory_order_relaxed), target.count.load(std::memory_order_relaxed),
            target.mask.load(std::memory_order_relaxed)};
}

/// Returns whether @p value reaches a target of @p waiter. The targets may change during the check. This loses no
/// wake-up: a waiter that arms anew checks the counter afterwards, and while it is armed, it only adds targets or makes
/// them easier to reach, and then checks the counter as well.
bool is_target(const WaiterEntry &waiter, std::uint64_t value) noexcept
{
    const std::uint32_t count =
        waiter.num_targets.load(std::memory_order_acquire); // pairs with the store in add_target()
    if (count > max_targets)
        return true;
    return std::ranges::any_of(waiter.targets.begin(), waiter.targets.begin() + count,
                               [&](const auto &target) { return condition_of(target).is_met_by(value); });
}

void store(WaiterEntry::Target &target, const WaitCondition &condition) noexcept
{
    target.first.store(condition.first, std::memory_order_relaxed);
    target.count.store(condition.count, std::memory_order_relaxed);
    target.mask.store(condition.mask, std::memory_order_relaxed);
}

} // namespace

doca_error_t CounterWaiter::create(std::shared_ptr<CounterPage> page, std::unique_ptr<CounterWaiter> &waiter)
{
    std::unique_ptr<CounterWaiter> created(new CounterWaiter(std::move(page)));
    WaiterEntry *const entry = take_entry(created->page_->waiters);
    if (entry == nullptr) {
        LOG_ERR("%" PRIu32 " event-driven work queues wait for the sync event, which is the limit", max_waiters);
        return DOCA_ERROR_NO_MEMORY;
    }
    created->entry_ = entry;
    if (const doca_error_t status = created->side_.open(entry->state); status != DOCA_SUCCESS)
        return status;
    waiter = std::move(created);
    return DOCA_SUCCESS;
}

CounterWaiter::~CounterWaiter()
{
    if (entry_ == nullptr || entry_->owner.load(std::memory_order_relaxed) != ProcessId::self().word())
        return; // the copy in a forked child: the entry is the parent's
    disarm();
    page_->waiter_mask.fetch_and(~bit(), std::memory_order_seq_cst);
    release_entry(*entry_);
}

void CounterWaiter::add_target(const WaitCondition &target) noexcept
{
    const std::uint32_t count = has_targets_ ? entry_->num_targets.load(std::memory_order_relaxed) : 0;
    has_targets_ = true;
    if (count > max_targets)
        return;
    // A target that another one includes needs no place of its own.
    for (std::uint32_t i = 0; i < count; ++i) {
        WaiterEntry::Target &importer = entry_->targets[i];
        if (condition_of(importer).includes(target))
            return;
        if (!target.includes(condition_of(importer)))
            continue;
        store(importer, target);
        return;
    }
    if (count < max_targets)
        store(entry_->targets[count], target);
    // If there is no room, the count exceeds max_targets, and each value wakes. Release: pairs with the load in
    // is_target(), so that the target is visible.
    entry_->num_targets.store(count + 1, std::memory_order_release);
}

void CounterWaiter::arm() noexcept
{
    is_armed_ = true;
    side_.arm(any_event); // pairs with the load in Waker::wake(), after which the waker sees the targets
    // The bit stays set after disarm(), so only the first arming writes. Sequentially consistent: before the caller's
    // check of the counter. Pairs with the load in SoftCounter::wake_waiters().
    if ((page_->waiter_mask.load(std::memory_order_relaxed) & bit()) == 0)
        page_->waiter_mask.fetch_or(bit(), std::memory_order_seq_cst);
}

bool CounterWaiter::disarm() noexcept
{
    if (!is_armed_)
        return false;
    is_armed_ = false;
    has_targets_ = false;
    __builtin_prefetch(&page_->word); // the next check loads it
    return side_.disarm();
}

void Waker::wake(CounterPage &page, std::uint64_t mask, const std::uint64_t *value) noexcept
{
    // A null value stands for the end of the event or a new importer, which concern all waiters.
    for (mask &= ~counter_ended; mask != 0; mask &= mask - 1) {
        const auto number = static_cast<std::size_t>(std::countr_zero(mask));
        WaiterEntry &waiter = page.waiters[number];
        // Pairs with the store in SleepingSide::arm().
        const std::uint64_t seen = waiter.state.sleeping.load(std::memory_order_seq_cst);
        if (seen == 0 || (value != nullptr && !is_target(waiter, *value)))
            continue;
        const std::lock_guard guard(lock_);
        sides_[number].signal(waiter.state, seen, any_event);
    }
}

} // namespace opendoca::soft
