// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The options that benchmarks between two processes have in common.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../common/options.hpp"
#include "pair_case.hpp"

namespace opendoca::tools {

struct PairOptions {
    bool as_json = false;
    bool as_csv = false;
    bool compares = false; ///< with another benchmark
    bool judges_bars = false;
    std::string plot;  ///< the SVG file; empty: none
    std::string ibdev; ///< empty: the first device that suits
    std::string ucx = "ucx_perftest";
    std::vector<PairTest> tests = {PairTest::latency, PairTest::rate};
    std::vector<MemoryKind> memories = {MemoryKind::shared, MemoryKind::ordinary};
    std::vector<bool> waits_for_events = {false, true};
    std::vector<std::size_t> sizes;
    std::size_t depth = 0; ///< in rate tests; 0: by size
    double seconds = 0.3;  ///< of a row
    std::size_t min_rounds = 7;
    double patience = 0;    ///< seconds to wait for a quiet machine
    std::vector<int> cpus;  ///< of this process and of the other one; empty when they are not pinned
    bool is_pinned = false; ///< by an option
};

/// Those of what is printed and judged.
void add_output_options(OptionParser &parser, PairOptions &options);
/// Those of the cases and of measuring. @p sizes_help is the text of --sizes.
void add_case_options(OptionParser &parser, PairOptions &options, std::string sizes_help, std::size_t max_size,
                      std::size_t max_depth);
/// The depth of a case.
[[nodiscard]] std::uint32_t depth_of(const PairOptions &options, PairTest test, std::size_t size);

} // namespace opendoca::tools
