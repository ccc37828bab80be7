// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the C functions of DOCA 2.2 have in common: the check for null pointers and the codes of this generation.
#pragma once

#include "../call.hpp"

namespace opendoca::v2 {

/// Returns the code of DOCA 2.2 for a status of core, which both generations share.
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
    case Reason::buffers_in_use:
    case Reason::has_instances:
    case Reason::too_many_references: // of a buffer: 2.2 does not count them
        return DOCA_ERROR_NOT_PERMITTED;
    case Reason::no_buffer_left:
        return DOCA_ERROR_NO_MEMORY;
    }
    return DOCA_ERROR_UNEXPECTED;
}

/// Implements a C function of DOCA 2.2: see checked_call().
template <typename Body>
[[nodiscard]] inline doca_error_t call(std::initializer_list<const void *> arguments, Body &&body,
                                       const char *function = __builtin_FUNCTION()) noexcept
{
    return checked_call<code_of>(arguments, function, body);
}

} // namespace opendoca::v2
