// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C boundary. What our own libraries need of libdoca_core is marked OPENDOCA_INTERNAL and lands in the
// version node of the release, and of the original's private helpers in INTERNAL; public functions are marked by
// __DOCA_EXPERIMENTAL in the public headers.
#pragma once

#include <new>

#include <doca_error.h>

#define OPENDOCA_INTERNAL __attribute__((visibility("default")))

namespace opendoca {

/// Runs @p body so that no exception leaves a C function.
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
