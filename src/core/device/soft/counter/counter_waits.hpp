// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include "../../../wait_notice.hpp"
#include "counter.hpp"
#include "importers.hpp"
#include "sleepers.hpp"

namespace opendoca::soft {

/// Waits for one counter whose ends go to one completion queue. They are looked at in progress(); an armed queue is woken by
/// whoever updates the counter, and by the ends of the processes that could.
class SoftCounterWaits : public CounterWaits {
public:
    /// To be followed by open().
    SoftCounterWaits(SoftCounter &counter, CompletionQueue &completions);
    ~SoftCounterWaits() override;
    [[nodiscard]] doca_error_t open();

    [[nodiscard]] doca_error_t wait(Tag tag, const WaitCondition &condition) noexcept override;
    void progress() noexcept override { (void)look(false); }
    [[nodiscard]] Operation *poll_one() noexcept override { return look(true); }
    [[nodiscard]] bool arm() noexcept override;
    void disarm() noexcept override;
    void flush() noexcept override { end_all(DOCA_ERROR_SHUTDOWN); }

protected:
    CompletionQueue &completions_;

private:
    [[nodiscard]] doca_error_t watch_for_wake_ups();
    [[nodiscard]] bool could_end() noexcept;
    [[nodiscard]] bool is_deserted() noexcept;
    void look_around() noexcept;
    [[nodiscard]] Operation *look(bool hands_out) noexcept;
    void end_those_met(std::uint64_t value) noexcept;
    void end_all(doca_error_t result) noexcept;
    [[nodiscard]] bool is_any_met(std::uint64_t value) const noexcept;
    void notice_ends(bool polls) noexcept;

    SoftCounter &counter_;
    std::unique_ptr<Operation *[]> pending_; ///< in order of submission
    std::uint32_t num_pending_ = 0;
    bool is_polled_ = false;
    std::uint32_t polls_ = 0;
    WaitNotice notice_;
    std::uint64_t seen_ = 0;              ///< the value at which no pending wait ended,
    bool has_seen_ = false;               ///< if there is one
    std::unique_ptr<OwnSleeper> sleeper_; ///< in event-driven mode
    UniqueFd holder_exit_;                ///< watched while open
    std::unique_ptr<Importers> importers_;
};

} // namespace opendoca::soft
