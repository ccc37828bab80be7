// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Fuzz target: the matrices and jobs of erasure coding of DOCA 2.2. Redundancy, updates and recovered blocks are those
// of a computation byte by byte, and jobs succeed exactly if their lengths suit the matrix.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doca_erasure_coding.h>

#include "jobs.hpp"

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t max_data = 12, max_redundancy = 6, max_block = 2 * 64;
constexpr std::size_t half = 4 * (max_data + max_redundancy) * max_block;
constexpr std::byte canary{0xa5};

std::byte memory[2 * half]; ///< the source, and the destination

using Context = JobContext<doca_ec>;

bool can_code(doca_devinfo *info)
{
    return doca_ec_job_get_supported(info, DOCA_EC_JOB_GALOIS_MUL) == DOCA_SUCCESS;
}

/// GF(2^8) with the polynomial 0x11d.
class Field {
public:
    Field()
    {
        unsigned power = 1;
        for (unsigned i = 0; i != 255; ++i) {
            powers_[i] = static_cast<std::uint8_t>(power);
            logarithms_[power] = i;
            power = power << 1 ^ (power & 0x80 ? 0x11d : 0);
        }
    }
    [[nodiscard]] std::uint8_t power_of_two(unsigned exponent) const { return powers_[exponent % 255]; }
    [[nodiscard]] std::uint8_t product(unsigned a, unsigned b) const
    {
        return a == 0 || b == 0 ? 0 : powers_[(logarithms_[a] + logarithms_[b]) % 255];
    }
    [[nodiscard]] std::uint8_t inverse(unsigned a) const { return powers_[(255 - logarithms_[a]) % 255]; }

private:
    std::array<std::uint8_t, 255> powers_ = {};
    std::array<unsigned, 256> logarithms_ = {};
};

const Field field;

/// A code: k data blocks and m redundancy blocks.
struct Code {
    /// Returns the coefficient of data block @p i for redundancy block @p j.
    [[nodiscard]] std::uint8_t coefficient(std::size_t i, std::size_t j) const
    {
        if (!raw.empty())
            return raw[i * m + j];
        return type == DOCA_CODING_MATRIX_CAUCHY ? field.inverse(static_cast<unsigned>(i ^ (k + j)))
                                                 : field.power_of_two(static_cast<unsigned>(i * (j + 1)));
    }
    /// Returns the redundancy blocks of @p data.
    [[nodiscard]] Bytes redundancy_of(Input data) const
    {
        const std::size_t block = data.size() / k;
        Bytes all(m * block);
        for (std::size_t j = 0; j != m; ++j) {
            for (std::size_t i = 0; i != k; ++i) {
                const std::uint8_t factor = coefficient(i, j);
                for (std::size_t n = 0; n != block; ++n)
                    all[j * block + n] ^=
                        std::byte{field.product(factor, std::to_integer<unsigned>(data[i * block + n]))};
            }
        }
        return all;
    }

    std::size_t k, m;
    doca_ec_matrix_types type;
    std::vector<std::uint8_t> raw; ///< empty: a matrix of that type
};

/// Runs a job of any type on a source with the blocks @p source, and room for @p room bytes.
Context::Outcome run(const Context &context, Numbers &numbers, int type, doca_matrix *matrix, Input source,
                     std::size_t room)
{
    const auto next_length = [&] { return 4 * std::size_t{numbers.next(256)}; };
    std::ranges::copy(source, memory);
    std::byte *const to = memory + half;
    std::fill_n(to, room + 1, canary);
    doca_buf *const src = context.list(memory, source.size(), source.size(), next_length);
    doca_buf *const dst = context.list(to, room, 0, next_length);
    // The structures of all types begin alike: a matrix, a source, a destination.
    const doca_ec_job job{context.base(type), matrix, src, dst};
    const Context::Outcome outcome = context.run(job.base);
    const bool is_done = outcome.submit == DOCA_SUCCESS && outcome.result == DOCA_SUCCESS;
    require(is_done || length_of(dst) == 0, "a job that fails writes no data");
    require(is_done || std::all_of(to, to + room, [](std::byte byte) { return byte == canary; }),
            "a job that fails leaves the destination as it was");
    require(to[room] == canary, "nothing is written beyond the destination");
    release(src);
    release(dst);
    return outcome;
}

/// Expects a job to succeed, with the result @p expected.
void run_right(const Context &context, Numbers &numbers, int type, doca_matrix *matrix, Input source, Input expected)
{
    const Context::Outcome outcome = run(context, numbers, type, matrix, source, expected.size());
    require(outcome.submit == DOCA_SUCCESS && outcome.result == DOCA_SUCCESS, "lengths that suit the matrix succeed");
    require(std::ranges::equal(Input(memory + half, expected.size()), expected), "the blocks are what they have to be");
}

/// Reads up to @p most indices below @p end, sorted as a rule.
std::vector<std::uint32_t> indices(Numbers &numbers, std::size_t most, std::size_t end)
{
    std::vector<std::uint32_t> all(1 + numbers.next(static_cast<unsigned>(most)));
    for (std::uint32_t &index : all)
        index = numbers.next(static_cast<unsigned>(end));
    if (numbers.next(8) != 0)
        std::ranges::sort(all);
    return all;
}

bool is_strictly_increasing(const std::vector<std::uint32_t> &all)
{
    return std::ranges::adjacent_find(all, [](auto a, auto b) { return a >= b; }) == all.end();
}

