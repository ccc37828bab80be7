// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Both sides of a wake-up by a counter: the work queue that blocks, and the processes that update the counter.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "../../../process/fork.hpp"
#include "../../counter.hpp"
#include "counter_page.hpp"

namespace opendoca::soft {

/// The entry of one work queue in a counter's list of waiters, and the pipe by which it is woken. Owned by the queue's
/// SoftCounterWaits, and used by the queue's thread only.
class CounterWaiter {
public:
    /// Takes an entry of @p page. NO_MEMORY, with a message, if all entries are taken.
    [[nodiscard]] static doca_error_t create(std::shared_ptr<CounterPage> page, std::unique_ptr<CounterWaiter> &waiter);
    CounterWaiter(const CounterWaiter &) = delete;
    CounterWaiter &operator=(const CounterWaiter &) = delete;
    ~CounterWaiter();

    /// Readable from a wake-up until disarm().
    [[nodiscard]] int wake_fd() const noexcept { return side_.wake_fd(); }
    /// Adds a target for the next arm(). The first call after an arming discards the targets of that arming.
    void add_target(const WaitCondition &target) noexcept;
    /// Arms the entry: updates that reach a target wake it. The caller must check the counter afterwards.
    void arm() noexcept;
    /// Returns whether the entry was woken.
    bool disarm() noexcept;

private:
    explicit CounterWaiter(std::shared_ptr<CounterPage> page) noexcept : page_(std::move(page)) {}

    /// Returns this entry's bit in CounterPage::waiter_mask.
    [[nodiscard]] std::uint64_t bit() const noexcept { return std::uint64_t{1} << (entry_ - page_->waiters); }

    std::shared_ptr<CounterPage> page_;
    WaiterEntry *entry_ = nullptr; ///< in the page
    SleepingSide side_;
    bool is_armed_ = false;
    bool has_targets_ = false; ///< targets were added for the current or the next arming
};

/// Wakes the waiters of one counter, in any process, and keeps their pipes open. Owned by a SoftCounter. Thread-safe.
class Waker {
public:
    /// Wakes the waiters in the mask @p mask that have a target which @p value reaches.
    void wake(CounterPage &page, std::uint64_t mask, std::uint64_t value) noexcept { wake(page, mask, &value); }
    /// Wakes all armed waiters.
    void wake_all(CounterPage &page) noexcept { wake(page, page.waiter_mask.load(std::memory_order_seq_cst), nullptr); }

private:
    void wake(CounterPage &page, std::uint64_t mask, const std::uint64_t *value) noexcept;

    ObjectMutex lock_;                          ///< guards sides_
    std::array<WakingSide, max_waiters> sides_; ///< by the index of the waiter's entry
};

} // namespace opendoca::soft
