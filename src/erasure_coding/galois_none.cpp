// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A build without ISA-L: the library refuses to create an object, so nothing else here is called.
#include <cstddef>
#include <cstdint>
#include <span>

#include "galois.hpp"

namespace opendoca::galois {

const bool is_available = false;

std::uint8_t product(std::uint8_t, std::uint8_t) noexcept
{
    return 0;
}

std::uint8_t inverse(std::uint8_t) noexcept
{
    return 0;
}

bool invert(std::span<std::uint8_t>, std::span<std::uint8_t>, std::size_t) noexcept
{
    return false;
}

void make_tables(std::span<const std::uint8_t>, std::size_t, std::span<std::uint8_t>) noexcept {}

void multiply_blocks(std::span<const std::uint8_t>, std::span<std::byte *const>, std::span<std::byte *const>,
                     std::size_t) noexcept
{
}

} // namespace opendoca::galois
