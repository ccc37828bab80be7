// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "pair_options.hpp"

#include <cstdint>

#include "option_values.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t large = 1 << 20; ///< bytes from which on few jobs in flight saturate the memory bandwidth

} // namespace

void add_output_options(OptionParser &parser, PairOptions &options)
{
    parser.add_flag(0, "json", "print JSON", options.as_json);
    parser.add_flag(0, "csv", "print comma-separated values, a line for each row", options.as_csv);
    parser.add_value(0, "plot", "FILE.svg", "draw the rows into a file, too, by gnuplot (package gnuplot-nox)",
                     text_into(options.plot));
    parser.add_flag(0, "bars", "measure what the project's performance bars ask for, and judge; status 3 if one fails",
                    options.judges_bars);
    parser.add_value(0, "ucx", "PATH", "ucx_perftest; default the one in PATH", text_into(options.ucx));
}

void add_case_options(OptionParser &parser, PairOptions &options, std::string sizes_help, std::size_t max_size,
                      std::size_t max_depth)
{
    parser.add_value(0, "tests", "LIST", "of latency (one way, or one job), rate (many jobs in flight)",
                     choose_into<PairTest>(options.tests, {{"latency", PairTest::latency}, {"rate", PairTest::rate}}));
    parser.add_value(0, "memory", "LIST", "of shared (memfds), ordinary (all other memory)",
                     choose_into<MemoryKind>(options.memories,
                                             {{"shared", MemoryKind::shared}, {"ordinary", MemoryKind::ordinary}}));
    parser.add_value(0, "wait-for", "LIST", "of polling, events",
                     choose_into<bool>(options.waits_for_events, {{"polling", false}, {"events", true}}));
    parser.add_value(0, "sizes", "LIST", std::move(sizes_help), sizes_into(options.sizes, max_size));
    parser.add_value(0, "depth", "COUNT", "jobs in flight of a connection in rate tests; default 32, from 1 MiB on 4",
                     size_into(options.depth, max_depth));
    parser.add_value('t', "time", "SECONDS", "to spend on each row; default 0.3", seconds_into(options.seconds));
    parser.add_value(0, "rounds", "COUNT", "samples of each row; default 7", size_into(options.min_rounds, 1000));
    parser.add_value('w', "wait", "SECONDS", "to wait at most before each round, until no other process runs",
                     seconds_into(options.patience));
    parser.add_value(0, "pin", "A,B", "CPU of this process and of the other one, or none",
                     [&, take = cpus_into(options.cpus)](std::string_view text) {
                         options.is_pinned = true;
                         return take(text);
                     });
}

std::uint32_t depth_of(const PairOptions &options, PairTest test, std::size_t size)
{
    if (test != PairTest::rate)
        return 1;
    return static_cast<std::uint32_t>(options.depth != 0 ? options.depth : size < large ? 32 : 4);
}

} // namespace opendoca::tools
