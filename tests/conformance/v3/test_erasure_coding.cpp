// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Erasure coding tasks: what they compute, against known values and a slow reference.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doca_graph.h>

#include "erasure_coding_fixture.hpp"

namespace doca_test {
namespace {

constexpr doca_ec_matrix_type types[] = {DOCA_EC_MATRIX_TYPE_CAUCHY, DOCA_EC_MATRIX_TYPE_VANDERMONDE};

/// The sets of 1 to @p most of the numbers below @p end, each in ascending order.
std::vector<std::vector<std::uint32_t>> sets_of(std::size_t end, std::size_t most)
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

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ErasureCodingTest);
INSTANTIATE_TEST_SUITE_P(device, ErasureCodingTest, testing::ValuesIn(coding_devices()), name_of_device);

/// Loses the blocks of @p missing, and expects them back from the first that are left.
class Recovery : public ErasureCodingTest {
protected:
    /// Returns false if the library made no matrix.
    bool recover(const doca_ec_matrix *coding, const Blocks &all, std::size_t k,
                 const std::vector<std::uint32_t> &missing)
    {
        const MatrixHandle matrix = recover_matrix(coding, missing);
        if (matrix == nullptr)
            return false;
        Blocks available, lost;
        for (std::uint32_t i = 0; i != all.size(); ++i) {
            const bool is_missing = std::ranges::find(missing, i) != missing.end();
            if (is_missing)
                lost.push_back(all[i]);
            else if (available.size() != k)
                available.push_back(all[i]);
        }
        EXPECT_EQ(result<doca_ec_task_recover>(matrix, available, missing.size()), lost)
            << "of " << k << " data blocks, the first missing is " << missing[0];
        return true;
    }
    /// Random data and its redundancy.
    Blocks data_and_redundancy(const Rows &rows, std::size_t block)
    {
        Blocks all = random_blocks(rows[0].size(), block);
        const Blocks redundancy = reference_blocks(rows, all);
        all.insert(all.end(), redundancy.begin(), redundancy.end());
        return all;
    }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Recovery);
INSTANTIATE_TEST_SUITE_P(device, Recovery, testing::ValuesIn(coding_devices()), name_of_device);

TEST_P(ErasureCodingTest, CapabilitiesAreThoseOfTheDevice)
{
    const doca_devinfo *const info = doca_dev_as_devinfo(dev);
    for (const auto is_supported : {doca_ec_cap_task_galois_mul_is_supported, doca_ec_cap_task_create_is_supported,
                                    doca_ec_cap_task_update_is_supported, doca_ec_cap_task_recover_is_supported}) {
        EXPECT_EQ(is_supported(info), DOCA_SUCCESS);
        EXPECT_EQ(is_supported(nullptr), DOCA_ERROR_INVALID_VALUE);
    }
    std::uint64_t block = 0;
    EXPECT_EQ(doca_ec_cap_get_max_block_size(info, &block), DOCA_SUCCESS);
    EXPECT_GE(block, std::uint64_t{1} << 20);
    EXPECT_EQ(doca_ec_cap_get_max_block_size(info, nullptr), DOCA_ERROR_INVALID_VALUE);
    std::uint32_t elements = 0;
    EXPECT_EQ(doca_ec_cap_get_max_buf_list_len(info, &elements), DOCA_SUCCESS);
    EXPECT_GE(elements, 128u + 32u);
    EXPECT_EQ(doca_ec_cap_get_max_buf_list_len(nullptr, &elements), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(ErasureCodingTest, KnownValuesOfThreeAndTwoBlocks)
{
    // Byte i of block i is 1 and all others are 0, so byte i of redundancy block j is a(i, j).
    Blocks units(3, Block(64));
    for (std::size_t i = 0; i != 3; ++i)
        units[i][i] = 1;
    const MatrixHandle cauchy = matrix(DOCA_EC_MATRIX_TYPE_CAUCHY, 3, 2);
    const Blocks coefficients = result<doca_ec_task_create>(cauchy, units, 2);
    EXPECT_EQ((Block(coefficients[0].begin(), coefficients[0].begin() + 4)), (Block{0xf4, 0x8e, 0x01, 0}));
    EXPECT_EQ((Block(coefficients[1].begin(), coefficients[1].begin() + 4)), (Block{0x47, 0xa7, 0x7a, 0}));
    const Blocks data = {Block(64, 1), Block(64, 2), Block(64, 3)};
    EXPECT_EQ(result<doca_ec_task_create>(cauchy, data, 2), (Blocks{Block(64, 0xf6), Block(64, 0x9a)}));
    const MatrixHandle vandermonde = matrix(DOCA_EC_MATRIX_TYPE_VANDERMONDE, 3, 2);
    EXPECT_EQ(result<doca_ec_task_create>(vandermonde, data, 2), (Blocks{Block(64, 0), Block(64, 0)}));
    // (i + 1)^2, which is not ISA-L's 2^(2 i).
    const MatrixHandle three = matrix(DOCA_EC_MATRIX_TYPE_VANDERMONDE, 3, 3);
    const Block last = result<doca_ec_task_create>(three, units, 3)[2];
    EXPECT_EQ((Block(last.begin(), last.begin() + 3)), (Block{1, 4, 5}));
}

TEST_P(ErasureCodingTest, RedundancyEqualsTheReference)
{
    for (const doca_ec_matrix_type type : types) {
        for (const auto &[k, m] : std::vector<std::pair<std::size_t, std::size_t>>{{1, 1},
                                                                                   {2, 1},
                                                                                   {2, 2},
                                                                                   {3, 5},
                                                                                   {4, 2},
                                                                                   {5, 3},
                                                                                   {7, 4},
                                                                                   {8, 8},
                                                                                   {10, 4},
                                                                                   {12, 6},
                                                                                   {13, 7},
                                                                                   {16, 8},
                                                                                   {128, 32},
                                                                                   {255, 1},
                                                                                   {1, 255},
                                                                                   {224, 32}}) {
            const Blocks data = random_blocks(k, 192);
            EXPECT_EQ(result<doca_ec_task_create>(matrix(type, k, m), data, m),
                      reference_blocks(rows(type, k, m), data))
                << k << " + " << m << ", type " << type;
        }
    }
}

TEST_P(Recovery, EveryLossOfSmallShapesIsRecovered)
{
    for (const doca_ec_matrix_type type : types) {
        for (std::size_t k = 1; k <= 6; ++k) {
            for (std::size_t m = 1; m <= 3; ++m) {
                const MatrixHandle coding = matrix(type, k, m);
                const Blocks all = data_and_redundancy(rows(type, k, m), 64);
                for (const auto &missing : sets_of(k + m, m))
                    EXPECT_TRUE(recover(coding, all, k, missing)) << k << " + " << m << ", type " << type;
            }
        }
    }
}

TEST_P(Recovery, LossesThatAMatrixCannotRecoverAreRefused)
{
    // Of 35 losses of 4 blocks of 3 + 4, Vandermonde cannot recover one, and Cauchy recovers all.
    for (const doca_ec_matrix_type type : types) {
        const MatrixHandle coding = matrix(type, 3, 4);
        const Blocks all = data_and_redundancy(rows(type, 3, 4), 64);
        int num_losses = 0, num_refused = 0;
        for (const auto &missing : sets_of(7, 4)) {
            if (missing.size() != 4)
                continue;
            ++num_losses;
            num_refused += recover(coding, all, 3, missing) ? 0 : 1;
        }
        EXPECT_EQ(num_losses, 35);
        EXPECT_EQ(num_refused, type == DOCA_EC_MATRIX_TYPE_CAUCHY ? 0 : 1);
    }
}

TEST_P(Recovery, SamplesOfAllShapesUpTo16And8)
{
    for (const doca_ec_matrix_type type : types) {
        for (std::size_t k = 1; k <= 16; ++k) {
            for (std::size_t m = 1; m <= 8; ++m) {
                const MatrixHandle coding = matrix(type, k, m);
                const Rows coefficients = rows(type, k, m);
                const Blocks all = data_and_redundancy(coefficients, 64);
                for (int sample = 0; sample != 4; ++sample) {
                    const std::vector<std::uint32_t> missing = random_set(k + m, sample == 0 ? m : 1 + random() % m);
                    EXPECT_EQ(recover(coding, all, k, missing), can_be_recovered(coefficients, missing))
                        << k << " + " << m << ", type " << type;
                }
            }
        }
    }
}

TEST_P(ErasureCodingTest, SamplesOfUpdatesOfAllShapesUpTo16And8)
{
    for (const doca_ec_matrix_type type : types) {
        for (std::size_t k = 1; k <= 16; ++k) {
            for (std::size_t m = 1; m <= 8; ++m) {
                const Rows coefficients = rows(type, k, m);
                const Blocks before = random_blocks(k, 64);
                Blocks after = before, inputs;
                const std::vector<std::uint32_t> changed = random_set(k, 1 + random() % k);
                for (const std::uint32_t index : changed) {
                    after[index] = random_blocks(1, 64)[0];
                    inputs.push_back(before[index]);
                    inputs.push_back(after[index]);
                }
                const Blocks redundancy = reference_blocks(coefficients, before);
                inputs.insert(inputs.end(), redundancy.begin(), redundancy.end());
                EXPECT_EQ(result<doca_ec_task_update>(update_matrix(matrix(type, k, m), changed), inputs, m),
                          reference_blocks(coefficients, after))
                    << k << " + " << m << ", type " << type;
            }
        }
    }
}

TEST_P(ErasureCodingTest, EveryUpdateOfSmallShapesEqualsNewRedundancy)
{
    for (const doca_ec_matrix_type type : types) {
        for (std::size_t k = 1; k <= 5; ++k) {
            for (std::size_t m = 1; m <= 3; ++m) {
                const MatrixHandle coding = matrix(type, k, m);
                const Rows coefficients = rows(type, k, m);
                const Blocks before = random_blocks(k, 64);
                for (const auto &changed : sets_of(k, k)) {
                    Blocks after = before, inputs;
                    for (const std::uint32_t index : changed) {
                        after[index] = random_blocks(1, 64)[0];
                        inputs.push_back(before[index]);
                        inputs.push_back(after[index]);
                    }
                    const Blocks redundancy = reference_blocks(coefficients, before);
                    inputs.insert(inputs.end(), redundancy.begin(), redundancy.end());
                    EXPECT_EQ(result<doca_ec_task_update>(update_matrix(coding, changed), inputs, m),
                              reference_blocks(coefficients, after))
                        << k << " + " << m << ", the first changed is " << changed[0];
                }
            }
        }
    }
}

TEST_P(ErasureCodingTest, RedundancyCanBeUpdatedInPlace)
{
    // More outputs than ISA-L computes in one pass over the inputs, and more bytes than a slice.
    constexpr std::size_t k = 3, m = 9, block = 1 << 16;
    const MatrixHandle coding = matrix(DOCA_EC_MATRIX_TYPE_CAUCHY, k, m);
    const Rows coefficients = reference_cauchy(k, m);
    const Blocks before = random_blocks(k, block);
    Blocks after = before;
    after[1] = random_blocks(1, block)[0];
    for (const std::size_t cut : {m * block, block + 100}) {
        used = 0;
        BufHandle source = data({before[1], after[1]});
        const std::size_t begin = used;
        append(source, data(reference_blocks(coefficients, before)));
        // The same memory as a destination, in one piece or in two.
        BufHandle destination;
        for (const auto &[from, to] : {std::pair{std::size_t{0}, cut}, {cut, m * block}}) {
            BufHandle part;
            must(doca_buf_inventory_buf_get_by_addr(inventory, map, &memory[begin + from], to - from, part.out()));
            append(destination, std::move(part));
            if (to == m * block)
                break;
        }
        ASSERT_EQ(run<doca_ec_task_update>(update_matrix(coding, {1}), source, destination), DOCA_SUCCESS);
        EXPECT_TRUE(blocks_in(destination, block) == reference_blocks(coefficients, after)) << "cut at " << cut;
    }
}

TEST_P(ErasureCodingTest, BlocksCanBeMultipliedInPlace)
{
    // ISA-L computes nine outputs in two passes over the inputs, of which the first pass has overwritten some.
    constexpr std::size_t count = 9, block = 1 << 16;
    const Blocks blocks = random_blocks(count, block);
    const BufHandle source = data(blocks);
    BufHandle destination;
    must(doca_buf_inventory_buf_get_by_addr(inventory, map, memory.data(), count * block, destination.out()));
    const MatrixHandle cauchy = matrix(DOCA_EC_MATRIX_TYPE_CAUCHY, count, count);
    ASSERT_EQ(run<doca_ec_task_galois_mul>(cauchy, source, destination), DOCA_SUCCESS);
    EXPECT_TRUE(blocks_in(destination, block) == reference_blocks(reference_cauchy(count, count), blocks));
}

TEST_P(ErasureCodingTest, RawCoefficientsAreThoseOfTheFirstDataBlockFirst)
{
    constexpr std::size_t k = 5, m = 3;
    const Rows coefficients =
        rows_of(k, m, [&](std::size_t, std::size_t) { return static_cast<std::uint8_t>(random()); });
    std::vector<std::uint8_t> raw;
    for (std::size_t i = 0; i != k; ++i) {
        for (std::size_t j = 0; j != m; ++j)
            raw.push_back(coefficients[j][i]);
    }
    MatrixHandle made;
    must(doca_ec_matrix_create_from_raw(ec, raw.data(), k, m, made.out()));
    raw.assign(raw.size(), 0); // copied
    const Blocks data = random_blocks(k, 128);
    EXPECT_EQ(result<doca_ec_task_create>(made, data, m), reference_blocks(coefficients, data));
}

TEST_P(ErasureCodingTest, EveryKindOfTaskMultipliesByEveryMatrix)
{
    // A program recovers one of two blocks by the coding matrix: the exclusive or of the others.
    const Blocks data = random_blocks(2, 256);
    const MatrixHandle exclusive_or = matrix(DOCA_EC_MATRIX_TYPE_VANDERMONDE, 2, 1);
    const Block parity = result<doca_ec_task_create>(exclusive_or, data, 1)[0];
    EXPECT_EQ(result<doca_ec_task_recover>(exclusive_or, {parity, data[1]}, 1), Blocks{data[0]});
    EXPECT_EQ(result<doca_ec_task_update>(exclusive_or, {data[0], parity}, 1), Blocks{data[1]});
    const MatrixHandle cauchy = matrix(DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 3);
    EXPECT_EQ(result<doca_ec_task_galois_mul>(cauchy, data, 3), reference_blocks(reference_cauchy(2, 3), data));
    const MatrixHandle first = recover_matrix(exclusive_or, {0});
    EXPECT_EQ(result<doca_ec_task_galois_mul>(first, {data[1], parity}, 1), Blocks{data[0]});
}

TEST_P(ErasureCodingTest, NodesOfAGraphCreateAndThenRecover)
{
    const Blocks blocks = random_blocks(3, 64);
    const MatrixHandle coding = matrix(DOCA_EC_MATRIX_TYPE_CAUCHY, 3, 2), recovery = recover_matrix(coding, {0, 1});
    // Redundancy is written behind the last data block, and both are the source of the recovery.
    const BufHandle src = data(blocks), redundancy = room(2 * 64), available = data(0), recovered = room(2 * 64);
    must(doca_buf_inventory_buf_reuse_by_data(available, &memory[2 * 64], 3 * 64));
    doca_task *const create = doca_ec_task_create_as_task(alloc<doca_ec_task_create>(coding, src, redundancy));
    doca_task *const recover =
        doca_ec_task_recover_as_task(alloc<doca_ec_task_recover>(recovery, available, recovered));
    int num_succeeded = 0, num_failed = 0;
    const auto count = [](doca_graph_instance *, doca_data, doca_data counter) { ++*static_cast<int *>(counter.ptr); };
    const auto fail = [](doca_graph_instance *, doca_data counter, doca_data) { ++*static_cast<int *>(counter.ptr); };
    Handle<doca_graph, doca_graph_destroy> graph;
    must(doca_graph_create(pe, graph.out()));
    must(doca_graph_set_conf(graph, count, fail, 1));
    must(doca_graph_set_user_data(graph, {.ptr = &num_succeeded}));
    doca_graph_node *first = nullptr, *second = nullptr;
    must(doca_graph_node_create_from_ctx(graph, ctx(), &first));
    must(doca_graph_node_create_from_ctx(graph, ctx(), &second));
    must(doca_graph_add_dependency(graph, first, second));
    must(doca_graph_start(graph));
    Handle<doca_graph_instance, doca_graph_instance_destroy> instance;
    must(doca_graph_instance_create(graph, instance.out()));
    must(doca_graph_instance_set_user_data(instance, {.ptr = &num_failed}));
    must(doca_graph_instance_set_ctx_node_data(instance, first, create));
    must(doca_graph_instance_set_ctx_node_data(instance, second, recover));
    must(doca_graph_instance_submit(instance));
    while (num_succeeded + num_failed == 0)
        (void)doca_pe_progress(pe);
    EXPECT_EQ(num_failed, 0);
    EXPECT_EQ(num_ended, 0) << "the graph is called, and not the callbacks of its tasks";
    EXPECT_EQ(blocks_in(recovered, 64), (Blocks{blocks[0], blocks[1]}));
    instance.reset();
    EXPECT_EQ(doca_graph_stop(graph), DOCA_SUCCESS);
    doca_task_free(create);
    doca_task_free(recover);
}

TEST_P(ErasureCodingTest, ListsMayBeSplitAnywhereAndDataGrowsBehindWhatIsThere)
{
    constexpr std::size_t k = 4, m = 3;
    const MatrixHandle coding = matrix(DOCA_EC_MATRIX_TYPE_CAUCHY, k, m);
    for (const std::size_t block : {64u, 128u, 4096u, 3u * 65536u}) {
        const Blocks blocks = random_blocks(k, block);
        const Blocks expected = reference_blocks(reference_cauchy(k, m), blocks);
        for (int sample = 0; sample != 12; ++sample) {
            used = 0;
            // Sources of 1 to 9 pieces, some of them empty, at any address.
            BufHandle source;
            Block bytes;
            for (const Block &each : blocks)
                bytes.insert(bytes.end(), each.begin(), each.end());
            for (std::size_t done = 0, piece = 0; done != bytes.size(); ++piece) {
                const std::size_t left = bytes.size() - done;
                const std::size_t length = piece == 8 ? left : std::min<std::size_t>(left, random() % (left + 1));
                take(random() % 16);
                std::memcpy(&memory[used], &bytes[done], length);
                append(source, data(length));
                done += length;
            }
            // Destinations that have some data already, and more room than is needed.
            BufHandle destination;
            Block before, after;
            const std::size_t wanted = m * block;
            std::size_t rest = wanted;
            Block result;
            for (const Block &each : expected)
                result.insert(result.end(), each.begin(), each.end());
            for (std::size_t piece = 0; piece == 0 || rest != 0; ++piece) {
                const std::size_t room_of_piece = piece == 6 ? rest + 1000 : random() % (rest + 2);
                const std::size_t existing = random() % 50;
                take(random() % 16);
                BufHandle buf = room(existing + room_of_piece);
                void *head = nullptr;
                must(doca_buf_get_head(buf, &head));
                std::memset(head, 0xee, existing + room_of_piece);
                must(doca_buf_set_data(buf, head, existing));
                append(destination, std::move(buf));
                after.insert(after.end(), existing, 0xee);
                const std::size_t part = std::min(rest, room_of_piece);
                const auto from = result.end() - static_cast<std::ptrdiff_t>(rest);
                after.insert(after.end(), from, from + static_cast<std::ptrdiff_t>(part));
                rest -= part;
            }
            ASSERT_EQ(run<doca_ec_task_create>(coding, source, destination), DOCA_SUCCESS);
            ASSERT_TRUE(bytes_in(destination) == after) << "blocks of " << block << ", sample " << sample;
        }
    }
}

} // namespace
} // namespace doca_test
