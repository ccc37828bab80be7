// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "request.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <system_error>

#include "report.hpp"

namespace opendoca::argp {

void *GivenValue::address()
{
    if (auto *text = std::get_if<std::string>(&value))
        return text->data();
    if (auto *number = std::get_if<int>(&value))
        return number;
    if (auto *is_set = std::get_if<bool>(&value))
        return is_set;
    // A callback for JSON receives the json-c object itself.
    return std::get<JsonPtr>(value).get();
}

bool Request::mentions(const doca_argp_param *param) const
{
    return std::find(unset.begin(), unset.end(), param) != unset.end() ||
           std::any_of(values.begin(), values.end(), [&](const GivenValue &v) { return v.param == param; });
}

void Request::complete_from(Request &&weaker)
{
    const auto own_count = static_cast<std::ptrdiff_t>(values.size());
    for (GivenValue &given : weaker.values) {
        // All values of a flag come from one source: those of the file are not added to those of the command line.
        const bool is_own = std::any_of(values.begin(), values.begin() + own_count,
                                        [&](const GivenValue &own) { return own.param == given.param; });
        if (!is_own)
            values.push_back(std::move(given));
    }
    unset.insert(unset.end(), weaker.unset.begin(), weaker.unset.end());
    if (!log_level)
        log_level = weaker.log_level;
    if (!sdk_log_level)
        sdk_log_level = weaker.sdk_log_level;
    if (!grpc_address)
        grpc_address = std::move(weaker.grpc_address);
    if (eal.empty())
        eal = std::move(weaker.eal);
    else if (!weaker.eal.empty())
        warn("the DPDK flags of the JSON file are not used, because the command line has DPDK flags");
}

std::optional<int> parse_int(std::string_view text)
{
    const bool is_negative = text.starts_with('-');
    if (is_negative || text.starts_with('+'))
        text.remove_prefix(1);
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        base = 16;
        text.remove_prefix(2);
    }
    if (text.starts_with('-')) // from_chars would accept a second sign
        return std::nullopt;
    // 64 bits, so that the magnitude of the smallest int fits.
    std::int64_t magnitude = 0;
    const char *end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, magnitude, base);
    if (error != std::errc() || stop != end)
        return std::nullopt;
    const std::int64_t number = is_negative ? -magnitude : magnitude;
    if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max())
        return std::nullopt;
    return static_cast<int>(number);
}

std::optional<int> to_log_level(const Generation &generation, int number)
{
    const int last = static_cast<int>(generation.most_verbose);
    if (number > last) {
        warn("log level " + std::to_string(number) + " is above " + std::to_string(last) +
             ", which shows everything, and counts as that");
        return last;
    }
    const bool is_level = number >= static_cast<int>(generation.most_severe) && number % 10 == 0;
    return is_level ? std::optional(number) : std::nullopt;
}

std::string log_level_numbers(const Generation &generation)
{
    std::string numbers;
    for (std::uint32_t level = generation.most_severe; level <= generation.most_verbose; level += 10)
        numbers += (numbers.empty() ? "" : ", ") + std::to_string(level);
    return numbers;
}

} // namespace opendoca::argp
