// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench graph: the cost of running the nodes of a graph, measured in turns with other ways to run them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <doca_version.h>

#include "../common/options.hpp"
#include "../common/table.hpp"
#include "benchmark.hpp"
#include "dma_session.hpp"
#include "machine.hpp"
#include "option_values.hpp"
#include "statistics.hpp"

namespace opendoca::tools {

namespace {

constexpr double largest_share_of_tbb = 0.4; ///< the bar: our time divided by oneTBB's
constexpr std::uint32_t depth = 256; ///< submission depth of the context; more than the number of nodes of any graph

/// The command line.
struct GraphOptions {
    bool as_json = false;
    bool as_csv = false;
    bool compares = false;
    bool judges_bars = false;
    bool is_pinned = true;
    std::string ibdev;
    MeasureOptions measure;
};

/// The result of one shape.
struct GraphResult {
    GraphShape shape;
    Summary ours;                        ///< nanoseconds for each node
    Summary statically;                  ///< nanoseconds for each node of the list of ready nodes
    std::optional<Summary> tbb;          ///< nanoseconds for each node with oneTBB
    std::optional<Summary> share_of_tbb; ///< our time divided by oneTBB's, in the same round
    bool was_disturbed = false;

    /// Returns whether the bar applies: it is about the cost of nodes, not of copies.
    [[nodiscard]] bool has_bar() const { return !shape.copies; }
    [[nodiscard]] bool meets_bar() const
    {
        return share_of_tbb.has_value() && share_of_tbb->median <= largest_share_of_tbb;
    }
    /// Returns the cell of the table.
    [[nodiscard]] const char *verdict() const
    {
        return !has_bar() ? "" : !share_of_tbb ? "not measured" : meets_bar() ? "PASS" : "FAIL";
    }
    [[nodiscard]] const char *nodes() const { return shape.copies ? "64 B copies" : "callbacks, one copy"; }
};

/// Parses the command line. Returns an exit status if the program should end now.
std::optional<int> parse(std::span<char *const> arguments, GraphOptions &options)
{
    OptionParser parser("doca_bench graph",
                        "Times graph instances from submit to their end, in turns with the plainest code that "
                        "does the same.");
    parser.add_flag(0, "json", "print JSON", options.as_json);
    parser.add_flag(0, "csv", "print comma-separated values, a line for each row", options.as_csv);
    parser.add_flag(0, "compare", "measure oneTBB's flow graph on one thread as well", options.compares);
    parser.add_flag(0, "bars", "compare, and judge by the project's bar; status 3 if it is missed",
                    options.judges_bars);
    parser.add_value(0, "device", "IBDEV", "device that does the copies (see doca_caps)", text_into(options.ibdev));
    parser.add_value('t', "time", "SECONDS", "to spend on each row; default 0.3",
                     seconds_into(options.measure.seconds));
    parser.add_value(0, "rounds", "COUNT", "at least so many samples of each kind; default 7",
                     count_into(options.measure.min_rounds, std::size_t{1}, std::size_t{1'000'000}));
    parser.add_value('w', "wait", "SECONDS", "to wait at most, ten times a second, until no other process runs",
                     seconds_into(options.measure.patience));
    parser.add_value(0, "pin", "none", "do not stay on the first CPU",
                     [&](std::string_view text) -> std::optional<std::string> {
                         if (text != "none")
                             return "it takes the word none";
                         options.is_pinned = false;
                         return std::nullopt;
                     });
    if (const auto status = parser.parse(arguments, std::cout, std::cerr))
        return status;
    options.compares = options.compares || options.judges_bars;
    return std::nullopt;
}

/// Checks that each node runs as often as requested: by its counter, or by the bytes that it copies.
void verify(const GraphShape &shape, GraphRunner &runner)
{
    constexpr std::size_t times = 3;
    GraphWork &work = runner.work;
    const std::vector<std::uint64_t> before = work.counts;
    for (std::uint32_t node = 0; node != shape.num_nodes(); ++node)
        std::fill_n(work.dst(node), graph_copy_size, std::byte{0});
    runner.run(times);
    for (std::uint32_t node = 0; node != shape.num_nodes(); ++node) {
        const bool is_right = shape.is_copy(node) ? std::equal(work.src(), work.src() + graph_copy_size, work.dst(node))
                                                  : work.counts[node] == before[node] + times;
        if (!is_right)
            throw std::runtime_error(shape.name + ": node " + std::to_string(node) + " did not run as it should");
    }
}

/// Divides times of a graph by its number of nodes.
Summary for_each_node(std::vector<double> nanoseconds, const GraphShape &shape)
{
    for (double &value : nanoseconds)
        value /= shape.num_nodes();
    return summarize(std::move(nanoseconds));
}

/// Measures one shape. Each way runs in turns with the others on one thread.
GraphResult measure_shape(const GraphShape &shape, DmaSession &session, const GraphOptions &options)
{
    std::vector<std::unique_ptr<GraphRunner>> runners;
    runners.push_back(session.make_graph(shape));
    runners.push_back(make_static_graph(shape));
    if (options.compares)
        runners.push_back(make_tbb_graph(shape));
    std::vector<Variant *> variants;
    for (const auto &runner : runners) {
        if (runner == nullptr)
            continue; // built without oneTBB
        verify(shape, *runner);
        variants.push_back(runner.get());
    }
    const Measurement m = measure(variants, options.measure);
    GraphResult result{
        shape, for_each_node(m.nanoseconds[0], shape), for_each_node(m.nanoseconds[1], shape), {}, {}, m.was_disturbed};
    if (variants.size() > 2) {
        result.tbb = for_each_node(m.nanoseconds[2], shape);
        result.share_of_tbb =
            summarize_pairs(m.nanoseconds[0], m.nanoseconds[2], [](double ours, double tbb) { return ours / tbb; });
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
        table.add({result.shape.name, result.nodes(), decimal(result.ours.median, 1), decimal(result.ours.min, 1),
                   decimal(result.ours.max, 1), decimal(1e3 / result.ours.median, 0),
                   decimal(result.statically.median, 1), result.tbb ? decimal(result.tbb->median, 1) : "-",
                   result.share_of_tbb ? decimal(result.share_of_tbb->median, 3) : "-",
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
    const std::unique_ptr<DmaSession> session = make_dma_session(options.ibdev, depth);
    std::vector<GraphResult> results;
    for (const GraphShape &shape : graph_shapes())
        results.push_back(measure_shape(shape, *session, options));
    if (options.compares && !results.front().tbb)
        std::cerr << "oneTBB is left out: doca_bench was built without it\n";
    if (options.as_json || options.as_csv) {
        Json rows = Json::array();
        for (const GraphResult &result : results)
            rows.add(to_json(result, options.judges_bars));
        Json json = Json::object();
        json.set("benchmark", "graph")
            .set("version", doca_version_runtime())
            .set("device", session->ibdev())
            .set("machine", describe_machine())
            .set("rows", std::move(rows));
        std::cout << (options.as_csv ? json.csv("rows") : json.text());
    } else {
        std::cout << "opendoca " << doca_version_runtime() << ", device " << session->ibdev() << ", "
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
