// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Counts what a piece of code costs beside its own instructions. The allocator and the locks are interposed:
// this executable defines the functions, and all libraries call them here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace doca_test {

struct Costs {
    std::uint64_t allocations = 0; ///< calls of malloc, free and their relatives; operator new calls malloc
    std::uint64_t bytes = 0;       ///< asked for
    std::uint64_t locks = 0;       ///< calls of pthread_*lock and pthread_cond_*
    std::uint64_t system_calls = 0;

    bool operator==(const Costs &) const = default;
};

/// Counts from now on, in this thread.
void begin_counting() noexcept;
Costs end_counting() noexcept;

/// From here to the end of the process no system call but exit works: each is counted instead, and fails.
/// Call it in a forked child. False where the kernel does not let it.
[[nodiscard]] bool trap_system_calls() noexcept;

} // namespace doca_test
