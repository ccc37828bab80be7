// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "guard.hpp"

namespace opendoca {

/// The release of opendoca that this library is, such as "0.9.0": docs/versioning.md. The API has numbers of its own.
[[nodiscard]] OPENDOCA_INTERNAL const char *release() noexcept;

} // namespace opendoca
