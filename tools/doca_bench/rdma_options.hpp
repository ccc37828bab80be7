// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pair_options.hpp"

namespace opendoca::tools {

struct RdmaOptions : PairOptions {
    std::uint32_t threads = 1;
    std::uint32_t connections = 1; ///< of each thread
    bool is_server = false;        ///< for those who connect from other machines, and then the other process
    bool serves_once = false;
    std::string bind;       ///< the address that the server listens at; empty: any
    std::uint16_t port = 0; ///< of the server
    std::string connect_to; ///< the server's machine; empty: both sides run here
    std::string perftest;   ///< where its programs are; empty: in PATH
    std::vector<PairOp> ops;
};

/// The exit status when the program is to end now.
[[nodiscard]] std::optional<int> parse_rdma_options(std::span<char *const> arguments, RdmaOptions &options);

/// The cases that the options ask for; those of @p bars if there are any.
[[nodiscard]] std::vector<PairCase> rdma_cases(const RdmaOptions &options, std::span<const PairBar> bars);

} // namespace opendoca::tools
