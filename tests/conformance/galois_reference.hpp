// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Erasure coding as textbooks describe it: slow, and with nothing of the library or of ISA-L.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace doca_test {

using Block = std::vector<std::uint8_t>;
using Blocks = std::vector<Block>;
/// Coefficients: the first index is that of an output, the second that of an input.
using Rows = std::vector<std::vector<std::uint8_t>>;

/// Product in GF(2^8), bit by bit, modulo x^8 + x^4 + x^3 + x^2 + 1.
constexpr std::uint8_t slow_product(unsigned a, unsigned b)
{
    unsigned product = 0;
    for (; b != 0; b >>= 1) {
        if ((b & 1) != 0)
            product ^= a;
        a = (a & 0x80) != 0 ? (a << 1) ^ 0x11d : a << 1;
    }
    return static_cast<std::uint8_t>(product);
}

/// All products, so that references of megabytes take no minutes.
inline std::uint8_t reference_product(std::uint8_t a, std::uint8_t b)
{
    static const auto table = [] {
        std::vector<std::array<std::uint8_t, 256>> products(256);
        for (unsigned i = 0; i != 256; ++i) {
            for (unsigned j = 0; j != 256; ++j)
                products[i][j] = slow_product(i, j);
        }
        return products;
    }();
    return table[a][b];
}

/// The number whose product with @p a is 1, by trying them all.
inline std::uint8_t reference_inverse(std::uint8_t a)
{
    std::uint8_t inverse = 0;
    while (reference_product(a, inverse) != 1)
        ++inverse;
    return inverse;
}

inline Rows rows_of(std::size_t num_inputs, std::size_t num_outputs,
                    const std::function<std::uint8_t(std::size_t i, std::size_t j)> &coefficient)
{
    Rows rows(num_outputs, std::vector<std::uint8_t>(num_inputs));
    for (std::size_t j = 0; j != num_outputs; ++j) {
        for (std::size_t i = 0; i != num_inputs; ++i)
            rows[j][i] = coefficient(i, j);
    }
    return rows;
}

inline Rows reference_cauchy(std::size_t k, std::size_t m)
{
    return rows_of(
        k, m, [&](std::size_t i, std::size_t j) { return reference_inverse(static_cast<std::uint8_t>(i ^ (k + j))); });
}

inline std::uint8_t reference_power(std::uint8_t base, std::size_t exponent)
{
    std::uint8_t power = 1;
    while (exponent-- != 0)
        power = reference_product(power, base);
    return power;
}

/// Vandermonde of 3.0.
inline Rows reference_vandermonde(std::size_t k, std::size_t m)
{
    return rows_of(k, m,
                   [](std::size_t i, std::size_t j) { return reference_power(static_cast<std::uint8_t>(i + 1), j); });
}

/// Vandermonde of 2.2.
inline Rows reference_powers_of_two(std::size_t k, std::size_t m)
{
    return rows_of(k, m, [](std::size_t i, std::size_t j) { return reference_power(2, i * (j + 1)); });
}

/// Returns whether the blocks of @p missing follow from the first that are left: their rows, of which a data block has
/// one with a single 1, are linearly independent.
inline bool can_be_recovered(const Rows &redundancy, const std::vector<std::uint32_t> &missing)
{
    const std::size_t k = redundancy[0].size();
    Rows left;
    for (std::size_t i = 0; i != k + redundancy.size() && left.size() != k; ++i) {
        if (std::find(missing.begin(), missing.end(), i) != missing.end())
            continue;
        left.push_back(i < k ? std::vector<std::uint8_t>(k) : redundancy[i - k]);
        if (i < k)
            left.back()[i] = 1;
    }
    for (std::size_t column = 0; column != k; ++column) {
        const auto pivot = std::find_if(left.begin() + static_cast<std::ptrdiff_t>(column), left.end(),
                                        [&](const auto &row) { return row[column] != 0; });
        if (pivot == left.end())
            return false;
        std::swap(*pivot, left[column]);
        const std::uint8_t inverse = reference_inverse(left[column][column]);
        for (std::size_t j = column + 1; j != k; ++j) {
            const std::uint8_t factor = reference_product(left[j][column], inverse);
            for (std::size_t i = column; i != k; ++i)
                left[j][i] ^= reference_product(factor, left[column][i]);
        }
    }
    return true;
}

/// The products of the rows and the inputs.
inline Blocks reference_blocks(const Rows &rows, const Blocks &inputs)
{
    Blocks outputs(rows.size(), Block(inputs[0].size()));
    for (std::size_t j = 0; j != rows.size(); ++j) {
        for (std::size_t i = 0; i != inputs.size(); ++i) {
            for (std::size_t n = 0; n != inputs[i].size(); ++n)
                outputs[j][n] ^= reference_product(rows[j][i], inputs[i][n]);
        }
    }
    return outputs;
}

} // namespace doca_test
