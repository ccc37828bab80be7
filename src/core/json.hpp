// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <json-c/json.h>

#include "guard.hpp"

namespace opendoca {

struct JsonPut {
    void operator()(json_object *object) const noexcept { (void)json_object_put(object); }
};
/// A reference to a value; null is JSON's null.
using JsonPtr = std::unique_ptr<json_object, JsonPut>;

struct JsonError {
    std::size_t offset; ///< in the text
    std::string what;
};

/// Reads @p text, which may be from anywhere, into objects of json-c. False, with @p error set, when it is not one JSON
/// value, or one that is nested more than 32 deep. Throws std::bad_alloc: json-c's own reader crashes without memory.
[[nodiscard]] OPENDOCA_INTERNAL bool read_json(std::string_view text, JsonPtr &value, JsonError &error);

} // namespace opendoca
