// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace opendoca::tools {

/// Bytes a second that `openssl speed` tells of a digest ("sha256") of @p size bytes, after @p seconds of it.
/// Nothing where there is no such program, or none that tells it.
[[nodiscard]] std::optional<double> openssl_speed(const std::string &digest, std::size_t size,
                                                  unsigned seconds);

/// The part of it that reads the program's output, as -mr shapes it.
[[nodiscard]] std::optional<double> parse_openssl_speed(const std::string &output, const std::string &digest);

} // namespace opendoca::tools
