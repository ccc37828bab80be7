// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace opendoca {

/// A matrix over GF(2^8) by which blocks are multiplied. Constant but for the number of its users, so any thread may
/// use it. Owned by the program, which must not destroy it while it is in use. A coding matrix has k inputs, the data
/// blocks, and m outputs, the redundancy blocks; data blocks have the indices 0 to k - 1, and redundancy blocks k to k
/// + m - 1.
class Matrix {
public:
    /// Most data blocks, and most redundancy blocks, of a coding matrix.
    static constexpr std::size_t max_blocks = 255;
    /// Most inputs of any matrix: those of an update of all data blocks.
    static constexpr std::size_t max_inputs = 3 * max_blocks;
    static constexpr std::size_t max_outputs = max_blocks;

    // Coding matrices. Nothing, after a log line, if the numbers of blocks are out of range. These and the functions
    // below may throw std::bad_alloc.

    /// a(i, j) = 1 / (i + k + j) in the field.
    [[nodiscard]] static std::optional<Matrix> cauchy(std::size_t num_data, std::size_t num_redundancy);
    /// a(i, j) = (i + 1)^j: the Vandermonde matrix of 3.0.
    [[nodiscard]] static std::optional<Matrix> vandermonde(std::size_t num_data, std::size_t num_redundancy);
    /// a(i, j) = 2^(i (j + 1)): the Vandermonde matrix of 2.2.
    [[nodiscard]] static std::optional<Matrix> powers_of_two(std::size_t num_data, std::size_t num_redundancy);
    /// @p coefficients has the num_redundancy coefficients of each data block, one block after the other.
    [[nodiscard]] static std::optional<Matrix> from_raw(const std::uint8_t *coefficients, std::size_t num_data,
                                                        std::size_t num_redundancy);

    // Matrices that are made from this coding matrix for the blocks of @p indices, which ascend. Nothing, after a log
    // line, if there are too few or too many of them, or one is out of range.

    /// Inputs: the old and the new block of each index, then the old redundancy. Outputs: the new redundancy.
    [[nodiscard]] std::optional<Matrix> for_update(std::span<const std::uint32_t> indices) const;
    /// Inputs: the first k blocks that are not in @p indices. Outputs: those that are. Also nothing if the loss cannot
    /// be recovered.
    [[nodiscard]] std::optional<Matrix> for_recovery(std::span<const std::uint32_t> indices) const;

    [[nodiscard]] std::size_t num_inputs() const noexcept { return num_inputs_; }
    [[nodiscard]] std::size_t num_outputs() const noexcept { return num_outputs_; }
    /// Returns the coefficients of the inputs for @p output.
    [[nodiscard]] std::span<const std::uint8_t> row(std::size_t output) const noexcept
    {
        return std::span(rows_).subspan(output * num_inputs_, num_inputs_);
    }
    /// The tables of galois::multiply_blocks().
    [[nodiscard]] std::span<const std::uint8_t> tables() const noexcept { return tables_; }

    /// Count the operations that wait for their multiplication, or are in progress. Thread-safe.
    void start_use() const noexcept { num_uses_.value.fetch_add(1, std::memory_order_relaxed); }
    // Release: pairs with the acquire in is_in_use(), so that the matrix was read before it is destroyed.
    void end_use() const noexcept { num_uses_.value.fetch_sub(1, std::memory_order_release); }
    [[nodiscard]] bool is_in_use() const noexcept { return num_uses_.value.load(std::memory_order_acquire) != 0; }

private:
    /// A counter that a copy of the matrix begins anew.
    struct UseCount {
        UseCount() noexcept = default;
        UseCount(const UseCount &) noexcept {}
        UseCount &operator=(const UseCount &) noexcept { return *this; }
        ~UseCount() = default;

        std::atomic<std::uint32_t> value{0};
    };

    /// @p rows has num_inputs coefficients for each output.
    Matrix(std::vector<std::uint8_t> rows, std::size_t num_inputs);

    /// Makes a coding matrix with the coefficients @p coefficient(i, j).
    template <typename Coefficient>
    [[nodiscard]] static Matrix of(std::size_t num_data, std::size_t num_redundancy, Coefficient coefficient);
    /// Checks that @p indices has 1 to @p most elements, ascending and less than @p end.
    [[nodiscard]] static bool are_valid(std::span<const std::uint32_t> indices, std::size_t most, std::size_t end,
                                        const char *what) noexcept;

    /// False, after a log line, for a matrix with more inputs than a coding matrix can have.
    [[nodiscard]] bool can_be_coding_matrix() const noexcept;

    std::size_t num_inputs_;
    std::size_t num_outputs_;
    std::vector<std::uint8_t> rows_;
    std::vector<std::uint8_t> tables_;
    mutable UseCount num_uses_;
};

} // namespace opendoca
