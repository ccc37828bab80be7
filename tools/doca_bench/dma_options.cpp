// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dma_options.hpp"

#include <iostream>

#include "../common/options.hpp"
#include "benchmark.hpp"
#include "machine.hpp"
#include "option_values.hpp"

namespace opendoca::tools {

/// Limits of the command line.
namespace {

constexpr std::size_t default_sizes[] = {64,        256,     1 << 10, 4 << 10,  16 << 10, 64 << 10,
                                         256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20};
constexpr std::size_t max_depth = 1024;
constexpr std::uint32_t max_threads = 64;
constexpr std::size_t max_size = std::size_t{1} << 30;

} // namespace

std::optional<std::size_t> parse_size(std::string_view text)
{
    unsigned shift = 0;
    if (!text.empty()) {
        const std::size_t unit = std::string_view("KMG").find(text.back());
        if (unit != std::string_view::npos) {
            shift = 10 * static_cast<unsigned>(unit + 1);
            text.remove_suffix(1);
        }
    }
    const auto value = parse_number<std::size_t>(text);
    if (!value || *value == 0 || *value > SIZE_MAX >> shift)
        return std::nullopt;
    return *value << shift;
}

std::optional<int> parse_dma_options(std::span<char *const> arguments, DmaOptions &options)
{
    options.sizes.assign(std::begin(default_sizes), std::end(default_sizes));
    options.depths = {1, 32};
    options.places = {Where::local, Where::shared, Where::ordinary};
    options.directions = {Direction::read, Direction::write};
    options.in_cache = {true, false};
    // Four times the last cache: a slot is overwritten in all caches before its turn comes again.
    options.pool = 4 * cache_sizes().l3;
    bool is_pinned = false;
    std::vector<std::size_t> pool, rounds;
    OptionParser parser(
        "doca_bench dma",
        "Times DMA memcpy jobs from submit to retrieved, in turns with plain copies of the same bytes.");
    parser.add_flag(0, "json", "print JSON", options.as_json);
    parser.add_flag(0, "csv", "print comma-separated values, a line for each row", options.as_csv);
    parser.add_value(0, "plot", "FILE.svg", "draw the rows into a file, too, by gnuplot (package gnuplot-nox)",
                     text_into(options.plot));
    parser.add_value(0, "threads", "COUNT", "that copy at once, each with a context and memory of its own; default 1",
                     count_into(options.threads, 1U, max_threads));
    parser.add_flag(0, "bars", "measure what the project's performance bars ask for, and judge; status 3 if one fails",
                    options.judges_bars);
    parser.add_flag(0, "reset", "in cache, reset the destination before each job, and count that, too", options.resets);
    parser.add_value(0, "device", "IBDEV", "device that does the copies (see doca_caps)", text_into(options.ibdev));
    parser.add_value(
        0, "where", "LIST", "of local, shared (a memfd of another process), ordinary (its other memory)",
        choose_into<Where>(options.places,
                           {{"local", Where::local}, {"shared", Where::shared}, {"ordinary", Where::ordinary}}));
    parser.add_value(
        0, "direction", "LIST", "of read, write: from or to the other process",
        choose_into<Direction>(options.directions, {{"read", Direction::read}, {"write", Direction::write}}));
    parser.add_value(0, "sizes", "LIST", "bytes of a job: 64,4K,1M; default 64 to 64M",
                     sizes_into(options.sizes, max_size));
    parser.add_value(0, "depths", "LIST", "jobs in flight; default 1,32", sizes_into(options.depths, max_depth));
    parser.add_value(0, "cache", "LIST", "of in, out: the same buffers each time, or ever new ones",
                     choose_into<bool>(options.in_cache, {{"in", true}, {"out", false}}));
    parser.add_value(0, "pool", "SIZE", "memory that ever new buffers come from; default 4 times the last cache",
                     sizes_into(pool, max_size));
    parser.add_value('t', "time", "SECONDS", "to spend on each row; default 0.3", seconds_into(options.seconds));
    parser.add_value(0, "rounds", "COUNT", "at least so many samples of each kind; default 7",
                     sizes_into(rounds, 1000000));
    parser.add_value('w', "wait", "SECONDS", "to wait at most, ten times a second, until no other process runs",
                     seconds_into(options.patience));
    parser.add_value(0, "pin", "A,B", "CPU of this process and of the other one, or none",
                     [&, take = cpus_into(options.cpus)](std::string_view text) {
                         is_pinned = true;
                         return take(text);
                     });
    if (const auto status = parser.parse(arguments, std::cout, std::cerr))
        return status;
    if (!pool.empty())
        options.pool = pool.back();
    if (!rounds.empty())
        options.min_rounds = rounds.back();
    if (options.as_json && options.as_csv)
        return parser.complain("--json and --csv: one of them", std::cerr);
    // Two CPUs are pinned for one thread; more threads are left to the scheduler.
    if (options.threads > 1 && !options.cpus.empty())
        return parser.complain("--pin is for one thread, and there are " + std::to_string(options.threads), std::cerr);
    const std::vector<int> cpus = allowed_cpus();
    if (!is_pinned && options.threads == 1 && cpus.size() >= 2)
        options.cpus = {cpus[0], cpus[1]};
    return std::nullopt;
}

std::vector<DmaCase> dma_cases(const DmaOptions &options)
{
    std::vector<DmaCase> cases;
    // Bars name their cases; the other options for cases do not apply.
    if (options.judges_bars) {
        for (const Bar &bar : dma_bars())
            cases.push_back(bar.what);
        return cases;
    }
    const std::size_t cache = cache_sizes().l3 / 4; // half of the cache for both sides together
    const std::vector<Direction> no_choice = {Direction::copy};
    for (const Where where : options.places) {
        for (const Direction direction : where == Where::local ? no_choice : options.directions) {
            for (const bool is_in_cache : options.in_cache) {
                for (const std::size_t depth : options.depths) {
                    for (const std::size_t size : options.sizes) {
                        if (!is_in_cache || size <= cache)
                            cases.push_back({where, direction, size, static_cast<std::uint32_t>(depth), is_in_cache});
                    }
                }
            }
        }
    }
    return cases;
}

} // namespace opendoca::tools
