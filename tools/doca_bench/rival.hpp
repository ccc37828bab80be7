// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Another benchmark that measures the same case, run as programs next to this one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "pair_case.hpp"

namespace opendoca::tools {

/// A test of the other benchmark, that is, one of its programs with arguments.
struct RivalTest {
    std::string name;                   ///< for the reports
    std::vector<std::string> arguments; ///< without those for sizes, counts and ports
    std::string transports;             ///< value of UCX_TLS, for UCX
};

/// A benchmark to compare with. Owned by the benchmark and used by its first thread; constant after construction.
class Rival {
public:
    Rival() = default;
    Rival(const Rival &) = delete;
    Rival &operator=(const Rival &) = delete;
    virtual ~Rival() = default;

    /// Returns the test that does the same as a case; nothing if there is none.
    [[nodiscard]] virtual std::optional<RivalTest> test_of(const PairCase &what) const = 0;
    /// Runs a test and returns the nanoseconds of one operation.
    [[nodiscard]] virtual double run(const RivalTest &test, const PairCase &what, std::size_t iterations) const = 0;
    /// Returns a number of operations for a run, if one of ours takes @p nanoseconds and a sample has @p repetitions.
    [[nodiscard]] virtual std::size_t iterations(double nanoseconds, std::size_t repetitions) const = 0;
};

} // namespace opendoca::tools
