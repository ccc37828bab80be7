// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "matrix.hpp"

#include <algorithm>
#include <utility>

#include "../core/log/log.hpp"
#include "galois.hpp"

OPENDOCA_LOG_SOURCE(DOCA_EC_MATRIX);

namespace opendoca {

namespace {

/// Checks the numbers of blocks of a coding matrix.
bool are_in_range(std::size_t num_data, std::size_t num_redundancy, std::size_t most_together) noexcept
{
    const auto is_in_range = [](std::size_t count) { return count >= 1 && count <= Matrix::max_blocks; };
    if (!is_in_range(num_data) || !is_in_range(num_redundancy)) {
        LOG_ERR("%zu data blocks and %zu redundancy blocks: a matrix has 1 to %zu of each", num_data, num_redundancy,
                Matrix::max_blocks);
        return false;
    }
    if (num_data + num_redundancy > most_together) {
        LOG_ERR("%zu data blocks and %zu redundancy blocks: a Cauchy matrix has at most %zu together", num_data,
                num_redundancy, most_together);
        return false;
    }
    return true;
}

std::uint8_t power(std::uint8_t base, std::size_t exponent) noexcept
{
    std::uint8_t result = 1;
    while (exponent-- != 0)
        result = galois::product(result, base);
    return result;
}

} // namespace

Matrix::Matrix(std::vector<std::uint8_t> rows, std::size_t num_inputs)
    : num_inputs_(num_inputs),
      num_outputs_(rows.size() / num_inputs),
      rows_(std::move(rows)),
      tables_(rows_.size() * galois::table_size)
{
    galois::make_tables(rows_, num_inputs_, tables_);
}

template <typename Coefficient>
Matrix Matrix::of(std::size_t num_data, std::size_t num_redundancy, Coefficient coefficient)
{
    std::vector<std::uint8_t> rows;
    rows.reserve(num_data * num_redundancy);
    for (std::size_t j = 0; j != num_redundancy; ++j) {
        for (std::size_t i = 0; i != num_data; ++i)
            rows.push_back(coefficient(i, j));
    }
    return {std::move(rows), num_data};
}

std::optional<Matrix> Matrix::cauchy(std::size_t num_data, std::size_t num_redundancy)
{
    // The field has 256 elements, and each block has one of its own.
    if (!are_in_range(num_data, num_redundancy, 256))
        return std::nullopt;
    return of(num_data, num_redundancy, [&](std::size_t i, std::size_t j) {
        return galois::inverse(static_cast<std::uint8_t>(i ^ (num_data + j))); // the field's sum is the exclusive or
    });
}

std::optional<Matrix> Matrix::vandermonde(std::size_t num_data, std::size_t num_redundancy)
{
    if (!are_in_range(num_data, num_redundancy, 2 * max_blocks))
        return std::nullopt;
    return of(num_data, num_redundancy,
              [](std::size_t i, std::size_t j) { return power(static_cast<std::uint8_t>(i + 1), j); });
}

std::optional<Matrix> Matrix::powers_of_two(std::size_t num_data, std::size_t num_redundancy)
{
    if (!are_in_range(num_data, num_redundancy, 2 * max_blocks))
        return std::nullopt;
    // The order of 2 in the field's multiplicative group is 255.
    return of(num_data, num_redundancy, [](std::size_t i, std::size_t j) { return power(2, i * (j + 1) % 255); });
}

std::optional<Matrix> Matrix::from_raw(const std::uint8_t *coefficients, std::size_t num_data,
                                       std::size_t num_redundancy)
{
    if (!are_in_range(num_data, num_redundancy, 2 * max_blocks))
        return std::nullopt;
    return of(num_data, num_redundancy,
              [&](std::size_t i, std::size_t j) { return coefficients[i * num_redundancy + j]; });
}

bool Matrix::are_valid(std::span<const std::uint32_t> indices, std::size_t most, std::size_t end,
                       const char *what) noexcept
{
    if (indices.empty() || indices.size() > most) {
        LOG_ERR("%zu %s blocks, and this matrix allows 1 to %zu", indices.size(), what, most);
        return false;
    }
    for (std::size_t n = 0; n != indices.size(); ++n) {
        if (indices[n] >= end) {
            LOG_ERR("index %u of a %s block: there are only %zu blocks of which it could be one", indices[n], what,
                    end);
            return false;
        }
        if (n != 0 && indices[n] <= indices[n - 1]) {
            LOG_ERR("the indices of the %s blocks must ascend, and %u follows %u", what, indices[n], indices[n - 1]);
            return false;
        }
    }
    return true;
}

bool Matrix::can_be_coding_matrix() const noexcept
{
    if (num_inputs_ <= max_blocks)
        return true;
    LOG_ERR("a matrix with %zu inputs is no coding matrix: these have at most %zu", num_inputs_, max_blocks);
    return false;
}

std::optional<Matrix> Matrix::for_update(std::span<const std::uint32_t> indices) const
{
    if (!can_be_coding_matrix() || !are_valid(indices, num_inputs_, num_inputs_, "changed"))
        return std::nullopt;
    // The new redundancy is the old one plus the products of the changes, old plus new block, which is one coefficient
    // for both.
    std::vector<std::uint8_t> rows;
    rows.reserve(num_outputs_ * (2 * indices.size() + num_outputs_));
    for (std::size_t j = 0; j != num_outputs_; ++j) {
        for (const std::uint32_t index : indices)
            rows.insert(rows.end(), 2, row(j)[index]);
        rows.insert(rows.end(), num_outputs_, 0);
        rows[rows.size() - num_outputs_ + j] = 1;
    }
    return Matrix(std::move(rows), 2 * indices.size() + num_outputs_);
}

std::optional<Matrix> Matrix::for_recovery(std::span<const std::uint32_t> indices) const
{
    const std::size_t size = num_inputs_;
    if (!can_be_coding_matrix() || !are_valid(indices, num_outputs_, size + num_outputs_, "missing"))
        return std::nullopt;
    // The rows of the available blocks: the product of this matrix and the data blocks are the available blocks. So the
    // inverse gives the data blocks from them.
    std::vector<std::uint8_t> available, inverse(size * size);
    available.reserve(size * size);
    for (std::uint32_t block = 0; available.size() != size * size; ++block) {
        if (std::ranges::binary_search(indices, block))
            continue;
        if (block < size) {
            available.insert(available.end(), size, 0);
            available[available.size() - size + block] = 1;
        } else {
            const auto coefficients = row(block - size);
            available.insert(available.end(), coefficients.begin(), coefficients.end());
        }
    }
    if (!galois::invert(available, inverse, size)) {
        LOG_ERR("this loss of %zu blocks, the first of them number %u, cannot be recovered by this matrix",
                indices.size(), indices.front());
        return std::nullopt;
    }
    std::vector<std::uint8_t> rows;
    rows.reserve(indices.size() * size);
    for (const std::uint32_t index : indices) {
        for (std::size_t column = 0; column != size; ++column) {
            if (index < size) {
                rows.push_back(inverse[index * size + column]);
                continue;
            }
            // Redundancy is computed from the recovered data blocks.
            std::uint8_t sum = 0;
            for (std::size_t i = 0; i != size; ++i)
                sum ^= galois::product(row(index - size)[i], inverse[i * size + column]);
            rows.push_back(sum);
        }
    }
    return Matrix(std::move(rows), size);
}

} // namespace opendoca
