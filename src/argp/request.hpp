// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the user asked for in one doca_argp_start(), read but not yet acted upon.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../core/json.hpp"
#include "param.hpp"

namespace opendoca::argp
{

using Value = std::variant<std::string, int, bool, JsonPtr>;

/// A flag of the program and one value for it.
struct GivenValue {
    const doca_argp_param *param;
    Value value;

    /// What the program's callback gets.
    [[nodiscard]] void *address();
};

struct Request {
    enum class Action { run, help, version };

    Action action = Action::run;
    std::vector<GivenValue> values;
    std::vector<const doca_argp_param *> unset; ///< BOOLEAN flags that the JSON file says are false.
    std::vector<std::string> eal;               ///< DPDK arguments, without the program name.
    std::optional<int> log_level;
    std::optional<std::string> grpc_address;
    std::optional<std::string> json_path;

    /// Whether the user said anything about @p param.
    [[nodiscard]] bool mentions(const doca_argp_param *param) const;

    /// Adds what @p weaker has and this one has not.
    void complete_from(Request &&weaker);
};

/// A whole number in the range of int: digits, or 0x and hexadecimal digits, after an optional sign.
[[nodiscard]] std::optional<int> parse_int(std::string_view text);

/// One of the levels 20 to 60 in steps of ten; what is above counts as 60, with a warning, and nothing else is one.
[[nodiscard]] std::optional<int> to_log_level(int number);

} // namespace opendoca::argp
