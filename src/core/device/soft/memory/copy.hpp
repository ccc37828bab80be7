// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <doca_error.h>

#include "../../../base/guard.hpp"

namespace opendoca::soft {

// The copies return DOCA_SUCCESS, so that a data path can end in a tail call of one, without a stack frame.

/// Copies what copy_bytes() does not handle inline: less than 32 or more than 64 bytes.
[[nodiscard]] OPENDOCA_INTERNAL doca_error_t copy_any(std::byte *dst, const std::byte *src, std::size_t length,
                                                      std::size_t total) noexcept;

/// Copies @p length bytes in the way that is fastest on this machine for a job of @p total bytes. The ranges may
/// overlap, as for memmove().
[[gnu::always_inline]] [[nodiscard]] inline doca_error_t copy_bytes(std::byte *dst, const std::byte *src,
                                                                    std::size_t length, std::size_t total) noexcept
{
    using Quarter [[gnu::vector_size(16)]] = std::uint64_t;
    constexpr std::size_t half = 2 * sizeof(Quarter);
    if (length - half > half) // one comparison for "not 32 to 64 bytes": the difference wraps around below 32
        return copy_any(dst, src, length, total);
    // All of the source is loaded before the first store, so the ranges may overlap.
    Quarter a, b, c, d;
    std::memcpy(&a, src, sizeof(a));
    std::memcpy(&b, src + sizeof(a), sizeof(b));
    src += length - half;
    std::memcpy(&c, src, sizeof(c));
    std::memcpy(&d, src + sizeof(c), sizeof(d));
    std::memcpy(dst, &a, sizeof(a));
    std::memcpy(dst + sizeof(a), &b, sizeof(b));
    dst += length - half;
    std::memcpy(dst, &c, sizeof(c));
    std::memcpy(dst + sizeof(c), &d, sizeof(d));
    return DOCA_SUCCESS;
}

/// Copies a short message of at most 40 bytes without a call. The ranges must not overlap.
[[gnu::always_inline]] inline void copy_short(std::byte *dst, const std::byte *src, std::size_t length) noexcept
{
    // Two moves of one size from both ends, which overlap in the middle, cover every length between one and two sizes.
    const auto copy_ends = [&]<std::size_t size>(std::integral_constant<std::size_t, size>) {
        std::memcpy(dst, src, size);
        std::memcpy(dst + length - size, src + length - size, size);
    };
    if (length < 8) {
        for (std::size_t i = 0; i != length; ++i)
            dst[i] = src[i];
    } else if (length <= 16) {
        copy_ends(std::integral_constant<std::size_t, 8>());
    } else if (length <= 32) {
        copy_ends(std::integral_constant<std::size_t, 16>());
    } else {
        std::memcpy(dst + 16, src + 16, 16);
        std::memcpy(dst, src, 16);
        std::memcpy(dst + length - 8, src + length - 8, 8);
    }
}

} // namespace opendoca::soft
