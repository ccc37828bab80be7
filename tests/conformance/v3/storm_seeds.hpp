// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "../support/sanitizers.hpp"

namespace doca_test {

/// Calls of doca_pe_progress() that find nothing, after which contexts without work are certainly parked.
inline constexpr std::uint32_t polls_until_parked = 6000;

inline constexpr std::uint32_t num_storms = is_sanitized ? 2 : 4;

/// How many storms a test lets pass: OPENDOCA_TEST_RUNS, for a soak of any length.
inline std::uint32_t storms(std::uint32_t usual = num_storms)
{
    const char *const wanted = std::getenv("OPENDOCA_TEST_RUNS");
    return wanted == nullptr ? usual : static_cast<std::uint32_t>(std::strtoul(wanted, nullptr, 10));
}

/// Calls @p storm with a seed for each of @p count storms, from OPENDOCA_STORM_SEED on, until the test has failed.
template <typename Storm>
void with_seeds(std::uint32_t count, Storm storm)
{
    const char *const first = std::getenv("OPENDOCA_STORM_SEED");
    std::uint32_t seed = first == nullptr ? 1 : static_cast<std::uint32_t>(std::strtoul(first, nullptr, 10));
    for (; count != 0 && !testing::Test::HasFailure(); --count, ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        storm(seed);
    }
}

} // namespace doca_test
