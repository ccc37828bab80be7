// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "../counter/counter.hpp"
#include "fault_plan.hpp"

namespace opendoca::soft {

/// A counter with planned faults. If its peer has seemed to end, it stays so for this handle. Thread-safe, like the
/// counter.
class FaultyCounter final : public SoftCounter {
public:
    FaultyCounter(bool is_strict, std::shared_ptr<FaultPlan> plan) noexcept
        : is_strict_(is_strict),
          faults_(std::move(plan))
    {
    }

    [[nodiscard]] doca_error_t get(std::uint64_t &value) noexcept override;
    [[nodiscard]] doca_error_t set(std::uint64_t value) noexcept override;
    [[nodiscard]] doca_error_t add(std::uint64_t value, std::uint64_t &fetched) noexcept override;
    [[nodiscard]] doca_error_t wait(const WaitCondition &condition, WhileWaiting how) noexcept override;
    [[nodiscard]] doca_error_t create_waits(CompletionQueue &completions,
                                            std::unique_ptr<CounterWaits> &waits) override;

    /// Returns the status with which the next operation fails, or SUCCESS if it is to be executed.
    [[nodiscard]] doca_error_t next() noexcept;
    [[nodiscard]] FaultPlan &faults() const noexcept { return *faults_; }
    /// Returns whether waits are limited as a card's; see StrictCounter.
    [[nodiscard]] bool is_strict() const noexcept { return is_strict_; }

private:
    const bool is_strict_;
    const std::shared_ptr<FaultPlan> faults_;
    std::atomic<bool> has_peer_ended_{false}; ///< the peer has seemed to end
};

} // namespace opendoca::soft
