// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// perftest: ib_write_bw and the like, the benchmarks of RDMA devices.
#pragma once

#include "rival.hpp"

namespace opendoca::tools {

/// Whether it is a device of libibverbs.
[[nodiscard]] bool is_verbs_device(const std::string &ibdev);

[[nodiscard]] std::optional<RivalTest> perftest_test_of(const PairCase &what);

class Perftest final : public Rival {
public:
    /// On the first port of @p ibdev. @p directory is where the programs are, or empty for those in PATH; @p
    /// cpus are those of client and server, and empty when they are not pinned. Throws when they can't be
    /// run.
    Perftest(std::string ibdev, std::string directory, std::vector<int> cpus);

    [[nodiscard]] std::optional<RivalTest> test_of(const PairCase &what) const override
    {
        return perftest_test_of(what);
    }
    [[nodiscard]] double run(const RivalTest &test, const PairCase &what,
                             std::size_t iterations) const override;
    [[nodiscard]] std::size_t iterations(double nanoseconds, std::size_t repetitions) const override;

private:
    [[nodiscard]] std::string path_of(const std::string &name) const;

    std::string ibdev_;
    std::string directory_;
    std::vector<int> cpus_;
    std::optional<int> gid_index_;
};

/// The number that a test prints with --output, among warnings; nothing when there is none.
[[nodiscard]] std::optional<double> parse_perftest_output(const std::string &output);

} // namespace opendoca::tools
