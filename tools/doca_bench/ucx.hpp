// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// ucx_perftest, the benchmark of UCX, as a program beside ours.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rdma_case.hpp"

namespace opendoca::tools {

struct UcxTest {
    std::string name;                   ///< for people
    std::vector<std::string> arguments; ///< without those about sizes, counts and ports
    std::string transports;             ///< UCX_TLS
};

/// The test that does the same as a case; nothing when there is none.
[[nodiscard]] std::optional<UcxTest> ucx_test_of(const RdmaCase &what);

class Ucx {
public:
    /// @p cpus are those of client and server; empty when they are not pinned. Throws when @p program can't
    /// be run.
    Ucx(std::string program, std::vector<int> cpus);

    /// Nanoseconds of one operation.
    [[nodiscard]] double run(const UcxTest &test, std::size_t size, std::size_t iterations) const;

private:
    std::string program_;
    std::vector<int> cpus_;
};

/// The nanoseconds that the last line of ucx_perftest's output tells (options -f -v); nothing when it does
/// not.
[[nodiscard]] std::optional<double> parse_ucx_output(const std::string &output);

} // namespace opendoca::tools
