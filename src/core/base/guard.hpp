// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The boundary to C programs. Symbols of libdoca_core that other libraries of this project use are marked
// OPENDOCA_INTERNAL and are exported in the version node of the release (those of private_helpers.cpp in INTERNAL).
// Public functions are marked by __DOCA_EXPERIMENTAL in the public headers.
#pragma once

#include <new>

#include <doca_error.h>

#define OPENDOCA_INTERNAL __attribute__((visibility("default")))

namespace opendoca {

/// Runs @p body and returns its status. Turns exceptions into errors, so that none leaves a C function: NO_MEMORY for
/// std::bad_alloc, UNEXPECTED for others.
template <typename Body>
[[nodiscard]] doca_error_t guarded(Body &&body) noexcept
{
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return DOCA_ERROR_NO_MEMORY;
    } catch (...) {
        return DOCA_ERROR_UNEXPECTED;
    }
}

} // namespace opendoca
