// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "pair_case.hpp"

#include <algorithm>

#include "../common/table.hpp"
#include "dma_result.hpp"

namespace opendoca::tools {

namespace {

/// Returns what a bar limits: our time or our speed, divided by the other benchmark's.
std::optional<double> measured(const PairBar &bar, const PairResult &result)
{
    // The ratio is one of times, the inverse of one of speeds.
    if (!result.ratio || result.ratio->median <= 0)
        return std::nullopt;
    return bar.kind == PairBar::Kind::time_at_most ? 1 / result.ratio->median : result.ratio->median;
}

/// Returns the result of a case, or null if it was not measured.
const PairResult *find(std::span<const PairResult> results, const PairCase &what)
{
    const auto place = std::ranges::find(results, what, &PairResult::what);
    return place == results.end() ? nullptr : &*place;
}

/// Formats the remarks of a row.
std::string notes_on(const PairResult &result)
{
    std::string notes;
    if (result.latency_before && result.latency_after)
        notes =
            "c2c " + decimal(result.latency_before->median, 0) + "/" + decimal(result.latency_after->median, 0) + " ns";
    const auto add = [&](const std::string &note) { notes += (notes.empty() ? "" : ", ") + note; };
    if (result.what.threads > 1)
        add(std::to_string(result.what.threads) + " threads");
    if (result.what.connections > 1)
        add(std::to_string(result.what.connections) + " connections" + (result.what.threads > 1 ? " each" : ""));
    if (result.was_disturbed)
        add("disturbed");
    if (!result.failure.empty())
        add("failed: " + result.failure);
    return notes;
}

/// The keys are an interface for scripts.
Json to_json(const PairResult &result)
{
    const std::string rival = name_of(result.rival_kind);
    Json json = Json::object();
    json.set("job", job_of(result.what))
        .set("test", name_of(result.what.test))
        .set("memory", memory_of(result.what))
        .set("waits_for", result.what.waits_for_events ? "events" : "polling")
        .set("bytes", result.what.size)
        .set("depth", result.what.depth)
        .set("threads", result.what.threads)
        .set("connections", result.what.connections);
    // A failed row has nothing but its case and the reason.
    if (!result.failure.empty()) {
        json.set("failed", result.failure);
        return json;
    }
    json.set("ns", to_json(result.job))
        .set("latency_ns", result.latency ? to_json(*result.latency) : Json())
        // From nanoseconds of one job: millions of jobs, and gigabytes (10^9 bytes), per second.
        .set("million_per_second", 1e3 / result.job.median)
        .set("gigabytes_per_second", static_cast<double>(result.what.size) / result.job.median)
        .set("samples", result.job.count)
        .set("repetitions", result.repetitions)
        .set("discarded", result.discarded)
        .set("disturbed", result.was_disturbed)
        .set("verified", true) // always true: wrong data ends the benchmark
        // The keys contain the other benchmark's name: "ucx_ns".
        .set((rival + "_test").c_str(), result.rival ? Json(result.rival_test) : Json())
        .set((rival + "_ns").c_str(), to_json(result.rival))
        .set("ratio", to_json(result.ratio))
        .set("c2c_ns_before", to_json(result.latency_before))
        .set("c2c_ns_after", to_json(result.latency_after));
    return json;
}

} // namespace

const char *job_of(const PairCase &what)
{
    // In the order of the enumerators.
    constexpr const char *names[] = {"write", "read", "send", "fetch_add"};
    return what.test == PairTest::round_trip ? "message" : names[static_cast<std::size_t>(what.op)];
}

const char *name_of(PairTest test)
{
    constexpr const char *names[] = {"latency", "rate", "round trip"};
    return names[static_cast<std::size_t>(test)];
}

const char *memory_of(const PairCase &what)
{
    return what.test == PairTest::round_trip ? "-" : what.memory == MemoryKind::shared ? "shared" : "ordinary";
}

std::string text_of(const PairCase &what)
{
    return (what.test == PairTest::round_trip ? "" : std::string(memory_of(what)) + " ") + job_of(what) + " " +
           size_text(what.size) + ", " + name_of(what.test) + ", depth " + std::to_string(what.depth) +
           (what.waits_for_events ? ", events" : ", polling") +
           (what.threads > 1 ? ", " + std::to_string(what.threads) + " threads" : "") +
           (what.connections > 1 ? ", " + std::to_string(what.connections) + " connections" : "");
}

const char *name_of(RivalKind rival)
{
    constexpr const char *names[] = {"ucx", "perftest", "socket"};
    return names[static_cast<std::size_t>(rival)];
}

bool is_met(const PairBar &bar, const PairResult &result)
{
    const std::optional<double> value = measured(bar, result);
    return value && (bar.kind == PairBar::Kind::time_at_most ? *value <= bar.limit : *value >= bar.limit);
}

Json to_json(std::span<const PairResult> results, std::span<const PairBar> bars)
{
    Json rows = Json::array();
    for (const PairResult &result : results)
        rows.add(to_json(result));
    Json json = Json::object();
    json.set("rows", std::move(rows));
    if (bars.empty())
        return json;
    Json judged = Json::array();
    for (const PairBar &bar : bars) {
        const PairResult *const result = find(results, bar.what);
        Json one = Json::object();
        one.set("bar", bar.name)
            .set("kind", bar.kind == PairBar::Kind::time_at_most ? "time at most" : "speed at least")
            .set("limit", bar.limit)
            .set("measured", result == nullptr ? Json() : Json(measured(bar, *result)))
            .set("passed", result == nullptr ? Json() : Json(is_met(bar, *result)));
        judged.add(std::move(one));
    }
    json.set("bars", std::move(judged));
    return json;
}

std::vector<PlotPoint> points_of(std::span<const PairResult> results)
{
    std::vector<PlotPoint> points;
    for (const PairResult &result : results) {
        if (!result.failure.empty())
            continue;
        const PairCase &what = result.what;
        // Equal names are one curve over the sizes.
        const std::string of_memory = what.test == PairTest::round_trip ? "" : std::string(memory_of(what)) + " ";
        const std::string curve =
            of_memory + job_of(what) + ", " + name_of(what.test) + (what.waits_for_events ? ", events" : "");
        points.push_back({curve, what.size, result.job.median, result.latency, false});
        if (result.rival)
            points.push_back({result.rival_test + (of_memory.empty() ? "" : std::string(", ") + memory_of(what)),
                              what.size, result.rival->median, std::nullopt, true});
    }
    return points;
}

std::string to_text(std::span<const PairResult> results, std::span<const PairBar> bars)
{
    Table rows({{"memory"},
                {"job"},
                {"test"},
                {"waits for"},
                {"size", Align::right},
                {"depth", Align::right},
                {"ns", Align::right},
                {"min", Align::right},
                {"max", Align::right},
                {"p50", Align::right},
                {"p99", Align::right},
                {"p99.9", Align::right},
                {"M/s", Align::right},
                {"GB/s", Align::right},
                {"other's ns", Align::right},
                {"ratio", Align::right},
                {"of"},
                {"notes"}});
    for (const PairResult &result : results) {
        const bool has_result = result.failure.empty();
        const auto cell = [&](double value) { return has_result ? nanoseconds_text(value) : "-"; };
        const auto percentile = [&](double Percentiles::*member) {
            return result.latency ? nanoseconds_text((*result.latency).*member) : "-";
        };
        rows.add({memory_of(result.what), job_of(result.what), name_of(result.what.test),
                  result.what.waits_for_events ? "events" : "polling", size_text(result.what.size),
                  std::to_string(result.what.depth), has_result ? cell(result.job.median) : "failed",
                  cell(result.job.min), cell(result.job.max), percentile(&Percentiles::p50),
                  percentile(&Percentiles::p99), percentile(&Percentiles::p999),
                  has_result ? decimal(1e3 / result.job.median, 2) : "-",
                  has_result ? decimal(static_cast<double>(result.what.size) / result.job.median, 2) : "-",
                  result.rival ? nanoseconds_text(result.rival->median) : "-",
                  result.ratio ? decimal(result.ratio->median, 3) : "-", result.rival ? result.rival_test : "",
                  notes_on(result)});
    }
    std::string text = rows.text();
    if (bars.empty())
        return text;
    Table judged({{"bar"}, {"of the other's", Align::right}, {"measured", Align::right}, {""}, {"notes"}});
    for (const PairBar &bar : bars) {
        const PairResult *const result = find(results, bar.what);
        const std::optional<double> value = result == nullptr ? std::nullopt : measured(bar, *result);
        judged.add({bar.name,
                    (bar.kind == PairBar::Kind::time_at_most ? "time <= " : "speed >= ") + decimal(bar.limit, 2),
                    value ? decimal(*value, 3) : "-",
                    !value                 ? "not measured"
                    : is_met(bar, *result) ? "PASS"
                                           : "FAIL",
                    result == nullptr ? "" : notes_on(*result)});
    }
    text += '\n';
    text += judged.text();
    return text;
}

} // namespace opendoca::tools
