// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "scaling_report.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <utility>

#include <sys/resource.h>

#include "../common/json.hpp"
#include "../common/table.hpp"
#include "benchmark.hpp"
#include "machine.hpp"
#include "option_values.hpp"
#include "statistics.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t num_rounds = 41; ///< samples of each comparison; odd, so that the median is one of them
constexpr double sample_seconds = 1e-3;

/// Formats with two digits after the decimal point.
std::string number(double value)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%.2f", value);
    return text;
}

void print_json(std::span<const ScalingRow> all, const ScalingNames &names, const std::string &ibdev,
                const char *version, const ScalingOptions &options)
{
    Json rows = Json::array();
    Json bars = Json::array();
    for (const ScalingRow &row : all) {
        Json json = Json::object();
        json.set("what", row.what).set("unit", row.unit).set("measured", row.measured);
        if (row.base != 0)
            json.set(names.base, row.base).set("ratio", row.judged);
        rows.add(std::move(json));
        if (!row.limit)
            continue;
        Json bar = Json::object();
        bar.set("bar", row.what)
            .set("kind", row.base != 0 ? "ratio at most" : "at most")
            .set("limit", *row.limit)
            .set("measured", row.judged)
            .set("passed", row.is_met());
        bars.add(std::move(bar));
    }
    Json json = Json::object();
    json.set("benchmark", names.benchmark)
        .set("version", version)
        .set("device", ibdev)
        .set(names.counted, options.count)
        .set("rows", std::move(rows))
        .set("machine", describe_machine());
    if (options.judges_bars)
        json.set("bars", std::move(bars));
    std::cout << (options.as_csv ? json.csv("rows") : json.text());
}

void print_text(std::span<const ScalingRow> rows, const ScalingNames &names, const std::string &ibdev,
                const char *version, const ScalingOptions &options)
{
    std::cout << "opendoca " << version << ", device " << ibdev << ", " << options.count << ' ' << names.heading << ", "
              << describe_machine_briefly() << "\n\n";
    Table table({{""},
                 {"measured", Align::right},
                 {""},
                 {names.base_heading, Align::right},
                 {"ratio", Align::right},
                 {"bar", Align::right},
                 {""}});
    for (const ScalingRow &row : rows) {
        const bool has_base = row.base != 0;
        const bool is_judged = options.judges_bars && row.limit;
        table.add({row.what, number(row.measured), row.unit, has_base ? number(row.base) : "",
                   has_base ? number(row.judged) : "", is_judged ? "<= " + number(*row.limit) : "",
                   !is_judged     ? ""
                   : row.is_met() ? "PASS"
                                  : "FAIL"});
    }
    std::cout << table.text();
}

} // namespace

std::optional<int> parse_scaling_options(const char *program, const char *summary, const char *count_help,
                                         std::size_t max_count, std::span<char *const> arguments,
                                         ScalingOptions &options)
{
    const std::vector<int> cpus = allowed_cpus();
    if (cpus.size() >= 2)
        options.cpus = {cpus[0], cpus[1]};
    OptionParser parser(program, summary);
    parser.add_flag(0, "json", "print JSON", options.as_json);
    parser.add_flag(0, "csv", "print comma-separated values, a line for each row", options.as_csv);
    parser.add_flag(0, "bars", "judge by the project's performance bars; status 3 if one fails", options.judges_bars);
    parser.add_value(0, "count", "COUNT", count_help, count_into<std::size_t>(options.count, 1, max_count));
    parser.add_value(0, "device", "IBDEV", "device (see doca_caps)", text_into(options.ibdev));
    parser.add_value(0, "pin", "A,B", "the first is this process's CPU; or none", cpus_into(options.cpus));
    return parser.parse(arguments, std::cout, std::cerr);
}

ScalingRow compare_scaling(const std::string &what, const Repeat &with_one, const Repeat &with_many,
                           std::optional<double> limit)
{
    const auto seconds = [](const Repeat &action, std::size_t count) {
        const double start = seconds_now();
        action(count);
        return seconds_now() - start;
    };
    // Enough repetitions for a sample: found by doubling.
    const auto enough = [&](const Repeat &action) {
        std::size_t count = 1;
        while (seconds(action, count) < sample_seconds)
            count *= 2;
        return count;
    };
    const std::size_t one_count = enough(with_one), many_count = enough(with_many);
    std::vector<double> one, many, ratios;
    for (std::size_t i = 0; i != num_rounds; ++i) {
        one.push_back(seconds(with_one, one_count) * 1e9 / static_cast<double>(one_count));
        many.push_back(seconds(with_many, many_count) * 1e9 / static_cast<double>(many_count));
        ratios.push_back(many.back() / one.back());
    }
    return {what, "ns", summarize(many).median, summarize(one).median, summarize(ratios).median, limit};
}

ScalingRow SetupTimes::row(const std::string &what, std::size_t early) const
{
    constexpr std::size_t window = 41;
    const std::span<const double> all(microseconds_);
    const std::size_t size = std::min(window, all.size());
    const std::size_t begin = std::min(std::max(early, size), all.size()) - size;
    const double last = std::ranges::min(all.last(size)), first = std::ranges::min(all.subspan(begin, size));
    return {what, "us", last, first, last / first, 1.3};
}

void announce(const ScalingRow &row)
{
    std::cerr << row.what << ": " << row.measured << ' ' << row.unit;
    if (row.base != 0)
        std::cerr << ", ratio " << row.judged;
    std::cerr << '\n';
}

int report_scaling(std::span<const ScalingRow> rows, const ScalingNames &names, const std::string &ibdev,
                   const char *version, const ScalingOptions &options)
{
    if (options.as_json || options.as_csv)
        print_json(rows, names, ibdev, version, options);
    else
        print_text(rows, names, ibdev, version, options);
    std::cout.flush();
    if (!std::cout.good())
        return benchmark_failed;
    return options.judges_bars && !std::ranges::all_of(rows, &ScalingRow::is_met) ? bar_missed : 0;
}

std::size_t raise_descriptor_limit()
{
    constexpr rlim_t most = 1'000'000;
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    const rlimit higher = {most, std::max(most, limit.rlim_max)};
    if (setrlimit(RLIMIT_NOFILE, &higher) == 0)
        return most;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_max;
}

} // namespace opendoca::tools
