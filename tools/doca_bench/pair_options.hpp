// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The options that benchmarks between two processes have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../common/options.hpp"
#include "pair_case.hpp"

namespace opendoca::tools {

/// The command line that these benchmarks share. Filled by the parser and constant from then on.
struct PairOptions {
    bool as_json = false;
    bool as_csv = false;
    bool compares = false; ///< whether to run another benchmark for comparison
    bool judges_bars = false;
    std::string plot;                 ///< the SVG file; empty for none
    std::string ibdev;                ///< empty for the first suitable device
    std::string ucx = "ucx_perftest"; ///< the program ucx_perftest: a name in PATH, or a path
    std::vector<PairTest> tests = {PairTest::latency, PairTest::rate};
    std::vector<MemoryKind> memories = {MemoryKind::shared, MemoryKind::ordinary};
    std::vector<bool> waits_for_events = {false, true};
    std::vector<std::size_t> sizes;
    std::size_t depth = 0;      ///< in rate tests; 0: chosen by size
    double seconds = 0.3;       ///< seconds for each row
    std::size_t min_rounds = 7; ///< samples of each row
    double patience = 0;        ///< seconds to wait for a quiet machine
    std::vector<int> cpus;      ///< CPUs of this process and of the other one; empty if they are not pinned
    bool is_pinned = false;     ///< set by an option
};

/// Adds the options for printing and judging.
void add_output_options(OptionParser &parser, PairOptions &options);
/// Adds the options for cases and measuring. @p sizes_help is the help text of --sizes.
void add_case_options(OptionParser &parser, PairOptions &options, std::string sizes_help, std::size_t max_size,
                      std::size_t max_depth);
/// Returns the jobs in flight of a case: 1 unless it is a rate test.
[[nodiscard]] std::uint32_t depth_of(const PairOptions &options, PairTest test, std::size_t size);

} // namespace opendoca::tools
