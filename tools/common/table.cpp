// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "table.hpp"

#include <algorithm>
#include <cstddef>

namespace opendoca::tools {

std::string Table::text(std::string_view indent) const
{
    std::vector<std::size_t> widths;
    bool has_titles = false;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::size_t width = columns_[i].title.size();
        has_titles = has_titles || width != 0;
        for (const Row &row : rows_)
            width = std::max(width, row.cells.empty() ? 0 : row.cells[i].size());
        widths.push_back(width);
    }

    std::string result;
    // Appends one line. Trailing blanks are removed, so that outputs do not differ by invisible characters.
    const auto print = [&](auto &&cell_of) {
        std::string line(indent);
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const std::string &cell = cell_of(i);
            const std::string padding(widths[i] - cell.size(), ' ');
            line += i == 0 ? "" : "  ";
            line += columns_[i].align == Align::left ? cell + padding : padding + cell;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        result += line + '\n';
    };
    if (has_titles)
        print([&](std::size_t i) -> const std::string & { return columns_[i].title; });
    for (const Row &row : rows_) {
        if (row.cells.empty())
            result.append(indent).append(row.line).append("\n");
        else
            print([&](std::size_t i) -> const std::string & { return row.cells[i]; });
    }
    return result;
}

} // namespace opendoca::tools
