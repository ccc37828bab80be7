// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What each C function of any API generation is made of: a check for null pointers, one call of an object, and
// the code that the generation has for the object's answer.
#pragma once

#include <initializer_list>
#include <string_view>
#include <type_traits>

#include <doca_types.h>

#include "guard.hpp"
#include "log.hpp"
#include "reason.hpp"

namespace opendoca {

/// Helpers that several C functions share have names that tell a program nothing.
[[gnu::cold, gnu::noinline]] inline void report_null(const char *function) noexcept
{
    const bool is_public = std::string_view(function).starts_with("doca_");
    log(LogLevel::error, "DOCA_CALL", __LINE__, "%s%san argument is NULL that must not be", is_public ? function : "",
        is_public ? ": " : "");
}

/// What a function answers that checks for null pointers itself, so that its fast path needs no stack frame.
[[gnu::cold, gnu::noinline, nodiscard]] inline doca_error_t
refuse_null(const char *function = __builtin_FUNCTION()) noexcept
{
    report_null(function);
    return DOCA_ERROR_INVALID_VALUE;
}

/// The same for another value that is none: @p what is wrong.
[[gnu::cold, gnu::noinline, nodiscard]] inline doca_error_t
refuse_value(const char *what, const char *function = __builtin_FUNCTION()) noexcept
{
    log(LogLevel::error, "DOCA_CALL", __LINE__, "%s: %s", function, what);
    return DOCA_ERROR_INVALID_VALUE;
}

/// INVALID_VALUE when one of @p arguments is null; else what @p body answers, and SUCCESS when it returns
/// nothing. No exception leaves it. @p code_of gives the code of a Status, @p function is who was called.
template <auto code_of, typename Body>
[[nodiscard]] inline doca_error_t checked_call(std::initializer_list<const void *> arguments, const char *function,
                                               Body &&body) noexcept
{
    for (const void *const argument : arguments) {
        if (argument == nullptr) [[unlikely]] {
            report_null(function);
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

/// User data that the program may leave out.
[[nodiscard]] inline doca_data value_of(const doca_data *user_data) noexcept
{
    return user_data != nullptr ? *user_data : doca_data{};
}

} // namespace opendoca
