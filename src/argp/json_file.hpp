// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Reads a JSON file into a json-c object. The text is untrusted.
#pragma once

#include <string>

#include "request.hpp"

namespace opendoca::argp {

/// Reads and parses the file at @p path. On success @p out is an object, at most 32 levels deep. Returns IO_FAILED if
/// the file cannot be read or is no JSON, INVALID_VALUE if it does not contain an object.
[[nodiscard]] doca_error_t read_json_file(const std::string &path, JsonPtr &out);

} // namespace opendoca::argp
