// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../common/json.hpp"

namespace opendoca::tools {

/// Median, extremes and number of a set of samples. The median is the result; the extremes show how far to trust it.
struct Summary {
    double median = 0;
    double min = 0;
    double max = 0;
    std::size_t count = 0;
};

/// Summarizes @p values; all zero if there are none.
[[nodiscard]] Summary summarize(std::vector<double> values);

/// Format as an object; null for no summary.
[[nodiscard]] Json to_json(const Summary &summary);
[[nodiscard]] Json to_json(const std::optional<Summary> &summary);

/// Formats with @p digits after the decimal point.
[[nodiscard]] std::string decimal(double value, int digits);
/// Formats for tables: one digit after the decimal point below 100.
[[nodiscard]] std::string nanoseconds_text(double value);

/// Summarizes the results of @p combine for the values of each round. Both spans must have equally many values.
template <typename Combine>
[[nodiscard]] Summary summarize_pairs(std::span<const double> first, std::span<const double> second, Combine combine)
{
    std::vector<double> values;
    for (std::size_t i = 0; i < first.size(); ++i)
        values.push_back(combine(first[i], second[i]));
    return summarize(std::move(values));
}

} // namespace opendoca::tools
