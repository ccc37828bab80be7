// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench: how fast jobs are, next to the plainest code that does the same, in the same run. See
// docs/benchmarks.md.
#include <exception>
#include <iostream>
#include <string_view>

#include "../common/options.hpp"
#include "../common/table.hpp"
#include "../common/version.hpp"
#include "benchmark.hpp"

namespace {

using namespace opendoca::tools;

constexpr Benchmark benchmarks[] = {
    {"dma", "DMA memcpy jobs, within a process and between two, next to plain copies", run_dma_benchmark},
    {"rdma", "RDMA jobs between two processes, next to UCX", run_rdma_benchmark},
    {"sha", "SHA jobs, next to OpenSSL", run_sha_benchmark},
    {"graph", "nodes of graphs: callbacks and small copies, next to other executors", run_graph_benchmark},
    {"cc", "Comm Channel round trips between two processes, next to bare socket pairs", run_cc_benchmark},
    {"sync_event", "sync events from update to woken waiter between two processes", run_sync_event_benchmark},
};

void print_usage(std::ostream &out)
{
    out << "Usage: doca_bench BENCHMARK [options]\n\nBenchmarks:\n";
    Table table({{""}, {""}});
    for (const Benchmark &benchmark : benchmarks)
        table.add({benchmark.name, benchmark.summary});
    out << table.text("  ") << "\ndoca_bench BENCHMARK --help lists its options.\n";
}

} // namespace

int main(int argc, char **argv)
{
    const std::string_view name = argc > 1 ? argv[1] : "";
    if (name == "-h" || name == "--help") {
        print_usage(std::cout);
        return 0;
    }
    if (name == "--version") {
        std::cout << version_line("doca_bench");
        return 0;
    }
    for (const Benchmark &benchmark : benchmarks) {
        if (name != benchmark.name)
            continue;
        try {
            return benchmark.run({argv + 2, argv + argc});
        } catch (const std::exception &error) {
            std::cerr << "doca_bench " << name << ": " << error.what() << '\n';
            return benchmark_failed;
        }
    }
    std::cerr << "doca_bench: "
              << (name.empty() ? "which benchmark?" : "unknown benchmark '" + std::string(name) + "'")
              << "\n\n";
    print_usage(std::cerr);
    return usage_error;
}
