// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <json-c/json.h>

namespace opendoca::tools {

namespace {

/// Path and text of each leaf value of one row.
using Cells = std::vector<std::pair<std::string, std::string>>;

/// Appends the leaves below @p value to @p cells. @p path is that of the value itself, with its keys joined by '_'.
void flatten(const std::string &path, json_object *value, Cells &cells)
{
    const std::string prefix = path.empty() ? "" : path + "_";
    if (json_object_is_type(value, json_type_object)) {
        json_object_object_foreach(value, key, member)
        {
            flatten(prefix + key, member, cells);
        }
    } else if (json_object_is_type(value, json_type_array)) {
        for (std::size_t i = 0; i < json_object_array_length(value); ++i) {
            json_object *const element = json_object_array_get_idx(value, i);
            json_object *name = nullptr;
            // Names are stable if elements are added or left out; indices are not.
            const bool has_name = json_object_object_get_ex(element, "name", &name) != 0;
            flatten(prefix + (has_name ? json_object_get_string(name) : std::to_string(i)), element, cells);
        }
    } else if (value != nullptr) {
        cells.emplace_back(path, json_object_get_string(value));
    }
}

/// Quotes a cell of RFC 4180 if it contains a separator, a quote or a line break; quotes inside are doubled.
std::string quoted(const std::string &cell)
{
    if (cell.find_first_of(",\"\r\n") == std::string::npos)
        return cell;
    std::string text = "\"";
    for (const char character : cell)
        text.append(character == '"' ? 2 : 1, character);
    return text + '"';
}

} // namespace

Json::Json(std::string_view text) : value_(json_object_new_string_len(text.data(), static_cast<int>(text.size()))) {}

Json::Json(std::int64_t value, Number) : value_(json_object_new_int64(value)) {}

Json::Json(double value, Number)
{
    if (!std::isfinite(value))
        return; // JSON has no representation for it
    // Six digits are more than the precision of any measurement here, and keep the files short.
    char text[32];
    std::snprintf(text, sizeof(text), "%.6g", value);
    value_ = json_object_new_double_s(value, text);
}

Json::~Json()
{
    json_object_put(value_);
}

json_object *Json::boolean(bool value)
{
    return json_object_new_boolean(value);
}

Json Json::object()
{
    return {json_object_new_object(), Owned{}};
}

Json Json::array()
{
    return {json_object_new_array(), Owned{}};
}

Json &Json::set(const char *key, Json value)
{
    json_object_object_add(value_, key, std::exchange(value.value_, nullptr));
    return *this;
}

Json &Json::add(Json value)
{
    json_object_array_add(value_, std::exchange(value.value_, nullptr));
    return *this;
}

std::string Json::text() const
{
    const char *const text = json_object_to_json_string_ext(value_, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                                                        JSON_C_TO_STRING_NOSLASHESCAPE);
    return std::string(text) + '\n';
}

std::string Json::csv(const char *key) const
{
    json_object *array = nullptr;
    (void)json_object_object_get_ex(value_, key, &array);
    std::vector<Cells> rows;
    // The columns are the union of the leaves of all rows, in the order of first appearance.
    std::vector<std::string> titles;
    for (std::size_t i = 0; array != nullptr && i < json_object_array_length(array); ++i) {
        flatten("", json_object_array_get_idx(array, i), rows.emplace_back());
        for (const auto &[title, cell] : rows.back()) {
            if (std::ranges::find(titles, title) == titles.end())
                titles.push_back(title);
        }
    }
    std::string text;
    for (const std::string &title : titles) {
        text += text.empty() ? "" : ",";
        text += quoted(title);
    }
    text += '\n';
    for (const Cells &cells : rows) {
        for (const std::string &title : titles) {
            const auto found = std::ranges::find(cells, title, &Cells::value_type::first);
            text += &title == &titles.front() ? "" : ",";
            text += found == cells.end() ? std::string() : quoted(found->second);
        }
        text += '\n';
    }
    return text;
}

} // namespace opendoca::tools
