// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opendoca::tools {

/// The exit status after a wrong command line.
inline constexpr int usage_error = 2;

/// Parser of one command's options: -x, --long, --long VALUE or --long=VALUE. -h, --help and --version are built in.
/// Options are added once, then parse() writes to the variables that they refer to; the caller keeps these alive. Used
/// by one thread.
class OptionParser {
public:
    /// Receives an option's value; returns an error message, or nothing.
    using TakeValue = std::function<std::optional<std::string>(std::string_view value)>;

    OptionParser(std::string command, std::string summary);

    /// Adds an option without a value; sets @p is_set if it is given. @p short_name may be 0 for none.
    void add_flag(char short_name, std::string long_name, std::string help, bool &is_set);
    /// Adds an option with a value, which @p take stores or rejects. @p value_name stands for the value in the usage. A
    /// repeated option calls @p take again.
    void add_value(char short_name, std::string long_name, std::string value_name, std::string help, TakeValue take);

    /// Parses the arguments that follow the command. Returns an exit status if the program should end now: 0 after
    /// --help and --version, or usage_error after a wrong option, which is reported on @p err together with the usage.
    [[nodiscard]] std::optional<int> parse(std::span<char *const> arguments, std::ostream &out,
                                           std::ostream &err) const;
    /// Reports an error of the options as a whole, with the usage, on @p err; returns usage_error.
    int complain(const std::string &what, std::ostream &err) const;
    /// Prints the command, its summary and a line for each option.
    void print_usage(std::ostream &out) const;

private:
    /// One option. They are listed in the usage in the order in which they were added.
    struct Option {
        char short_name;
        std::string long_name;
        std::string value_name; ///< empty for a flag
        std::string help;
        TakeValue take;
    };

    /// Returns the option that @p argument names, or null. Sets @p value and @p has_value if the argument contains a
    /// value.
    [[nodiscard]] const Option *find(std::string_view argument, std::string_view &value, bool &has_value) const;

    std::string command_;
    std::string summary_;
    std::vector<Option> options_;
};

} // namespace opendoca::tools
