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

enum class Where : std::uint8_t {
    local,   ///< between two buffers of this process
    shared,  ///< from or to mappable memory of another process
    ordinary ///< from or to any other memory of another process
};

enum class Direction : std::uint8_t {
    copy, ///< local
    read, ///< from the other process
    write ///< to the other process
};

struct DmaCase {
    Where where;
    Direction direction;
    std::size_t size;
    std::uint32_t depth;
    bool is_in_cache;

    bool operator==(const DmaCase &) const = default;
};

struct Baseline {
    std::string name;
    Summary nanoseconds;
};

struct DmaResult {
    DmaCase what;
    Summary job; ///< nanoseconds from submit until retrieved
    std::vector<Baseline> baselines;
    std::string compared_to; ///< the name of one of the baselines
    Summary ratio;           ///< the baseline's time divided by the job's, in the same round
    Summary difference;      ///< the job's time minus the baseline's in nanoseconds
    std::size_t repetitions = 0;
    std::size_t discarded = 0;
    bool was_disturbed = false;
    bool resets = false;                  ///< the job's time includes a reset of the destination
    std::optional<double> latency_before; ///< one-way latency of a cache line between the two processes in nanoseconds
    std::optional<double> latency_after;
    std::optional<Percentiles> latency; ///< at depth 1
    std::uint32_t threads = 1;
    std::string failure; ///< the reason why there is no result; empty if there is one
};

[[nodiscard]] const char *name_of(Where where);
[[nodiscard]] const char *name_of(Direction direction);
/// Formats a size: "64 B", "4 KiB".
[[nodiscard]] std::string size_text(std::size_t size);
/// Formats a case: "shared read 4 KiB, depth 1, in cache".
[[nodiscard]] std::string text_of(const DmaCase &what);

/// A limit that a DMA job has to meet.
struct Bar {
    const char *name;
    DmaCase what;
    enum class Kind : std::uint8_t { ratio_at_least, nanoseconds_above_at_most } kind;
    double limit;
};

/// The limits that the project has set for itself.
[[nodiscard]] std::span<const Bar> dma_bars();
[[nodiscard]] bool is_met(const Bar &bar, const DmaResult &result);

/// Formats the results as JSON and as a table. @p bars is empty unless they were requested.
[[nodiscard]] Json to_json(std::span<const DmaResult> results, std::span<const Bar> bars);
/// Returns the points for --plot: of the jobs, and of their baselines.
[[nodiscard]] std::vector<PlotPoint> points_of(std::span<const DmaResult> results);
[[nodiscard]] std::string to_text(std::span<const DmaResult> results, std::span<const Bar> bars);

} // namespace opendoca::tools
