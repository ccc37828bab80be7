// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The parsed input of one doca_argp_start(), before any callback is called.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../core/base/json.hpp"
#include "flag_set.hpp"

namespace opendoca::argp {

/// A value of a flag: text, number, true, or a JSON object or array.
using Value = std::variant<std::string, int, bool, JsonPtr>;

/// A command of the input, with the number of flag values that precede it.
struct GivenCommand {
    const doca_argp_cmd *command;
    std::size_t num_values_before;
};

/// A flag of the program with one value.
struct GivenValue {
    const doca_argp_param *param;
    Value value;

    /// Returns the address that the flag's callback receives.
    [[nodiscard]] void *address();
};

/// The parsed input: flags with values, commands and general options, in the order of the command line. A value of its
/// own, so that an invalid input changes nothing. Flags and commands are owned by the parser's levels.
struct Request {
    /// What the input requests: to call the callbacks, or to print a text and end.
    enum class Action { run, help, version };

    Action action = Action::run;
    std::vector<GivenValue> values;
    std::vector<const doca_argp_param *> unset; ///< BOOLEAN flags that are false in the JSON file
    std::vector<std::string> eal;               ///< DPDK arguments, without the program name
    Path path;                                  ///< the given commands
    std::vector<GivenCommand> commands;         ///< the same, with their positions among the values
    std::optional<int> log_level;
    std::optional<int> sdk_log_level;
    std::optional<std::string> grpc_address;
    std::optional<std::string> json_path;

    /// Returns whether the input contains @p param.
    [[nodiscard]] bool mentions(const doca_argp_param *param) const;

    /// Adds everything of @p weaker that is not set here.
    void complete_from(Request &&weaker);
};

/// Parses an integer in the range of int: an optional sign, then decimal digits, or 0x and hexadecimal digits. Returns
/// nothing for other text.
[[nodiscard]] std::optional<int> parse_int(std::string_view text);

/// Converts @p number to a log level of the generation; levels come in steps of ten. Numbers above the highest level
/// are lowered to it with a warning; other numbers return nothing.
[[nodiscard]] std::optional<int> to_log_level(const Generation &generation, int number);

/// Returns the levels of a generation as text: "20, 30, 40, 50, 60".
[[nodiscard]] std::string log_level_numbers(const Generation &generation);

} // namespace opendoca::argp
