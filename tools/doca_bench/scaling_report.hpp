// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the benchmarks of many connections and many contexts share: comparing one object with many, and their report.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace opendoca::tools {

/// One row of the report.
struct ScalingRow {
    std::string what;
    std::string unit;
    double measured;
    double base;                 ///< with one object, or 0 if there is nothing to compare with
    double judged;               ///< the ratio of both in the same round, or the measured value
    std::optional<double> limit; ///< the limit of judged

    [[nodiscard]] bool is_met() const { return !limit || judged <= *limit; }
};

/// What one object is called in a report.
struct ScalingNames {
    const char *benchmark;    ///< the JSON's "benchmark"
    const char *counted;      ///< what there are many of, the JSON's name of their number: "connections"
    const char *base;         ///< the JSON's name of ScalingRow::base
    const char *heading;      ///< of the text, after the device
    const char *base_heading; ///< of the column of ScalingRow::base
};

/// The command line of such a benchmark.
struct ScalingOptions {
    bool as_json = false;
    bool as_csv = false;
    bool judges_bars = false;
    std::size_t count = 10000;
    std::string ibdev; ///< empty for the first suitable device
    std::vector<int> cpus;
};

/// Parses the options of @p program, with at most @p max_count objects. Returns an exit status if the program should
/// end now.
[[nodiscard]] std::optional<int> parse_scaling_options(const char *program, const char *summary, const char *count_help,
                                                       std::size_t max_count, std::span<char *const> arguments,
                                                       ScalingOptions &options);

/// The times that setting up objects takes, one after the other.
class SetupTimes {
public:
    void record(double seconds) { microseconds_.push_back(seconds * 1e6); }
    [[nodiscard]] std::size_t count() const noexcept { return microseconds_.size(); }
    /// Returns the row that compares the last objects with those up to number @p early, or with the first ones if there
    /// are fewer. At least one has been recorded. Of 41 objects each, the shortest time counts.
    [[nodiscard]] ScalingRow row(const std::string &what, std::size_t early = 100) const;

private:
    std::vector<double> microseconds_; ///< in the order of the objects
};

/// Carries out an action the given number of times, with one object or with many.
using Repeat = std::function<void(std::size_t)>;

/// Measures both in turns. Returns the row, in nanoseconds for one time. @p limit is that of the ratio.
[[nodiscard]] ScalingRow compare_scaling(const std::string &what, const Repeat &with_one, const Repeat &with_many,
                                         std::optional<double> limit);

/// Prints a row on stderr as progress.
void announce(const ScalingRow &row);

/// Prints the report on stdout. Returns the benchmark's exit status.
[[nodiscard]] int report_scaling(std::span<const ScalingRow> rows, const ScalingNames &names, const std::string &ibdev,
                                 const char *version, const ScalingOptions &options);

/// Raises the limit of descriptors as far as the system allows, since each object may need some: to a million with
/// CAP_SYS_RESOURCE, otherwise to the hard limit. Returns the limit.
std::size_t raise_descriptor_limit();

} // namespace opendoca::tools
