// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Erasure coding: refused arguments, failed tasks, and the life of tasks and matrices.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../support/environment.hpp"
#include "../support/topology_file.hpp"
#include "erasure_coding_fixture.hpp"

namespace doca_test {
namespace {

class ErasureCodingErrors : public ErasureCodingTest {
protected:
    void SetUp() override
    {
        ErasureCodingTest::SetUp();
        coding = matrix(DOCA_EC_MATRIX_TYPE_CAUCHY, 3, 2);
    }

    doca_error_t create(const doca_buf *src, doca_buf *dst) { return run<doca_ec_task_create>(coding, src, dst); }

    MatrixHandle coding;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ErasureCodingErrors);
INSTANTIATE_TEST_SUITE_P(device, ErasureCodingErrors, testing::ValuesIn(coding_devices()), name_of_device);

TEST_P(ErasureCodingErrors, LengthsThatDoNotSuitTheMatrixFail)
{
    const BufHandle dst = room(4096);
    for (const std::size_t length :
         {std::size_t{0}, std::size_t{64}, std::size_t{3 * 64 - 1}, std::size_t{3 * 64 + 1}, std::size_t{4 * 64},
          std::size_t{5 * 64}, std::size_t{3 * 32}, std::size_t{3 * 100}}) {
        const BufHandle src = data(length);
        EXPECT_EQ(create(src, dst), DOCA_ERROR_IO_FAILED) << length;
        EXPECT_EQ(data_len_of(dst), 0u);
        EXPECT_EQ(state_of(ctx()), DOCA_CTX_STATE_RUNNING);
    }
    // A source of twice as many blocks has blocks of twice the size, for which there is no room.
    const BufHandle src = data(6 * 64);
    const BufHandle small = room(2 * 64);
    EXPECT_EQ(create(src, small), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(data_len_of(small), 0u);
    const BufHandle fitting = room(4 * 64);
    EXPECT_EQ(create(src, fitting), DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(fitting), 4 * 64u);
    EXPECT_EQ(create(src, fitting), DOCA_ERROR_IO_FAILED) << "there is no room behind the data";
}

TEST_P(ErasureCodingErrors, TaskThatFailsChangesNothingAndCanBeRunAgain)
{
    const BufHandle src = data(3 * 64), dst = room(2 * 64), small = room(2 * 64 - 1);
    std::memset(memory.data(), 0x5a, used);
    const std::vector<std::byte> before = memory;
    doca_ec_task_create *const task = alloc<doca_ec_task_create>(coding, src, small);
    doca_task *const as_task = doca_ec_task_create_as_task(task);
    EXPECT_EQ(run(as_task), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(doca_task_try_submit(as_task), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_task_get_status(as_task), DOCA_ERROR_IO_FAILED);
    EXPECT_TRUE(memory == before);
    doca_ec_task_create_set_rdnc_blocks(task, dst);
    EXPECT_EQ(run(as_task), DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(dst), 2 * 64u);
    doca_task_free(as_task);
}

TEST_P(ErasureCodingErrors, BuffersThatCannotBeUsedFail)
{
    const BufHandle src = data(3 * 64), dst = room(2 * 64);
    doca_ec_task_create *const task = alloc<doca_ec_task_create>(coding, src, dst);
    doca_task *const as_task = doca_ec_task_create_as_task(task);
    // Nothing in place of what is needed.
    doca_ec_task_create_set_coding_matrix(task, nullptr);
    EXPECT_EQ(run(as_task), DOCA_ERROR_INVALID_VALUE);
    doca_ec_task_create_set_coding_matrix(task, coding);
    doca_ec_task_create_set_original_data_blocks(task, nullptr);
    EXPECT_EQ(run(as_task), DOCA_ERROR_INVALID_VALUE);
    doca_ec_task_create_set_original_data_blocks(task, src);
    doca_ec_task_create_set_rdnc_blocks(task, nullptr);
    EXPECT_EQ(run(as_task), DOCA_ERROR_INVALID_VALUE);
    doca_task_free(as_task);
    // The member of a list that is not its head.
    BufHandle head = data(64);
    BufHandle member = room(2 * 64);
    doca_buf *const tail = member;
    append(head, std::move(member));
    EXPECT_EQ(create(src, tail), DOCA_ERROR_INVALID_VALUE);
    // Read-only memory is enough for a source, but no destination.
    std::vector<std::byte> own(3 * 64);
    const MmapHandle read_only = map_of(dev, own, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
    BufHandle buf;
    must(doca_buf_inventory_buf_get_by_addr(inventory, read_only, own.data(), own.size(), buf.out()));
    EXPECT_EQ(create(src, buf), DOCA_ERROR_NOT_PERMITTED);
    must(doca_buf_inventory_buf_get_by_data(inventory, read_only, own.data(), own.size(), buf.out()));
    EXPECT_EQ(create(buf, dst), DOCA_SUCCESS);
}

TEST_P(ErasureCodingErrors, OverlapsOtherThanOfWholeBlocksFail)
{
    constexpr std::size_t block = 256;
    const Blocks blocks = random_blocks(3, block);
    const BufHandle src = data(blocks);
    (void)take(2 * block);
    const auto over = [&](std::size_t begin) {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_addr(inventory, map, &memory[begin], 2 * block, buf.out()));
        return buf;
    };
    const std::vector<std::byte> before = memory;
    for (const std::size_t begin : {std::size_t{1}, std::size_t{64}, block - 64, 2 * block + 64, 3 * block - 1}) {
        const BufHandle dst = over(begin);
        EXPECT_EQ(create(src, dst), DOCA_ERROR_INVALID_VALUE) << begin;
        EXPECT_EQ(data_len_of(dst), 0u);
    }
    // Of the second block of a destination, which is another buffer.
    BufHandle list = room(block);
    append(list, over(block / 2));
    EXPECT_EQ(create(src, list), DOCA_ERROR_INVALID_VALUE);
    EXPECT_TRUE(memory == before);
    // Whole blocks may be shared, and room that the result does not need may overlap in any way.
    BufHandle wide;
    must(doca_buf_inventory_buf_get_by_addr(inventory, map, &memory[used], 2 * block + 64, wide.out()));
    (void)take(2 * block);
    EXPECT_EQ(create(data(blocks), wide), DOCA_SUCCESS);
    for (const std::size_t at : {std::size_t{0}, block, 2 * block, 3 * block}) {
        std::memcpy(memory.data(), before.data(), 5 * block);
        const BufHandle dst = over(at);
        EXPECT_EQ(create(src, dst), DOCA_SUCCESS) << at;
        EXPECT_EQ(blocks_in(dst, block), reference_blocks(reference_cauchy(3, 2), blocks)) << at;
    }
}

TEST_P(ErasureCodingErrors, ListsAndBlocksHaveTheLengthsOfTheCapabilities)
{
    std::uint32_t most = 0;
    must(doca_ec_cap_get_max_buf_list_len(doca_dev_as_devinfo(dev), &most));
    const MatrixHandle one = matrix(DOCA_EC_MATRIX_TYPE_CAUCHY, 1, 1);
    const BufHandle dst = room((most + 1) * 64);
    BufHandle list;
    for (std::uint32_t i = 0; i != most; ++i)
        append(list, data(64));
    EXPECT_EQ(run<doca_ec_task_create>(one, list, dst), DOCA_SUCCESS);
    append(list, data(0));
    must(doca_buf_reset_data_len(dst));
    EXPECT_EQ(run<doca_ec_task_create>(one, list, dst), DOCA_ERROR_INVALID_VALUE);
    // A block that is too large, made of the same memory again and again.
    std::uint64_t largest = 0;
    must(doca_ec_cap_get_max_block_size(doca_dev_as_devinfo(dev), &largest));
    BufHandle large;
    for (std::uint64_t length = 0; length <= largest; length += size) {
        used = 0;
        append(large, data(size));
    }
    EXPECT_EQ(run<doca_ec_task_create>(one, large, dst), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(ErasureCodingErrors, MatricesAreRefusedForNumbersAndIndicesOutOfRange)
{
    doca_ec_matrix *made = nullptr;
    std::uint8_t raw[] = {1};
    const auto create = [&](unsigned type, std::size_t k, std::size_t m) {
        const doca_error_t status = doca_ec_matrix_create(ec, no_value<doca_ec_matrix_type>(type), k, m, &made);
        if (status == DOCA_SUCCESS)
            must(doca_ec_matrix_destroy(std::exchange(made, nullptr)));
        return status;
    };
    for (const unsigned type : {0u, 3u, 0xffffffffu})
        EXPECT_EQ(create(type, 2, 2), DOCA_ERROR_INVALID_VALUE);
    for (const unsigned type : {1u, 2u}) {
        EXPECT_EQ(create(type, 0, 2), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(create(type, 2, 0), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(create(type, 256, 1), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(create(type, 1, 256), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(create(type, SIZE_MAX, 2), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(create(type, 2, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
    }
    EXPECT_EQ(create(DOCA_EC_MATRIX_TYPE_CAUCHY, 200, 56), DOCA_SUCCESS);
    EXPECT_EQ(create(DOCA_EC_MATRIX_TYPE_CAUCHY, 200, 57), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(create(DOCA_EC_MATRIX_TYPE_VANDERMONDE, 255, 57), DOCA_SUCCESS);
    EXPECT_EQ(doca_ec_matrix_create_from_raw(ec, raw, 0, 1, &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_matrix_create_from_raw(ec, raw, 1, 256, &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_matrix_create_from_raw(ec, nullptr, 1, 1, &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_matrix_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);

    const auto recover = [&](std::vector<std::uint32_t> indices) {
        return doca_ec_matrix_create_recover(ec, coding, indices.data(), indices.size(), &made);
    };
    const auto update = [&](std::vector<std::uint32_t> indices) {
        return doca_ec_matrix_create_update(ec, coding, indices.data(), indices.size(), &made);
    };
    std::uint32_t index = 0;
    EXPECT_EQ(doca_ec_matrix_create_recover(ec, coding, &index, 0, &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_matrix_create_recover(ec, coding, &index, SIZE_MAX, &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_matrix_create_recover(ec, nullptr, &index, 1, &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_matrix_create_recover(ec, coding, nullptr, 1, &made), DOCA_ERROR_INVALID_VALUE);
    for (const std::vector<std::uint32_t> &indices :
         std::vector<std::vector<std::uint32_t>>{{5}, {0, 5}, {0, 1, 2}, {1, 0}, {1, 1}, {UINT32_MAX}})
        EXPECT_EQ(recover(indices), DOCA_ERROR_INVALID_VALUE) << indices[0];
    EXPECT_EQ(doca_ec_matrix_create_update(ec, coding, &index, 0, &made), DOCA_ERROR_INVALID_VALUE);
    for (const std::vector<std::uint32_t> &indices :
         std::vector<std::vector<std::uint32_t>>{{3}, {0, 3}, {0, 1, 2, 3}, {2, 1}, {2, 2}, {UINT32_MAX}})
        EXPECT_EQ(update(indices), DOCA_ERROR_INVALID_VALUE) << indices[0];
    // An update matrix that has more inputs than a coding matrix can have.
    const MatrixHandle wide = matrix(DOCA_EC_MATRIX_TYPE_VANDERMONDE, 1, 255);
    const MatrixHandle of_wide = update_matrix(wide, {0});
    EXPECT_EQ(doca_ec_matrix_create_recover(ec, of_wide, &index, 1, &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_matrix_create_update(ec, of_wide, &index, 1, &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(made, nullptr) << "outputs are set only on success";
}

TEST_P(ErasureCodingErrors, SettersAndGettersAgree)
{
    const BufHandle src = data(64), dst = room(64), other_src = data(64), other_dst = room(64);
    const MatrixHandle other = matrix(DOCA_EC_MATRIX_TYPE_VANDERMONDE, 2, 1);
    auto *const mul = alloc<doca_ec_task_galois_mul>(coding, src, dst);
    EXPECT_EQ(doca_ec_task_galois_mul_get_coding_matrix(mul), coding);
    EXPECT_EQ(doca_ec_task_galois_mul_get_src_buf(mul), src);
    EXPECT_EQ(doca_ec_task_galois_mul_get_dst_buf(mul), dst);
    doca_ec_task_galois_mul_set_coding_matrix(mul, other);
    doca_ec_task_galois_mul_set_src_buf(mul, other_src);
    doca_ec_task_galois_mul_set_dst_buf(mul, other_dst);
    EXPECT_EQ(doca_ec_task_galois_mul_get_coding_matrix(mul), other);
    EXPECT_EQ(doca_ec_task_galois_mul_get_src_buf(mul), other_src);
    EXPECT_EQ(doca_ec_task_galois_mul_get_dst_buf(mul), other_dst);
    auto *const create = alloc<doca_ec_task_create>(coding, src, dst);
    doca_ec_task_create_set_coding_matrix(create, other);
    doca_ec_task_create_set_original_data_blocks(create, other_src);
    doca_ec_task_create_set_rdnc_blocks(create, other_dst);
    EXPECT_EQ(doca_ec_task_create_get_coding_matrix(create), other);
    EXPECT_EQ(doca_ec_task_create_get_original_data_blocks(create), other_src);
    EXPECT_EQ(doca_ec_task_create_get_rdnc_blocks(create), other_dst);
    auto *const update = alloc<doca_ec_task_update>(coding, src, dst);
    doca_ec_task_update_set_update_matrix(update, other);
    doca_ec_task_update_set_original_updated_and_rdnc_blocks(update, other_src);
    doca_ec_task_update_set_updated_rdnc_blocks(update, other_dst);
    EXPECT_EQ(doca_ec_task_update_get_update_matrix(update), other);
    EXPECT_EQ(doca_ec_task_update_get_original_updated_and_rdnc_blocks(update), other_src);
    EXPECT_EQ(doca_ec_task_update_get_updated_rdnc_blocks(update), other_dst);
    auto *const recover = alloc<doca_ec_task_recover>(coding, src, dst);
    doca_ec_task_recover_set_recover_matrix(recover, other);
    doca_ec_task_recover_set_available_blocks(recover, other_src);
    doca_ec_task_recover_set_recovered_data_blocks(recover, other_dst);
    EXPECT_EQ(doca_ec_task_recover_get_recover_matrix(recover), other);
    EXPECT_EQ(doca_ec_task_recover_get_available_blocks(recover), other_src);
    EXPECT_EQ(doca_ec_task_recover_get_recovered_data(recover), other_dst);
    // As when nothing was given to read from.
    EXPECT_EQ(doca_ec_task_recover_get_recovered_data(nullptr), nullptr);
    doca_ec_task_recover_set_recovered_data_blocks(nullptr, dst);
    doca_task_free(doca_ec_task_galois_mul_as_task(mul));
    doca_task_free(doca_ec_task_create_as_task(create));
    doca_task_free(doca_ec_task_update_as_task(update));
    doca_task_free(doca_ec_task_recover_as_task(recover));
}

TEST_P(ErasureCodingErrors, AllocationLooksAtNoDataAndEndsWhenAllTasksAreTaken)
{
    // Buffers of one byte without data, which the program points elsewhere before each submit; all tasks share them.
    BufHandle src = room(1), dst = room(1);
    std::vector<doca_ec_task_create *> tasks;
    for (std::uint32_t i = 0; i != num_tasks; ++i)
        tasks.push_back(alloc<doca_ec_task_create>(coding, src, dst));
    doca_ec_task_create *more = nullptr;
    EXPECT_EQ(doca_ec_task_create_allocate_init(ec, coding, src, dst, {.u64 = 7}, &more), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(more, nullptr);
    doca_ec_task_update *update = nullptr;
    EXPECT_EQ(doca_ec_task_update_allocate_init(ec, nullptr, src, dst, {.u64 = 7}, &update), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_task_update_allocate_init(ec, coding, nullptr, dst, {.u64 = 7}, &update),
              DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_task_update_allocate_init(ec, coding, src, nullptr, {.u64 = 7}, &update),
              DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_task_update_allocate_init(ec, coding, src, dst, {.u64 = 7}, nullptr), DOCA_ERROR_INVALID_VALUE);
    for (doca_ec_task_create *const task : tasks) {
        std::byte *const from = take(3 * 64), *const to = take(2 * 64);
        must(doca_buf_inventory_buf_reuse_by_data(src, from, 3 * 64));
        must(doca_buf_inventory_buf_reuse_by_addr(dst, to, 2 * 64));
        EXPECT_EQ(run(doca_ec_task_create_as_task(task)), DOCA_SUCCESS);
        EXPECT_EQ(data_len_of(dst), 2 * 64u);
        doca_task_free(doca_ec_task_create_as_task(task));
    }
}

TEST_P(ErasureCodingErrors, TaskIsSubmittedAgainInItsCallback)
{
    const Blocks blocks = random_blocks(3, 64);
    const BufHandle src = data(blocks), dst = room(2 * 64);
    doca_task *const task = doca_ec_task_create_as_task(alloc<doca_ec_task_create>(coding, src, dst));
    on_end = [&](doca_task *ended) {
        if (num_ended == 1000)
            return;
        must(doca_buf_reset_data_len(dst));
        EXPECT_EQ(doca_task_submit(ended), DOCA_SUCCESS);
    };
    ASSERT_EQ(doca_task_submit(task), DOCA_SUCCESS);
    while (num_ended != 1000)
        ASSERT_EQ(doca_pe_progress(pe), 1);
    EXPECT_EQ(blocks_in(dst, 64), reference_blocks(reference_cauchy(3, 2), blocks));
    doca_task_free(task);
}

TEST_P(ErasureCodingErrors, TaskInFlightCanBeFreed)
{
    const BufHandle src = data(3 * 64), dst = room(2 * 64);
    doca_task *const task = doca_ec_task_create_as_task(alloc<doca_ec_task_create>(coding, src, dst));
    ASSERT_EQ(doca_task_submit(task), DOCA_SUCCESS);
    doca_task_free(task);
    while (doca_pe_progress(pe) != 0) {
    }
    EXPECT_EQ(num_ended, 0);
    EXPECT_EQ(in_flight(ctx()), 0u);
    must(doca_buf_reset_data_len(dst));
    EXPECT_EQ(create(src, dst), DOCA_SUCCESS);
}

TEST_P(ErasureCodingErrors, StopWaitsForTasksInFlight)
{
    const BufHandle src = data(3 * 64);
    std::vector<BufHandle> destinations;
    for (std::uint32_t i = 0; i != num_tasks; ++i) {
        destinations.push_back(room(2 * 64));
        doca_task *const task =
            doca_ec_task_create_as_task(alloc<doca_ec_task_create>(coding, src, destinations.back()));
        ASSERT_EQ(doca_task_submit(task), DOCA_SUCCESS);
    }
    EXPECT_EQ(in_flight(ctx()), num_tasks);
    on_end = [](doca_task *task) { doca_task_free(task); };
    EXPECT_EQ(doca_ctx_stop(ctx()), DOCA_ERROR_IN_PROGRESS);
    EXPECT_EQ(doca_ec_destroy(ec), DOCA_ERROR_BAD_STATE);
    while (state_of(ctx()) != DOCA_CTX_STATE_IDLE)
        ASSERT_EQ(doca_pe_progress(pe), 1);
    EXPECT_EQ(num_ended, static_cast<int>(num_tasks));
    for (const BufHandle &dst : destinations)
        EXPECT_EQ(data_len_of(dst), 2 * 64u);
    EXPECT_EQ(doca_ctx_stop(ctx()), DOCA_SUCCESS) << "programs stop an idle context again";
}

TEST_P(ErasureCodingErrors, ConfigurationBelongsToIdleContexts)
{
    EXPECT_EQ(configure<doca_ec_task_create>(), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_ec_destroy(ec), DOCA_ERROR_BAD_STATE);
    ASSERT_EQ(doca_ctx_stop(ctx()), DOCA_SUCCESS);
    const auto callback = ended<doca_ec_task_recover, true>;
    EXPECT_EQ(doca_ec_task_recover_set_conf(ec, nullptr, callback, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_task_recover_set_conf(ec, callback, nullptr, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_task_recover_set_conf(nullptr, callback, callback, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_task_recover_set_conf(ec, callback, callback, UINT32_MAX), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_task_recover_set_conf(ec, callback, callback, 8192), DOCA_SUCCESS);
    const BufHandle src = data(3 * 64), dst = room(2 * 64);
    doca_ec_task_create *task = nullptr;
    EXPECT_EQ(doca_ec_task_create_allocate_init(ec, coding, src, dst, {.u64 = 7}, &task), DOCA_ERROR_BAD_STATE);
    ASSERT_EQ(doca_ctx_start(ctx()), DOCA_SUCCESS);
    EXPECT_EQ(create(src, dst), DOCA_SUCCESS);
}

TEST_P(ErasureCodingErrors, MatricesNeedNoRunningContextAndOutliveTheirObject)
{
    doca_ec *other = nullptr;
    ASSERT_EQ(doca_ec_create(dev, &other), DOCA_SUCCESS);
    MatrixHandle made;
    ASSERT_EQ(doca_ec_matrix_create(other, DOCA_EC_MATRIX_TYPE_CAUCHY, 3, 2, made.out()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ec_destroy(other), DOCA_SUCCESS);
    const Blocks blocks = random_blocks(3, 64);
    EXPECT_EQ(result<doca_ec_task_create>(made, blocks, 2), reference_blocks(reference_cauchy(3, 2), blocks));
    EXPECT_EQ(doca_ec_create(nullptr, &other), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_create(dev, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_as_ctx(nullptr), nullptr);
}

TEST(ErasureCoding, SoftwareDevicesAnswerAsTheCardOfTheTopology)
{
    if (coding_devices().empty())
        GTEST_SKIP() << "no device supports it";
    const TopologyFile file(R"({"functions": [
        {"name": "any",  "side": "dpu", "type": "pf", "pci": "03:00.0"},
        {"name": "bf2",  "side": "dpu", "type": "pf", "pci": "03:00.1", "engines": "bluefield-2"},
        {"name": "bf3",  "side": "dpu", "type": "pf", "pci": "03:00.2", "engines": "bluefield-3"},
        {"name": "none", "side": "dpu", "type": "pf", "pci": "03:00.3", "engines": "none"}
    ]})");
    const Environment soft("DOCA_SOFT", "1");
    const Environment topology("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    const auto expect = [](const std::string &name, doca_error_t status) {
        const DevHandle dev = open_device(name);
        EXPECT_EQ(doca_ec_cap_task_create_is_supported(doca_dev_as_devinfo(dev)), status) << name;
        EcHandle ec;
        EXPECT_EQ(doca_ec_create(dev, ec.out()), status) << name;
    };
    expect("soft_any", DOCA_SUCCESS);
    expect("soft_bf2", DOCA_ERROR_NOT_SUPPORTED);
    expect("soft_bf3", DOCA_SUCCESS);
    expect("soft_none", DOCA_ERROR_NOT_SUPPORTED);
}

TEST(ErasureCoding, EveryDeviceThatDoesNotSupportItRefusesAnObject)
{
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        if (doca_ec_cap_task_create_is_supported(info) != DOCA_ERROR_NOT_SUPPORTED)
            continue;
        DevHandle dev;
        must(doca_dev_open(info, dev.out()));
        doca_ec *ec = nullptr;
        EXPECT_EQ(doca_ec_create(dev, &ec), DOCA_ERROR_NOT_SUPPORTED);
        std::uint64_t size = 0;
        std::uint32_t length = 0;
        EXPECT_EQ(doca_ec_cap_get_max_block_size(info, &size), DOCA_ERROR_NOT_SUPPORTED);
        EXPECT_EQ(doca_ec_cap_get_max_buf_list_len(info, &length), DOCA_ERROR_NOT_SUPPORTED);
    }
}

} // namespace
} // namespace doca_test
