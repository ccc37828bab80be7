// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench measures jobs next to the simplest code that does the same, in the same run. See docs/benchmarks.md.
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "../common/options.hpp"
#include "../common/table.hpp"
#include "../common/version.hpp"
#include "benchmark.hpp"

namespace {

using namespace opendoca::tools;

/// Prints the usage and the benchmarks of this generation.
void print_usage(std::ostream &out)
{
    out << "Usage: doca_bench BENCHMARK [options]\n\nBenchmarks:\n";
    Table table({{""}, {""}});
    for (const Benchmark &benchmark : benchmarks())
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
    for (const Benchmark &benchmark : benchmarks()) {
        if (name != benchmark.name)
            continue;
        try {
            return benchmark.run({argv + 2, argv + argc});
        } catch (const std::exception &error) {
            std::cerr << "doca_bench " << name << ": " << error.what() << '\n';
            return benchmark_failed;
        }
    }
    std::cerr << "doca_bench: " << (name.empty() ? "which benchmark?" : "unknown benchmark '" + std::string(name) + "'")
              << "\n\n";
    print_usage(std::cerr);
    return usage_error;
}
