// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Calls the functions that refuse whatever they are given. scripts/not_built.py --calls prints a CALL() for each.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include <gtest/gtest.h>

#include <doca_error.h>

namespace doca_test::not_built {

inline constexpr std::byte pattern{0x5a};

/// What all pointers of a call point to. No function of these looks at it, as none can do anything with an object.
alignas(std::max_align_t) inline std::array<std::byte, 256> anything;

inline bool is_untouched()
{
    return std::ranges::all_of(anything, [](std::byte byte) { return byte == pattern; });
}

template <typename T>
T something()
{
    if constexpr (std::is_pointer_v<T>)
        return reinterpret_cast<T>(anything.data());
    else
        return static_cast<T>(1);
}

template <typename... Arguments>
doca_error_t run_with_nothing(doca_error_t (*function)(Arguments...))
{
    return function(Arguments{}...);
}

template <typename... Arguments>
doca_error_t run_with_something(doca_error_t (*function)(Arguments...))
{
    return function(something<Arguments>()...);
}

struct Call {
    const char *name;
    doca_error_t (*with_nothing)();   ///< all arguments are 0 or NULL
    doca_error_t (*with_something)(); ///< all pointers are valid, and numbers are 1
    doca_error_t code;
    doca_error_t code_of_nothing;
};

inline void expect_refusals(std::span<const Call> calls)
{
    anything.fill(pattern);
    for (const Call &call : calls) {
        EXPECT_EQ(call.with_nothing(), call.code_of_nothing) << call.name;
        EXPECT_EQ(call.with_something(), call.code) << call.name;
        EXPECT_TRUE(is_untouched()) << call.name;
        anything.fill(pattern);
    }
}

} // namespace doca_test::not_built

// clang-format off
#define CALL(function, code, of_nothing) \
    {#function, [] { return run_with_nothing(function); }, [] { return run_with_something(function); }, code, of_nothing}
// clang-format on
