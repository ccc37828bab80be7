// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <cstddef>
#include <cstdint>
#include <span>

#include "galois.hpp"

#include <isa-l/erasure_code.h>

namespace opendoca::galois {

const bool is_available = true;

std::uint8_t product(std::uint8_t a, std::uint8_t b) noexcept
{
    return gf_mul(a, b);
}

std::uint8_t inverse(std::uint8_t a) noexcept
{
    return gf_inv(a);
}

bool invert(std::span<std::uint8_t> matrix, std::span<std::uint8_t> inverted, std::size_t size) noexcept
{
    return gf_invert_matrix(matrix.data(), inverted.data(), static_cast<int>(size)) == 0;
}

void make_tables(std::span<const std::uint8_t> rows, std::size_t num_inputs, std::span<std::uint8_t> tables) noexcept
{
    // ISA-L only reads the coefficients, though its parameter is not const.
    ec_init_tables(static_cast<int>(num_inputs), static_cast<int>(rows.size() / num_inputs),
                   const_cast<unsigned char *>(rows.data()), tables.data());
}

void multiply_blocks(std::span<const std::uint8_t> tables, std::span<std::byte *const> inputs,
                     std::span<std::byte *const> outputs, std::size_t length) noexcept
{
    // ISA-L only reads the tables, the arrays of pointers and the inputs, though none of its parameters is const.
    const auto pointers = [](std::span<std::byte *const> blocks) {
        return reinterpret_cast<unsigned char **>(const_cast<std::byte **>(blocks.data()));
    };
    ec_encode_data(static_cast<int>(length), static_cast<int>(inputs.size()), static_cast<int>(outputs.size()),
                   const_cast<unsigned char *>(tables.data()), pointers(inputs), pointers(outputs));
}

} // namespace opendoca::galois
