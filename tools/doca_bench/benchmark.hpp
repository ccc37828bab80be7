// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <span>

namespace opendoca::tools {

/// One benchmark of doca_bench. To add one: a file with its functions, a declaration here, and a line in benchmarks.cpp
/// of each generation that supports it.
struct Benchmark {
    const char *name;
    const char *summary;
    int (*run)(std::span<char *const> arguments); ///< returns the exit status
};

[[nodiscard]] std::span<const Benchmark> benchmarks();

/// Exit statuses in addition to 0 and usage_error.
inline constexpr int benchmark_failed = 1;
inline constexpr int bar_missed = 3;

int run_cc_benchmark(std::span<char *const> arguments);
int run_comch_benchmark(std::span<char *const> arguments);
int run_connections_benchmark(std::span<char *const> arguments);
int run_dma_benchmark(std::span<char *const> arguments);
int run_rdma_benchmark(std::span<char *const> arguments);
int run_sha_benchmark(std::span<char *const> arguments);
int run_graph_benchmark(std::span<char *const> arguments);
int run_sync_event_benchmark(std::span<char *const> arguments);

} // namespace opendoca::tools
