// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pair_options.hpp"

namespace opendoca::tools {

/// The command line of `doca_bench rdma`. Filled by parse_rdma_options() and constant from then on.
struct RdmaOptions : PairOptions {
    std::uint32_t threads = 1;
    std::uint32_t connections = 1; ///< for each thread
    bool is_server = false;        ///< whether to serve clients on other machines, as their other process
    bool serves_once = false;
    std::string bind;       ///< the address at which the server listens; empty for all
    std::uint16_t port = 0; ///< the server's port
    std::string connect_to; ///< the server's machine; empty if both sides run here
    std::string perftest;   ///< the directory of its programs; empty to search in PATH
    std::vector<PairOp> ops;
};

/// Parses the command line. Returns an exit status if the program should end now.
[[nodiscard]] std::optional<int> parse_rdma_options(std::span<char *const> arguments, RdmaOptions &options);

/// Returns the cases that the options select, or those of @p bars if there are any.
[[nodiscard]] std::vector<PairCase> rdma_cases(const RdmaOptions &options, std::span<const PairBar> bars);

} // namespace opendoca::tools
