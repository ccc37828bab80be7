// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Measures several ways to do the same work in turns, so that a change of the machine's state (frequency, caches, other
// processes) affects all of them alike.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace opendoca::tools {

/// One way to do the work. Owned by a benchmark and used by one thread at a time; it holds everything that it needs, so
/// that run() contains nothing but the work.
class Variant {
public:
    Variant() = default;
    Variant(const Variant &) = delete;
    Variant &operator=(const Variant &) = delete;
    virtual ~Variant();

    /// Does the work @p count times.
    virtual void run(std::size_t count) = 0;
    /// Does the work @p count times and returns the seconds that it took.
    virtual double run_timed(std::size_t count);
};

/// How to measure. Constant while a measurement runs.
struct MeasureOptions {
    double seconds = 0.3; ///< the time to spend if nothing disturbs the measurement
    std::size_t min_rounds = 7;
    std::size_t step = 1;           ///< the number of repetitions in a sample is a multiple of this
    bool warms_up = true;           ///< whether each sample begins with @c step repetitions that do not count
    double patience = 0;            ///< seconds to wait until other processes leave the CPUs
    double sample_seconds = 100e-6; ///< seconds of a sample: long against reading the clock, short against a time slice
};

/// The samples of all variants. Each has one sample for each round, at the same index, so rounds can be compared.
struct Measurement {
    std::vector<std::vector<double>> nanoseconds; ///< nanoseconds for one repetition: by variant, then by round
    std::size_t repetitions = 0;                  ///< repetitions in a sample
    std::size_t discarded = 0;                    ///< number of discarded rounds
    bool was_disturbed = false;                   ///< too few rounds were undisturbed
};

/// Runs all of @p variants in each round, in changing order. Rounds in which other processes used the CPUs are
/// discarded, unless too few are left without them. The first variant determines the repetitions in a sample.
[[nodiscard]] Measurement measure(std::span<Variant *const> variants, const MeasureOptions &options);

/// Returns how often the calling thread has been preempted. A change during a sample means that the sample contains the
/// time of something else.
[[nodiscard]] long involuntary_switches();

/// Returns the order in which round @p round runs @p count variants: each takes each position equally often.
[[nodiscard]] std::vector<std::size_t> order_of_round(std::size_t round, std::size_t count);

} // namespace opendoca::tools
