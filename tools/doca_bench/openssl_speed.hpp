// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace opendoca::tools {

/// Runs `openssl speed` for @p seconds and returns its bytes a second for a digest ("sha256") of messages of @p size
/// bytes. Returns nothing if the program is missing or its output has no such number.
[[nodiscard]] std::optional<double> openssl_speed(const std::string &digest, std::size_t size, unsigned seconds);

/// Parses the program's output in the format of -mr.
[[nodiscard]] std::optional<double> parse_openssl_speed(const std::string &output, const std::string &digest);

} // namespace opendoca::tools
