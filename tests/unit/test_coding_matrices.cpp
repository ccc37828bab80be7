// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The coefficients of matrices next to those of ISA-L.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>
#include <isa-l/erasure_code.h>

#include "../../src/erasure_coding/matrix.hpp"

namespace {

using opendoca::Matrix;

/// Calls @p compare with each shape, a matrix, and ISA-L's matrix below the rows of its identity.
template <typename Make, typename Generate, typename Compare>
void each_shape(std::size_t most_data, std::size_t most_redundancy, Make make, Generate generate, Compare compare)
{
    for (std::size_t k = 1; k <= most_data; ++k) {
        for (std::size_t m = 1; m <= most_redundancy; ++m) {
            std::vector<unsigned char> theirs((k + m) * k);
            generate(theirs.data(), static_cast<int>(k + m), static_cast<int>(k));
            const std::optional<Matrix> ours = make(k, m);
            ASSERT_TRUE(ours.has_value());
            ASSERT_EQ(ours->num_inputs(), k);
            ASSERT_EQ(ours->num_outputs(), m);
            bool is_equal = true;
            for (std::size_t j = 0; j != m; ++j)
                is_equal = is_equal && std::ranges::equal(ours->row(j), std::span(theirs).subspan((k + j) * k, k));
            compare(k, m, is_equal);
        }
    }
}

TEST(CodingMatrices, CauchyIsThatOfIsaL)
{
    each_shape(128, 32, Matrix::cauchy, gf_gen_cauchy1_matrix,
               [](std::size_t k, std::size_t m, bool is_equal) { EXPECT_TRUE(is_equal) << k << " + " << m; });
}

TEST(CodingMatrices, VandermondeIsNotThatOfIsaL)
{
    int num_shapes = 0, num_equal = 0;
    each_shape(32, 16, Matrix::vandermonde, gf_gen_rs_matrix, [&](std::size_t k, std::size_t m, bool is_equal) {
        EXPECT_EQ(is_equal, m == 1 || k <= 2) << k << " + " << m;
        ++num_shapes;
        num_equal += is_equal ? 1 : 0;
    });
    EXPECT_EQ(num_shapes, 512);
    EXPECT_EQ(num_equal, 62);
}

/// The text of 2.2 has the exponents of ISA-L's description, i (j + 1), which are one more than those of its code.
TEST(CodingMatrices, PowersOfTwoAreTheRowsOfIsaLBehindItsFirst)
{
    for (const std::size_t k : {1, 2, 7, 32, 200}) {
        for (const std::size_t m : {1, 2, 5, 16}) {
            std::vector<unsigned char> theirs((k + m + 1) * k);
            gf_gen_rs_matrix(theirs.data(), static_cast<int>(k + m + 1), static_cast<int>(k));
            const std::optional<Matrix> ours = Matrix::powers_of_two(k, m);
            ASSERT_TRUE(ours.has_value());
            for (std::size_t j = 0; j != m; ++j)
                EXPECT_TRUE(std::ranges::equal(ours->row(j), std::span(theirs).subspan((k + j + 1) * k, k)));
        }
    }
}

} // namespace
