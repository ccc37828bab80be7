// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_options.hpp"

#include <algorithm>
#include <cstdint>
#include <iostream>

#include "benchmark.hpp"
#include "option_values.hpp"
#include "rdma_wire.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t default_sizes[] = {8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 16 << 20};
constexpr std::uint16_t default_port = 18617; ///< TCP port of --server

/// Parses HOST, HOST:PORT, [HOST]:PORT or an IPv6 address, which has more than one colon.
Complaint read_host(std::string_view text, RdmaOptions &options)
{
    constexpr const char *form = "must be HOST or HOST:PORT, where PORT is 1 to 65535";
    std::string_view host = text, port;
    // Brackets separate an IPv6 address from a port.
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

/// Returns the reason why a combination of options is invalid; nothing if it is valid.
Complaint complaint_about(const RdmaOptions &options)
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
    if (options.threads > 1 && options.is_pinned && !options.cpus.empty())
        return "--pin is for one thread on each side, and there are " + std::to_string(options.threads);
    if ((options.threads > 1 || options.connections > 1) && options.compares)
        // The same check is made by the peer for cases from the network.
        return "--compare and --bars are for one thread with one connection";
    for (const PairCase &what : options.is_server ? std::vector<PairCase>() : rdma_cases(options, {})) {
        if (const std::string complaint = complaint_about(what); !complaint.empty())
            return complaint;
    }
    return std::nullopt;
}

} // namespace

std::optional<int> parse_rdma_options(std::span<char *const> arguments, RdmaOptions &options)
{
    options.ops = {PairOp::write, PairOp::read, PairOp::send, PairOp::fetch_add};
    options.sizes.assign(std::begin(default_sizes), std::end(default_sizes));
    options.port = default_port;
    OptionParser parser("doca_bench rdma",
                        "Times RDMA jobs between two processes, here or on two machines, and UCX or perftest next to "
                        "them.");
    add_output_options(parser, options);
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
    parser.add_flag(0, "compare",
                    "run matching tests in turns with ours: ucx_perftest's (package ucx-utils), or on RDMA devices "
                    "perftest's (package perftest)",
                    options.compares);
    parser.add_value(0, "perftest", "DIRECTORY", "where ib_write_bw and the like are; default in PATH",
                     text_into(options.perftest));
    parser.add_value(0, "device", "IBDEV", "device (see doca_caps)", text_into(options.ibdev));
    parser.add_value(0, "jobs", "LIST", "of write, read, send (with receives), fetch_add",
                     choose_into<PairOp>(options.ops, {{"write", PairOp::write},
                                                       {"read", PairOp::read},
                                                       {"send", PairOp::send},
                                                       {"fetch_add", PairOp::fetch_add}}));
    add_case_options(parser, options, "bytes of a job: 8,4K,1M; default 8 to 16M", max_rdma_size, max_rdma_depth);
    if (const auto status = parser.parse(arguments, std::cout, std::cerr))
        return status;
    options.compares = options.compares || options.judges_bars;
    // Checked as a whole at the end, since options may come in any order.
    if (const Complaint complaint = complaint_about(options))
        return parser.complain(*complaint, std::cerr);
    // The server is not pinned: it may run on the same machine as its client, which uses the first CPU.
    const std::vector<int> cpus = allowed_cpus();
    if (!options.is_pinned && !options.is_server && options.threads == 1 && cpus.size() >= 2)
        options.cpus = {cpus[0], cpus[1]};
    return std::nullopt;
}

std::vector<PairCase> rdma_cases(const RdmaOptions &options, std::span<const PairBar> bars)
{
    std::vector<PairCase> cases;
    for (const PairBar &bar : bars)
        cases.push_back(bar.what);
    if (!cases.empty())
        return cases;
    // Atomics work on eight bytes.
    const std::vector<std::size_t> word = {8};
    for (const MemoryKind memory : options.memories) {
        for (const PairOp op : options.ops) {
            for (const PairTest test : options.tests) {
                for (const bool waits_for_events : options.waits_for_events) {
                    for (const std::size_t size : op == PairOp::fetch_add ? word : options.sizes) {
                        cases.push_back({op, test, memory, waits_for_events, size, depth_of(options, test, size),
                                         options.threads, options.connections});
                    }
                }
            }
        }
    }
    return cases;
}

} // namespace opendoca::tools
