// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Strict mode: when SHA writes the digest.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <doca_sha.h>

#include "strict_fixture.hpp"

namespace doca_test {
namespace {

constexpr std::size_t digest_size = 32; ///< of SHA-256
constexpr std::size_t block = 64;

template <typename Task>
void count_end(Task *task, doca_data task_data, doca_data)
{
    EXPECT_EQ(doca_task_get_status(reinterpret_cast<doca_task *>(task)), DOCA_SUCCESS);
    ++*static_cast<int *>(task_data.ptr);
}

class StrictSha : public StrictTest {
protected:
    void SetUp() override
    {
        must(doca_sha_create(dev, sha.out()));
        must(doca_sha_task_hash_set_conf(sha, count_end, count_end, 1));
        must(doca_sha_task_partial_hash_set_conf(sha, count_end, count_end, 1));
        must(doca_pe_connect_ctx(pe, ctx()));
        must(doca_ctx_start(ctx()));
        must(doca_buf_inventory_buf_get_by_data(inventory, src_map, src.data(), src.size(), from.out()));
        must(doca_buf_inventory_buf_get_by_addr(inventory, dst_map, dst.data(), digest_size, to.out()));
    }
    void TearDown() override
    {
        (void)doca_ctx_stop(ctx());
        run_until([&] { return state_of(ctx()) == DOCA_CTX_STATE_IDLE; });
    }
    [[nodiscard]] doca_ctx *ctx() const { return doca_sha_as_ctx(sha); }
    [[nodiscard]] doca_sha_task_hash *hash()
    {
        doca_sha_task_hash *task = nullptr;
        must(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, from, to, {.ptr = &num_ended}, &task));
        return task;
    }
    /// Submits a task and awaits its end.
    void run(doca_task *task)
    {
        const int before = num_ended;
        ASSERT_EQ(doca_task_submit(task), DOCA_SUCCESS);
        run_until([&] { return num_ended != before; });
    }
    [[nodiscard]] bool has_digest() const { return dst != std::vector<std::byte>(digest_size); }

    std::vector<std::byte> src = std::vector<std::byte>(2 * block, std::byte{7});
    std::vector<std::byte> dst = std::vector<std::byte>(digest_size);
    MmapHandle src_map = map_of(dev, src);
    MmapHandle dst_map = map_of(dev, dst);
    InventoryHandle inventory = inventory_of(4);
    BufHandle from, to;
    Handle<doca_sha, doca_sha_destroy> sha;
    int num_ended = 0;
};
INSTANTIATE_STRICT(StrictSha);

TEST_P(StrictSha, the_digest_is_written_at_completion)
{
    doca_task *const task = doca_sha_task_hash_as_task(hash());
    ASSERT_EQ(doca_task_submit(task), DOCA_SUCCESS);
    EXPECT_EQ(has_digest(), !is_strict()) << "a program that reads now relies on the software device";
    run_until([&] { return num_ended == 1; });
    EXPECT_TRUE(has_digest());
    EXPECT_EQ(data_len_of(to), digest_size);
    doca_task_free(task);
    expect_rule("late-destination");
}

/// The pieces have the digest of the whole.
TEST_P(StrictSha, the_digest_of_pieces_is_written_at_the_last_completion)
{
    doca_task *const whole = doca_sha_task_hash_as_task(hash());
    run(whole);
    doca_task_free(whole);
    const std::vector<std::byte> expected = dst;
    dst.assign(digest_size, std::byte{});
    must(doca_buf_reset_data_len(to));
    must(doca_buf_set_data(from, src.data(), block));
    doca_sha_task_partial_hash *task = nullptr;
    must(doca_sha_task_partial_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, from, to, {.ptr = &num_ended}, &task));
    run(doca_sha_task_partial_hash_as_task(task));
    EXPECT_FALSE(has_digest());
    must(doca_buf_set_data(from, &src[block], block));
    must(doca_sha_task_partial_hash_set_is_final_buf(task));
    ASSERT_EQ(doca_task_submit(doca_sha_task_partial_hash_as_task(task)), DOCA_SUCCESS);
    EXPECT_EQ(has_digest(), !is_strict());
    run_until([&] { return num_ended == 3; });
    EXPECT_EQ(dst, expected);
    doca_task_free(doca_sha_task_partial_hash_as_task(task));
}

TEST_P(StrictSha, buffers_of_a_task_that_is_freed_in_flight_can_be_released)
{
    doca_task *const task = doca_sha_task_hash_as_task(hash());
    ASSERT_EQ(doca_task_submit(task), DOCA_SUCCESS);
    doca_task_free(task);
    from.reset();
    to.reset();
    inventory.reset();
    (void)doca_ctx_stop(ctx());
    run_until([&] { return state_of(ctx()) == DOCA_CTX_STATE_IDLE; });
    EXPECT_EQ(num_ended, 0);
    EXPECT_EQ(has_digest(), !is_strict());
}

} // namespace
} // namespace doca_test
