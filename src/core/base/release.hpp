// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "guard.hpp"

namespace opendoca {

/// Returns the release of opendoca that this library belongs to, such as "1.0.0" (docs/versioning.md). The versions of
/// the API are independent of it.
[[nodiscard]] OPENDOCA_INTERNAL const char *release() noexcept;

} // namespace opendoca
