// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "statistics.hpp"

#include <algorithm>
#include <cstdio>

namespace opendoca::tools {

Summary summarize(std::vector<double> values)
{
    if (values.empty())
        return {};
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    const double median = values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    return {median, values.front(), values.back(), values.size()};
}

Json to_json(const Summary &summary)
{
    Json json = Json::object();
    json.set("median", summary.median).set("min", summary.min).set("max", summary.max);
    return json;
}

Json to_json(const std::optional<Summary> &summary)
{
    return summary ? to_json(*summary) : Json();
}

std::string decimal(double value, int digits)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%.*f", digits, value);
    return text;
}

std::string nanoseconds_text(double value)
{
    return decimal(value, value < 100 ? 1 : 0);
}

} // namespace opendoca::tools
