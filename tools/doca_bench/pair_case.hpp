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

enum class PairOp : std::uint32_t { write, read, send, fetch_add };

enum class PairTest : std::uint32_t {
    latency,   ///< WRITE and SEND: half of a ping-pong; READ and FETCH_ADD: one job from submit until retrieved
    rate,      ///< with the given depth of jobs in flight
    round_trip ///< of a message of Comch's control path
};

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

struct PairResult {
    PairCase what;
    Summary job; ///< nanoseconds for a job, or for one way
    RivalKind rival_kind = RivalKind::ucx;
    std::optional<Summary> rival;          ///< the same for the other benchmark
    std::optional<Summary> ratio;          ///< the other benchmark's time divided by ours, in the same round
    std::string rival_test;                ///< the name of its test
    std::optional<Summary> latency_before; ///< one-way latency of a cache line before each round
    std::optional<Summary> latency_after;
    std::size_t repetitions = 0;
    std::size_t discarded = 0;
    bool was_disturbed = false;         ///< too few rounds were undisturbed
    std::optional<Percentiles> latency; ///< of latency tests
    std::string failure;                ///< the reason why there is no result; empty if there is one
};

/// Returns the name: "write"; "message" for Comch's control path, which has no memory ("-").
[[nodiscard]] const char *job_of(const PairCase &what);
[[nodiscard]] const char *memory_of(const PairCase &what);
[[nodiscard]] const char *name_of(PairTest test);
[[nodiscard]] const char *name_of(RivalKind rival);
/// "shared write 8 B, rate, depth 32, polling".
[[nodiscard]] std::string text_of(const PairCase &what);

/// What jobs must hold against the other benchmark.
struct PairBar {
    const char *name;
    PairCase what;
    enum class Kind : std::uint8_t { time_at_most, speed_at_least } kind;
    double limit; ///< of the other's
};

constexpr PairBar time_at_most(double limit, const char *name, const PairCase &what)
{
    return {name, what, PairBar::Kind::time_at_most, limit};
}

constexpr PairBar speed_at_least(double limit, const char *name, const PairCase &what)
{
    return {name, what, PairBar::Kind::speed_at_least, limit};
}

[[nodiscard]] bool is_met(const PairBar &bar, const PairResult &result);

/// For --json and for people. @p bars is empty unless they were asked for.
[[nodiscard]] Json to_json(std::span<const PairResult> results, std::span<const PairBar> bars);
/// For --plot: jobs, and what they are compared to.
[[nodiscard]] std::vector<PlotPoint> points_of(std::span<const PairResult> results);
[[nodiscard]] std::string to_text(std::span<const PairResult> results, std::span<const PairBar> bars);

} // namespace opendoca::tools
