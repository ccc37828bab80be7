// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// perftest: ib_write_bw and related programs, the standard benchmarks of RDMA devices.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rival.hpp"

namespace opendoca::tools {

/// Returns whether @p ibdev is a device of libibverbs.
[[nodiscard]] bool is_verbs_device(const std::string &ibdev);

/// Returns the program and arguments that measure a case; nothing for event-driven cases.
[[nodiscard]] std::optional<RivalTest> perftest_test_of(const PairCase &what);

/// Runs perftest's programs, server and client, as two processes of this machine. Owned by the benchmark; stateless
/// after construction.
class Perftest final : public Rival {
public:
    /// Uses the first port of @p ibdev. @p directory contains the programs; if empty, they are searched in PATH. @p
    /// cpus are those of client and server; empty if they are not pinned. Throws if the programs can't be run.
    Perftest(std::string ibdev, std::string directory, std::vector<int> cpus);

    [[nodiscard]] std::optional<RivalTest> test_of(const PairCase &what) const override
    {
        return perftest_test_of(what);
    }
    [[nodiscard]] double run(const RivalTest &test, const PairCase &what, std::size_t iterations) const override;
    [[nodiscard]] std::size_t iterations(double nanoseconds, std::size_t repetitions) const override;

private:
    /// Returns the path of a program.
    [[nodiscard]] std::string path_of(const std::string &name) const;

    std::string ibdev_;
    std::string directory_;
    std::vector<int> cpus_;
    std::optional<int> gid_index_; ///< empty for InfiniBand ports
};

/// Finds the number that a test prints with --output among its warnings; nothing if there is none.
[[nodiscard]] std::optional<double> parse_perftest_output(const std::string &output);

} // namespace opendoca::tools
