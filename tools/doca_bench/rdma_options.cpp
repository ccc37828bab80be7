// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_options.hpp"

#include <algorithm>
#include <iostream>

#include "benchmark.hpp"
#include "option_values.hpp"
#include "rdma_wire.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t default_sizes[] = {8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 16 << 20};
constexpr std::uint16_t default_port = 18617;
constexpr std::size_t large = 1 << 20; ///< from here on, few jobs in flight fill the memory's bandwidth

/// HOST, HOST:PORT, [HOST]:PORT or an IPv6 address.
Complaint read_host(std::string_view text, RdmaOptions &options)
{
    constexpr const char *form = "must be HOST or HOST:PORT, where PORT is 1 to 65535";
    std::string_view host = text, port;
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos || (end + 1 != text.size() && text[end + 1] != ':'))
            return form;
        host = text.substr(1, end - 1);
        port = text.substr(std::min(end + 2, text.size()));
    } else if (std::ranges::count(text, ':') == 1) {
        host = text.substr(0, text.find(':'));
        port = text.substr(text.find(':') + 1);
        if (port.empty())
            return form;
    }
    options.connect_to = host;
    if (port.empty())
        return host.empty() ? Complaint(form) : std::nullopt;
    const auto number = parse_number<std::uint16_t>(port);
    if (!number || *number == 0 || host.empty())
        return form;
    options.port = *number;
    return std::nullopt;
}

/// What options say together that makes no sense.
Complaint complaint_about(const RdmaOptions &options, bool is_pinned)
{
    if (options.is_server && !options.connect_to.empty())
        return "--server and --connect are the two sides of a pair: one each";
    if (!options.is_server && options.serves_once)
        return "--once goes with --server";
    if (!options.is_server && !options.bind.empty())
        return "--bind goes with --server";
    if (!options.connect_to.empty() && options.compares)
        return "--compare and --bars run both sides on this machine, and so don't go with --connect";
    if (options.as_json && options.as_csv)
        return "--json and --csv: one of them";
    if (options.threads > 1 && is_pinned && !options.cpus.empty())
        return "--pin is for one thread on each side, and there are " + std::to_string(options.threads);
    if ((options.threads > 1 || options.connections > 1) && options.compares)
        return "--compare and --bars are for one thread with one connection";
    for (const RdmaCase &what : options.is_server ? std::vector<RdmaCase>() : rdma_cases(options, {})) {
        if (const std::string complaint = complaint_about(what); !complaint.empty())
            return complaint;
    }
    return std::nullopt;
}

} // namespace

std::optional<int> parse_rdma_options(std::span<char *const> arguments, RdmaOptions &options)
{
    options.ops = {RdmaOp::write, RdmaOp::read, RdmaOp::send, RdmaOp::fetch_add};
    options.tests = {RdmaTest::latency, RdmaTest::rate};
    options.memories = {MemoryKind::shared, MemoryKind::ordinary};
    options.waits_for_events = {false, true};
    options.sizes.assign(std::begin(default_sizes), std::end(default_sizes));
    options.port = default_port;
    bool is_pinned = false;
    std::vector<std::size_t> depth, rounds;
    OptionParser parser("doca_bench rdma",
                        "Times RDMA jobs between two processes, here or on two machines, and UCX or perftest next to "
                        "them.");
    parser.add_flag(0, "json", "print JSON", options.as_json);
    parser.add_flag(0, "csv", "print comma-separated values, a line for each row", options.as_csv);
    parser.add_value(0, "plot", "FILE.svg", "draw the rows into a file, too, by gnuplot (package gnuplot-nox)",
                     text_into(options.plot));
    parser.add_flag(0, "server", "be the other side for those who --connect, one after the other, until ended",
                    options.is_server);
    parser.add_flag(0, "once", "with --server: end after the first of them", options.serves_once);
    parser.add_value(0, "bind", "ADDRESS", "with --server: where to listen; default all addresses of the machine",
                     text_into(options.bind));
    parser.add_value(0, "port", "PORT", "with --server: the TCP port, 0 for any free one; default 18617",
                     count_into<std::uint16_t>(options.port, 0, UINT16_MAX));
    parser.add_value(0, "connect", "HOST[:PORT]", "measure with the --server on that machine",
                     [&](std::string_view text) { return read_host(text, options); });
    parser.add_value(0, "threads", "COUNT", "on each side, each with connections and memory of its own; default 1",
                     count_into(options.threads, 1U, max_rdma_threads));
    parser.add_value(0, "connections", "COUNT", "of each thread, on one work queue; default 1",
                     count_into(options.connections, 1U, max_rdma_connections));
    parser.add_flag(
        0, "compare",
        "run matching tests in turns with ours: ucx_perftest's (package ucx-utils), or on RDMA devices "
        "perftest's (package perftest)",
        options.compares);
    parser.add_flag(0, "bars",
                    "measure what the project's performance bars ask for, and judge; status 3 if one fails",
                    options.judges_bars);
    parser.add_value(0, "ucx", "PATH", "ucx_perftest; default the one in PATH", text_into(options.ucx));
    parser.add_value(0, "perftest", "DIRECTORY", "where ib_write_bw and the like are; default in PATH",
                     text_into(options.perftest));
    parser.add_value(0, "device", "IBDEV", "device (see doca_caps)", text_into(options.ibdev));
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
                     sizes_into(options.sizes, max_rdma_size));
    parser.add_value(0, "depth", "COUNT", "jobs in flight of a connection in rate tests; default 32, from 1 MiB on 4",
                     sizes_into(depth, max_rdma_depth));
    parser.add_value('t', "time", "SECONDS", "to spend on each row; default 0.3",
                     seconds_into(options.seconds));
    parser.add_value(0, "rounds", "COUNT", "samples of each row; default 7", sizes_into(rounds, 1000));
    parser.add_value('w', "wait", "SECONDS", "to wait at most before each round, until no other process runs",
                     seconds_into(options.patience));
    parser.add_value(0, "pin", "A,B", "CPU of this process and of the other one, or none",
                     [&, take = cpus_into(options.cpus)](std::string_view text) {
                         is_pinned = true;
                         return take(text);
                     });
    if (const auto status = parser.parse(arguments, std::cout, std::cerr))
        return status;
    options.depth = depth.empty() ? 0 : depth.back();
    if (!rounds.empty())
        options.min_rounds = rounds.back();
    options.compares = options.compares || options.judges_bars;
    if (const Complaint complaint = complaint_about(options, is_pinned))
        return parser.complain(*complaint, std::cerr);
    // A server may run on the machine of the one who connects, which takes the first CPU.
    const std::vector<int> cpus = allowed_cpus();
    if (!is_pinned && !options.is_server && options.threads == 1 && cpus.size() >= 2)
        options.cpus = {cpus[0], cpus[1]};
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
                                         test == RdmaTest::latency ? 1 : static_cast<std::uint32_t>(depth),
                                         options.threads, options.connections});
                    }
                }
            }
        }
    }
    return cases;
}

} // namespace opendoca::tools
