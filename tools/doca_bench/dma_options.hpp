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

/// What the command line of `doca_bench dma` says.
struct DmaOptions {
    bool as_json = false;
    bool as_csv = false;
    std::string plot; ///< the SVG file; empty: none
    std::uint32_t threads = 1;
    bool judges_bars = false;
    bool resets = false; ///< the destination's data before each job in cache
    std::string ibdev;
    std::vector<std::size_t> sizes;
    std::vector<std::size_t> depths;
    std::vector<Where> places;
    std::vector<Direction> directions;
    std::vector<bool> in_cache;
    std::size_t pool = 0; ///< bytes that cases out of cache walk through
    double seconds = 0.3; ///< of a row
    std::size_t min_rounds = 7;
    double patience = 0;   ///< seconds to wait for a quiet machine
    std::vector<int> cpus; ///< of this process and of the other one; empty when they are not pinned
};

/// The exit status when the program is to end now.
[[nodiscard]] std::optional<int> parse_dma_options(std::span<char *const> arguments, DmaOptions &options);

/// "64", "4K", "1M", "1G"; nothing when it is no size above 0.
[[nodiscard]] std::optional<std::size_t> parse_size(std::string_view text);

/// The cases that the options ask for.
[[nodiscard]] std::vector<DmaCase> dma_cases(const DmaOptions &options);

} // namespace opendoca::tools
