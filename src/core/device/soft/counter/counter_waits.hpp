// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>

#include "../../../base/poll_budget.hpp"
#include "../../../base/wait_notice.hpp"
#include "../../host/ticker.hpp"
#include "../../pending_waits.hpp"
#include "counter.hpp"
#include "importers.hpp"
#include "waiters.hpp"

namespace opendoca::soft {

/// The pending waits for one counter that complete to one completion queue. Owned by the sync event's context or job
/// queue; only the thread of the completion queue may use it. progress() checks the waits. An armed queue is woken by
/// updates of the counter, and by the end of a process that could update it. Invariant: while the queue is armed and a
/// wait is pending, the waiter's entry has all conditions as targets.
class SoftCounterWaits : public CounterWaits {
public:
    /// Must be followed by open().
    SoftCounterWaits(SoftCounter &counter, CompletionQueue &completions);
    ~SoftCounterWaits() override;
    /// Registers with the completion queue and, in event-driven mode, with the counter. NO_MEMORY, OPERATING_SYSTEM.
    [[nodiscard]] doca_error_t open();

    [[nodiscard]] doca_error_t wait(Tag tag, const WaitCondition &condition) noexcept override;
    void progress() noexcept override { (void)check(false); }
    [[nodiscard]] Operation *poll_one() noexcept override { return check(true); }
    [[nodiscard]] bool arm() noexcept override;
    void disarm() noexcept override;
    [[nodiscard]] bool park() noexcept override;
    void unpark() noexcept override;
    void flush() noexcept override { pending_.complete_all(DOCA_ERROR_SHUTDOWN); }

protected:
    CompletionQueue &completions_;

private:
    [[nodiscard]] doca_error_t watch_for_wake_ups();
    [[nodiscard]] bool can_complete() noexcept;
    [[nodiscard]] bool has_lost_publishers() noexcept;
    void check_importers() noexcept;
    [[nodiscard]] Operation *check(bool returns_operation) noexcept;
    void start_ticker() noexcept;
    void check_process_ends(bool checks_ends) noexcept;

    SoftCounter &counter_;
    PendingWaits pending_;
    bool is_polled_ = false; ///< true once open() has registered with the completion queue
    /// Polls between two checks of the importers and of the wait's duration, which need system calls.
    PollBudget<4096> polls_between_checks_;
    WaitNotice notice_;
    std::uint64_t seen_ = 0;                ///< the last value that completed no pending wait
    bool has_seen_ = false;                 ///< true if seen_ is valid
    std::unique_ptr<CounterWaiter> waiter_; ///< in event-driven mode
    UniqueFd holder_exit_fd_;               ///< readable once the owner's process has ended; watched while it is open
    std::unique_ptr<Importers> importers_;  ///< null unless only importers update the counter
    Ticker ticker_;                         ///< opened when first needed: see Counter::expect_unnotified_changes()
};

} // namespace opendoca::soft
