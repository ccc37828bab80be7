// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string_view>

#include <doca_error.h>

namespace opendoca {

/// A name that messages carry, as programs register it. FULL, or std::bad_alloc.
[[nodiscard]] doca_error_t add_log_source(std::string_view name, int &source);
/// INVALID_VALUE when there is no such source.
[[nodiscard]] doca_error_t remove_log_source(int source) noexcept;
[[nodiscard]] bool is_log_source(int source) noexcept;

/// Name of a source of messages, also of source 0, which stands for one that could not be registered. Null
/// when there is no such source. The text is valid for the life of the process.
[[nodiscard]] const char *log_source_name(int source) noexcept;

} // namespace opendoca
