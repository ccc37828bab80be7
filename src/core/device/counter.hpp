// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The provider contract for sync events. An operation that a device lacks is the one of the base class, which answers
// NOT_SUPPORTED.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../engine/source.hpp"

namespace opendoca {

class CompletionQueue;
class Device;

/// What a waiter waits for: that (counter & mask) is one of @c count neighbouring values, counted around from the largest
/// to 0. So each relation is one comparison.
struct WaitCondition {
    std::uint64_t first;
    std::uint64_t count;
    std::uint64_t mask;

    [[nodiscard]] static constexpr WaitCondition greater(std::uint64_t value, std::uint64_t mask) noexcept
    {
        return {value + 1, UINT64_MAX - value, mask};
    }
    [[nodiscard]] static constexpr WaitCondition equal(std::uint64_t value, std::uint64_t mask) noexcept
    {
        return {value, 1, mask};
    }
    [[nodiscard]] static constexpr WaitCondition not_equal(std::uint64_t value, std::uint64_t mask) noexcept
    {
        return {value + 1, UINT64_MAX, mask};
    }
    [[nodiscard]] bool is_met_by(std::uint64_t counter) const noexcept { return (counter & mask) - first < count; }
    /// Whether this one is met whenever @p other is.
    [[nodiscard]] bool includes(const WaitCondition &other) const noexcept
    {
        const std::uint64_t distance = other.first - first;
        return mask == other.mask && distance < count && other.count <= count - distance;
    }
};

/// Waits for one counter, whose ends go to one completion queue.
class CounterWaits : public Source, public Pollable {
public:
    /// Takes a wait. NO_MEMORY when the completion queue is full.
    [[nodiscard]] virtual doca_error_t wait(Tag tag, const WaitCondition &condition) noexcept = 0;
};

/// A 64-bit word that threads of several processes update and wait for. Thread-safe. CONNECTION_RESET from any
/// operation: the other side is not there any more.
class Counter {
public:
    enum class WhileWaiting : bool { spin, yield };

    Counter() = default;
    Counter(const Counter &) = delete;
    Counter &operator=(const Counter &) = delete;
    virtual ~Counter();

    // Values are written only where an operation succeeds.

    [[nodiscard]] virtual doca_error_t get(std::uint64_t &value) noexcept = 0;
    [[nodiscard]] virtual doca_error_t set(std::uint64_t value) noexcept = 0;
    [[nodiscard]] virtual doca_error_t add(std::uint64_t value, std::uint64_t &fetched) noexcept = 0;
    [[nodiscard]] virtual doca_error_t wait(const WaitCondition &condition, WhileWaiting how) noexcept = 0;

    [[nodiscard]] virtual doca_error_t create_waits(CompletionQueue &completions,
                                                    std::unique_ptr<CounterWaits> &waits);
    /// Writes the descriptor from which the DPU behind @p device, one of this provider that outlives the counter, makes
    /// its handle.
    [[nodiscard]] virtual doca_error_t export_to_dpu(Device &device, std::vector<std::byte> &descriptor);
    /// The counter, where it is in memory of this process that outlives nothing but the counter; null elsewhere.
    [[nodiscard]] virtual std::uint64_t *word_here() noexcept;
    /// From now on somebody changes the word past this counter, and wakes nobody: who sleeps looks now and then.
    virtual void expect_silent_changes() noexcept;
};

/// How a counter is to be made.
struct CounterSetup {
    std::uint64_t *word = nullptr;     ///< where it is to be, aligned to 8; null: in memory of the device's choice
    bool has_remote_publisher = false; ///< only processes that import the counter update it
};

} // namespace opendoca
