// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Small helpers over json-c.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <json-c/json.h>

#include <doca_error.h>

namespace opendoca::argp
{

/// Calls @p body for each member of the object @p object, in the order of the file, until one fails.
[[nodiscard]] doca_error_t
for_each_member(json_object &object,
                const std::function<doca_error_t(std::string_view, json_object *)> &body);

/// Calls @p body for each element of the array @p value, or for @p value itself if it is none.
[[nodiscard]] doca_error_t for_each_element(json_object *value,
                                            const std::function<doca_error_t(json_object *)> &body);

/// The text of a JSON string; nothing for other types, and for a text that holds a NUL.
[[nodiscard]] std::optional<std::string> text_of(json_object *value);

/// A JSON number that is whole and in the range of int; nothing for everything else.
[[nodiscard]] std::optional<int> int_of(json_object *value);

} // namespace opendoca::argp
