// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// How long single operations take. They are timed in runs of their own, so that the clock costs throughput nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../common/json.hpp"

namespace opendoca::tools {

/// Counts times in buckets whose width is at most 1/128 of their value, as HDR histograms do: memory and the cost of
/// recording do not grow with the number of samples.
class LatencyHistogram {
public:
    LatencyHistogram();

    /// Times from 2^40 ns (18 minutes) on count as that.
    void record(std::uint64_t nanoseconds) noexcept { ++counts_[bucket_of(nanoseconds)]; }
    void add(const LatencyHistogram &other);

    [[nodiscard]] std::uint64_t count() const noexcept;
    /// The middle of the bucket that @p percent of all samples do not exceed; 0 without samples.
    [[nodiscard]] double percentile(double percent) const;

private:
    [[nodiscard]] static std::size_t bucket_of(std::uint64_t nanoseconds) noexcept;
    [[nodiscard]] static double middle_of(std::size_t bucket) noexcept;

    std::vector<std::uint64_t> counts_;
};

/// Nanoseconds.
struct Percentiles {
    double p50 = 0;
    double p99 = 0;
    double p999 = 0;
    std::uint64_t samples = 0;
};

/// @p parts: how many operations one sample had, such as 2 for a round trip of which one way is wanted.
[[nodiscard]] Percentiles percentiles_of(const LatencyHistogram &histogram, double parts = 1);

[[nodiscard]] Json to_json(const Percentiles &percentiles);

/// Nanoseconds of a monotonic clock.
[[nodiscard]] std::uint64_t clock_now() noexcept;
/// What reading that clock takes at least; it is subtracted from each sample.
[[nodiscard]] std::uint64_t clock_cost() noexcept;

/// How many samples suit operations of @p nanoseconds within @p seconds: enough for p99.9 where there is time.
[[nodiscard]] std::size_t num_latency_samples(double nanoseconds, double seconds);

/// Times @p operation @p count times, each alone, after some that do not count.
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

/// How often time_each() calls its operation.
[[nodiscard]] constexpr std::size_t calls_of_time_each(std::size_t count) { return count + count / 10 + 1; }

} // namespace opendoca::tools
