// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Times of single operations. They are measured in runs of their own, so that reading the clock does not cost
// throughput in the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../common/json.hpp"

namespace opendoca::tools {

/// A histogram of times in nanoseconds with buckets of at most 1/128 of their value, as HDR histograms have: memory and
/// the cost of recording do not depend on the number of samples. Not synchronized: each thread records into its own,
/// and add() merges them afterwards.
class LatencyHistogram {
public:
    LatencyHistogram();

    /// Records a time. Times of 2^40 ns (18 minutes) and more count as that.
    void record(std::uint64_t nanoseconds) noexcept { ++counts_[bucket_of(nanoseconds)]; }
    /// Adds the samples of another histogram.
    void add(const LatencyHistogram &other);

    [[nodiscard]] std::uint64_t count() const noexcept;
    /// Returns the middle of the bucket that @p percent of all samples do not exceed; 0 without samples.
    [[nodiscard]] double percentile(double percent) const;

private:
    [[nodiscard]] static std::size_t bucket_of(std::uint64_t nanoseconds) noexcept;
    [[nodiscard]] static double middle_of(std::size_t bucket) noexcept;

    std::vector<std::uint64_t> counts_; ///< number of samples in each bucket
};

/// Percentiles of the time of one operation in nanoseconds.
struct Percentiles {
    double p50 = 0;
    double p99 = 0;
    double p999 = 0;
    std::uint64_t samples = 0;
};

/// Returns the percentiles of a histogram. @p parts is the number of operations in one sample, for example 2 to get one
/// way of a round trip.
[[nodiscard]] Percentiles percentiles_of(const LatencyHistogram &histogram, double parts = 1);

[[nodiscard]] Json to_json(const Percentiles &percentiles);

/// Returns the time of a monotonic clock in nanoseconds.
[[nodiscard]] std::uint64_t clock_now() noexcept;
/// Returns the shortest time that reading this clock takes; it is subtracted from each sample.
[[nodiscard]] std::uint64_t clock_cost() noexcept;

/// Returns a number of samples for operations of @p nanoseconds within @p seconds: enough for p99.9 if time permits.
[[nodiscard]] std::size_t num_latency_samples(double nanoseconds, double seconds);

/// Times @p operation @p count times, one by one, after a warm-up that does not count.
template <typename Operation>
void time_each(LatencyHistogram &histogram, std::size_t count, Operation operation)
{
    const std::uint64_t cost = clock_cost();
    for (std::size_t i = 0; i < count / 10 + 1; ++i)
        operation();
    for (; count != 0; --count) {
        const std::uint64_t start = clock_now();
        operation();
        const std::uint64_t taken = clock_now() - start;
        histogram.record(taken > cost ? taken - cost : 0);
    }
}

/// Returns how often time_each() calls its operation.
[[nodiscard]] constexpr std::size_t calls_of_time_each(std::size_t count)
{
    return count + count / 10 + 1;
}

} // namespace opendoca::tools
