// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Strict mode: when the engines write their destinations.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doca_aes_gcm.h>
#include <doca_compress.h>
#include <doca_erasure_coding.h>

#include "strict_fixture.hpp"

namespace doca_test {
namespace {

template <typename Task>
void note_end(Task *task, doca_data task_data, doca_data)
{
    EXPECT_EQ(doca_task_get_status(reinterpret_cast<doca_task *>(task)), DOCA_SUCCESS);
    *static_cast<bool *>(task_data.ptr) = true;
}

class StrictEngines : public StrictTest {
protected:
    static constexpr std::size_t block = 64;

    void SetUp() override
    {
        must(doca_buf_inventory_buf_get_by_data(inventory, src_map, src.data(), src.size(), from.out()));
        must(doca_buf_inventory_buf_get_by_addr(inventory, dst_map, dst.data(), dst.size(), to.out()));
    }
    void start(doca_ctx *ctx) const
    {
        must(doca_pe_connect_ctx(pe, ctx));
        must(doca_ctx_start(ctx));
    }
    [[nodiscard]] bool has_result() const { return dst != std::vector<std::byte>(dst.size()); }
    /// Submits @p task, expects that the destination is written late in strict mode only, and stops @p ctx.
    void check_destination_of(doca_task *task, doca_ctx *ctx)
    {
        ASSERT_EQ(doca_task_submit(task), DOCA_SUCCESS);
        EXPECT_EQ(has_result(), !is_strict()) << "a program that reads now relies on the software device";
        EXPECT_EQ(data_len_of(to) != 0, !is_strict());
        run_until([&] { return has_ended; });
        EXPECT_TRUE(has_result());
        EXPECT_NE(data_len_of(to), 0u);
        doca_task_free(task);
        EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
        expect_rule("late-destination");
    }

    std::vector<std::byte> src = std::vector<std::byte>(2 * block, std::byte{7});
    std::vector<std::byte> dst = std::vector<std::byte>(4 * block);
    MmapHandle src_map = map_of(dev, src);
    MmapHandle dst_map = map_of(dev, dst);
    InventoryHandle inventory = inventory_of(2);
    BufHandle from, to;
    bool has_ended = false;
};
INSTANTIATE_STRICT(StrictEngines);

TEST_P(StrictEngines, aes_gcm_is_written_at_completion)
{
    if (doca_aes_gcm_cap_task_encrypt_is_supported(doca_dev_as_devinfo(dev)) != DOCA_SUCCESS)
        GTEST_SKIP() << "this build has no AES-GCM";
    Handle<doca_aes_gcm, doca_aes_gcm_destroy> gcm;
    must(doca_aes_gcm_create(dev, gcm.out()));
    must(doca_aes_gcm_task_encrypt_set_conf(gcm, note_end, note_end, 1));
    start(doca_aes_gcm_as_ctx(gcm));
    const std::vector<std::uint8_t> raw(16, 3), iv(12, 4);
    Handle<doca_aes_gcm_key, doca_aes_gcm_key_destroy> key;
    must(doca_aes_gcm_key_create(gcm, raw.data(), DOCA_AES_GCM_KEY_128, key.out()));
    doca_aes_gcm_task_encrypt *task = nullptr;
    must(doca_aes_gcm_task_encrypt_alloc_init(gcm, from, to, key, iv.data(), 12, 16, 0, {.ptr = &has_ended}, &task));
    check_destination_of(doca_aes_gcm_task_encrypt_as_task(task), doca_aes_gcm_as_ctx(gcm));
}

TEST_P(StrictEngines, redundancy_is_written_at_completion)
{
    if (doca_ec_cap_task_create_is_supported(doca_dev_as_devinfo(dev)) != DOCA_SUCCESS)
        GTEST_SKIP() << "this build has no erasure coding";
    Handle<doca_ec, doca_ec_destroy> ec;
    must(doca_ec_create(dev, ec.out()));
    must(doca_ec_task_create_set_conf(ec, note_end, note_end, 1));
    start(doca_ec_as_ctx(ec));
    Handle<doca_ec_matrix, doca_ec_matrix_destroy> matrix;
    must(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1, matrix.out()));
    src[0] = std::byte{1}; // the blocks differ, or their redundancy could be 0
    doca_ec_task_create *task = nullptr;
    must(doca_ec_task_create_allocate_init(ec, matrix, from, to, {.ptr = &has_ended}, &task));
    check_destination_of(doca_ec_task_create_as_task(task), doca_ec_as_ctx(ec));
}

TEST_P(StrictEngines, compressed_data_is_written_at_completion)
{
    if (doca_compress_cap_task_compress_deflate_is_supported(doca_dev_as_devinfo(dev)) != DOCA_SUCCESS)
        GTEST_SKIP() << "this build does not compress";
    Handle<doca_compress, doca_compress_destroy> compress;
    must(doca_compress_create(dev, compress.out()));
    must(doca_compress_task_compress_deflate_set_conf(compress, note_end, note_end, 1));
    start(doca_compress_as_ctx(compress));
    doca_compress_task_compress_deflate *task = nullptr;
    must(doca_compress_task_compress_deflate_alloc_init(compress, from, to, {.ptr = &has_ended}, &task));
    check_destination_of(doca_compress_task_compress_deflate_as_task(task), doca_compress_as_ctx(compress));
}

} // namespace
} // namespace doca_test
