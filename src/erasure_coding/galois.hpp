// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Arithmetic in GF(2^8), polynomial 0x11d: by ISA-L (galois_isal.cpp), or none in a build without it (galois_none.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace opendoca::galois {

/// False in a build without ISA-L: then no function below may be called.
extern const bool is_available;

/// Bytes of table that multiply_blocks() needs for each coefficient.
inline constexpr std::size_t table_size = 32;

[[nodiscard]] std::uint8_t product(std::uint8_t a, std::uint8_t b) noexcept;
/// Returns the multiplicative inverse; 0 for 0.
[[nodiscard]] std::uint8_t inverse(std::uint8_t a) noexcept;
/// Inverts @p matrix of @p size rows and columns, row by row, into @p inverted. The contents of @p matrix are then
/// undefined. Returns false if it is singular.
[[nodiscard]] bool invert(std::span<std::uint8_t> matrix, std::span<std::uint8_t> inverted, std::size_t size) noexcept;

/// Fills @p tables, of table_size bytes for each coefficient, for a matrix that has a row of @p num_inputs
/// coefficients for each output.
void make_tables(std::span<const std::uint8_t> rows, std::size_t num_inputs, std::span<std::uint8_t> tables) noexcept;

/// Multiplies: for each byte position less than @p length, a multiple of 64, the bytes of @p outputs there become the
/// product of the matrix of @p tables and the bytes of @p inputs.
void multiply_blocks(std::span<const std::uint8_t> tables, std::span<std::byte *const> inputs,
                     std::span<std::byte *const> outputs, std::size_t length) noexcept;

} // namespace opendoca::galois
