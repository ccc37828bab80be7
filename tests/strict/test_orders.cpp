// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Strict mode: the order in which tasks of the engines complete.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <doca_aes_gcm.h>
#include <doca_compress.h>
#include <doca_erasure_coding.h>
#include <doca_sha.h>

#include "strict_fixture.hpp"

namespace doca_test {
namespace {

constexpr std::size_t num_tasks = 32;

/// The user data of a task: its number, and the order in which tasks have completed.
struct Place {
    std::vector<std::size_t> *order;
    std::size_t number;
};

template <typename Task>
void note_place(Task *task, doca_data task_data, doca_data)
{
    EXPECT_EQ(doca_task_get_status(reinterpret_cast<doca_task *>(task)), DOCA_SUCCESS);
    const auto &place = *static_cast<const Place *>(task_data.ptr);
    place.order->push_back(place.number);
}

class StrictOrders : public StrictTest {
protected:
    static constexpr std::size_t block = 64, room = 4 * block;

    void SetUp() override
    {
        for (std::size_t i = 0; i != num_tasks; ++i) {
            places[i] = {&order, i};
            must(doca_buf_inventory_buf_get_by_data(inventory, src_map, &src[i * 2 * block], 2 * block, from[i].out()));
            must(doca_buf_inventory_buf_get_by_addr(inventory, dst_map, &dst[i * room], room, to[i].out()));
        }
    }
    void start(doca_ctx *ctx) const
    {
        must(doca_pe_connect_ctx(pe, ctx));
        must(doca_ctx_start(ctx));
    }
    /// Submits @p tasks, expects an order that is not that of submission in strict mode only, and stops @p ctx.
    void check_order_of(const std::vector<doca_task *> &tasks, doca_ctx *ctx)
    {
        for (doca_task *const task : tasks)
            ASSERT_EQ(doca_task_submit(task), DOCA_SUCCESS);
        run_until([&] { return order.size() == num_tasks; });
        for (doca_task *const task : tasks)
            doca_task_free(task);
        EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
        std::vector<std::size_t> sorted(num_tasks);
        std::iota(sorted.begin(), sorted.end(), std::size_t{0});
        EXPECT_EQ(order == sorted, !is_strict()) << "a program that counts on the order relies on the software device";
        std::ranges::sort(order);
        EXPECT_EQ(order, sorted) << "each completes once";
        expect_rule("unordered-completions");
    }

    std::vector<std::byte> src = std::vector<std::byte>(num_tasks * 2 * block, std::byte{7});
    std::vector<std::byte> dst = std::vector<std::byte>(num_tasks * room);
    MmapHandle src_map = map_of(dev, src);
    MmapHandle dst_map = map_of(dev, dst);
    InventoryHandle inventory = inventory_of(2 * num_tasks);
    std::array<BufHandle, num_tasks> from, to;
    std::array<Place, num_tasks> places{};
    std::vector<std::size_t> order; ///< in which the tasks have completed
};
INSTANTIATE_STRICT(StrictOrders);

TEST_P(StrictOrders, hashes_complete_in_any_order)
{
    Handle<doca_sha, doca_sha_destroy> sha;
    must(doca_sha_create(dev, sha.out()));
    must(doca_sha_task_hash_set_conf(sha, note_place, note_place, 5)); // 2^5
    start(doca_sha_as_ctx(sha));
    std::vector<doca_task *> tasks;
    for (std::size_t i = 0; i != num_tasks; ++i) {
        doca_sha_task_hash *task = nullptr;
        must(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, from[i], to[i], {.ptr = &places[i]}, &task));
        tasks.push_back(doca_sha_task_hash_as_task(task));
    }
    check_order_of(tasks, doca_sha_as_ctx(sha));
}

TEST_P(StrictOrders, encryptions_complete_in_any_order)
{
    if (doca_aes_gcm_cap_task_encrypt_is_supported(doca_dev_as_devinfo(dev)) != DOCA_SUCCESS)
        GTEST_SKIP() << "this build has no AES-GCM";
    Handle<doca_aes_gcm, doca_aes_gcm_destroy> gcm;
    must(doca_aes_gcm_create(dev, gcm.out()));
    must(doca_aes_gcm_task_encrypt_set_conf(gcm, note_place, note_place, num_tasks));
    start(doca_aes_gcm_as_ctx(gcm));
    const std::vector<std::uint8_t> raw(16, 3), iv(12, 4);
    Handle<doca_aes_gcm_key, doca_aes_gcm_key_destroy> key;
    must(doca_aes_gcm_key_create(gcm, raw.data(), DOCA_AES_GCM_KEY_128, key.out()));
    std::vector<doca_task *> tasks;
    for (std::size_t i = 0; i != num_tasks; ++i) {
        doca_aes_gcm_task_encrypt *task = nullptr;
        must(doca_aes_gcm_task_encrypt_alloc_init(gcm, from[i], to[i], key, iv.data(), 12, 16, 0, {.ptr = &places[i]},
                                                  &task));
        tasks.push_back(doca_aes_gcm_task_encrypt_as_task(task));
    }
    check_order_of(tasks, doca_aes_gcm_as_ctx(gcm));
}

TEST_P(StrictOrders, redundancy_completes_in_any_order)
{
    if (doca_ec_cap_task_create_is_supported(doca_dev_as_devinfo(dev)) != DOCA_SUCCESS)
        GTEST_SKIP() << "this build has no erasure coding";
    Handle<doca_ec, doca_ec_destroy> ec;
    must(doca_ec_create(dev, ec.out()));
    must(doca_ec_task_create_set_conf(ec, note_place, note_place, num_tasks));
    start(doca_ec_as_ctx(ec));
    Handle<doca_ec_matrix, doca_ec_matrix_destroy> matrix;
    must(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1, matrix.out()));
    std::vector<doca_task *> tasks;
    for (std::size_t i = 0; i != num_tasks; ++i) {
        doca_ec_task_create *task = nullptr;
        must(doca_ec_task_create_allocate_init(ec, matrix, from[i], to[i], {.ptr = &places[i]}, &task));
        tasks.push_back(doca_ec_task_create_as_task(task));
    }
    check_order_of(tasks, doca_ec_as_ctx(ec));
}

TEST_P(StrictOrders, compression_completes_in_any_order)
{
    if (doca_compress_cap_task_compress_deflate_is_supported(doca_dev_as_devinfo(dev)) != DOCA_SUCCESS)
        GTEST_SKIP() << "this build does not compress";
    Handle<doca_compress, doca_compress_destroy> compress;
    must(doca_compress_create(dev, compress.out()));
    must(doca_compress_task_compress_deflate_set_conf(compress, note_place, note_place, num_tasks));
    start(doca_compress_as_ctx(compress));
    std::vector<doca_task *> tasks;
    for (std::size_t i = 0; i != num_tasks; ++i) {
        doca_compress_task_compress_deflate *task = nullptr;
        must(doca_compress_task_compress_deflate_alloc_init(compress, from[i], to[i], {.ptr = &places[i]}, &task));
        tasks.push_back(doca_compress_task_compress_deflate_as_task(task));
    }
    check_order_of(tasks, doca_compress_as_ctx(compress));
}

} // namespace
} // namespace doca_test
