// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

namespace opendoca {

/// The severity of a message: a smaller number is more severe. Equal in all generations of the API. Programs may pass
/// any number; numbers between two of these are neither levels nor limits.
struct LogLevel {
    static constexpr std::uint32_t disable = 10; ///< a limit that shows nothing; 3.0
    static constexpr std::uint32_t critical = 20;
    static constexpr std::uint32_t error = 30;
    static constexpr std::uint32_t warning = 40;
    static constexpr std::uint32_t info = 50;
    static constexpr std::uint32_t debug = 60;
    static constexpr std::uint32_t trace = 70; ///< 3.0
};

} // namespace opendoca
