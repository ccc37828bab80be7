// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dma_result.hpp"

namespace opendoca::tools {

/// The command line of `doca_bench dma`. Filled by parse_dma_options() and constant from then on.
struct DmaOptions {
    bool as_json = false;
    bool as_csv = false;
    std::string plot; ///< the SVG file; empty for none
    std::uint32_t threads = 1;
    bool judges_bars = false;
    bool resets = false; ///< whether in-cache jobs reset the destination's data length before each copy
    std::string ibdev;
    std::vector<std::size_t> sizes;
    std::vector<std::size_t> depths; ///< numbers of jobs in flight
    std::vector<Where> places;
    std::vector<Direction> directions;
    std::vector<bool> in_cache;
    std::size_t pool = 0;       ///< size in bytes of the memory that out-of-cache cases walk through
    double seconds = 0.3;       ///< seconds for each row
    std::size_t min_rounds = 7; ///< samples of each variant, at least
    double patience = 0;        ///< seconds to wait for a quiet machine
    std::vector<int> cpus;      ///< CPUs of this process and of the other one; empty if they are not pinned
};

/// Parses the command line. Returns an exit status if the program should end now.
[[nodiscard]] std::optional<int> parse_dma_options(std::span<char *const> arguments, DmaOptions &options);

/// Parses "64", "4K", "1M" or "1G"; returns nothing for anything that is no size above 0.
[[nodiscard]] std::optional<std::size_t> parse_size(std::string_view text);

/// Returns the cases that the options select.
[[nodiscard]] std::vector<DmaCase> dma_cases(const DmaOptions &options);

} // namespace opendoca::tools
