// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Error messages of argp: one log line, written where the error is detected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <doca_error.h>

namespace opendoca::argp {

/// Receives argp's messages in place of the log: a level of LogLevel, and one line of text without a line end.
using Listener = void (*)(std::uint32_t level, const char *text);
/// Sets the listener; null restores the log.
void set_listener(Listener listener);
/// Returns whether a listener is set.
[[nodiscard]] bool has_listener();

/// Logs @p text as an error and returns @p code.
[[nodiscard]] doca_error_t fail(doca_error_t code, const std::string &text, int line = __builtin_LINE());

/// Logs @p text as a warning.
void warn(const std::string &text, int line = __builtin_LINE());

/// Returns @p text, which comes from the user, for use in a message: quoted, shortened, and without control characters.
[[nodiscard]] std::string quoted(std::string_view text);

} // namespace opendoca::argp
