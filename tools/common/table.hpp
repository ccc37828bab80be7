// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace opendoca::tools {

/// The side of a column at which its cells begin or end.
enum class Align : std::uint8_t { left, right };

/// Text in columns, each as wide as its longest cell. Rows are kept in the order in which they were added, and
/// formatted by text(); widths count bytes, so cells must be ASCII. Used by one thread.
class Table {
public:
    /// A column. If all titles are empty, the table has no line of titles.
    struct Column {
        std::string title;
        Align align = Align::left;
        // A row without cells is one of add_line(), which does not influence the widths.
    };

    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// Adds a row. It must have as many cells as there are columns.
    void add(std::vector<std::string> cells) { rows_.push_back({std::move(cells), {}}); }
    /// Adds a line between the rows that belongs to no column.
    void add_line(std::string line) { rows_.push_back({{}, std::move(line)}); }

    /// Returns the titles, unless all are empty, and the rows; each line begins with @p indent.
    [[nodiscard]] std::string text(std::string_view indent = "") const;

private:
    /// Either cells, one for each column, or a line without cells.
    struct Row {
        std::vector<std::string> cells;
        std::string line; ///< replaces the cells
    };

    std::vector<Column> columns_;
    std::vector<Row> rows_;
};

} // namespace opendoca::tools
