// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Measuring several ways to do the same in turns, so that what changes on the machine changes for all of
// them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace opendoca::tools {

/// One way to do the work.
class Variant {
public:
    Variant() = default;
    Variant(const Variant &) = delete;
    Variant &operator=(const Variant &) = delete;
    virtual ~Variant();

    /// Does the work @p count times.
    virtual void run(std::size_t count) = 0;
    /// The same. The seconds that it takes.
    virtual double run_timed(std::size_t count);
};

struct MeasureOptions {
    double seconds = 0.3; ///< to be spent, in good conditions
    std::size_t min_rounds = 7;
    std::size_t step = 1; ///< the number of repetitions in a sample is a multiple of it
    bool warms_up = true; ///< each sample begins with @c step repetitions that do not count
    double patience = 0;  ///< seconds to wait until others leave the CPUs alone
    double sample_seconds = 100e-6;
};

struct Measurement {
    std::vector<std::vector<double>> nanoseconds; ///< of one repetition: by variant, then by round
    std::size_t repetitions = 0;                  ///< in a sample
    std::size_t discarded = 0;                    ///< rounds
    bool was_disturbed = false; ///< too few rounds were left without those that others disturbed
};

/// Runs all of @p variants in each round, in changing order. Rounds in which others used the CPUs are
/// discarded.
[[nodiscard]] Measurement measure(std::span<Variant *const> variants, const MeasureOptions &options);

/// How often the calling thread had to leave its CPU.
[[nodiscard]] long involuntary_switches();

/// The order in which round @p round runs @p count variants: each takes each place equally often.
[[nodiscard]] std::vector<std::size_t> order_of_round(std::size_t round, std::size_t count);

} // namespace opendoca::tools
