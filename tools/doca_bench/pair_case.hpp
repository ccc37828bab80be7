// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The cases of benchmarks between two processes, and their results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../common/json.hpp"
#include "latency.hpp"
#include "peer.hpp"
#include "plot.hpp"
#include "statistics.hpp"

namespace opendoca::tools {

/// The operation of a case. The values are part of the protocol between two machines (rdma_wire.hpp).
enum class PairOp : std::uint32_t { write, read, send, fetch_add };

/// What is measured. The values are part of the protocol as well.
enum class PairTest : std::uint32_t {
    latency,   ///< WRITE and SEND: half of a ping-pong; READ and FETCH_ADD: one job from submit until retrieved
    rate,      ///< with the given depth of jobs in flight
    round_trip ///< a round trip of a message of Comch's control path
};

/// One row of a benchmark between two processes: what is transferred, and how. Compared by value to find the result of
/// a bar.
struct PairCase {
    PairOp op; ///< always send for Comch
    PairTest test;
    MemoryKind memory;
    bool waits_for_events; ///< instead of polling
    std::size_t size;
    std::uint32_t depth;           ///< for each connection; 1 in latency tests
    std::uint32_t threads = 1;     ///< on each side, each with its own connections and memory
    std::uint32_t connections = 1; ///< for each thread

    bool operator==(const PairCase &) const = default;
};

/// The benchmark that a device is compared with.
enum class RivalKind : std::uint8_t {
    ucx,      ///< for software devices
    perftest, ///< for devices of libibverbs
    socket    ///< a bare socket pair: no benchmark, but what a program would use instead
};

/// The result of one row. Times are nanoseconds; ours and the other benchmark's are measured in the same rounds, so
/// ratios are taken within a round.
struct PairResult {
    PairCase what;
    Summary job; ///< nanoseconds for a job, or for one way
    RivalKind rival_kind = RivalKind::ucx;
    std::optional<Summary> rival;          ///< the same for the other benchmark
    std::optional<Summary> ratio;          ///< the other benchmark's time divided by ours, in the same round
    std::string rival_test;                ///< the name of its test
    std::optional<Summary> latency_before; ///< one-way latency of a cache line before each round
    std::optional<Summary> latency_after;
    std::size_t repetitions = 0;        ///< jobs in a sample
    std::size_t discarded = 0;          ///< rounds that were discarded
    bool was_disturbed = false;         ///< too few rounds were undisturbed
    std::optional<Percentiles> latency; ///< of latency tests
    std::string failure;                ///< the reason why there is no result; empty if there is one
};

/// Returns the name of the job: "write"; "message" for Comch's control path.
[[nodiscard]] const char *job_of(const PairCase &what);
/// Returns the name of the memory; "-" for Comch's control path, where it makes no difference.
[[nodiscard]] const char *memory_of(const PairCase &what);
[[nodiscard]] const char *name_of(PairTest test);
[[nodiscard]] const char *name_of(RivalKind rival);
/// Formats a case: "shared write 8 B, rate, depth 32, polling".
[[nodiscard]] std::string text_of(const PairCase &what);

/// A limit for a job relative to the other benchmark, judged by the median of the ratios.
struct PairBar {
    const char *name;
    PairCase what;
    enum class Kind : std::uint8_t { time_at_most, speed_at_least } kind;
    double limit; ///< limit of our time or speed, divided by the other benchmark's
};

constexpr PairBar time_at_most(double limit, const char *name, const PairCase &what)
{
    return {name, what, PairBar::Kind::time_at_most, limit};
}

constexpr PairBar speed_at_least(double limit, const char *name, const PairCase &what)
{
    return {name, what, PairBar::Kind::speed_at_least, limit};
}

/// Returns whether a result meets a limit. A row without a ratio does not.
[[nodiscard]] bool is_met(const PairBar &bar, const PairResult &result);

/// Formats the results as JSON and as a table. @p bars is empty unless they were requested.
[[nodiscard]] Json to_json(std::span<const PairResult> results, std::span<const PairBar> bars);
/// Returns the points for --plot: of the jobs, and of the other benchmark.
[[nodiscard]] std::vector<PlotPoint> points_of(std::span<const PairResult> results);
[[nodiscard]] std::string to_text(std::span<const PairResult> results, std::span<const PairBar> bars);

} // namespace opendoca::tools
