// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <span>

namespace opendoca::tools {

/// One benchmark of doca_bench. To add one: a file with its functions, a declaration here, and a line in benchmarks.cpp
/// of each generation that supports it. The entries are constants.
struct Benchmark {
    const char *name;                             ///< the first word of the command line
    const char *summary;                          ///< the line in the usage
    int (*run)(std::span<char *const> arguments); ///< returns the exit status
};

/// Returns the benchmarks of the generation that this program was built for.
[[nodiscard]] std::span<const Benchmark> benchmarks();

/// Exit statuses in addition to 0 and usage_error: an error or a row without a result, and a limit of --bars that is
/// not met.
inline constexpr int benchmark_failed = 1;
inline constexpr int bar_missed = 3;

/// The entry points. Each parses the arguments after its name, measures, prints a report and returns an exit status.
/// They throw on errors that end the benchmark.
int run_aes_gcm_benchmark(std::span<char *const> arguments);
int run_cc_benchmark(std::span<char *const> arguments);
int run_comch_benchmark(std::span<char *const> arguments);
int run_compress_benchmark(std::span<char *const> arguments);
int run_connections_benchmark(std::span<char *const> arguments);
int run_contexts_benchmark(std::span<char *const> arguments);
int run_dma_benchmark(std::span<char *const> arguments);
int run_ec_benchmark(std::span<char *const> arguments);
int run_rdma_benchmark(std::span<char *const> arguments);
int run_sha_benchmark(std::span<char *const> arguments);
int run_graph_benchmark(std::span<char *const> arguments);
int run_sync_event_benchmark(std::span<char *const> arguments);

} // namespace opendoca::tools
