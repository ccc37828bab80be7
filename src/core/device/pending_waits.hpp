// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>

#include "../engine/completion_queue.hpp"
#include "counter.hpp"

namespace opendoca {

/// The waits for one counter that have not completed, in order of submission. Owned by a CounterWaits, and used by the
/// thread of its completion queue. Its memory is allocated at creation: each wait is an Operation of the completion
/// queue, so their number cannot exceed its depth.
class PendingWaits {
public:
    explicit PendingWaits(CompletionQueue &completions)
        : completions_(completions),
          waits_(std::make_unique_for_overwrite<Operation *[]>(completions.depth()))
    {
    }

    [[nodiscard]] bool is_empty() const noexcept { return count_ == 0; }
    /// Returns the oldest condition. There must be one.
    [[nodiscard]] const WaitCondition &first() const noexcept { return condition(0); }
    /// Adds a wait. The completion queue must not be full.
    void add(Tag tag, Source &source, const WaitCondition &condition) noexcept
    {
        Operation &operation = completions_.begin(tag, source);
        operation.payload<WaitCondition>() = condition;
        waits_[count_++] = &operation;
    }
    template <typename Action>
    void each_condition(Action action) const noexcept
    {
        for (std::uint32_t i = 0; i < count_; ++i)
            action(condition(i));
    }
    /// Returns whether @p value meets the condition of any wait.
    [[nodiscard]] bool is_any_met(std::uint64_t value) const noexcept
    {
        for (std::uint32_t i = 0; i < count_; ++i) {
            if (condition(i).is_met_by(value))
                return true;
        }
        return false;
    }

    /// If there is exactly one wait and @p value meets it, removes and returns it; the caller completes it. Otherwise
    /// returns null.
    [[nodiscard]] Operation *take_if_only(std::uint64_t value) noexcept
    {
        if (count_ != 1 || !condition(0).is_met_by(value))
            return nullptr;
        count_ = 0;
        return waits_[0];
    }
    /// Completes all waits that @p value meets.
    void complete_met(std::uint64_t value) noexcept
    {
        std::uint32_t num_left = 0;
        for (std::uint32_t i = 0; i < count_; ++i) {
            Operation *const operation = waits_[i];
            if (operation->payload<WaitCondition>().is_met_by(value))
                completions_.done(*operation, DOCA_SUCCESS);
            else
                waits_[num_left++] = operation;
        }
        count_ = num_left;
    }
    /// Completes all waits with @p result, for example because the counter is no longer reachable.
    void complete_all(doca_error_t result) noexcept
    {
        for (std::uint32_t i = 0; i < count_; ++i)
            completions_.done(*waits_[i], result);
        count_ = 0;
    }

private:
    [[nodiscard]] const WaitCondition &condition(std::uint32_t i) const noexcept
    {
        return waits_[i]->payload<WaitCondition>();
    }

    CompletionQueue &completions_; ///< must outlive this object
    const std::unique_ptr<Operation *[]> waits_;
    std::uint32_t count_ = 0; ///< entries of waits_ in use
};

} // namespace opendoca
