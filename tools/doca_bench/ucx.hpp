// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// ucx_perftest, the benchmark of UCX.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rival.hpp"

namespace opendoca::tools {

/// Returns the test and transports that measure a case; nothing if UCX has none that does the same.
[[nodiscard]] std::optional<RivalTest> ucx_test_of(const PairCase &what);

/// Runs ucx_perftest, server and client, as two processes of this machine. Owned by the benchmark; constant after
/// construction.
class Ucx final : public Rival {
public:
    /// @p cpus are those of client and server; empty if they are not pinned. Throws if @p program can't be run.
    Ucx(std::string program, std::vector<int> cpus);

    [[nodiscard]] std::optional<RivalTest> test_of(const PairCase &what) const override { return ucx_test_of(what); }
    [[nodiscard]] double run(const RivalTest &test, const PairCase &what, std::size_t iterations) const override;
    [[nodiscard]] std::size_t iterations(double nanoseconds, std::size_t repetitions) const override;

private:
    std::string program_;
    std::vector<int> cpus_;
};

/// Parses the nanoseconds in the last line of ucx_perftest's output (options -f -v); nothing if there are none.
[[nodiscard]] std::optional<double> parse_ucx_output(const std::string &output);

} // namespace opendoca::tools
