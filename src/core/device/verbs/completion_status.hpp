// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <infiniband/verbs.h>

#include <doca_error.h>

namespace opendoca::verbs {

/// Returns the error of an operation that has completed with @p status.
[[nodiscard]] doca_error_t to_error(ibv_wc_status status) noexcept;

} // namespace opendoca::verbs
