// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "buf.hpp"
#include "device/device.hpp"

namespace opendoca {

/// Whether @p buf is of memory that @p device may use, and has its data inside of it. INVALID_VALUE, with the
/// reason in the log.
[[gnu::cold]] [[nodiscard]] OPENDOCA_INTERNAL doca_error_t check_buffer(const doca_buf &buf,
                                                                        const Device &device) noexcept;

/// Logs why there is no key of the memory of @p buf for @p device.
[[gnu::cold]] void explain_missing_key(const doca_buf &buf, const Device &device) noexcept;

} // namespace opendoca
