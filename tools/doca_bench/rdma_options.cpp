// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_options.hpp"

#include <iostream>

#include "benchmark.hpp"
#include "option_values.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t default_sizes[] = {8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 16 << 20};
constexpr std::size_t max_size = 64 << 20;
constexpr std::size_t max_depth = 1024;
constexpr std::size_t max_connections = 100000;
constexpr std::size_t large = 1 << 20; ///< from here on, few jobs in flight fill the memory's bandwidth

} // namespace

std::optional<int> parse_rdma_options(std::span<char *const> arguments, RdmaOptions &options)
{
    options.ops = {RdmaOp::write, RdmaOp::read, RdmaOp::send, RdmaOp::fetch_add};
    options.tests = {RdmaTest::latency, RdmaTest::rate};
    options.memories = {MemoryKind::shared, MemoryKind::ordinary};
    options.waits_for_events = {false, true};
    options.sizes.assign(std::begin(default_sizes), std::end(default_sizes));
    const std::vector<int> cpus = allowed_cpus();
    if (cpus.size() >= 2)
        options.cpus = {cpus[0], cpus[1]};

    std::vector<std::size_t> depth, rounds, connections;
    OptionParser parser("doca_bench rdma",
                        "Times RDMA jobs between two processes, and UCX or perftest next to them.");
    parser.add_flag(0, "json", "print JSON", options.as_json);
    parser.add_flag(
        0, "compare",
        "run matching tests in turns with ours: ucx_perftest's (package ucx-utils), or on RDMA devices "
        "perftest's (package perftest)",
        options.compares);
    parser.add_flag(0, "bars",
                    "measure what the project's performance bars ask for, and judge; status 3 if one fails",
                    options.judges_bars);
    parser.add_flag(0, "connections",
                    "measure what many connections on one work queue cost, within this process, in place of jobs",
                    options.measures_connections);
    parser.add_value(0, "count", "COUNT", "connections, two of which are a pair; default 10000",
                     sizes_into(connections, max_connections));
    parser.add_value(0, "ucx", "PATH", "ucx_perftest; default the one in PATH",
                     [&](std::string_view text) -> Complaint {
                         options.ucx = text;
                         return std::nullopt;
                     });
    parser.add_value(0, "perftest", "DIRECTORY", "where ib_write_bw and the like are; default in PATH",
                     [&](std::string_view text) -> Complaint {
                         options.perftest = text;
                         return std::nullopt;
                     });
    parser.add_value(0, "device", "IBDEV", "device (see doca_caps)", [&](std::string_view text) -> Complaint {
        options.ibdev = text;
        return std::nullopt;
    });
    parser.add_value(0, "jobs", "LIST", "of write, read, send (with receives), fetch_add",
                     choose_into<RdmaOp>(options.ops, {{"write", RdmaOp::write},
                                                       {"read", RdmaOp::read},
                                                       {"send", RdmaOp::send},
                                                       {"fetch_add", RdmaOp::fetch_add}}));
    parser.add_value(
        0, "tests", "LIST", "of latency (one way, or one job), rate (many jobs in flight)",
        choose_into<RdmaTest>(options.tests, {{"latency", RdmaTest::latency}, {"rate", RdmaTest::rate}}));
    parser.add_value(0, "memory", "LIST", "of shared (memfds), ordinary (all other memory)",
                     choose_into<MemoryKind>(options.memories, {{"shared", MemoryKind::shared},
                                                                {"ordinary", MemoryKind::ordinary}}));
    parser.add_value(0, "wait-for", "LIST", "of polling, events",
                     choose_into<bool>(options.waits_for_events, {{"polling", false}, {"events", true}}));
    parser.add_value(0, "sizes", "LIST", "bytes of a job: 8,4K,1M; default 8 to 16M",
                     sizes_into(options.sizes, max_size));
    parser.add_value(0, "depth", "COUNT", "jobs in flight in rate tests; default 32, from 1 MiB on 4",
                     sizes_into(depth, max_depth));
    parser.add_value('t', "time", "SECONDS", "to spend on each row; default 0.3",
                     seconds_into(options.seconds));
    parser.add_value(0, "rounds", "COUNT", "samples of each row; default 7", sizes_into(rounds, 1000));
    parser.add_value('w', "wait", "SECONDS", "to wait at most before each round, until no other process runs",
                     seconds_into(options.patience));
    parser.add_value(0, "pin", "A,B", "CPU of this process and of the other one, or none",
                     cpus_into(options.cpus));
    if (const auto status = parser.parse(arguments, std::cout, std::cerr))
        return status;
    options.depth = depth.empty() ? 0 : depth.back();
    if (!connections.empty())
        options.num_connections = connections.back();
    if (!rounds.empty())
        options.min_rounds = rounds.back();
    options.compares = options.compares || options.judges_bars;
    return std::nullopt;
}

std::vector<RdmaCase> rdma_cases(const RdmaOptions &options, std::span<const RdmaBar> bars)
{
    std::vector<RdmaCase> cases;
    for (const RdmaBar &bar : bars)
        cases.push_back(bar.what);
    if (!cases.empty())
        return cases;
    const std::vector<std::size_t> word = {8};
    for (const MemoryKind memory : options.memories) {
        for (const RdmaOp op : options.ops) {
            for (const RdmaTest test : options.tests) {
                for (const bool waits_for_events : options.waits_for_events) {
                    for (const std::size_t size : op == RdmaOp::fetch_add ? word : options.sizes) {
                        const std::size_t depth = options.depth != 0 ? options.depth : size < large ? 32 : 4;
                        cases.push_back({op, test, memory, waits_for_events, size,
                                         test == RdmaTest::latency ? 1 : static_cast<std::uint32_t>(depth)});
                    }
                }
            }
        }
    }
    return cases;
}

} // namespace opendoca::tools
