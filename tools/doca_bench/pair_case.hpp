// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The cases of benchmarks between two processes: which jobs, on what memory, and what came out.
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
    latency, ///< WRITE and SEND: half a ping-pong; READ and FETCH_ADD: one job from submit to retrieved
    rate,    ///< so many jobs in flight as the depth says
    round_trip ///< of a message of Comch's control path
};

struct PairCase {
    PairOp op; ///< in Comch always send
    PairTest test;
    MemoryKind memory;
    bool waits_for_events; ///< instead of polling
    std::size_t size;
    std::uint32_t depth; ///< of a connection; 1 in latency tests
    std::uint32_t threads = 1; ///< on each side, each with connections and memory of its own
    std::uint32_t connections = 1; ///< of each thread

    bool operator==(const PairCase &) const = default;
};

/// The other benchmark that a device is compared with.
enum class RivalKind : std::uint8_t {
    ucx,      ///< software devices
    perftest, ///< those of libibverbs
    socket    ///< a bare socket pair, which is none, but is what a program would use otherwise
};

struct PairResult {
    PairCase what;
    Summary job; ///< nanoseconds of a job, or of one way
    RivalKind rival_kind = RivalKind::ucx;
    std::optional<Summary> rival;          ///< of the other benchmark, the same
    std::optional<Summary> ratio;          ///< of its time to ours, in the same round
    std::string rival_test;                ///< its name
    std::optional<Summary> latency_before; ///< one way of a cache line, before each round
    std::optional<Summary> latency_after;
    std::size_t repetitions = 0;
    std::size_t discarded = 0;
    bool was_disturbed = false; ///< too few rounds were left without those that were discarded
    std::optional<Percentiles> latency; ///< of latency tests
    std::string failure;                ///< why there is no result; empty when there is one
};

/// "write"; "message" of Comch's control path, whose memory is nobody's business: "-".
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
