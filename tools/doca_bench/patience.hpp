// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <stdexcept>

#include "machine.hpp"

namespace opendoca::tools {

/// A limit for what never comes, such as the answer of a peer that has ended.
inline constexpr double patience_seconds = 60;

/// Ends loops that poll when nothing comes any more. A look at the clock is rare, so that it costs nothing.
class Patience {
public:
    /// Throws when nothing has come for patience_seconds.
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
