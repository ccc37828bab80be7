// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The JSON files of DOCA programs may have comments and trailing commas, which JSON does not allow.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace opendoca::argp {

/// The first error in a text.
struct JsonTextError {
    std::size_t line; ///< counted from 1
    std::string what; ///< what is wrong, as a clause
};

/// Overwrites // and /* */ comments, trailing commas and a leading byte order mark with blanks. Line ends stay, so that
/// lines keep their numbers. Returns an error for comments without an end, NUL bytes and too many values; nothing on
/// success.
[[nodiscard]] std::optional<JsonTextError> make_strict_json(std::string &text);

/// Returns the number, from 1, of the line that contains the character at @p offset.
[[nodiscard]] std::size_t line_of(std::string_view text, std::size_t offset);

} // namespace opendoca::argp
