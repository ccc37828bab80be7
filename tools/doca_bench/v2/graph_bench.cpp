// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench graph: what it costs to run the nodes of a graph, next to other ways to run them, in turns.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <optional>

#include <doca_version.h>

#include "../../common/options.hpp"
#include "../../common/table.hpp"
#include "../benchmark.hpp"
#include "dma_jobs.hpp"
#include "graph_shape.hpp"
#include "../machine.hpp"
#include "../statistics.hpp"

namespace opendoca::tools {

namespace {

constexpr double largest_share_of_tbb = 0.4;
constexpr std::uint32_t workq_depth = 256;

struct GraphOptions {
    bool as_json = false;
    bool as_csv = false;
    bool compares = false;
    bool judges_bars = false;
    bool is_pinned = true;
    std::string ibdev;
    MeasureOptions measure;
};

struct GraphResult {
    GraphShape shape;
    Summary ours; ///< nanoseconds of a node
    Summary statically;
    std::optional<Summary> tbb;
    std::optional<Summary> share_of_tbb; ///< of its time, in the same round
    bool was_disturbed = false;

    /// The bar is for the cost of the nodes, not that of copies.
    [[nodiscard]] bool has_bar() const { return !shape.copies; }
    [[nodiscard]] bool meets_bar() const
    {
        return share_of_tbb.has_value() && share_of_tbb->median <= largest_share_of_tbb;
    }
    [[nodiscard]] const char *verdict() const
    {
        return !has_bar() ? "" : !share_of_tbb ? "not measured" : meets_bar() ? "PASS" : "FAIL";
    }
    [[nodiscard]] const char *nodes() const { return shape.copies ? "64 B copies" : "callbacks, one copy"; }
};

OptionParser::TakeValue number_into(double &number, double limit)
{
    return [&number, limit](std::string_view text) -> std::optional<std::string> {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= limit))
            return "must be a number from 0 to " + std::to_string(static_cast<long>(limit));
        number = value;
        return std::nullopt;
    };
}

std::optional<int> parse(std::span<char *const> arguments, GraphOptions &options)
{
    double rounds = 7;
    OptionParser parser(
        "doca_bench graph",
        "Times graph instances from submit to retrieved, in turns with the plainest code that "
        "does the same.");
    parser.add_flag(0, "json", "print JSON", options.as_json);
    parser.add_flag(0, "csv", "print comma-separated values, a line for each row", options.as_csv);
    parser.add_flag(0, "compare", "measure oneTBB's flow graph on one thread as well", options.compares);
    parser.add_flag(0, "bars", "compare, and judge by the project's bar; status 3 if it is missed",
                    options.judges_bars);
    parser.add_value(0, "device", "IBDEV", "device that does the copies (see doca_caps)",
                     [&](std::string_view text) -> std::optional<std::string> {
                         options.ibdev = text;
                         return std::nullopt;
                     });
    parser.add_value('t', "time", "SECONDS", "to spend on each row; default 0.3",
                     number_into(options.measure.seconds, 3600));
    parser.add_value(0, "rounds", "COUNT", "at least so many samples of each kind; default 7",
                     number_into(rounds, 1'000'000));
    parser.add_value('w', "wait", "SECONDS",
                     "to wait at most, ten times a second, until no other process runs",
                     number_into(options.measure.patience, 3600));
    parser.add_value(0, "pin", "none", "do not stay on the first CPU",
                     [&](std::string_view text) -> std::optional<std::string> {
                         if (text != "none")
                             return "it takes the word none";
                         options.is_pinned = false;
                         return std::nullopt;
                     });
    if (const auto status = parser.parse(arguments, std::cout, std::cerr))
        return status;
    options.measure.min_rounds = std::max<std::size_t>(1, static_cast<std::size_t>(rounds));
    options.compares = options.compares || options.judges_bars;
    return std::nullopt;
}

/// That each node has done its part as often as it was told.
void verify(const GraphShape &shape, GraphRunner &runner)
{
    constexpr std::size_t times = 3;
    GraphWork &work = runner.work;
    const std::vector<std::uint64_t> before = work.counts;
    for (std::uint32_t node = 0; node != shape.num_nodes(); ++node)
        std::fill_n(work.dst(node), graph_copy_size, std::byte{0});
    runner.run(times);
    for (std::uint32_t node = 0; node != shape.num_nodes(); ++node) {
        const bool is_right = shape.is_copy(node)
                                  ? std::equal(work.src(), work.src() + graph_copy_size, work.dst(node))
                                  : work.counts[node] == before[node] + times;
        if (!is_right)
            throw std::runtime_error(shape.name + ": node " + std::to_string(node) +
                                     " did not run as it should");
    }
}

