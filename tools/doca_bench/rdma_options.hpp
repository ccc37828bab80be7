// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rdma_case.hpp"

namespace opendoca::tools {

struct RdmaOptions {
    bool as_json = false;
    bool compares = false; ///< with UCX or perftest
    bool judges_bars = false;
    bool as_csv = false;
    std::uint32_t threads = 1;
    std::uint32_t connections = 1; ///< of each thread
    bool is_server = false;        ///< for those who connect from other machines
    bool serves_once = false;
    std::string bind;         ///< the address that the server listens at; empty: any
    std::uint16_t port = 0;   ///< of the server
    std::string connect_to;   ///< the server's machine; empty: both sides run here
    std::string plot;         ///< the SVG file; empty: none
    std::string ibdev; ///< empty: the first device that suits
    std::string ucx = "ucx_perftest";
    std::string perftest; ///< where its programs are; empty: in PATH
    std::vector<RdmaOp> ops;
    std::vector<RdmaTest> tests;
    std::vector<MemoryKind> memories;
    std::vector<bool> waits_for_events;
    std::vector<std::size_t> sizes;
    std::size_t depth = 0; ///< in rate tests; 0: by size
    double seconds = 0.3;  ///< of a row
    std::size_t min_rounds = 7;
    double patience = 0;   ///< seconds to wait for a quiet machine
    std::vector<int> cpus; ///< of this process and of the other one; empty when they are not pinned. A server is the other one
};

/// The exit status when the program is to end now.
[[nodiscard]] std::optional<int> parse_rdma_options(std::span<char *const> arguments, RdmaOptions &options);

/// The cases that the options ask for; those of @p bars if there are any.
[[nodiscard]] std::vector<RdmaCase> rdma_cases(const RdmaOptions &options, std::span<const RdmaBar> bars);

} // namespace opendoca::tools
