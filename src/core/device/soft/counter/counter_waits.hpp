// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>

#include "../../../poll_budget.hpp"
#include "../../../wait_notice.hpp"
#include "../../host/ticker.hpp"
#include "../../pending_waits.hpp"
#include "counter.hpp"
#include "importers.hpp"
#include "sleepers.hpp"

namespace opendoca::soft {

/// The pending waits for one counter that complete to one completion queue. progress() checks them. An armed queue is
/// woken by updates of the counter, and by the end of a process that could update it.
class SoftCounterWaits : public CounterWaits {
public:
    /// Must be followed by open().
    SoftCounterWaits(SoftCounter &counter, CompletionQueue &completions);
    ~SoftCounterWaits() override;
    [[nodiscard]] doca_error_t open();

    [[nodiscard]] doca_error_t wait(Tag tag, const WaitCondition &condition) noexcept override;
    void progress() noexcept override { (void)look(false); }
    [[nodiscard]] Operation *poll_one() noexcept override { return look(true); }
    [[nodiscard]] bool arm() noexcept override;
    void disarm() noexcept override;
    void flush() noexcept override { pending_.end_all(DOCA_ERROR_SHUTDOWN); }

protected:
    CompletionQueue &completions_;

private:
    [[nodiscard]] doca_error_t watch_for_wake_ups();
    [[nodiscard]] bool could_end() noexcept;
    [[nodiscard]] bool is_deserted() noexcept;
    void look_around() noexcept;
    [[nodiscard]] Operation *look(bool hands_out) noexcept;
    void tick() noexcept;
    void notice_ends(bool polls) noexcept;

    SoftCounter &counter_;
    PendingWaits pending_;
    bool is_polled_ = false;
    PollBudget<4096>
        polls_between_checks_; ///< between two checks of the importers and of the wait's time, which need system calls
    WaitNotice notice_;
    std::uint64_t seen_ = 0;              ///< the last value that completed no pending wait
    bool has_seen_ = false;               ///< true if seen_ is valid
    std::unique_ptr<OwnSleeper> sleeper_; ///< in event-driven mode
    UniqueFd holder_exit_;                ///< watched while it is open
    std::unique_ptr<Importers> importers_;
    Ticker ticker_; ///< opened when first needed: see Counter::expect_silent_changes()
};

} // namespace opendoca::soft
