// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sleeping until a counter changes, and waking those who do.
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "../../../fork.hpp"
#include "../../counter.hpp"
#include "counter_page.hpp"

namespace opendoca::soft {

/// One work queue among the sleepers of a counter. Belongs to the queue's thread.
class OwnSleeper {
public:
    /// NO_MEMORY when all entries are taken.
    [[nodiscard]] static doca_error_t create(std::shared_ptr<CounterPage> page,
                                             std::unique_ptr<OwnSleeper> &sleeper);
    OwnSleeper(const OwnSleeper &) = delete;
    OwnSleeper &operator=(const OwnSleeper &) = delete;
    ~OwnSleeper();

    /// Readable when the sleeper was woken, until disarm().
    [[nodiscard]] int wake_fd() const noexcept { return side_.wake_fd(); }
    /// Forgets the targets of an earlier arming. Takes effect with the next arm().
    void add_target(const WaitCondition &target) noexcept;
    /// From now on, updates that reach a target wake this sleeper. The counter must be looked at after it.
    void arm() noexcept;
    /// Says whether somebody has woken it.
    bool disarm() noexcept;

private:
    explicit OwnSleeper(std::shared_ptr<CounterPage> page) noexcept : page_(std::move(page)) {}

    [[nodiscard]] std::uint64_t bit() const noexcept
    {
        return std::uint64_t{1} << (entry_ - page_->sleepers);
    }

    std::shared_ptr<CounterPage> page_;
    Sleeper *entry_ = nullptr;
    SleepingSide side_;
    bool is_armed_ = false;
    bool has_targets_ = false; ///< of the coming arming, or of this one
};

/// Wakes sleepers of one counter, in any process. Thread-safe.
class Waker {
public:
    /// Wakes those in the mask @p sleeping that have a target which @p value reaches.
    void wake(CounterPage &page, std::uint64_t sleeping, std::uint64_t value) noexcept
    {
        wake(page, sleeping, &value);
    }
    /// Wakes all that are armed.
    void wake_all(CounterPage &page) noexcept
    {
        wake(page, page.sleeping.load(std::memory_order_seq_cst), nullptr);
    }

private:
    void wake(CounterPage &page, std::uint64_t sleeping, const std::uint64_t *value) noexcept;

    ObjectMutex lock_;
    std::array<WakingSide, max_sleepers> sides_;
};

} // namespace opendoca::soft
