// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Reads small files of the kernel, such as those in /sys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace opendoca::tools {

// Returns nothing if a file can't be read.
[[nodiscard]] std::string text_in(const std::string &path);
[[nodiscard]] std::vector<std::string> lines_of(const std::string &path);
[[nodiscard]] std::string first_line(const std::string &path);
[[nodiscard]] std::optional<std::uint64_t> number_in(const std::string &path);
/// Returns the names in a folder, sorted.
[[nodiscard]] std::vector<std::string> names_in(const std::string &folder);

} // namespace opendoca::tools
