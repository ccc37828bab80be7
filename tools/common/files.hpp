// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Reads small files of the kernel, such as those in /sys. No function throws or reports an error: a file that is
// missing or that may not be read is a fact about the machine, not a failure of the tool.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace opendoca::tools {

// The result is empty if the file can't be read.
[[nodiscard]] std::string text_in(const std::string &path);
[[nodiscard]] std::vector<std::string> lines_of(const std::string &path);
[[nodiscard]] std::string first_line(const std::string &path);
[[nodiscard]] std::optional<std::uint64_t> number_in(const std::string &path);
/// Returns the sorted names in a folder, without hidden ones. Empty if the folder can't be read.
[[nodiscard]] std::vector<std::string> names_in(const std::string &folder);

} // namespace opendoca::tools
