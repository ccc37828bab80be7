// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Both sides of blocking until a counter changes: the blocked work queue and its wakers.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "../../../fork.hpp"
#include "../../counter.hpp"
#include "counter_page.hpp"

namespace opendoca::soft {

/// The entry of one work queue in a counter's list of waiters. Belongs to the queue's thread.
class OwnSleeper {
public:
    /// Takes an entry of @p page. NO_MEMORY when all entries are taken.
    [[nodiscard]] static doca_error_t create(std::shared_ptr<CounterPage> page, std::unique_ptr<OwnSleeper> &sleeper);
    OwnSleeper(const OwnSleeper &) = delete;
    OwnSleeper &operator=(const OwnSleeper &) = delete;
    ~OwnSleeper();

    /// Readable from a wake-up until disarm().
    [[nodiscard]] int wake_fd() const noexcept { return side_.wake_fd(); }
    /// Adds a target for the next arm(). The first call after an arming discards the targets of that arming.
    void add_target(const WaitCondition &target) noexcept;
    /// Arms the entry: updates that reach a target wake it. The caller must check the counter afterwards.
    void arm() noexcept;
    /// Returns whether the entry was woken.
    bool disarm() noexcept;

private:
    explicit OwnSleeper(std::shared_ptr<CounterPage> page) noexcept : page_(std::move(page)) {}

    [[nodiscard]] std::uint64_t bit() const noexcept { return std::uint64_t{1} << (entry_ - page_->sleepers); }

    std::shared_ptr<CounterPage> page_;
    Sleeper *entry_ = nullptr;
    SleepingSide side_;
    bool is_armed_ = false;
    bool has_targets_ = false; ///< targets were added for the current or the next arming
};

/// Wakes the waiters of one counter, in any process. Thread-safe.
class Waker {
public:
    /// Wakes the waiters in the mask @p sleeping that have a target which @p value reaches.
    void wake(CounterPage &page, std::uint64_t sleeping, std::uint64_t value) noexcept { wake(page, sleeping, &value); }
    /// Wakes all armed waiters.
    void wake_all(CounterPage &page) noexcept { wake(page, page.sleeping.load(std::memory_order_seq_cst), nullptr); }

private:
    void wake(CounterPage &page, std::uint64_t sleeping, const std::uint64_t *value) noexcept;

    ObjectMutex lock_;
    std::array<WakingSide, max_sleepers> sides_;
};

} // namespace opendoca::soft
