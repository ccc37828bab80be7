// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Helpers for json-c objects.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <json-c/json.h>

#include <doca_error.h>

namespace opendoca::argp {

/// Calls @p body for each member of @p object, in the order of the file, until one call fails.
[[nodiscard]] doca_error_t for_each_member(json_object &object,
                                           const std::function<doca_error_t(std::string_view, json_object *)> &body);

/// Calls @p body for each element of @p value if that is an array, else for @p value itself.
[[nodiscard]] doca_error_t for_each_element(json_object *value, const std::function<doca_error_t(json_object *)> &body);

/// Returns the text of a JSON string; nothing for other types and for texts with a NUL byte.
[[nodiscard]] std::optional<std::string> text_of(json_object *value);

/// Returns the value of an integral JSON number in the range of int; nothing for everything else.
[[nodiscard]] std::optional<int> int_of(json_object *value);

} // namespace opendoca::argp
