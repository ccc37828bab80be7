// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "../device/device.hpp"
#include "../objects/buf.hpp"

namespace opendoca {

/// Checks that the memory map of @p buf has a key for @p device, and that the data section is inside of the buffer.
/// Otherwise logs the reason and returns INVALID_VALUE.
[[gnu::cold]] [[nodiscard]] OPENDOCA_INTERNAL doca_error_t check_buffer(const doca_buf &buf,
                                                                        const Device &device) noexcept;

/// Logs why the memory map of @p buf has no key for @p device.
[[gnu::cold]] void explain_missing_key(const doca_buf &buf, const Device &device) noexcept;

} // namespace opendoca
