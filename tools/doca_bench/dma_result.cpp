// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dma_result.hpp"

#include <algorithm>

#include "../common/table.hpp"

namespace opendoca::tools {

/// The cases of the bars, with depth 1.
namespace {

constexpr std::size_t KiB = 1 << 10;
constexpr std::size_t MiB = 1 << 20;

constexpr DmaCase local(std::size_t size, bool is_in_cache)
{
    return {Where::local, Direction::copy, size, 1, is_in_cache};
}

constexpr DmaCase shared(Direction direction, std::size_t size)
{
    return {Where::shared, direction, size, 1, true};
}

constexpr DmaCase ordinary(Direction direction, std::size_t size, bool is_in_cache = true)
{
    return {Where::ordinary, direction, size, 1, is_in_cache};
}

constexpr Bar at_least(double ratio, const char *name, const DmaCase &what)
{
    return {name, what, Bar::Kind::ratio_at_least, ratio};
}

/// The limits. docs/benchmarks.md explains each.
constexpr Bar bars_of_dma[] = {
    {"64 B job, ns above memcpy", local(64, true), Bar::Kind::nanoseconds_above_at_most, 8},
    at_least(0.97, "1 MiB in cache / memcpy", local(MiB, true)),
    at_least(0.95, "64 MiB out of cache / best copy", local(64 * MiB, false)),
    at_least(0.95, "shared memory, read 4 KiB / memcpy", shared(Direction::read, 4 * KiB)),
    at_least(0.95, "shared memory, write 4 KiB / memcpy", shared(Direction::write, 4 * KiB)),
    at_least(0.95, "ordinary memory, read 8 B / best call", ordinary(Direction::read, 8)),
    at_least(0.95, "ordinary memory, read 64 B / best call", ordinary(Direction::read, 64)),
    at_least(0.95, "ordinary memory, read 4 KiB / best call", ordinary(Direction::read, 4 * KiB)),
    at_least(0.95, "ordinary memory, read 64 KiB / best call", ordinary(Direction::read, 64 * KiB)),
    at_least(0.95, "ordinary memory, read 1 MiB / best call", ordinary(Direction::read, MiB)),
    at_least(0.95, "ordinary memory, read 16 MiB / best call", ordinary(Direction::read, 16 * MiB, false)),
    at_least(0.95, "ordinary memory, write 8 B / best call", ordinary(Direction::write, 8)),
    at_least(0.95, "ordinary memory, write 64 B / best call", ordinary(Direction::write, 64)),
    at_least(0.95, "ordinary memory, write 4 KiB / best call", ordinary(Direction::write, 4 * KiB)),
    at_least(0.95, "ordinary memory, write 64 KiB / best call", ordinary(Direction::write, 64 * KiB)),
    at_least(0.95, "ordinary memory, write 1 MiB / best call", ordinary(Direction::write, MiB)),
    at_least(0.95, "ordinary memory, write 16 MiB / best call", ordinary(Direction::write, 16 * MiB, false)),
};

/// Returns what a bar limits.
double measured(const Bar &bar, const DmaResult &result)
{
    return bar.kind == Bar::Kind::ratio_at_least ? result.ratio.median : result.difference.median;
}

/// Returns the result of a case, or null if it was not measured.
const DmaResult *find(std::span<const DmaResult> results, const DmaCase &what)
{
    const auto place = std::ranges::find(results, what, &DmaResult::what);
    return place == results.end() ? nullptr : &*place;
}

/// Formats the remarks of a row.
std::string notes_on(const DmaResult &result)
{
    std::string notes;
    if (result.latency_before && result.latency_after)
        notes = "c2c " + decimal(*result.latency_before, 0) + "/" + decimal(*result.latency_after, 0) + " ns";
    const auto add = [&](const std::string &note) { notes += (notes.empty() ? "" : ", ") + note; };
    if (result.resets)
        add("with reset");
    if (result.threads > 1)
        add(std::to_string(result.threads) + " threads");
    if (result.was_disturbed)
        add("disturbed by other processes");
    if (!result.failure.empty())
        add("failed: " + result.failure);
    return notes;
}

/// The keys are an interface for scripts.
Json to_json(const DmaResult &result)
{
    Json json = Json::object();
    json.set("where", name_of(result.what.where))
        .set("direction", name_of(result.what.direction))
        .set("bytes", result.what.size)
        .set("depth", result.what.depth)
        .set("in_cache", result.what.is_in_cache)
        .set("with_reset", result.resets)
        .set("threads", result.threads);
    // A failed row has nothing but its case and the reason.
    if (!result.failure.empty()) {
        json.set("failed", result.failure);
        return json;
    }
    Json baselines = Json::array();
    for (const Baseline &baseline : result.baselines) {
        Json one = Json::object();
        one.set("name", baseline.name).set("ns", to_json(baseline.nanoseconds));
        baselines.add(std::move(one));
    }
    json.set("job_ns", to_json(result.job))
        .set("latency_ns", result.latency ? to_json(*result.latency) : Json())
        // Bytes per nanosecond are gigabytes (10^9 bytes) per second.
        .set("gigabytes_per_second", static_cast<double>(result.what.size) / result.job.median)
        .set("baselines", std::move(baselines))
        .set("compared_to", result.compared_to)
        .set("ratio", to_json(result.ratio))
        .set("difference_ns", to_json(result.difference))
        .set("samples", result.job.count)
        .set("repetitions", result.repetitions)
        .set("discarded", result.discarded)
        .set("disturbed", result.was_disturbed)
        .set("verified", true) // always true: wrong data ends the benchmark
        .set("c2c_ns_before", result.latency_before)
        .set("c2c_ns_after", result.latency_after);
    return json;
}

} // namespace

const char *name_of(Where where)
{
    switch (where) {
    case Where::local:
        return "local";
    case Where::shared:
        return "shared";
    case Where::ordinary:
        return "ordinary";
    }
    return "?";
}

const char *name_of(Direction direction)
{
    switch (direction) {
    case Direction::copy:
        return "copy";
    case Direction::read:
        return "read";
    case Direction::write:
        return "write";
    }
    return "?";
}

std::string size_text(std::size_t size)
{
    if (size >= MiB && size % MiB == 0)
        return std::to_string(size / MiB) + " MiB";
    if (size >= KiB && size % KiB == 0)
        return std::to_string(size / KiB) + " KiB";
    return std::to_string(size) + " B";
}

std::string text_of(const DmaCase &what)
{
    return std::string(name_of(what.where)) + " " + name_of(what.direction) + " " + size_text(what.size) + ", depth " +
           std::to_string(what.depth) + (what.is_in_cache ? ", in cache" : ", out of cache");
}

std::span<const Bar> dma_bars()
{
    return bars_of_dma;
}

bool is_met(const Bar &bar, const DmaResult &result)
{
    if (!result.failure.empty())
        return false;
    const double value = measured(bar, result);
    return bar.kind == Bar::Kind::ratio_at_least ? value >= bar.limit : value <= bar.limit;
}

Json to_json(std::span<const DmaResult> results, std::span<const Bar> bars)
{
    Json rows = Json::array();
    for (const DmaResult &result : results)
        rows.add(to_json(result));
    Json json = Json::object();
    json.set("rows", std::move(rows));
    if (bars.empty())
        return json;
    Json judged = Json::array();
    for (const Bar &bar : bars) {
        // A bar has no result if the device could not run its case.
        const DmaResult *const result = find(results, bar.what);
        Json one = Json::object();
        one.set("bar", bar.name)
            .set("kind", bar.kind == Bar::Kind::ratio_at_least ? "ratio at least" : "nanoseconds above at most")
            .set("limit", bar.limit)
            .set("measured", result == nullptr ? Json() : Json(measured(bar, *result)))
            .set("passed", result == nullptr ? Json() : Json(is_met(bar, *result)));
        judged.add(std::move(one));
    }
    json.set("bars", std::move(judged));
    return json;
}

std::vector<PlotPoint> points_of(std::span<const DmaResult> results)
{
    std::vector<PlotPoint> points;
    for (const DmaResult &result : results) {
        if (!result.failure.empty())
            continue;
        const DmaCase &what = result.what;
        // Equal names are one curve over the sizes.
        const std::string curve = std::string(name_of(what.where)) + " " + name_of(what.direction) + ", depth " +
                                  std::to_string(what.depth) + (what.is_in_cache ? ", in cache" : ", out of cache");
        points.push_back({curve, what.size, result.job.median, result.latency, false});
        // Baselines do not depend on the depth, so they are drawn once.
        const auto baseline = std::ranges::find(result.baselines, result.compared_to, &Baseline::name);
        if (what.depth == 1)
            points.push_back({result.compared_to + ", " + name_of(what.where) + " " + name_of(what.direction) +
                                  (what.is_in_cache ? "" : ", out of cache"),
                              what.size, baseline->nanoseconds.median, std::nullopt, true});
    }
    return points;
}

std::string to_text(std::span<const DmaResult> results, std::span<const Bar> bars)
{
    Table rows({{"memory"},
                {"job"},
                {"size", Align::right},
                {"depth", Align::right},
                {"cache"},
                {"ns", Align::right},
                {"min", Align::right},
                {"max", Align::right},
                {"p50", Align::right},
                {"p99", Align::right},
                {"p99.9", Align::right},
                {"GB/s", Align::right},
                {"baseline ns", Align::right},
                {"of"},
                {"ratio", Align::right},
                {"notes"}});
    for (const DmaResult &result : results) {
        // A failed row has a reason in the notes, and no numbers.
        const bool has_result = result.failure.empty();
        const auto baseline = std::ranges::find(result.baselines, result.compared_to, &Baseline::name);
        const auto cell = [&](double value) { return has_result ? nanoseconds_text(value) : "-"; };
        const auto percentile = [&](double Percentiles::*member) {
            return result.latency ? nanoseconds_text((*result.latency).*member) : "-";
        };
        rows.add({name_of(result.what.where), name_of(result.what.direction), size_text(result.what.size),
                  std::to_string(result.what.depth), result.what.is_in_cache ? "in" : "out",
                  has_result ? cell(result.job.median) : "failed", cell(result.job.min), cell(result.job.max),
                  percentile(&Percentiles::p50), percentile(&Percentiles::p99), percentile(&Percentiles::p999),
                  has_result ? decimal(static_cast<double>(result.what.size) / result.job.median, 2) : "-",
                  has_result ? nanoseconds_text(baseline->nanoseconds.median) : "-", has_result ? baseline->name : "",
                  has_result ? decimal(result.ratio.median, 3) : "-", notes_on(result)});
    }
    std::string text = rows.text();
    if (bars.empty())
        return text;
    Table judged({{"bar"}, {"limit", Align::right}, {"measured", Align::right}, {""}, {"notes"}});
    for (const Bar &bar : bars) {
        const DmaResult *const result = find(results, bar.what);
        const bool is_ratio = bar.kind == Bar::Kind::ratio_at_least;
        judged.add({bar.name, (is_ratio ? ">= " : "<= ") + decimal(bar.limit, is_ratio ? 2 : 0),
                    result == nullptr ? "-" : decimal(measured(bar, *result), is_ratio ? 3 : 1),
                    result == nullptr      ? "not measured"
                    : is_met(bar, *result) ? "PASS"
                                           : "FAIL",
                    result == nullptr ? "" : notes_on(*result)});
    }
    text += '\n';
    text += judged.text();
    return text;
}

} // namespace opendoca::tools
