// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "json_value.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace opendoca::argp {

doca_error_t for_each_member(json_object &object,
                             const std::function<doca_error_t(std::string_view, json_object *)> &body)
{
    json_object_iterator at = json_object_iter_begin(&object);
    const json_object_iterator end = json_object_iter_end(&object);
    for (; json_object_iter_equal(&at, &end) == 0; json_object_iter_next(&at)) {
        const doca_error_t result = body(json_object_iter_peek_name(&at), json_object_iter_peek_value(&at));
        if (result != DOCA_SUCCESS)
            return result;
    }
    return DOCA_SUCCESS;
}

doca_error_t for_each_element(json_object *value, const std::function<doca_error_t(json_object *)> &body)
{
    if (!json_object_is_type(value, json_type_array))
        return body(value);
    const std::size_t count = json_object_array_length(value);
    for (std::size_t i = 0; i < count; ++i) {
        if (const doca_error_t result = body(json_object_array_get_idx(value, i)); result != DOCA_SUCCESS)
            return result;
    }
    return DOCA_SUCCESS;
}

std::optional<std::string> text_of(json_object *value)
{
    if (!json_object_is_type(value, json_type_string))
        return std::nullopt;
    const auto length = static_cast<std::size_t>(json_object_get_string_len(value));
    std::string text(json_object_get_string(value), length);
    // Callbacks receive C strings, which a NUL would cut.
    if (text.find('\0') != text.npos)
        return std::nullopt;
    return text;
}

std::optional<int> int_of(json_object *value)
{
    if (!json_object_is_type(value, json_type_int))
        return std::nullopt;
    const std::int64_t number = json_object_get_int64(value); // saturates at the limits of int64_t
    if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max())
        return std::nullopt;
    return static_cast<int>(number);
}

} // namespace opendoca::argp
