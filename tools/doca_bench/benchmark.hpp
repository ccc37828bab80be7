// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <span>

namespace opendoca::tools {

/// One benchmark of doca_bench. A library joins by a file with its benchmark, a declaration here and a line in
/// benchmarks.cpp of the generations that have it.
struct Benchmark {
    const char *name;
    const char *summary;
    int (*run)(std::span<char *const> arguments); ///< the exit status
};

[[nodiscard]] std::span<const Benchmark> benchmarks();

/// Exit statuses besides 0 and usage_error.
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
