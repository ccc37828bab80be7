// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sleepers.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cinttypes>
#include <cstddef>
#include <cstdint>

#include "../process/directory.hpp"

#include "../../../log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_SLEEPERS);

namespace opendoca::soft {

namespace {

constexpr std::uint32_t any_wish = 1; ///< the targets give the details

WaitCondition condition_of(const Sleeper::Target &target) noexcept
{
    return {target.first.load(std::memory_order_relaxed), target.count.load(std::memory_order_relaxed),
            target.mask.load(std::memory_order_relaxed)};
}

/// Whether @p value reaches a target. They may change meanwhile: a sleeper that arms itself anew looks at the
/// counter after it, and one that is armed only makes targets easier to reach.
bool is_target(const Sleeper &sleeper, std::uint64_t value) noexcept
{
    const std::uint32_t count =
        sleeper.num_targets.load(std::memory_order_acquire); // pairs with the store in add_target()
    if (count > max_targets)
        return true;
    return std::ranges::any_of(sleeper.targets.begin(), sleeper.targets.begin() + count,
                               [&](const auto &target) { return condition_of(target).is_met_by(value); });
}

void store(Sleeper::Target &target, const WaitCondition &condition) noexcept
{
    target.first.store(condition.first, std::memory_order_relaxed);
    target.count.store(condition.count, std::memory_order_relaxed);
    target.mask.store(condition.mask, std::memory_order_relaxed);
}

} // namespace

doca_error_t OwnSleeper::create(std::shared_ptr<CounterPage> page, std::unique_ptr<OwnSleeper> &sleeper)
{
    std::unique_ptr<OwnSleeper> created(new OwnSleeper(std::move(page)));
    Sleeper *const entry = take_entry(created->page_->sleepers);
    if (entry == nullptr) {
        LOG_ERR("%" PRIu32 " event-driven work queues wait for the sync event, which is the limit", max_sleepers);
        return DOCA_ERROR_NO_MEMORY;
    }
    created->entry_ = entry;
    if (const doca_error_t status = created->side_.open(entry->state); status != DOCA_SUCCESS)
        return status;
    sleeper = std::move(created);
    return DOCA_SUCCESS;
}

OwnSleeper::~OwnSleeper()
{
    if (entry_ == nullptr || entry_->owner.load(std::memory_order_relaxed) != ProcessId::self().word())
        return; // a forked child ends: the entry is its parent's
    disarm();
    page_->sleeping.fetch_and(~bit(), std::memory_order_seq_cst);
    give_back_entry(*entry_);
}

void OwnSleeper::add_target(const WaitCondition &target) noexcept
{
    const std::uint32_t count = has_targets_ ? entry_->num_targets.load(std::memory_order_relaxed) : 0;
    has_targets_ = true;
    if (count > max_targets)
        return;
    for (std::uint32_t i = 0; i < count; ++i) {
        Sleeper::Target &known = entry_->targets[i];
        if (condition_of(known).includes(target))
            return;
        if (!target.includes(condition_of(known)))
            continue;
        store(known, target);
        return;
    }
    if (count < max_targets)
        store(entry_->targets[count], target);
    entry_->num_targets.store(count + 1, std::memory_order_release); // pairs with is_target()
}

void OwnSleeper::arm() noexcept
{
    is_armed_ = true;
    side_.arm(any_wish); // a waker that loads it sees the targets
    // Sequentially consistent as well: before the check of the counter. Pairs with SoftCounter::announce().
    if ((page_->sleeping.load(std::memory_order_relaxed) & bit()) == 0)
        page_->sleeping.fetch_or(bit(), std::memory_order_seq_cst);
}

bool OwnSleeper::disarm() noexcept
{
    if (!is_armed_)
        return false;
    is_armed_ = false;
    has_targets_ = false;
    __builtin_prefetch(&page_->word); // to be looked at next
    return side_.disarm();
}

void Waker::wake(CounterPage &page, std::uint64_t sleeping, const std::uint64_t *value) noexcept
{
    for (sleeping &= ~counter_ended; sleeping != 0; sleeping &= sleeping - 1) {
        const auto number = static_cast<std::size_t>(std::countr_zero(sleeping));
        Sleeper &sleeper = page.sleepers[number];
        // Pairs with the store in SleepingSide::arm().
        const std::uint64_t seen = sleeper.state.sleeping.load(std::memory_order_seq_cst);
        if (seen == 0 || (value != nullptr && !is_target(sleeper, *value)))
            continue;
        const std::lock_guard guard(lock_);
        sides_[number].signal(sleeper.state, seen, any_wish);
    }
}

} // namespace opendoca::soft
