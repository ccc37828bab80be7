// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What each C function of the 2.2 API is made of: a check for null pointers, one call of an object, and the
// code that 2.2 has for the object's answer.
#pragma once

#include <initializer_list>
#include <type_traits>

#include <doca_types.h>

#include "../guard.hpp"
#include "../reason.hpp"

namespace opendoca::v2 {

/// The code of DOCA 2.2.
[[nodiscard]] constexpr doca_error_t code_of(Status status) noexcept
{
    if (!status.is_reason())
        return status.code();
    switch (status.reason()) {
    case Reason::already_added:
        return DOCA_ERROR_IN_USE;
    case Reason::not_added:
    case Reason::range_too_small:
        return DOCA_ERROR_INVALID_VALUE;
    case Reason::not_started:
    case Reason::buffers_are_out:
    case Reason::has_instances:
        return DOCA_ERROR_NOT_PERMITTED;
    case Reason::no_buffer_left:
        return DOCA_ERROR_NO_MEMORY;
    }
    return DOCA_ERROR_UNEXPECTED;
}

/// INVALID_VALUE when one of @p arguments is null; else what @p body answers, and SUCCESS when it returns
/// nothing. No exception leaves it.
template <typename Body>
[[nodiscard]] inline doca_error_t call(std::initializer_list<const void *> arguments, Body &&body) noexcept
{
    for (const void *const argument : arguments) {
        if (argument == nullptr) [[unlikely]]
            return DOCA_ERROR_INVALID_VALUE;
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

} // namespace opendoca::v2
