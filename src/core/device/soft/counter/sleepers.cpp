// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sleepers.hpp"

#include <algorithm>
#include <bit>
#include <cinttypes>

#include "../process/directory.hpp"

#include "../../../log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_SLEEPERS);

namespace opendoca::soft {

namespace {

/// Whether @p value reaches a target. They may change meanwhile: a sleeper that arms itself anew looks at the
/// counter after it, and one that is armed only makes targets easier to reach.
bool is_target(const Sleeper &sleeper, std::uint64_t value) noexcept
{
    const std::uint32_t count =
        sleeper.num_targets.load(std::memory_order_acquire); // pairs with add_target()
    if (count > max_targets)
        return true;
    return std::ranges::any_of(
        sleeper.targets.begin(), sleeper.targets.begin() + count, [&](const auto &target) {
            const WaitCondition condition = {target.value.load(std::memory_order_relaxed),
                                             target.mask.load(std::memory_order_relaxed)};
            return condition.is_met_by(value);
        });
}

} // namespace

doca_error_t OwnSleeper::create(std::shared_ptr<CounterPage> page, std::unique_ptr<OwnSleeper> &sleeper)
{
    std::unique_ptr<OwnSleeper> created(new OwnSleeper(std::move(page)));
    if (const doca_error_t status = created->pipe_.open(); status != DOCA_SUCCESS)
        return status;
    CounterPage &shared = *created->page_;
    created->place_ = take_place(std::span<Sleeper>(shared.sleepers), [&](Sleeper &place) {
        // What a killed one may have left.
        shared.sleeping.fetch_and(~(std::uint64_t{1} << (&place - shared.sleepers)),
                                  std::memory_order_seq_cst);
        created->arming_ = place.arming.load(std::memory_order_relaxed);
        place.woken.store(created->arming_, std::memory_order_relaxed);
        place.wake_fd.store(created->pipe_.write_fd(), std::memory_order_relaxed);
        // Pairs with signal(): who sees it sees owner and pipe.
        place.tenure.fetch_add(1, std::memory_order_release);
    });
    if (created->place_ == nullptr) {
        LOG_ERR("%" PRIu32 " event-driven work queues wait for the sync event, which is the limit",
                     max_sleepers);
        return DOCA_ERROR_NO_MEMORY;
    }
    sleeper = std::move(created);
    return DOCA_SUCCESS;
}

OwnSleeper::~OwnSleeper()
{
    if (place_ == nullptr)
        return;
    disarm();
    page_->sleeping.fetch_and(~bit(), std::memory_order_seq_cst);
    give_back_place(*place_);
}

void OwnSleeper::add_target(const WaitCondition &target) noexcept
{
    const std::uint32_t count = has_targets_ ? place_->num_targets.load(std::memory_order_relaxed) : 0;
    has_targets_ = true;
    if (count > max_targets)
        return;
    for (std::uint32_t i = 0; i < count; ++i) {
        Sleeper::Target &known = place_->targets[i];
        if (known.mask.load(std::memory_order_relaxed) != target.mask)
            continue;
        if (target.value < known.value.load(std::memory_order_relaxed))
            known.value.store(target.value, std::memory_order_relaxed);
        return;
    }
    if (count < max_targets) {
        place_->targets[count].value.store(target.value, std::memory_order_relaxed);
        place_->targets[count].mask.store(target.mask, std::memory_order_relaxed);
    }
    place_->num_targets.store(count + 1, std::memory_order_release); // pairs with is_target()
}

void OwnSleeper::arm() noexcept
{
    is_armed_ = true;
    // Before the look at the counter, as an update is before its look at this word. Who sees it sees the
    // targets.
    place_->arming.store(++arming_, std::memory_order_seq_cst);
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
    const bool was_woken = pipe_.drain();
    if (!was_woken) // otherwise, the waker does it
        place_->woken.store(arming_, std::memory_order_release);
    return was_woken;
}

void Waker::wake(CounterPage &page, std::uint64_t sleeping, const std::uint64_t *value) noexcept
{
    for (sleeping &= ~counter_ended; sleeping != 0; sleeping &= sleeping - 1) {
        const auto number = static_cast<std::size_t>(std::countr_zero(sleeping));
        Sleeper &sleeper = page.sleepers[number];
        const std::uint64_t arming =
            sleeper.arming.load(std::memory_order_seq_cst); // pairs with OwnSleeper::arm
        // Once it is woken, the byte is in the pipe until the sleeper has got up.
        if (sleeper.woken.load(std::memory_order_acquire) == arming ||
            (value != nullptr && !is_target(sleeper, *value)))
            continue;
        const std::lock_guard guard(lock_);
        // Noted after it was done: who is killed in between has at worst written for nothing.
        if (signal(sleeper, pipes_[number]))
            sleeper.woken.store(arming, std::memory_order_release);
    }
}

/// False when the sleeper could not be told, though it is there.
bool Waker::signal(const Sleeper &sleeper, Pipe &pipe) noexcept
{
    const std::uint64_t tenure = sleeper.tenure.load(std::memory_order_acquire);
    if (!pipe.pipe.is_open() || pipe.tenure != tenure) {
        const std::uint32_t owner = sleeper.owner.load(std::memory_order_relaxed);
        const doca_error_t status = guarded([&] {
            if (owner == 0 || is_dead(owner, sleeper.started.load(std::memory_order_relaxed)))
                return DOCA_ERROR_NOT_FOUND;
            return pipe.pipe.open(static_cast<std::int32_t>(owner),
                                  sleeper.wake_fd.load(std::memory_order_relaxed));
        });
        if (status == DOCA_ERROR_NOT_FOUND)
            return true; // nobody sleeps there any more
        if (status != DOCA_SUCCESS)
            return false;
        pipe.tenure = tenure;
    }
    pipe.pipe.signal();
    return true;
}

} // namespace opendoca::soft
