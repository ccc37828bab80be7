// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench cc: round trips of messages by Comm Channel and by bare socket pairs, measured in turns.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <doca_version.h>

#include "../../common/options.hpp"
#include "../../common/table.hpp"
#include "../benchmark.hpp"
#include "../dma_result.hpp"
#include "../machine.hpp"
#include "../measure.hpp"
#include "../statistics.hpp"
#include "cc_peer.hpp"

namespace opendoca::tools {

namespace {

using Complaint = std::optional<std::string>;

constexpr std::size_t channel_bar_size = 8; ///< bytes of the bar's message
constexpr double channel_bar_ratio = 1.3;   ///< largest ratio to the faster socket pair

/// The command line.
struct CcOptions {
    bool as_json = false;
    bool as_csv = false;
    bool judges_bars = false;
    std::vector<std::size_t> sizes = {8, 4080};
    std::size_t rounds = 15;
    std::size_t trips = 2000; ///< round trips in a sample
    std::vector<int> cpus;
};

/// The result of one message size: nanoseconds of a round trip by each way.
struct CcRow {
    std::size_t size;
    std::map<CcWay, Summary> nanoseconds;
    std::map<CcWay, Percentiles> latency; ///< of single round trips
    Summary ratio; ///< the polled channel's time divided by the faster socket pair's, in the same round
};

/// Parses a number between two limits.
template <typename Number>
std::optional<Number> number_from(std::string_view text, Number least, Number most)
{
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    return is_number && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

/// Splits a text at commas.
std::vector<std::string_view> words_of(std::string_view text)
{
    std::vector<std::string_view> words;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find(',', start), text.size());
        words.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return words;
}

/// Returns a parser for a count.
OptionParser::TakeValue positive_count_into(std::size_t &count)
{
    return [&count](std::string_view text) -> Complaint {
        const auto value = number_from<std::size_t>(text, 1, 10'000'000);
        if (!value)
            return "must be a number from 1 to 10000000";
        count = *value;
        return std::nullopt;
    };
}

/// Parses the command line. Returns an exit status if the program should end now.
std::optional<int> parse_options(std::span<char *const> arguments, CcOptions &options)
{
    const std::vector<int> allowed = allowed_cpus();
    if (allowed.size() >= 2)
        options.cpus = {allowed[0], allowed[1]};
    OptionParser parser("doca_bench cc",
                        "Times round trips of messages between two processes, in turns with bare socket pairs.");
    parser.add_flag(0, "json", "print JSON", options.as_json);
    parser.add_flag(0, "csv", "print comma-separated values, a line for each row", options.as_csv);
    parser.add_flag(0, "bars", "measure what the project's performance bar asks for, and judge; status 3 if it fails",
                    options.judges_bars);
    parser.add_value(0, "sizes", "LIST", "bytes of a message, at most 4080; default 8,4080",
                     [&](std::string_view text) -> Complaint {
                         options.sizes.clear();
                         for (const std::string_view word : words_of(text)) {
                             const auto size = number_from<std::size_t>(word, 1, cc_max_size);
                             if (!size)
                                 return "each must be 1 to " + std::to_string(cc_max_size);
                             options.sizes.push_back(*size);
                         }
                         return std::nullopt;
                     });
    parser.add_value(0, "rounds", "COUNT", "samples of each kind; default 15", positive_count_into(options.rounds));
    parser.add_value(0, "trips", "COUNT", "round trips in a sample; default 2000", positive_count_into(options.trips));
    parser.add_value(
        0, "pin", "A,B", "CPU of this process and of the other one, or none", [&](std::string_view text) -> Complaint {
            options.cpus.clear();
            if (text == "none")
                return std::nullopt;
            for (const std::string_view word : words_of(text)) {
                const auto cpu = number_from<int>(word, 0, 1 << 20);
                if (!cpu || !std::ranges::binary_search(allowed, *cpu))
                    return "CPU '" + std::string(word) + "' is not one that this process may use";
                options.cpus.push_back(*cpu);
            }
            return options.cpus.size() == 2 ? Complaint() : Complaint("it takes two CPUs, as in 0,1, or the word none");
        });
    const auto status = parser.parse(arguments, std::cout, std::cerr);
    // The bar is about one size; --sizes does not apply.
    if (options.judges_bars)
        options.sizes = {channel_bar_size};
    return status;
}

/// Measures one message size: all ways in each round, in changing order.
CcRow run_row(CcPeer &peer, const CcOptions &options, std::size_t size)
{
    std::map<CcWay, std::vector<double>> samples;
    for (std::size_t round = 0; round < options.rounds; ++round) {
        for (const std::size_t i : order_of_round(round, std::size(cc_ways)))
            samples[cc_ways[i]].push_back(peer.round_trip(cc_ways[i], size, options.trips));
    }
    CcRow row{size, {}, {}, {}};
    for (const CcWay way : cc_ways) {
        row.nanoseconds[way] = summarize(samples[way]);
        row.latency[way] = peer.latency(way, size, options.rounds * options.trips);
    }
    // The bar is relative to what a program without Comm Channel would use at best.
    const CcWay faster = row.nanoseconds[CcWay::socket].median < row.nanoseconds[CcWay::socket_block].median
                             ? CcWay::socket
                             : CcWay::socket_block;
    row.ratio = summarize_pairs(samples[CcWay::channel], samples[faster],
                                [](double channel, double socket) { return channel / socket; });
    return row;
}

Json to_json(const CcRow &row)
{
    static const std::map<CcWay, const char *> keys = {{CcWay::channel, "channel_ns"},
                                                       {CcWay::channel_events, "channel_events_ns"},
                                                       {CcWay::socket, "socket_ns"},
                                                       {CcWay::socket_block, "socket_sleep_ns"}};
    Json json = Json::object();
    json.set("bytes", row.size).set("samples", row.ratio.count);
    for (const auto &[way, key] : keys)
        json.set(key, to_json(row.nanoseconds.at(way)))
            .set((std::string(key) + "_single").c_str(), to_json(row.latency.at(way)));
    json.set("ratio", to_json(row.ratio));
    return json;
}

/// Returns whether a row meets the bar.
bool meets_bar(const CcRow &row)
{
    return row.ratio.median <= channel_bar_ratio;
}

void print_json(const CcOptions &options, const CcPeer &peer, const std::vector<CcRow> &rows)
{
    Json json = Json::object(), list = Json::array(), cpus = Json::array();
    for (const CcRow &row : rows)
        list.add(to_json(row));
    for (const int cpu : options.cpus)
        cpus.add(cpu);
    json.set("benchmark", "cc")
        .set("version", doca_version_runtime())
        .set("functions", peer.description())
        .set("pinned_to", std::move(cpus))
        .set("machine", describe_machine())
        .set("rows", std::move(list));
    if (options.judges_bars) {
        Json bar = Json::object(), bars = Json::array();
        bar.set("name", "round trip of 8 B, of the faster socket pair")
            .set("kind", "ratio at most")
            .set("limit", channel_bar_ratio)
            .set("measured", rows.front().ratio.median)
            .set("passed", meets_bar(rows.front()));
        bars.add(std::move(bar));
        json.set("bars", std::move(bars));
    }
    std::cout << (options.as_csv ? json.csv("rows") : json.text());
}

void print_table(const CcOptions &options, const CcPeer &peer, const std::vector<CcRow> &rows)
{
    std::cout << "opendoca " << doca_version_runtime() << ", " << peer.description() << ", "
              << describe_machine_briefly() << "\n\n";
    Table table({{"size"},
                 {"way"},
                 {"round trip ns", Align::right},
                 {"min", Align::right},
                 {"max", Align::right},
                 {"p50", Align::right},
                 {"p99", Align::right},
                 {"p99.9", Align::right},
                 {"ratio", Align::right}});
    for (const CcRow &row : rows) {
        for (const CcWay way : cc_ways) {
            const Summary &ns = row.nanoseconds.at(way);
            table.add({size_text(row.size), name_of(way), decimal(ns.median, 0), decimal(ns.min, 0), decimal(ns.max, 0),
                       decimal(row.latency.at(way).p50, 0), decimal(row.latency.at(way).p99, 0),
                       decimal(row.latency.at(way).p999, 0),
                       way == CcWay::channel ? decimal(row.ratio.median, 2) : ""});
        }
    }
    std::cout << table.text();
    if (options.judges_bars)
        std::cout << "\nround trip of 8 B, of the faster socket pair: " << decimal(rows.front().ratio.median, 2)
                  << ", at most " << decimal(channel_bar_ratio, 2) << ": "
                  << (meets_bar(rows.front()) ? "PASS" : "FAIL") << '\n';
}

} // namespace

int run_cc_benchmark(std::span<char *const> arguments)
{
    CcOptions options;
    if (const auto status = parse_options(arguments, options))
        return *status;
    CcPeer peer(options.cpus.empty() ? -1 : options.cpus[1]);
    if (!options.cpus.empty())
        pin_to(options.cpus[0]);
    std::vector<CcRow> rows;
    for (const std::size_t size : options.sizes) {
        std::cerr << size_text(size) << std::flush;
        rows.push_back(run_row(peer, options, size));
        std::cerr << ": " << rows.back().nanoseconds[CcWay::channel].median << " ns\n";
    }
    if (options.as_json || options.as_csv)
        print_json(options, peer, rows);
    else
        print_table(options, peer, rows);
    std::cout.flush();
    if (!std::cout.good())
        return benchmark_failed;
    return options.judges_bars && !meets_bar(rows.front()) ? bar_missed : 0;
}

} // namespace opendoca::tools
