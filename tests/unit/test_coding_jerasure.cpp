// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Erasure coding next to jerasure, whose field for w = 8 has the same polynomial: with the same coefficients both
// compute the same redundancy, and each recovers what the other has written. The matrices that jerasure makes by itself
// are others than ours, so they come into ours as raw coefficients.
#include <gtest/gtest.h>

#ifdef DOCA_TEST_JERASURE

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include <jerasure/cauchy.h>
#include <jerasure/reed_sol.h>

#include "../../src/erasure_coding/galois.hpp"
#include "../../src/erasure_coding/matrix.hpp"

// As in <jerasure.h>, which includes a header that is not in the compiler's path.
extern "C" {
void jerasure_matrix_encode(int k, int m, int w, int *matrix, char **data, char **coding, int size);
int jerasure_matrix_decode(int k, int m, int w, int *matrix, int row_k_ones, int *erasures, char **data, char **coding,
                           int size);
}

namespace {

using opendoca::Matrix;

constexpr int width = 8;            ///< bits of an element of the field
constexpr std::size_t block = 1024; ///< bytes

struct Free {
    void operator()(int *matrix) const noexcept { std::free(matrix); }
};
using TheirMatrix = std::unique_ptr<int, Free>;

/// k data blocks and m redundancy blocks.
class Blocks {
public:
    Blocks(std::size_t k, std::size_t m) : k_(k), bytes_((k + m) * block), addresses_(k + m)
    {
        for (std::size_t i = 0; i != k + m; ++i)
            addresses_[i] = reinterpret_cast<char *>(&bytes_[i * block]);
    }
    Blocks(const Blocks &) = delete;
    Blocks &operator=(const Blocks &) = delete;
    ~Blocks() = default;

    void copy(const Blocks &other) { bytes_ = other.bytes_; }
    void fill(std::mt19937 &random)
    {
        for (std::byte &byte : std::span(bytes_).first(k_ * block))
            byte = static_cast<std::byte>(random());
    }
    void lose(std::span<const std::uint32_t> missing)
    {
        for (const std::uint32_t index : missing)
            std::fill_n(&bytes_[index * block], block, std::byte{0xee});
    }
    [[nodiscard]] std::byte *at(std::size_t index) { return &bytes_[index * block]; }
    [[nodiscard]] char **data() { return addresses_.data(); }
    [[nodiscard]] char **redundancy() { return &addresses_[k_]; }
    [[nodiscard]] bool operator==(const Blocks &other) const { return bytes_ == other.bytes_; }

private:
    std::size_t k_;
    std::vector<std::byte> bytes_;
    std::vector<char *> addresses_;
};

std::vector<std::uint32_t> random_loss(std::size_t k, std::size_t m, std::mt19937 &random)
{
    std::vector<std::uint32_t> all(k + m);
    for (std::uint32_t i = 0; i != all.size(); ++i)
        all[i] = i;
    std::ranges::shuffle(all, random);
    all.resize(1 + random() % m);
    std::ranges::sort(all);
    return all;
}

/// Encodes and recovers by @p ours and by jerasure with the same coefficients, and compares all blocks.
void compare(const Matrix &ours, std::mt19937 &random)
{
    const std::size_t k = ours.num_inputs(), m = ours.num_outputs();
    std::vector<int> theirs;
    for (std::size_t j = 0; j != m; ++j)
        theirs.insert(theirs.end(), ours.row(j).begin(), ours.row(j).end());
    Blocks by_ours(k, m), by_theirs(k, m);
    by_ours.fill(random);
    by_theirs.copy(by_ours);
    std::vector<std::byte *> inputs, outputs;
    for (std::size_t i = 0; i != k + m; ++i)
        (i < k ? inputs : outputs).push_back(by_ours.at(i));
    opendoca::galois::multiply_blocks(ours.tables(), inputs, outputs, block);
    jerasure_matrix_encode(static_cast<int>(k), static_cast<int>(m), width, theirs.data(), by_theirs.data(),
                           by_theirs.redundancy(), static_cast<int>(block));
    ASSERT_TRUE(by_ours == by_theirs) << k << " + " << m;
    for (int sample = 0; sample != 5; ++sample) {
        const std::vector<std::uint32_t> missing = random_loss(k, m, random);
        const std::optional<Matrix> recovery = ours.for_recovery(missing);
        Blocks recovered(k, m);
        recovered.copy(by_theirs);
        recovered.lose(missing);
        std::vector<int> erasures(missing.begin(), missing.end());
        erasures.push_back(-1);
        const int status =
            jerasure_matrix_decode(static_cast<int>(k), static_cast<int>(m), width, theirs.data(), 0, erasures.data(),
                                   recovered.data(), recovered.redundancy(), static_cast<int>(block));
        ASSERT_EQ(status == 0, recovery.has_value()) << k << " + " << m;
        if (!recovery)
            continue;
        EXPECT_TRUE(recovered == by_ours) << k << " + " << m;
        recovered.lose(missing);
        inputs.clear();
        outputs.clear();
        for (std::uint32_t i = 0; i != k + m; ++i) {
            const bool is_missing = std::ranges::binary_search(missing, i);
            if (is_missing)
                outputs.push_back(recovered.at(i));
            else if (inputs.size() != k)
                inputs.push_back(recovered.at(i));
        }
        opendoca::galois::multiply_blocks(recovery->tables(), inputs, outputs, block);
        EXPECT_TRUE(recovered == by_theirs) << k << " + " << m;
    }
}

/// Calls @p use with all shapes up to 16 + 8.
template <typename Use>
void each_shape(Use use)
{
    for (std::size_t k = 1; k <= 16; ++k) {
        for (std::size_t m = 1; m <= 8; ++m)
            use(k, m);
    }
}

TEST(CodingJerasure, ComputesTheSameWithOurMatrices)
{
    std::mt19937 random(1);
    for (const auto make : {&Matrix::cauchy, &Matrix::vandermonde, &Matrix::powers_of_two})
        each_shape([&](std::size_t k, std::size_t m) { compare(*make(k, m), random); });
}

TEST(CodingJerasure, MatricesAreOursAsRawCoefficients)
{
    std::mt19937 random(2);
    const auto with = [&](std::size_t k, std::size_t m, const TheirMatrix &theirs) {
        ASSERT_NE(theirs, nullptr);
        std::vector<std::uint8_t> raw(k * m); // data-major, and bytes
        for (std::size_t i = 0; i != k; ++i) {
            for (std::size_t j = 0; j != m; ++j)
                raw[i * m + j] = static_cast<std::uint8_t>(theirs.get()[j * k + i]);
        }
        compare(*Matrix::from_raw(raw.data(), k, m), random);
    };
    each_shape([&](std::size_t k, std::size_t m) {
        const int data = static_cast<int>(k), redundancy = static_cast<int>(m);
        with(k, m, TheirMatrix(reed_sol_vandermonde_coding_matrix(data, redundancy, width)));
        with(k, m, TheirMatrix(cauchy_original_coding_matrix(data, redundancy, width)));
        with(k, m, TheirMatrix(cauchy_good_general_coding_matrix(data, redundancy, width)));
    });
}

} // namespace

#else

namespace {

TEST(CodingJerasure, ComputesTheSameWithOurMatrices)
{
    GTEST_SKIP() << "libjerasure-dev was missing when this was built";
}

} // namespace

#endif
