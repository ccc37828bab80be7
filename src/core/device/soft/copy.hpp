// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <doca_error.h>

namespace opendoca::soft {

// The copies give DOCA_SUCCESS, so that they can be the last thing that a data path does, without a stack frame.

/// What copy_bytes() does with more than 64 bytes and less than 32.
[[nodiscard]] doca_error_t copy_any(std::byte *dst, const std::byte *src, std::size_t length,
                                    std::size_t total) noexcept;

/// Copies @p length bytes in the way that is fastest on this machine for a job of @p total bytes. The ranges may
/// overlap, as memmove's.
[[nodiscard]] inline doca_error_t copy_bytes(std::byte *dst, const std::byte *src, std::size_t length,
                                             std::size_t total) noexcept
{
    struct Half {
        std::uint64_t word[4];
    };
    if (length - sizeof(Half) > sizeof(Half)) // not 32 to 64 bytes
        return copy_any(dst, src, length, total);
    // All of the source is in registers before the first byte is written.
    Half first, last;
    std::memcpy(&first, src, sizeof(Half));
    std::memcpy(&last, src + length - sizeof(Half), sizeof(Half));
    std::memcpy(dst, &first, sizeof(Half));
    std::memcpy(dst + length - sizeof(Half), &last, sizeof(Half));
    return DOCA_SUCCESS;
}

} // namespace opendoca::soft
