// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Parsers for the values of options: lists, sizes, times, CPUs. Each function returns a parser for OptionParser that
// writes to the variable it was given and replaces its former value; the caller keeps the variable alive until parse()
// has returned. A parser returns an error message, or nothing.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "../common/options.hpp"
#include "dma_options.hpp"
#include "machine.hpp"

namespace opendoca::tools {

/// An error message, or nothing.
using Complaint = std::optional<std::string>;

/// Parses a comma-separated list word by word. Stops at the first error. An empty text is a list with one empty word.
template <typename ReadWord>
Complaint read_list(std::string_view text, ReadWord read_word)
{
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find(',', start), text.size());
        if (const Complaint complaint = read_word(text.substr(start, end - start)))
            return complaint;
        start = end + 1;
    }
    return std::nullopt;
}

/// Parses a list of words of @p choices.
template <typename Value>
OptionParser::TakeValue choose_into(std::vector<Value> &values, std::vector<std::pair<std::string_view, Value>> choices)
{
    return [&values, choices = std::move(choices)](std::string_view text) {
        values.clear();
        return read_list(text, [&](std::string_view word) -> Complaint {
            std::string names;
            for (const auto &[name, value] : choices) {
                if (word == name) {
                    values.push_back(value);
                    return std::nullopt;
                }
                names += (names.empty() ? "" : ", ") + std::string(name);
            }
            return "it can have " + names;
        });
    };
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text)
{
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Parses a list of sizes from 1 to @p limit bytes.
[[nodiscard]] inline OptionParser::TakeValue sizes_into(std::vector<std::size_t> &values, std::size_t limit)
{
    return [&values, limit](std::string_view text) {
        values.clear();
        return read_list(text, [&](std::string_view word) -> Complaint {
            const auto size = parse_size(word);
            if (!size || *size > limit)
                return "each must be 1 to " + std::to_string(limit) + ", such as 64 or 4K";
            values.push_back(*size);
            return std::nullopt;
        });
    };
}

/// Parses one size.
[[nodiscard]] inline OptionParser::TakeValue size_into(std::size_t &value, std::size_t limit)
{
    return [&value, limit](std::string_view text) -> Complaint {
        const auto size = parse_size(text);
        if (!size || *size > limit)
            return "must be 1 to " + std::to_string(limit);
        value = *size;
        return std::nullopt;
    };
}

/// Parses one number.
template <typename Number>
[[nodiscard]] OptionParser::TakeValue count_into(Number &count, Number least, Number most)
{
    return [&count, least, most](std::string_view text) -> Complaint {
        const auto value = parse_number<Number>(text);
        if (!value || *value < least || *value > most)
            return "must be a number from " + std::to_string(least) + " to " + std::to_string(most);
        count = *value;
        return std::nullopt;
    };
}

/// Parses any text that is not empty.
[[nodiscard]] inline OptionParser::TakeValue text_into(std::string &text)
{
    return [&text](std::string_view value) -> Complaint {
        text = value;
        return value.empty() ? Complaint("must not be empty") : std::nullopt;
    };
}

/// Parses a time from 0 to 3600 seconds.
[[nodiscard]] inline OptionParser::TakeValue seconds_into(double &seconds)
{
    return [&seconds](std::string_view text) -> Complaint {
        const auto value = parse_number<double>(text);
        if (!value || !(*value >= 0 && *value <= 3600))
            return "must be a number of seconds from 0 to 3600";
        seconds = *value;
        return std::nullopt;
    };
}

/// Parses two CPUs that this process may use, or "none" for no pinning, which results in an empty list.
[[nodiscard]] inline OptionParser::TakeValue cpus_into(std::vector<int> &cpus)
{
    return [&cpus](std::string_view text) -> Complaint {
        cpus.clear();
        if (text == "none")
            return std::nullopt;
        const std::vector<int> allowed = allowed_cpus();
        const Complaint complaint = read_list(text, [&](std::string_view word) -> Complaint {
            const auto cpu = parse_number<int>(word);
            if (!cpu || !std::ranges::binary_search(allowed, *cpu))
                return "CPU '" + std::string(word) + "' is not one that this process may use";
            cpus.push_back(*cpu);
            return std::nullopt;
        });
        if (complaint || cpus.size() == 2)
            return complaint;
        return "it takes two CPUs, as in 0,1, or the word none";
    };
}

} // namespace opendoca::tools
