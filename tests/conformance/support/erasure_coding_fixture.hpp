// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A device with erasure coding, matrices, and memory for blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include <doca_erasure_coding.h>

#include "../galois_reference.hpp"
#include "job_engine.hpp"

namespace doca_test {

using EcHandle = Handle<doca_ec, doca_ec_destroy>;
using MatrixHandle = Handle<doca_matrix, doca_ec_matrix_destroy>;

constexpr doca_ec_job_types ec_job_types[] = {DOCA_EC_JOB_GALOIS_MUL, DOCA_EC_JOB_CREATE, DOCA_EC_JOB_UPDATE,
                                              DOCA_EC_JOB_RECOVER};
constexpr doca_ec_matrix_types matrix_types[] = {DOCA_CODING_MATRIX_CAUCHY, DOCA_CODING_MATRIX_VANDERMONDE};

/// A predicate for devices_that().
inline bool can_code(doca_devinfo *info)
{
    return doca_ec_job_get_supported(info, DOCA_EC_JOB_CREATE) == DOCA_SUCCESS;
}

inline Rows reference_rows(doca_ec_matrix_types type, std::size_t k, std::size_t m)
{
    return type == DOCA_CODING_MATRIX_CAUCHY ? reference_cauchy(k, m) : reference_powers_of_two(k, m);
}

/// A job of any type: each structure begins with a doca_job.
struct EcJob {
    doca_ec_job galois_mul = {};
    doca_ec_job_create create = {};
    doca_ec_job_update update = {};
    doca_ec_job_recover recover = {};

    [[nodiscard]] doca_job &base()
    {
        switch (galois_mul.base.type) {
        case DOCA_EC_JOB_CREATE:
            return create.base;
        case DOCA_EC_JOB_UPDATE:
            return update.base;
        case DOCA_EC_JOB_RECOVER:
            return recover.base;
        default:
            return galois_mul.base;
        }
    }
};

class EcEngine : public JobEngine<doca_ec, doca_ec_create, doca_ec_destroy, doca_ec_as_ctx> {
public:
    using JobEngine::JobEngine;

    [[nodiscard]] EcJob job(int type, doca_matrix *matrix, const doca_buf *src, doca_buf *dst) const
    {
        const doca_job start = base(type);
        return {
            {start, matrix, src, dst}, {start, matrix, src, dst}, {start, matrix, src, dst}, {start, matrix, src, dst}};
    }
    using JobEngine::run;
    [[nodiscard]] doca_error_t run(int type, doca_matrix *matrix, const doca_buf *src, doca_buf *dst) const
    {
        return run(job(type, matrix, src, dst).base());
    }
};

/// Memory of one device, mapped, with an engine and an inventory. Memory is handed out from the beginning; tests set
/// `used` back to 0.
class EcTest : public DeviceTest {
protected:
    static constexpr std::size_t size = std::size_t{1} << 22;

    // Matrices.

    MatrixHandle matrix(doca_ec_matrix_types type, std::size_t k, std::size_t m)
    {
        MatrixHandle made;
        must(doca_ec_matrix_create(engine.library(), type, k, m, made.out()));
        return made;
    }
    /// Null if the library refuses.
    MatrixHandle recover_matrix(const doca_matrix *coding, std::vector<std::uint32_t> missing)
    {
        doca_matrix *made = nullptr;
        (void)doca_ec_recover_matrix_create(coding, engine.library(), missing.data(), missing.size(), &made);
        return MatrixHandle(made);
    }
    MatrixHandle update_matrix(const doca_matrix *coding, std::vector<std::uint32_t> changed)
    {
        MatrixHandle made;
        must(doca_ec_update_matrix_create(coding, engine.library(), changed.data(), changed.size(), made.out()));
        return made;
    }

    // Buffers.

    std::byte *take(std::size_t length)
    {
        must_hold(length <= size - used, "the memory of the test suffices");
        return &memory[std::exchange(used, used + length)];
    }
    BufHandle room(std::size_t length) { return inventory.empty(map, take(length), length); }
    BufHandle data(std::size_t length) { return inventory.full(map, take(length), length); }
    /// A buffer with the blocks, one after the other.
    BufHandle data(const Blocks &blocks)
    {
        BufHandle buf = data(blocks.size() * blocks[0].size());
        std::byte *at = data_of(buf);
        for (const Block &block : blocks) {
            std::memcpy(at, block.data(), block.size());
            at += block.size();
        }
        return buf;
    }
    /// The data of a list as blocks of @p length bytes.
    static Blocks blocks_in(const doca_buf *list, std::size_t length)
    {
        const std::vector<std::byte> all = bytes_in(list);
        EXPECT_EQ(all.size() % length, 0u);
        Blocks blocks(all.size() / length, Block(length));
        for (std::size_t i = 0; i != blocks.size(); ++i)
            std::memcpy(blocks[i].data(), &all[i * length], length);
        return blocks;
    }
    Blocks random_blocks(std::size_t count, std::size_t length)
    {
        Blocks blocks(count, Block(length));
        for (Block &block : blocks) {
            for (std::uint8_t &byte : block)
                byte = static_cast<std::uint8_t>(random());
        }
        return blocks;
    }

    /// The blocks that a job of @p type makes of @p inputs, in memory of its own.
    Blocks result(int type, doca_matrix *by, const Blocks &inputs, std::size_t num_outputs)
    {
        used = 0;
        const BufHandle src = data(inputs), dst = room(num_outputs * inputs[0].size());
        EXPECT_EQ(engine.run(type, by, src, dst), DOCA_SUCCESS);
        return blocks_in(dst, inputs[0].size());
    }

    std::vector<std::byte> memory = std::vector<std::byte>(size);
    std::size_t used = 0;
    std::mt19937 random{1};
    LocalMap map{dev, memory};
    Inventory inventory{2048};
    EcEngine engine{dev};
};

/// The sets of 1 to @p most of the numbers below @p end, each in ascending order.
inline std::vector<std::vector<std::uint32_t>> sets_of(std::size_t end, std::size_t most)
{
    std::vector<std::vector<std::uint32_t>> sets;
    for (std::uint32_t bits = 1; bits != 1u << end; ++bits) {
        std::vector<std::uint32_t> set;
        for (std::uint32_t i = 0; i != end; ++i) {
            if ((bits >> i & 1) != 0)
                set.push_back(i);
        }
        if (set.size() <= most)
            sets.push_back(set);
    }
    return sets;
}

} // namespace doca_test
