// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Accessors for values of queues and mailboxes, which are big endian and may be unaligned.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace opendoca::card {

/// Converts between the byte order of the machine and big endian, in either direction.
template <std::unsigned_integral T>
constexpr T swap_on_little_endian(T value)
{
    if constexpr (std::endian::native == std::endian::big || sizeof(T) == 1)
        return value;
    else if constexpr (sizeof(T) == 2)
        return __builtin_bswap16(value);
    else if constexpr (sizeof(T) == 4)
        return __builtin_bswap32(value);
    else
        return __builtin_bswap64(value);
}

/// Reads a value at any alignment.
template <std::unsigned_integral T>
T load_big(const void *from)
{
    T value;
    std::memcpy(&value, from, sizeof(value));
    return swap_on_little_endian(value);
}

/// Writes a value at any alignment.
template <std::unsigned_integral T>
void store_big(void *to, T value)
{
    value = swap_on_little_endian(value);
    std::memcpy(to, &value, sizeof(value));
}

inline std::uint16_t be16(const void *from)
{
    return load_big<std::uint16_t>(from);
}
inline std::uint32_t be32(const void *from)
{
    return load_big<std::uint32_t>(from);
}
inline std::uint64_t be64(const void *from)
{
    return load_big<std::uint64_t>(from);
}

} // namespace opendoca::card
