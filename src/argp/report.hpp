// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// How argp says what is wrong: one line in the log, where it is first known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <doca_error.h>

namespace opendoca::argp
{

/// Takes what argp has to say in place of the log: a level of struct LogLevel, and one line.
using Listener = void (*)(std::uint32_t level, const char *text);
/// Null for the log.
void set_listener(Listener listener);
[[nodiscard]] bool has_listener();

/// Logs @p text as an error and gives @p code back.
[[nodiscard]] doca_error_t fail(doca_error_t code, const std::string &text, int line = __builtin_LINE());

/// Logs @p text as a warning.
void warn(const std::string &text, int line = __builtin_LINE());

/// Text of the user's for a message: in quotes, shortened, and without control characters.
[[nodiscard]] std::string quoted(std::string_view text);

} // namespace opendoca::argp