/// Changes data blocks, and brings the redundancy up to date by one job.
void update(const Context &context, Numbers &numbers, const Code &code, const doca_matrix *coding, const Bytes &data)
{
    std::vector<std::uint32_t> changed = indices(numbers, max_data, max_data + 1);
    doca_matrix *matrix = nullptr;
    const doca_error_t status =
        doca_ec_update_matrix_create(coding, context.library(), changed.data(), changed.size(), &matrix);
    require((status == DOCA_SUCCESS) ==
                (changed.size() <= code.k && is_strictly_increasing(changed) && changed.back() < code.k),
            "a matrix for an update has rising indices of data blocks");
    if (matrix == nullptr)
        return;
    const std::size_t block = data.size() / code.k;
    Bytes source, after = data;
    for (const std::uint32_t index : changed) {
        const auto from = after.begin() + static_cast<std::ptrdiff_t>(index * block);
        source.insert(source.end(), from, from + static_cast<std::ptrdiff_t>(block));
        std::for_each_n(from, block, [&](std::byte &byte) { byte ^= static_cast<std::byte>(numbers.next(256)); });
        source.insert(source.end(), from, from + static_cast<std::ptrdiff_t>(block));
    }
    const Bytes before = code.redundancy_of(data);
    source.insert(source.end(), before.begin(), before.end());
    run_right(context, numbers, DOCA_EC_JOB_UPDATE, matrix, source, code.redundancy_of(after));
    must(doca_ec_matrix_destroy(matrix));
}

/// Loses blocks, and recovers them if there is a matrix for it.
void recover(const Context &context, Numbers &numbers, const Code &code, const doca_matrix *coding, const Bytes &data)
{
    std::vector<std::uint32_t> missing = indices(numbers, max_redundancy, max_data + max_redundancy);
    doca_matrix *matrix = nullptr;
    const doca_error_t status =
        doca_ec_recover_matrix_create(coding, context.library(), missing.data(), missing.size(), &matrix);
    const bool is_valid =
        missing.size() <= code.m && is_strictly_increasing(missing) && missing.back() < code.k + code.m;
    require(status != DOCA_SUCCESS || is_valid, "a matrix for a recovery has rising indices of blocks");
    require(status == DOCA_SUCCESS || !is_valid || !code.raw.empty() || code.type != DOCA_CODING_MATRIX_CAUCHY,
            "a Cauchy matrix recovers every loss");
    if (matrix == nullptr)
        return;
    Bytes all = data;
    const Bytes redundancy = code.redundancy_of(data);
    all.insert(all.end(), redundancy.begin(), redundancy.end());
    const std::size_t block = data.size() / code.k;
    Bytes source, expected;
    for (std::uint32_t i = 0; i != code.k + code.m; ++i) {
        Bytes *const to = std::ranges::binary_search(missing, i) ? &expected : &source;
        const auto from = all.begin() + static_cast<std::ptrdiff_t>(i * block);
        if (to == &expected || source.size() != data.size())
            to->insert(to->end(), from, from + static_cast<std::ptrdiff_t>(block));
    }
    run_right(context, numbers, DOCA_EC_JOB_RECOVER, matrix, source, expected);
    must(doca_ec_matrix_destroy(matrix));
}

} // namespace

void test_input(Input input)
{
    static const Context context(can_code, doca_ec_create, doca_ec_as_ctx, memory);
    if (!context.has_device())
        return; // a build without ISA-L
    Numbers numbers(input);
    Code code = {};
    code.k = numbers.next(max_data + 1);
    code.m = numbers.next(max_redundancy + 1);
    const unsigned type = numbers.next(4); // one that does not exist among them, and raw coefficients
    code.type = static_cast<doca_ec_matrix_types>(type);
    doca_matrix *coding = nullptr;
    doca_error_t status = DOCA_SUCCESS;
    if (type == 3) {
        code.raw.resize(code.k * code.m + 1);
        for (std::uint8_t &coefficient : code.raw)
            coefficient = static_cast<std::uint8_t>(numbers.next(256));
        status = doca_ec_matrix_from_raw(context.library(), code.raw.data(), code.k, code.m, &coding);
    } else {
        status = doca_ec_matrix_create(context.library(), code.type, code.k, code.m, &coding);
    }
    require((status == DOCA_SUCCESS) == (code.k != 0 && code.m != 0 && type != 0), "a matrix has blocks and a kind");
    if (coding == nullptr)
        return;
    const std::size_t block = (1 + numbers.next(2)) * std::size_t{64};
    const std::size_t size = code.k * block + (numbers.next(4) != 0 ? 0 : numbers.next(64));
    const std::size_t room = code.m * block - (numbers.next(4) != 0 ? 0 : numbers.next(64));
    const int job_type = DOCA_EC_JOB_GALOIS_MUL + static_cast<int>(numbers.next(5)); // one that does not exist
    Bytes data(size);
    for (std::size_t i = 0; i != size; ++i)
        data[i] = static_cast<std::byte>(i < 128 ? numbers.next(256) : i * 7);
    const Context::Outcome outcome = run(context, numbers, job_type, coding, data, room);
    require(outcome.submit == (job_type <= DOCA_EC_JOB_RECOVER ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE),
            "a job is accepted if its type exists");
    const bool fits = size == code.k * block && room == code.m * block;
    require(outcome.submit != DOCA_SUCCESS || outcome.result == (fits ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED),
            "a job succeeds if its lengths suit the matrix");
    if (fits) {
        run_right(context, numbers, DOCA_EC_JOB_CREATE, coding, data, code.redundancy_of(data));
        update(context, numbers, code, coding, data);
        recover(context, numbers, code, coding, data);
    }
    must(doca_ec_matrix_destroy(coding));
}
