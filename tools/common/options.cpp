// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "options.hpp"

#include <cstddef>

#include "table.hpp"
#include "version.hpp"

namespace opendoca::tools {

OptionParser::OptionParser(std::string command, std::string summary)
    : command_(std::move(command)),
      summary_(std::move(summary))
{
}

void OptionParser::add_flag(char short_name, std::string long_name, std::string help, bool &is_set)
{
    options_.push_back({short_name, std::move(long_name), {}, std::move(help), [&is_set](std::string_view) {
                            is_set = true;
                            return std::optional<std::string>();
                        }});
}

void OptionParser::add_value(char short_name, std::string long_name, std::string value_name, std::string help,
                             TakeValue take)
{
    options_.push_back({short_name, std::move(long_name), std::move(value_name), std::move(help), std::move(take)});
}

// Splits --NAME=VALUE. Only long options may contain the value; -xVALUE is not supported.
const OptionParser::Option *OptionParser::find(std::string_view argument, std::string_view &value,
                                               bool &has_value) const
{
    const auto equals = argument.starts_with("--") ? argument.find('=') : std::string_view::npos;
    const std::string_view name = argument.substr(0, equals);
    has_value = equals != std::string_view::npos;
    if (has_value)
        value = argument.substr(equals + 1);
    for (const Option &option : options_) {
        const bool is_short = name.size() == 2 && name[0] == '-' && name[1] == option.short_name;
        if (is_short || (name.starts_with("--") && name.substr(2) == option.long_name))
            return &option;
    }
    return nullptr;
}

std::optional<int> OptionParser::parse(std::span<char *const> arguments, std::ostream &out, std::ostream &err) const
{
    const auto complain = [&](const std::string &what) { return this->complain(what, err); };
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string argument = arguments[i];
        // Built in, and effective before any mistake that follows.
        if (argument == "-h" || argument == "--help") {
            print_usage(out);
            return 0;
        }
        if (argument == "--version") {
            out << version_line(command_);
            return 0;
        }
        std::string_view value;
        bool has_value = false;
        const Option *const option = find(argument, value, has_value);
        if (option == nullptr)
            return complain((argument.starts_with("-") ? "unknown option '" : "unexpected argument '") + argument +
                            "'");
        if (option->value_name.empty() && has_value)
            return complain("--" + option->long_name + " takes no value");
        // The value is the next argument, even if it begins with a dash.
        if (!option->value_name.empty() && !has_value) {
            if (++i == arguments.size())
                return complain(argument + " needs a value: " + option->value_name);
            value = arguments[i];
        }
        if (const auto complaint = option->take(value))
            return complain("--" + option->long_name + " '" + std::string(value) + "': " + *complaint);
    }
    return std::nullopt;
}

// The usage goes to the same stream, after the message, so that it is not mixed with results on standard output.
int OptionParser::complain(const std::string &what, std::ostream &err) const
{
    err << command_ << ": " << what << "\n\n";
    print_usage(err);
    return usage_error;
}

void OptionParser::print_usage(std::ostream &out) const
{
    out << "Usage: " << command_ << " [options]\n" << summary_ << "\n\nOptions:\n";
    Table table({{"", Align::left}, {"", Align::left}});
    table.add({"-h, --help", "print this text"});
    table.add({"    --version", "print the release"});
    for (const Option &option : options_) {
        // Long names are aligned, whether or not there is a short one.
        std::string names = option.short_name != 0 ? std::string("-") + option.short_name + ", " : "    ";
        names += "--" + option.long_name + (option.value_name.empty() ? "" : " " + option.value_name);
        table.add({names, option.help});
    }
    out << table.text("  ");
}

} // namespace opendoca::tools
