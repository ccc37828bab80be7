// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

namespace opendoca::tools {

/// What this process takes of the system, or the difference of two such states.
struct Footprint {
    /// Takes milliseconds. Throws std::runtime_error if the kernel does not report it.
    [[nodiscard]] static Footprint now();
    [[nodiscard]] Footprint operator-(const Footprint &other) const noexcept
    {
        return {descriptors - other.descriptors, kib - other.kib};
    }

    double descriptors = 0; ///< open ones
    /// The proportional set size: private memory, and shared memory divided by the number of processes that map it.
    double kib = 0;
};

} // namespace opendoca::tools
