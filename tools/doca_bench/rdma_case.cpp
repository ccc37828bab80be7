// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_case.hpp"

#include <algorithm>

#include "../common/table.hpp"
#include "dma_result.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t KiB = 1 << 10;
constexpr std::size_t MiB = 1 << 20;

constexpr RdmaCase latency(RdmaOp op, std::size_t size)
{
    return {op, RdmaTest::latency, MemoryKind::shared, false, size, 1};
}

constexpr RdmaCase rate(RdmaOp op, std::size_t size, MemoryKind memory = MemoryKind::shared)
{
    return {op, RdmaTest::rate, memory, false, size, size < MiB ? 32U : 4U};
}

constexpr RdmaBar time_at_most(double limit, const char *name, const RdmaCase &what)
{
    return {name, what, RdmaBar::Kind::time_at_most, limit};
}

constexpr RdmaBar speed_at_least(double limit, const char *name, const RdmaCase &what)
{
    return {name, what, RdmaBar::Kind::speed_at_least, limit};
}

constexpr RdmaCase on_device(RdmaOp op, RdmaTest test, std::size_t size, std::uint32_t depth)
{
    return {op, test, MemoryKind::ordinary, false, size, depth};
}

constexpr RdmaBar bars_against_perftest[] = {
    speed_at_least(0.95, "WRITE 64 B / ib_write_bw", on_device(RdmaOp::write, RdmaTest::rate, 64, 128)),
    speed_at_least(0.95, "WRITE 1 MiB / ib_write_bw", on_device(RdmaOp::write, RdmaTest::rate, MiB, 16)),
    speed_at_least(0.95, "READ 64 B / ib_read_bw", on_device(RdmaOp::read, RdmaTest::rate, 64, 128)),
    speed_at_least(0.95, "READ 1 MiB / ib_read_bw", on_device(RdmaOp::read, RdmaTest::rate, MiB, 16)),
    speed_at_least(0.9, "SEND/RECV 64 B, one way / ib_send_lat",
                   on_device(RdmaOp::send, RdmaTest::latency, 64, 1)),
};

constexpr RdmaBar bars_against_ucx[] = {
    time_at_most(2.0, "WRITE 8 B, depth 32 / ucp_put_bw", rate(RdmaOp::write, 8)),
    time_at_most(1.3, "WRITE 8 B, one way / ucp_put_lat", latency(RdmaOp::write, 8)),
    time_at_most(2.0, "READ 8 B, depth 32 / ucp_get", rate(RdmaOp::read, 8)),
    time_at_most(2.0, "FETCH_ADD, depth 32 / ucp_fadd", rate(RdmaOp::fetch_add, 8)),
    time_at_most(1.2, "SEND/RECV 8 B, one way / tag_lat", latency(RdmaOp::send, 8)),
    speed_at_least(0.95, "WRITE 1 MiB / ucp_put_bw", rate(RdmaOp::write, MiB)),
    speed_at_least(0.95, "READ 1 MiB / ucp_get", rate(RdmaOp::read, MiB)),
    speed_at_least(0.95, "SEND/RECV 1 MiB / tag_bw", rate(RdmaOp::send, MiB)),
    speed_at_least(1.0, "ordinary WRITE 8 B / cma put", rate(RdmaOp::write, 8, MemoryKind::ordinary)),
    speed_at_least(1.0, "ordinary WRITE 4 KiB / cma put", rate(RdmaOp::write, 4 * KiB, MemoryKind::ordinary)),
    speed_at_least(1.0, "ordinary WRITE 1 MiB / cma put", rate(RdmaOp::write, MiB, MemoryKind::ordinary)),
    speed_at_least(1.0, "ordinary READ 8 B / cma get", rate(RdmaOp::read, 8, MemoryKind::ordinary)),
    speed_at_least(1.0, "ordinary READ 4 KiB / cma get", rate(RdmaOp::read, 4 * KiB, MemoryKind::ordinary)),
    speed_at_least(1.0, "ordinary READ 1 MiB / cma get", rate(RdmaOp::read, MiB, MemoryKind::ordinary)),
    speed_at_least(1.0, "ordinary SEND/RECV 1 MiB / tag_bw with cma",
                   rate(RdmaOp::send, MiB, MemoryKind::ordinary)),
};

/// Time or speed, each as a part of the other's.
std::optional<double> measured(const RdmaBar &bar, const RdmaResult &result)
{
    if (!result.ratio || result.ratio->median <= 0)
        return std::nullopt;
    return bar.kind == RdmaBar::Kind::time_at_most ? 1 / result.ratio->median : result.ratio->median;
}

const RdmaResult *find(std::span<const RdmaResult> results, const RdmaCase &what)
{
    const auto place = std::ranges::find(results, what, &RdmaResult::what);
    return place == results.end() ? nullptr : &*place;
}

std::string notes_on(const RdmaResult &result)
{
    std::string notes;
    if (result.latency_before && result.latency_after)
        notes = "c2c " + decimal(result.latency_before->median, 0) + "/" +
                decimal(result.latency_after->median, 0) + " ns";
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

Json to_json(const RdmaResult &result)
{
    const std::string rival = name_of(result.rival_kind);
    Json json = Json::object();
    json.set("job", name_of(result.what.op))
        .set("test", name_of(result.what.test))
        .set("memory", name_of(result.what.memory))
        .set("waits_for", result.what.waits_for_events ? "events" : "polling")
        .set("bytes", result.what.size)
        .set("depth", result.what.depth)
        .set("threads", result.what.threads)
        .set("connections", result.what.connections);
    if (!result.failure.empty()) {
        json.set("failed", result.failure);
        return json;
    }
    json.set("ns", to_json(result.job))
        .set("latency_ns", result.latency ? to_json(*result.latency) : Json())
        .set("million_per_second", 1e3 / result.job.median)
        .set("gigabytes_per_second", static_cast<double>(result.what.size) / result.job.median)
        .set("samples", result.job.count)
        .set("repetitions", result.repetitions)
        .set("discarded", result.discarded)
        .set("disturbed", result.was_disturbed)
        .set("verified", true) // what is not as it should be ends the benchmark
        .set((rival + "_test").c_str(), result.rival ? Json(result.rival_test) : Json())
        .set((rival + "_ns").c_str(), to_json(result.rival))
        .set("ratio", to_json(result.ratio))
        .set("c2c_ns_before", to_json(result.latency_before))
        .set("c2c_ns_after", to_json(result.latency_after));
    return json;
}

} // namespace

