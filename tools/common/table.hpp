// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace opendoca::tools {

enum class Align : std::uint8_t { left, right };

/// Text in columns, each as wide as its longest cell.
class Table {
public:
    struct Column {
        std::string title;
        Align align = Align::left;
    };

    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// Adds a row, with as many cells as there are columns.
    void add(std::vector<std::string> cells) { rows_.push_back({std::move(cells), {}}); }
    /// Adds a line between the rows that belongs to no column.
    void add_line(std::string line) { rows_.push_back({{}, std::move(line)}); }

    /// Returns the titles, unless all are empty, and the rows; each line begins with @p indent.
    [[nodiscard]] std::string text(std::string_view indent = "") const;

private:
    struct Row {
        std::vector<std::string> cells;
        std::string line; ///< replaces the cells
    };

    std::vector<Column> columns_;
    std::vector<Row> rows_;
};

} // namespace opendoca::tools
