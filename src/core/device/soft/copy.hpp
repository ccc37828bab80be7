// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstring>

namespace opendoca::soft {

/// Below this many bytes nothing beats the C library's memcpy.
inline constexpr std::size_t smallest_large_copy = 2048;

/// What copy_bytes() does from smallest_large_copy on.
void copy_large(std::byte *dst, const std::byte *src, std::size_t length, std::size_t total) noexcept;

/// Copies @p length bytes in the way that is fastest on this machine for a job of @p total bytes. The ranges may
/// overlap, as memmove's.
inline void copy_bytes(std::byte *dst, const std::byte *src, std::size_t length, std::size_t total) noexcept
{
    if (length < smallest_large_copy)
        std::memmove(dst, src, length); // in the C library the same code as memcpy
    else
        copy_large(dst, src, length, total);
}

} // namespace opendoca::soft
