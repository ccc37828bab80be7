// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The cases of the DMA benchmark: what is copied where, and what came out.
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
    shared,  ///< from or to memory of another process that can be mapped
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
    Summary job; ///< nanoseconds from submit to retrieved
    std::vector<Baseline> baselines;
    std::string compared_to; ///< one of the baselines
    Summary ratio;           ///< of its time to the job's, in the same round
    Summary difference;      ///< of the job's time and its, in nanoseconds
    std::size_t repetitions = 0;
    std::size_t discarded = 0;
    bool was_disturbed = false;
    bool resets = false;                  ///< the time of a reset of the destination is part of the job's
    std::optional<double> latency_before; ///< one way, between the two processes, in nanoseconds
    std::optional<double> latency_after;
    std::optional<Percentiles> latency; ///< of depth 1
    std::uint32_t threads = 1;
    std::string failure;                ///< why there is no result; empty when there is one
};

[[nodiscard]] const char *name_of(Where where);
[[nodiscard]] const char *name_of(Direction direction);
/// "64 B", "4 KiB".
[[nodiscard]] std::string size_text(std::size_t size);
/// "shared read 4 KiB, depth 1, in cache".
[[nodiscard]] std::string text_of(const DmaCase &what);

/// What a whole DMA job must hold against.
struct Bar {
    const char *name;
    DmaCase what;
    enum class Kind : std::uint8_t { ratio_at_least, nanoseconds_above_at_most } kind;
    double limit;
};

/// The bars that the project has set itself.
[[nodiscard]] std::span<const Bar> dma_bars();
[[nodiscard]] bool is_met(const Bar &bar, const DmaResult &result);

/// For --json and for people. @p bars is empty unless they were asked for.
[[nodiscard]] Json to_json(std::span<const DmaResult> results, std::span<const Bar> bars);
/// For --plot: jobs, and what they are compared to.
[[nodiscard]] std::vector<PlotPoint> points_of(std::span<const DmaResult> results);
[[nodiscard]] std::string to_text(std::span<const DmaResult> results, std::span<const Bar> bars);

} // namespace opendoca::tools
