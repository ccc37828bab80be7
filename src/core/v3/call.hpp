// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the C functions of DOCA 3.0 have in common: the check for null pointers and the codes of this generation.
#pragma once

#include "../call.hpp"

namespace opendoca::v3 {

/// Returns DOCA 3.0's error code for a status of core (which is the same for both generations).
[[nodiscard]] constexpr doca_error_t code_of(Status status) noexcept
{
    if (!status.is_reason())
        return status.code();
    switch (status.reason()) {
    case Reason::already_added:
        return DOCA_ERROR_ALREADY_EXIST;
    case Reason::not_added:
        return DOCA_ERROR_NOT_FOUND;
    case Reason::not_started:
        return DOCA_ERROR_BAD_STATE;
    case Reason::buffers_in_use:
    case Reason::has_instances:
        return DOCA_ERROR_IN_USE;
    case Reason::no_buffer_left:
        return DOCA_ERROR_EMPTY;
    case Reason::range_too_small:
        return DOCA_ERROR_INITIALIZATION;
    case Reason::too_many_references:
        return DOCA_ERROR_TOO_BIG;
    }
    return DOCA_ERROR_UNEXPECTED;
}

/// Implements a C function of DOCA 3.0: see checked_call().
template <typename Body>
[[nodiscard]] inline doca_error_t call(std::initializer_list<const void *> arguments, Body &&body,
                                       const char *function = __builtin_FUNCTION()) noexcept
{
    return checked_call<code_of>(arguments, function, body);
}

} // namespace opendoca::v3
