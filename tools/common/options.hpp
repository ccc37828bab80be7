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

/// The options of one command: -x, --long, --long VALUE or --long=VALUE. -h, --help and --version are built in.
class OptionParser {
public:
    /// Receives an option's value; returns an error message, or nothing.
    using TakeValue = std::function<std::optional<std::string>(std::string_view value)>;

    OptionParser(std::string command, std::string summary);

    /// @p short_name may be 0.
    void add_flag(char short_name, std::string long_name, std::string help, bool &is_set);
    void add_value(char short_name, std::string long_name, std::string value_name, std::string help, TakeValue take);

    /// Parses the arguments that follow the command. Returns an exit status if the program should end now: 0 after
    /// --help and
    /// --version, usage_error after a mistake, which has been reported with the usage on @p err.
    [[nodiscard]] std::optional<int> parse(std::span<char *const> arguments, std::ostream &out,
                                           std::ostream &err) const;
    /// Reports an error of the options as a whole, with the usage, on @p err; returns usage_error.
    int complain(const std::string &what, std::ostream &err) const;
    void print_usage(std::ostream &out) const;

private:
    struct Option {
        char short_name;
        std::string long_name;
        std::string value_name; ///< empty for a flag
        std::string help;
        TakeValue take;
    };

    [[nodiscard]] const Option *find(std::string_view argument, std::string_view &value, bool &has_value) const;

    std::string command_;
    std::string summary_;
    std::vector<Option> options_;
};

} // namespace opendoca::tools
