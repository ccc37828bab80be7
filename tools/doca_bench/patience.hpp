// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <stdexcept>

#include "machine.hpp"

namespace opendoca::tools {

/// The limit for waits that may never end, such as for the answer of a peer that has died.
inline constexpr double patience_seconds = 60;

/// Ends polling loops in which nothing arrives any more. It reads the clock only rarely, so it costs next to nothing.
class Patience {
public:
    /// Throws if nothing has arrived for patience_seconds.
    void try_again()
    {
        if (++spins_ % (1U << 22) == 0) [[unlikely]]
            look_at_clock();
    }

private:
    void look_at_clock()
    {
        const double now = seconds_now();
        start_ = start_ == 0 ? now : start_;
        if (now - start_ > patience_seconds)
            throw std::runtime_error("the other side does not answer");
    }

    std::uint32_t spins_ = 0;
    double start_ = 0;
};

} // namespace opendoca::tools
