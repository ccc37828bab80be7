// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "json.hpp"

#include <cmath>
#include <cstdio>

#include <json-c/json.h>

namespace opendoca::tools {

Json::Json(std::string_view text)
    : value_(json_object_new_string_len(text.data(), static_cast<int>(text.size())))
{
}

Json::Json(std::int64_t value, Number) : value_(json_object_new_int64(value)) {}

Json::Json(double value, Number)
{
    if (!std::isfinite(value))
        return; // JSON has no word for it
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
    const char *const text = json_object_to_json_string_ext(
        value_, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE);
    return std::string(text) + '\n';
}

} // namespace opendoca::tools
