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

/// Returns the text of @p error in an API generation with the last code @p last. Programs pass any number.
[[nodiscard]] const ErrorText &text_of(const doca_error_t &error, unsigned last) noexcept;

} // namespace opendoca