const char *name_of(RdmaOp op)
{
    constexpr const char *names[] = {"write", "read", "send", "fetch_add"};
    return names[static_cast<std::size_t>(op)];
}

const char *name_of(RdmaTest test)
{
    return test == RdmaTest::latency ? "latency" : "rate";
}

const char *name_of(MemoryKind memory)
{
    return memory == MemoryKind::shared ? "shared" : "ordinary";
}

std::string text_of(const RdmaCase &what)
{
    return std::string(name_of(what.memory)) + " " + name_of(what.op) + " " + size_text(what.size) + ", " +
           name_of(what.test) + ", depth " + std::to_string(what.depth) +
           (what.waits_for_events ? ", events" : ", polling") +
           (what.threads > 1 ? ", " + std::to_string(what.threads) + " threads" : "") +
           (what.connections > 1 ? ", " + std::to_string(what.connections) + " connections" : "");
}

const char *name_of(RivalKind rival)
{
    return rival == RivalKind::ucx ? "ucx" : "perftest";
}

std::span<const RdmaBar> rdma_bars(RivalKind rival)
{
    if (rival == RivalKind::ucx)
        return bars_against_ucx;
    return bars_against_perftest;
}

bool is_met(const RdmaBar &bar, const RdmaResult &result)
{
    const std::optional<double> value = measured(bar, result);
    return value && (bar.kind == RdmaBar::Kind::time_at_most ? *value <= bar.limit : *value >= bar.limit);
}

Json to_json(std::span<const RdmaResult> results, std::span<const RdmaBar> bars)
{
    Json rows = Json::array();
    for (const RdmaResult &result : results)
        rows.add(to_json(result));
    Json json = Json::object();
    json.set("rows", std::move(rows));
    if (bars.empty())
        return json;
    Json judged = Json::array();
    for (const RdmaBar &bar : bars) {
        const RdmaResult *const result = find(results, bar.what);
        Json one = Json::object();
        one.set("bar", bar.name)
            .set("kind", bar.kind == RdmaBar::Kind::time_at_most ? "time at most" : "speed at least")
            .set("limit", bar.limit)
            .set("measured", result == nullptr ? Json() : Json(measured(bar, *result)))
            .set("passed", result == nullptr ? Json() : Json(is_met(bar, *result)));
        judged.add(std::move(one));
    }
    json.set("bars", std::move(judged));
    return json;
}

std::vector<PlotPoint> points_of(std::span<const RdmaResult> results)
{
    std::vector<PlotPoint> points;
    for (const RdmaResult &result : results) {
        if (!result.failure.empty())
            continue;
        const RdmaCase &what = result.what;
        const std::string curve = std::string(name_of(what.memory)) + " " + name_of(what.op) + ", " +
                                  name_of(what.test) + (what.waits_for_events ? ", events" : "");
        points.push_back({curve, what.size, result.job.median, result.latency, false});
        if (result.rival)
            points.push_back({result.rival_test + ", " + name_of(what.memory), what.size, result.rival->median,
                              std::nullopt, true});
    }
    return points;
}

std::string to_text(std::span<const RdmaResult> results, std::span<const RdmaBar> bars)
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
    for (const RdmaResult &result : results) {
        const bool is_there = result.failure.empty();
        const auto cell = [&](double value) { return is_there ? nanoseconds_text(value) : "-"; };
        const auto percentile = [&](double Percentiles::*member) {
            return result.latency ? nanoseconds_text((*result.latency).*member) : "-";
        };
        rows.add({name_of(result.what.memory), name_of(result.what.op), name_of(result.what.test),
                  result.what.waits_for_events ? "events" : "polling", size_text(result.what.size),
                  std::to_string(result.what.depth), is_there ? cell(result.job.median) : "failed",
                  cell(result.job.min), cell(result.job.max), percentile(&Percentiles::p50),
                  percentile(&Percentiles::p99), percentile(&Percentiles::p999),
                  is_there ? decimal(1e3 / result.job.median, 2) : "-",
                  is_there ? decimal(static_cast<double>(result.what.size) / result.job.median, 2) : "-",
                  result.rival ? nanoseconds_text(result.rival->median) : "-",
                  result.ratio ? decimal(result.ratio->median, 3) : "-", result.rival ? result.rival_test : "",
                  notes_on(result)});
    }
    std::string text = rows.text();
    if (bars.empty())
        return text;
    Table judged({{"bar"}, {"of the other's", Align::right}, {"measured", Align::right}, {""}, {"notes"}});
    for (const RdmaBar &bar : bars) {
        const RdmaResult *const result = find(results, bar.what);
        const std::optional<double> value = result == nullptr ? std::nullopt : measured(bar, *result);
        judged.add(
            {bar.name,
             (bar.kind == RdmaBar::Kind::time_at_most ? "time <= " : "speed >= ") + decimal(bar.limit, 2),
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
