// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>
#include <string_view>

namespace opendoca::tools {

/// What --version prints: the program, the release of the library in use, and the API that it has.
[[nodiscard]] std::string version_line(std::string_view program);

} // namespace opendoca::tools
