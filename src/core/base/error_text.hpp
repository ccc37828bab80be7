// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <doca_error.h>

namespace opendoca {

/// The name of an error code and a description. Both are constant strings.
struct ErrorText {
    const char *name; ///< as in source code
    const char *text; ///< for log messages
};

/// Returns the text of @p error in an API generation with the last code @p last. Programs pass any number.
[[nodiscard]] const ErrorText &text_of(const doca_error_t &error, unsigned last) noexcept;

} // namespace opendoca
