// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>
#include <string_view>

namespace opendoca::tools {

/// Returns the text of --version: the program, the release of the library in use, and the version of its API.
[[nodiscard]] std::string version_line(std::string_view program);

} // namespace opendoca::tools
