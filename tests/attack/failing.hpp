// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Lets the k-th allocation, or the k-th system call, fail that the library makes. The functions of the C
// library are replaced in the executable, which every shared library then calls: see failing.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace attack {

enum class Failing : std::uint8_t { nothing, allocations, system_calls };

/// Counts anew, and lets number @p k, from 1 on, fail once.
void fail_at(Failing what, std::uint64_t k) noexcept;
/// Those of this kind since fail_at().
[[nodiscard]] std::uint64_t counted() noexcept;
/// The function that has failed, or null.
[[nodiscard]] const char *failed_function() noexcept;
/// failed_function() in programs that make calls fail; null in others, which do not have it.
inline const char *(*find_failed_function)() noexcept = nullptr;

/// While one lives, this thread is inside of the library: only then is anything counted.
class Inside {
public:
    Inside() noexcept;
    Inside(const Inside &) = delete;
    Inside &operator=(const Inside &) = delete;
    ~Inside();
};

/// While one lives, this thread is not, even if it was: it does something of the test's own.
class Outside {
public:
    Outside() noexcept;
    Outside(const Outside &) = delete;
    Outside &operator=(const Outside &) = delete;
    ~Outside();

private:
    int depth_;
};

/// What a process holds.
struct Resources {
    std::int64_t allocations;
    std::int64_t descriptors;
    std::int64_t mappings;

    bool operator==(const Resources &) const = default;
};

[[nodiscard]] Resources count_resources() noexcept;

} // namespace attack
