// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "latency.hpp"

#include <algorithm>
#include <bit>
#include <ctime>
#include <functional>
#include <numeric>

namespace opendoca::tools {

namespace {

constexpr unsigned sub_bits = 7;                                    ///< a bucket is 1/128 of its value wide, at most
constexpr std::uint64_t sub_buckets = std::uint64_t{1} << sub_bits; ///< for each power of two
constexpr unsigned max_bits = 40;                                   ///< 2^40 ns, the largest time
constexpr std::size_t max_samples = 200000;                         ///< so many that p99.9 depends on 200 of them
constexpr std::size_t min_samples = 100;                            ///< taken even if they exceed the time for them

} // namespace

LatencyHistogram::LatencyHistogram() : counts_((max_bits - sub_bits + 1) * sub_buckets) {}

/// Returns the bucket of a time. Times below 2 * sub_buckets have one bucket each; above, each power of two is divided
/// into sub_buckets of them.
std::size_t LatencyHistogram::bucket_of(std::uint64_t nanoseconds) noexcept
{
    const std::uint64_t value = std::min(nanoseconds, (std::uint64_t{1} << max_bits) - 1);
    if (value < 2 * sub_buckets)
        return value;
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - sub_bits - 1;
    return shift * sub_buckets + (value >> shift);
}

/// Inverts bucket_of(), to the middle of the bucket.
double LatencyHistogram::middle_of(std::size_t bucket) noexcept
{
    if (bucket < 2 * sub_buckets)
        return static_cast<double>(bucket);
    const std::size_t shift = bucket / sub_buckets - 1;
    const std::uint64_t lowest = (bucket - shift * sub_buckets) << shift;
    return static_cast<double>(lowest) + static_cast<double>((std::uint64_t{1} << shift) - 1) / 2;
}

void LatencyHistogram::add(const LatencyHistogram &other)
{
    std::ranges::transform(counts_, other.counts_, counts_.begin(), std::plus<>());
}

std::uint64_t LatencyHistogram::count() const noexcept
{
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

double LatencyHistogram::percentile(double percent) const
{
    // At least one sample, so that percentile 0 is the smallest time.
    const double wanted = std::max(percent / 100 * static_cast<double>(count()), 1.0);
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
        seen += counts_[bucket];
        if (static_cast<double>(seen) >= wanted)
            return middle_of(bucket);
    }
    return 0;
}

Percentiles percentiles_of(const LatencyHistogram &histogram, double parts)
{
    return {histogram.percentile(50) / parts, histogram.percentile(99) / parts, histogram.percentile(99.9) / parts,
            histogram.count()};
}

Json to_json(const Percentiles &percentiles)
{
    Json json = Json::object();
    json.set("p50", percentiles.p50)
        .set("p99", percentiles.p99)
        .set("p99_9", percentiles.p999)
        .set("samples", percentiles.samples);
    return json;
}

std::uint64_t clock_now() noexcept
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U + static_cast<std::uint64_t>(now.tv_nsec);
}

// The shortest of several averages: interruptions only add to it.
std::uint64_t clock_cost() noexcept
{
    static const std::uint64_t cost = [] {
        constexpr int reads = 1000;
        std::uint64_t least = UINT64_MAX;
        for (int round = 0; round < 20; ++round) {
            const std::uint64_t start = clock_now();
            for (int i = 0; i < reads; ++i)
                (void)clock_now();
            least = std::min(least, (clock_now() - start) / (reads + 1));
        }
        return least;
    }();
    return cost;
}

std::size_t num_latency_samples(double nanoseconds, double seconds)
{
    // No operation takes less than about 50 ns with the clock around it.
    const double fitting = seconds * 1e9 / std::max(nanoseconds, 50.0);
    return std::clamp(static_cast<std::size_t>(fitting), min_samples, max_samples);
}

} // namespace opendoca::tools