Summary for_each_node(std::vector<double> nanoseconds, const GraphShape &shape)
{
    for (double &value : nanoseconds)
        value /= shape.num_nodes();
    return summarize(std::move(nanoseconds));
}

GraphResult measure_shape(const GraphShape &shape, const DmaJobs &session, const GraphOptions &options)
{
    std::vector<std::unique_ptr<GraphRunner>> runners;
    runners.push_back(make_doca_graph(shape, session));
    runners.push_back(make_static_graph(shape));
    if (options.compares)
        runners.push_back(make_tbb_graph(shape));
    std::vector<Variant *> variants;
    for (const auto &runner : runners) {
        if (runner == nullptr)
            continue; // built without
        verify(shape, *runner);
        variants.push_back(runner.get());
    }
    const Measurement m = measure(variants, options.measure);
    GraphResult result{shape,
                       for_each_node(m.nanoseconds[0], shape),
                       for_each_node(m.nanoseconds[1], shape),
                       {},
                       {},
                       m.was_disturbed};
    if (variants.size() > 2) {
        result.tbb = for_each_node(m.nanoseconds[2], shape);
        result.share_of_tbb = summarize_pairs(m.nanoseconds[0], m.nanoseconds[2],
                                              [](double ours, double tbb) { return ours / tbb; });
    }
    return result;
}

Json to_json(const GraphResult &result, bool judges_bars)
{
    Json json = Json::object();
    json.set("shape", result.shape.name)
        .set("nodes", result.shape.num_nodes())
        .set("kind", result.shape.copies ? "copies" : "callbacks")
        .set("node_ns", to_json(result.ours))
        .set("nodes_per_second", 1e9 / result.ours.median)
        .set("static_ns", to_json(result.statically))
        .set("tbb_ns", result.tbb ? to_json(*result.tbb) : Json())
        .set("share_of_tbb", result.share_of_tbb ? to_json(*result.share_of_tbb) : Json())
        .set("disturbed", result.was_disturbed);
    if (judges_bars && result.has_bar())
        json.set("limit", largest_share_of_tbb).set("passed", result.meets_bar());
    return json;
}

std::string number(double value, const char *format)
{
    char text[32];
    std::snprintf(text, sizeof(text), format, value);
    return text;
}

std::string to_text(const std::vector<GraphResult> &results, bool judges_bars)
{
    Table table({{"graph"},
                 {"nodes"},
                 {"ns/node", Align::right},
                 {"min", Align::right},
                 {"max", Align::right},
                 {"M nodes/s", Align::right},
                 {"static", Align::right},
                 {"oneTBB", Align::right},
                 {"share", Align::right},
                 {judges_bars ? "<= 0.4" : ""},
                 {"notes"}});
    for (const GraphResult &result : results)
        table.add({result.shape.name, result.nodes(), number(result.ours.median, "%.1f"),
                   number(result.ours.min, "%.1f"), number(result.ours.max, "%.1f"),
                   number(1e3 / result.ours.median, "%.0f"), number(result.statically.median, "%.1f"),
                   result.tbb ? number(result.tbb->median, "%.1f") : "-",
                   result.share_of_tbb ? number(result.share_of_tbb->median, "%.3f") : "-",
                   judges_bars ? result.verdict() : "", result.was_disturbed ? "disturbed" : ""});
    return table.text();
}

} // namespace

int run_graph_benchmark(std::span<char *const> arguments)
{
    GraphOptions options;
    if (const auto status = parse(arguments, options))
        return *status;
    if (options.is_pinned)
        pin_to(allowed_cpus().front());
    const DmaJobs session(options.ibdev, workq_depth);
    std::vector<GraphResult> results;
    for (const GraphShape &shape : graph_shapes())
        results.push_back(measure_shape(shape, session, options));
    if (options.compares && !results.front().tbb)
        std::cerr << "oneTBB is left out: doca_bench was built without it\n";
    if (options.as_json || options.as_csv) {
        Json rows = Json::array();
        for (const GraphResult &result : results)
            rows.add(to_json(result, options.judges_bars));
        Json json = Json::object();
        json.set("benchmark", "graph")
            .set("version", doca_version_runtime())
            .set("device", session.ibdev())
            .set("machine", describe_machine())
            .set("rows", std::move(rows));
        std::cout << (options.as_csv ? json.csv("rows") : json.text());
    } else {
        std::cout << "opendoca " << doca_version_runtime() << ", device " << session.ibdev() << ", "
                  << describe_machine_briefly() << "\n\n"
                  << to_text(results, options.judges_bars);
    }
    std::cout.flush();
    if (!std::cout.good())
        return benchmark_failed;
    const auto misses = [](const GraphResult &result) { return result.has_bar() && !result.meets_bar(); };
    return options.judges_bars && std::ranges::any_of(results, misses) ? bar_missed : 0;
}

} // namespace opendoca::tools
