// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The common parts of the C functions of all API generations: a check for null pointers, one call of an object, and the
// conversion of its status to the generation's error code.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <type_traits>

#include <doca_types.h>

#include "base/guard.hpp"
#include "base/reason.hpp"
#include "log/log.hpp"

namespace opendoca {

/// Logs that a required pointer of @p function is NULL: the one at @p position, from 1, or 0 if the function has only
/// one. Names of internal helpers mean nothing to a user and are left out.
[[gnu::cold, gnu::noinline]] inline void report_null(const char *function, std::size_t position = 0) noexcept
{
    const bool is_public = std::string_view(function).starts_with("doca_");
    const char *const name = is_public ? function : "";
    const char *const separator = is_public ? ": " : "";
    if (position == 0)
        log(LogLevel::error, "DOCA_CALL", __LINE__, "%s%san argument is NULL that must not be", name, separator);
    else
        log(LogLevel::error, "DOCA_CALL", __LINE__,
            "%s%san argument is NULL that must not be: number %zu of its pointers", name, separator, position);
}

/// Returns INVALID_VALUE, for a function that checks for null pointers itself so that its fast path needs no stack
/// frame.
[[gnu::cold, gnu::noinline, nodiscard]] inline doca_error_t
refuse_null(const char *function = __builtin_FUNCTION()) noexcept
{
    report_null(function);
    return DOCA_ERROR_INVALID_VALUE;
}

/// Returns what @p read returns, for a getter that returns its value. If @p object is null, logs that and returns 0.
template <typename Read>
[[nodiscard]] inline std::invoke_result_t<Read> read_from(const void *object, Read read,
                                                          const char *function = __builtin_FUNCTION()) noexcept
{
    if (object == nullptr) [[unlikely]]
        return report_null(function), std::invoke_result_t<Read>{};
    return read();
}

/// Calls @p change, for a setter that returns nothing. If @p object is null, logs that and does nothing.
template <typename Change>
inline void apply_to(const void *object, Change change, const char *function = __builtin_FUNCTION()) noexcept
{
    if (object == nullptr) [[unlikely]]
        return report_null(function);
    change();
}

/// Logs that an argument is invalid, for the reason @p what. Returns INVALID_VALUE.
[[gnu::cold, gnu::noinline, nodiscard]] inline doca_error_t
refuse_value(const char *what, const char *function = __builtin_FUNCTION()) noexcept
{
    log(LogLevel::error, "DOCA_CALL", __LINE__, "%s: %s", function, what);
    return DOCA_ERROR_INVALID_VALUE;
}

/// Returns INVALID_VALUE, with a message, if one of @p arguments is null. Otherwise calls @p body and returns its
/// status, converted by @p code_of, or SUCCESS if it returns nothing. Turns exceptions into errors. @p function is the
/// name of the public function.
template <auto code_of, typename Body>
[[nodiscard]] inline doca_error_t checked_call(std::initializer_list<const void *> arguments, const char *function,
                                               Body &&body) noexcept
{
    for (const void *const &argument : arguments) {
        if (argument == nullptr) [[unlikely]] {
            const auto index = static_cast<std::size_t>(&argument - arguments.begin());
            report_null(function, arguments.size() > 1 ? index + 1 : 0);
            return DOCA_ERROR_INVALID_VALUE;
        }
    }
    return guarded([&]() -> doca_error_t {
        if constexpr (std::is_void_v<decltype(body())>)
            return body(), DOCA_SUCCESS;
        else
            return code_of(body());
    });
}

/// Returns @p user_data, or zero if the program has passed null, which is allowed.
[[nodiscard]] inline doca_data value_of(const doca_data *user_data) noexcept
{
    return user_data != nullptr ? *user_data : doca_data{};
}

} // namespace opendoca
