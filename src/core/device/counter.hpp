// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Provider contract for sync events. A device that does not support an operation inherits the base class's version,
// which returns NOT_SUPPORTED.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../engine/source.hpp"

namespace opendoca {

class CompletionQueue;
class Device;

/// The condition that a wait ends on: (counter & mask) is one of @c count consecutive values, beginning with @c first
/// and wrapping around after UINT64_MAX. Every relation thus takes a single comparison.
struct WaitCondition {
    std::uint64_t first; ///< the first value that meets the condition
    std::uint64_t count; ///< number of values that meet it; 0: the condition is never met
    std::uint64_t mask;  ///< bits of the counter that are compared

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
    /// Returns whether this condition is met whenever @p other is met.
    [[nodiscard]] bool includes(const WaitCondition &other) const noexcept
    {
        const std::uint64_t distance = other.first - first;
        return mask == other.mask && distance < count && other.count <= count - distance;
    }
};

/// Asynchronous waits for one counter. They complete on one completion queue, and only the thread of that queue
/// uses this object.
class CounterWaits : public Source, public Pollable {
public:
    /// Submits a wait. NO_MEMORY if the completion queue is full.
    [[nodiscard]] virtual doca_error_t wait(Tag tag, const WaitCondition &condition) noexcept = 0;
};

/// A 64-bit counter that threads of several processes update and wait for: the state of a sync event. Thread-safe. Any
/// operation returns CONNECTION_RESET once the process that has the counter's memory has ended.
class Counter {
public:
    /// How a blocking wait() polls: without pause, or with sched_yield() between its polls after a short while.
    enum class WhileWaiting : bool { spin, yield };

    Counter() = default;
    Counter(const Counter &) = delete;
    Counter &operator=(const Counter &) = delete;
    virtual ~Counter();

    // Output parameters are set only on success.

    /// Sets @p value to the current value of the counter.
    [[nodiscard]] virtual doca_error_t get(std::uint64_t &value) noexcept = 0;
    /// Stores @p value, and wakes waiters that it satisfies.
    [[nodiscard]] virtual doca_error_t set(std::uint64_t value) noexcept = 0;
    /// Adds @p value atomically, wakes waiters that the sum satisfies, and sets @p fetched to the value before the
    /// addition.
    [[nodiscard]] virtual doca_error_t add(std::uint64_t value, std::uint64_t &fetched) noexcept = 0;
    /// Blocks until the counter meets @p condition.
    [[nodiscard]] virtual doca_error_t wait(const WaitCondition &condition, WhileWaiting how) noexcept = 0;

    /// Creates an object for asynchronous waits that complete on @p completions.
    [[nodiscard]] virtual doca_error_t create_waits(CompletionQueue &completions, std::unique_ptr<CounterWaits> &waits);
    /// Writes a descriptor that a DPU can import through the card of @p device, which must be of this provider and
    /// outlive the counter.
    [[nodiscard]] virtual doca_error_t export_to_dpu(Device &device, std::vector<std::byte> &descriptor);
    /// Returns the counter's memory if it is in this process, else null. Valid as long as the counter.
    [[nodiscard]] virtual std::uint64_t *local_word() noexcept;
    /// Declares that from now on the word may change without a wake-up, for example by a write of a device. Blocked
    /// waiters then poll it periodically. Permanent.
    virtual void expect_unnotified_changes() noexcept;
};

/// Parameters for creating a counter.
struct CounterSetup {
    std::uint64_t *word = nullptr;     ///< address for the counter, aligned to 8 bytes; null: the device allocates it
    bool has_remote_publisher = false; ///< only processes that import the counter update it
};

/// Creates a counter that the CPU updates and that only this process can use, for devices without counters of their
/// own. NOT_SUPPORTED if the memory at @p setup's word is not readable and writable. In providers.cpp.
[[nodiscard]] doca_error_t create_local_counter(const CounterSetup &setup, std::unique_ptr<Counter> &counter);

} // namespace opendoca
