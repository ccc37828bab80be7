// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "usage.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace opendoca::argp {
namespace {

/// The columns of one flag: "-p,", "--pci-addr", "<text>", description.
struct Row {
    std::array<std::string, 3> cells;
    std::string description;
};

/// Builds the row of a flag from its names and texts.
Row make_row(const std::string &short_name, const std::string &long_name, const std::string &arguments,
             const std::string &description)
{
    Row row;
    if (!short_name.empty())
        row.cells[0] = "-" + short_name + (long_name.empty() ? "" : ",");
    if (!long_name.empty())
        row.cells[1] = "--" + long_name;
    row.cells[2] = arguments;
    row.description = description;
    return row;
}

/// Returns the placeholder of a value if the program has set none.
std::string default_arguments(const doca_argp_param &param)
{
    if (param.type == Type::string)
        return "<text>";
    return param.type == Type::number ? "<number>" : "";
}

Row make_row(const doca_argp_param &param)
{
    std::string description = param.description;
    if (param.is_mandatory)
        description += " (mandatory)";
    if (param.has_multiplicity)
        description += " (may be repeated)";
    if (param.type == Type::json)
        description += " (JSON file only)";
    return make_row(param.short_name, param.long_name,
                    param.arguments.empty() ? default_arguments(param) : param.arguments, description);
}

/// Rows with aligned columns. All flags are in one table, so that both sections have the same columns.
class Table {
public:
    void add(Row row)
    {
        for (std::size_t i = 0; i < row.cells.size(); ++i)
            widths_[i] = std::max(widths_[i], row.cells[i].size());
        rows_.push_back(std::move(row));
    }

    [[nodiscard]] std::size_t size() const { return rows_.size(); }

    /// Appends rows @p first to @p last - 1. Each column is as wide as its widest cell in the whole table.
    [[nodiscard]] std::string text(std::size_t first, std::size_t last) const
    {
        std::string out;
        for (std::size_t i = first; i < last; ++i)
            out += line(rows_[i]);
        return out;
    }

private:
    [[nodiscard]] std::string line(const Row &row) const
    {
        std::string out = " ";
        for (std::size_t i = 0; i < row.cells.size(); ++i)
            out += ' ' + row.cells[i] + std::string(widths_[i] - row.cells[i].size(), ' ');
        out += "  ";
        const std::string margin(out.size(), ' ');
        for (const char c : row.description) // further lines are aligned with the first
            out += c == '\n' ? "\n" + margin : std::string(1, c);
        return out + '\n';
    }

    std::vector<Row> rows_;
    std::array<std::size_t, 3> widths_{};
};

} // namespace

std::string usage_text(const std::string &program_name, const FlagSet &flags, const Path &path, bool is_dpdk_program)
{
    Table table;
    for (const GeneralFlagInfo &info : flags.general(path)) {
        if (!info.short_name.empty() || !info.long_name.empty())
            table.add(make_row(info.short_name, info.long_name, info.arguments, info.description));
    }
    const std::size_t general_count = table.size();
    for (std::size_t depth = path.size() + 1; depth-- != 0;) {
        for (const auto &param : flags.level(path, depth).params()) {
            if (!param->is_hidden && (depth == path.size() || param->is_inherited))
                table.add(make_row(*param));
        }
    }
    const std::size_t flag_count = table.size();
    // Commands have a table of their own, since they have one column only.
    const Level &level = flags.level(path, path.size());
    Table commands;
    for (const auto &command : level.commands()) {
        if (!command->is_hidden)
            commands.add({{command->name, "", ""}, command->description});
    }

    std::string out = "Usage: " + program_name + (is_dpdk_program ? " [DPDK Flags] --" : "");
    for (const doca_argp_cmd *command : path)
        out += " " + command->name;
    const std::string kind = path.empty() ? "Program" : "Command";
    out += " [DOCA Flags] [" + kind + " Flags]";
    out += commands.size() != 0 ? " [Command]\n" : "\n";
    if (general_count != 0)
        out += "\nDOCA Flags:\n" + table.text(0, general_count);
    if (flag_count != general_count)
        out += "\n" + kind + " Flags:\n" + table.text(general_count, flag_count);
    if (commands.size() != 0)
        out += "\nCommands:\n" + commands.text(0, commands.size());
    return out;
}

} // namespace opendoca::argp
