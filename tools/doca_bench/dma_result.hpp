// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The cases and results of the DMA benchmark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../common/json.hpp"
#include "latency.hpp"
#include "plot.hpp"
#include "statistics.hpp"

namespace opendoca::tools {

/// The memory that a job accesses.
enum class Where : std::uint8_t {
    local,   ///< between two buffers of this process
    shared,  ///< from or to mappable memory of another process
    ordinary ///< from or to any other memory of another process
};

/// The direction of a copy, as seen from the process that submits it.
enum class Direction : std::uint8_t {
    copy, ///< local
    read, ///< from the other process
    write ///< to the other process
};

/// One row of the benchmark: what is copied, and how. Compared by value to find the result of a bar.
struct DmaCase {
    Where where;
    Direction direction;
    std::size_t size;    ///< bytes of a job
    std::uint32_t depth; ///< jobs in flight in each thread
    bool is_in_cache;    ///< whether all jobs use the same buffers; otherwise each finds its own outside of the caches

    bool operator==(const DmaCase &) const = default;
};

/// A way to do the same copy without the library, and its time in the same rounds as the job's.
struct Baseline {
    std::string name;
    Summary nanoseconds;
};

/// The result of one row. Times are nanoseconds per job, by round; a job's and its baselines' are measured in the same
/// rounds, so ratios and differences are taken within a round.
struct DmaResult {
    DmaCase what;
    Summary job; ///< nanoseconds from submit until retrieved
    std::vector<Baseline> baselines;
    std::string compared_to;              ///< the name of one of the baselines
    Summary ratio;                        ///< the baseline's time divided by the job's, in the same round
    Summary difference;                   ///< the job's time minus the baseline's in nanoseconds
    std::size_t repetitions = 0;          ///< jobs in a sample
    std::size_t discarded = 0;            ///< rounds that were discarded, as other processes used the CPUs
    bool was_disturbed = false;           ///< too few rounds were undisturbed, so all of them count
    bool resets = false;                  ///< the job's time includes a reset of the destination
    std::optional<double> latency_before; ///< one-way latency of a cache line between the two processes in nanoseconds
    std::optional<double> latency_after;
    std::optional<Percentiles> latency; ///< at depth 1
    std::uint32_t threads = 1;
    std::string failure; ///< the reason why there is no result; empty if there is one
};

/// Returns the word of the option and of JSON.
[[nodiscard]] const char *name_of(Where where);
[[nodiscard]] const char *name_of(Direction direction);
/// Formats a size: "64 B", "4 KiB".
[[nodiscard]] std::string size_text(std::size_t size);
/// Formats a case: "shared read 4 KiB, depth 1, in cache".
[[nodiscard]] std::string text_of(const DmaCase &what);

/// A limit that a DMA job has to meet, judged by the median over the rounds.
struct Bar {
    const char *name;
    DmaCase what;
    enum class Kind : std::uint8_t { ratio_at_least, nanoseconds_above_at_most } kind;
    double limit; ///< least ratio, or largest difference in nanoseconds
};

/// Returns the limits that the project has set for itself; docs/benchmarks.md explains them.
[[nodiscard]] std::span<const Bar> dma_bars();
/// Returns whether a result meets a limit. A row that failed does not.
[[nodiscard]] bool is_met(const Bar &bar, const DmaResult &result);

/// Formats the results as JSON and as a table. @p bars is empty unless they were requested.
[[nodiscard]] Json to_json(std::span<const DmaResult> results, std::span<const Bar> bars);
/// Returns the points for --plot: of the jobs, and of their baselines.
[[nodiscard]] std::vector<PlotPoint> points_of(std::span<const DmaResult> results);
[[nodiscard]] std::string to_text(std::span<const DmaResult> results, std::span<const Bar> bars);

} // namespace opendoca::tools
