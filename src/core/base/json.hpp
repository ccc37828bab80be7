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
/// An owned reference to a value of json-c; null is JSON's null.
using JsonPtr = std::unique_ptr<json_object, JsonPut>;

struct JsonError {
    std::size_t offset; ///< bytes from the start of the text
    std::string what;
};

/// Parses @p text, which is not trusted, into objects of json-c. Returns false, with @p error set, if it is not a JSON
/// value or is nested more than 32 deep. Throws std::bad_alloc. Not json-c's own parser, which crashes without memory.
[[nodiscard]] OPENDOCA_INTERNAL bool read_json(std::string_view text, JsonPtr &value, JsonError &error);

} // namespace opendoca
