// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <stdexcept>

#include "machine.hpp"

namespace opendoca::tools {

/// The limit in seconds for waits that may never end, such as for the answer of a peer that has died.
inline constexpr double patience_seconds = 60;

/// A time limit for polling loops. try_again() is called in each pass of a loop that found nothing, and reads the clock
/// only rarely, so it costs a counter. One object for each wait, used by one thread; the time starts with the first
/// reading.
class Patience {
public:
    /// Throws if nothing has arrived for patience_seconds.
    void try_again()
    {
        if (++spins_ % (1U << 22) == 0) [[unlikely]]
            check_clock();
    }

private:
    /// Starts the time, or throws if it is over.
    void check_clock()
    {
        const double now = seconds_now();
        start_ = start_ == 0 ? now : start_;
        if (now - start_ > patience_seconds)
            throw std::runtime_error("the other side does not answer");
    }

    std::uint32_t spins_ = 0; ///< calls of try_again(); it wraps around
    double start_ = 0;        ///< seconds of the first reading, or 0
};

} // namespace opendoca::tools
