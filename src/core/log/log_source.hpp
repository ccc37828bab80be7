// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string_view>

#include <doca_error.h>

namespace opendoca {

/// Registers @p name as a source of log messages, and sets @p source to its number. Returns FULL if there are too many
/// sources. Throws std::bad_alloc. Thread-safe, like the other functions.
[[nodiscard]] doca_error_t add_log_source(std::string_view name, int &source);
/// Removes a source. Its number may then be reused. INVALID_VALUE if there is no such source.
[[nodiscard]] doca_error_t remove_log_source(int source) noexcept;
[[nodiscard]] bool is_log_source(int source) noexcept;

/// Returns the name of a source, or null if there is no such source. Source 0 stands for any that could not be
/// registered. The text is valid for the life of the process.
[[nodiscard]] const char *log_source_name(int source) noexcept;

} // namespace opendoca
