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
#include "flag_set.hpp"

namespace opendoca::argp
{

using Value = std::variant<std::string, int, bool, JsonPtr>;

/// A command that was given, after as many values of flags.
struct GivenCommand {
    const doca_argp_cmd *command;
    std::size_t num_values_before;
};

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
    Path path;                          ///< The commands that were given.
    std::vector<GivenCommand> commands; ///< The same, between the values.
    std::optional<int> log_level;
    std::optional<int> sdk_log_level;
    std::optional<std::string> grpc_address;
    std::optional<std::string> json_path;

    /// Whether the user said anything about @p param.
    [[nodiscard]] bool mentions(const doca_argp_param *param) const;

    /// Adds what @p weaker has and this one has not.
    void complete_from(Request &&weaker);
};

/// A whole number in the range of int: digits, or 0x and hexadecimal digits, after an optional sign.
[[nodiscard]] std::optional<int> parse_int(std::string_view text);

/// One of the levels of a generation, in steps of ten; what is above the last one counts as that, with a warning, and
/// nothing else is one.
[[nodiscard]] std::optional<int> to_log_level(const Generation &generation, int number);

/// "20, 30, 40, 50, 60"
[[nodiscard]] std::string log_level_numbers(const Generation &generation);

} // namespace opendoca::argp
