// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <doca_error.h>

namespace opendoca {

/// An error code in words.
struct ErrorText {
    const char *name; ///< as in the source
    const char *text; ///< for people
};

/// Of an API generation whose last code is @p last. Programs pass any number as @p error.
[[nodiscard]] const ErrorText &text_of(const doca_error_t &error, unsigned last) noexcept;

} // namespace opendoca
