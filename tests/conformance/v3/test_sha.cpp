// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// SHA tasks: whole messages and pieces, where the digest goes, and what is refused.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <doca_sha.h>

#include "../sha_vectors.hpp"
#include "objects.hpp"

namespace doca_test {
namespace {

using ShaHandle = Handle<doca_sha, doca_sha_destroy>;

constexpr doca_sha_algorithm algorithms[] = {DOCA_SHA_ALGORITHM_SHA1, DOCA_SHA_ALGORITHM_SHA256,
                                             DOCA_SHA_ALGORITHM_SHA512};
constexpr std::uint32_t digest_sizes[] = {20, 32, 64};
constexpr std::uint32_t block_sizes[] = {64, 64, 128};

std::vector<std::string> hashing_devices()
{
    std::vector<std::string> names;
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        const bool can = doca_sha_cap_task_hash_get_supported(info, DOCA_SHA_ALGORITHM_SHA256) == DOCA_SUCCESS;
        if (can && !(is_soft(ibdev_of(info)) && !names.empty()))
            names.push_back(ibdev_of(info));
    }
    return names;
}

std::string hex(std::span<const std::byte> bytes)
{
    std::string text;
    for (const std::byte byte : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned>(byte));
        text += digits;
    }
    return text;
}

/// A SHA context that runs, with memory to hash and room for digests.
class ShaTaskTest : public testing::TestWithParam<std::string> {
protected:
    static constexpr std::size_t size = std::size_t{1} << 21;
    static constexpr std::uint8_t log_num_tasks = 2;

    void SetUp() override
    {
        must(doca_pe_create(pe.out()));
        must(doca_sha_create(dev, sha.out()));
        must(doca_sha_task_hash_set_conf(sha, hash_ended<true>, hash_ended<false>, log_num_tasks));
        must(doca_sha_task_partial_hash_set_conf(sha, piece_ended<true>, piece_ended<false>, log_num_tasks));
        must(doca_ctx_set_user_data(ctx(), {.ptr = this}));
        must(doca_pe_connect_ctx(pe, ctx()));
        must(doca_ctx_start(ctx()));
    }
    void TearDown() override
    {
        if (state_of(ctx()) == DOCA_CTX_STATE_IDLE)
            return;
        const doca_error_t status = doca_ctx_stop(ctx());
        EXPECT_TRUE(status == DOCA_SUCCESS || status == DOCA_ERROR_IN_PROGRESS);
        while (state_of(ctx()) != DOCA_CTX_STATE_IDLE)
            ASSERT_EQ(doca_pe_progress(pe), 1);
    }

    [[nodiscard]] doca_ctx *ctx() const { return doca_sha_as_ctx(sha); }

    /// A buffer with the text @p message, after those made before.
    BufHandle source(const std::string &message)
    {
        std::memcpy(&memory[used], message.data(), message.size());
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_data(inventory, map, &memory[used], message.size(), buf.out()));
        used += message.size();
        return buf;
    }
    BufHandle room(std::size_t length)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_addr(inventory, map, &memory[used], length, buf.out()));
        used += length;
        return buf;
    }
    static std::string digest_in(const doca_buf *buf)
    {
        void *data = nullptr;
        must(doca_buf_get_data(buf, &data));
        return hex({static_cast<std::byte *>(data), data_len_of(buf)});
    }
    /// Submits @p task and serves its end: how it has ended.
    doca_error_t run(doca_task *task)
    {
        const int before = num_ended;
        EXPECT_EQ(doca_task_submit(task), DOCA_SUCCESS);
        EXPECT_EQ(num_ended, before) << "nobody is called in a submit";
        while (num_ended == before)
            EXPECT_EQ(doca_pe_progress(pe), 1);
        EXPECT_EQ(last_succeeded, doca_task_get_status(task) == DOCA_SUCCESS);
        return doca_task_get_status(task);
    }
    /// Hashes at once and frees the task.
    doca_error_t hash(doca_sha_algorithm algorithm, const doca_buf *src, doca_buf *dst)
    {
        doca_sha_task_hash *task = nullptr;
        must(doca_sha_task_hash_alloc_init(sha, algorithm, src, dst, {.u64 = 7}, &task));
        const doca_error_t status = run(doca_sha_task_hash_as_task(task));
        doca_task_free(doca_sha_task_hash_as_task(task));
        return status;
    }

    template <bool Succeeded>
    static void hash_ended(doca_sha_task_hash *, doca_data task_data, doca_data ctx_data)
    {
        EXPECT_EQ(task_data.u64, 7u);
        static_cast<ShaTaskTest *>(ctx_data.ptr)->ended(Succeeded);
    }
    template <bool Succeeded>
    static void piece_ended(doca_sha_task_partial_hash *, doca_data task_data, doca_data ctx_data)
    {
        EXPECT_EQ(task_data.u64, 9u);
        static_cast<ShaTaskTest *>(ctx_data.ptr)->ended(Succeeded);
    }
    void ended(bool succeeded)
    {
        ++num_ended;
        last_succeeded = succeeded;
    }

    std::vector<std::byte> memory = std::vector<std::byte>(size);
    std::size_t used = 0;
    int num_ended = 0;
    bool last_succeeded = false;
    DevHandle dev = open_device(GetParam());
    MmapHandle map = map_of(dev, memory);
    InventoryHandle inventory = inventory_of(64);
    PeHandle pe;
    ShaHandle sha;
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ShaTaskTest);
INSTANTIATE_TEST_SUITE_P(device, ShaTaskTest, testing::ValuesIn(hashing_devices()), name_of_device);

TEST(ShaTask, every_software_device_hashes)
{
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        if (is_soft(ibdev_of(info))) {
            EXPECT_EQ(doca_sha_cap_task_hash_get_supported(info, DOCA_SHA_ALGORITHM_SHA1), DOCA_SUCCESS);
        }
    }
}

TEST_P(ShaTaskTest, capabilities)
{
    const doca_devinfo *const info = doca_dev_as_devinfo(dev);
    std::uint32_t number = 0;
    std::uint64_t length = 0;
    EXPECT_EQ(doca_sha_cap_get_max_list_buf_num_elem(info, &number), DOCA_SUCCESS);
    EXPECT_GE(number, 1u);
    EXPECT_EQ(doca_sha_cap_get_max_src_buf_size(info, &length), DOCA_SUCCESS);
    EXPECT_GE(length, std::uint64_t{1} << 20);
    EXPECT_EQ(doca_sha_cap_get_max_num_tasks(sha, &number), DOCA_SUCCESS);
    EXPECT_GE(number, 1u << log_num_tasks);
    for (int i = 0; i != 3; ++i) {
        EXPECT_EQ(doca_sha_cap_task_hash_get_supported(info, algorithms[i]), DOCA_SUCCESS);
        EXPECT_EQ(doca_sha_cap_task_partial_hash_get_supported(info, algorithms[i]), DOCA_SUCCESS);
        EXPECT_EQ(doca_sha_cap_get_min_dst_buf_size(info, algorithms[i], &number), DOCA_SUCCESS);
        EXPECT_EQ(number, digest_sizes[i]);
        EXPECT_EQ(doca_sha_cap_get_partial_hash_block_size(info, algorithms[i], &number), DOCA_SUCCESS);
        EXPECT_EQ(number, block_sizes[i]);
    }
    const auto none = no_value<doca_sha_algorithm>(3);
    EXPECT_EQ(doca_sha_cap_task_hash_get_supported(info, none), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_cap_get_min_dst_buf_size(info, none, &number), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_cap_get_max_src_buf_size(info, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_cap_get_max_num_tasks(nullptr, &number), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(ShaTaskTest, known_answers)
{
    for (const ShaVector &vector : sha_vectors) {
        if (vector.text.size() * vector.repeat == 0 || vector.text.size() * vector.repeat > size / 2)
            continue;
        used = 0;
        const BufHandle src = source(vector.message());
        for (int i = 0; i != 3; ++i) {
            const BufHandle dst = room(digest_sizes[i]);
            ASSERT_EQ(hash(algorithms[i], src, dst), DOCA_SUCCESS);
            EXPECT_EQ(digest_in(dst), vector.digests[i]);
        }
    }
}

TEST_P(ShaTaskTest, SourceWithoutDataGivesTheDigestOfTheEmptyMessage)
{
    const BufHandle empty = room(100), digest = room(20);
    EXPECT_EQ(hash(DOCA_SHA_ALGORITHM_SHA1, empty, digest), DOCA_SUCCESS);
    EXPECT_EQ(digest_in(digest), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

TEST_P(ShaTaskTest, tasks_do_what_they_were_told_last)
{
    const BufHandle src = source("abc"), piece = source(std::string(64, 'x'));
    const BufHandle first = room(20), second = room(64), third = room(64);
    doca_sha_task_hash *task = nullptr;
    must(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA1, src, first, {.u64 = 7}, &task));
    EXPECT_EQ(doca_sha_task_hash_set_algorithm(task, no_value<doca_sha_algorithm>(3)), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_task_hash_get_algorithm(task), DOCA_SHA_ALGORITHM_SHA1);
    EXPECT_EQ(doca_sha_task_hash_set_algorithm(task, DOCA_SHA_ALGORITHM_SHA512), DOCA_SUCCESS);
    EXPECT_EQ(doca_sha_task_hash_get_algorithm(task), DOCA_SHA_ALGORITHM_SHA512);
    EXPECT_EQ(doca_sha_task_hash_set_dst(task, second), DOCA_SUCCESS);
    EXPECT_EQ(run(doca_sha_task_hash_as_task(task)), DOCA_SUCCESS);
    doca_task_free(doca_sha_task_hash_as_task(task));
    EXPECT_EQ(data_len_of(first), 0u);
    EXPECT_TRUE(digest_in(second).starts_with("ddaf35a193617aba")) << digest_in(second);

    doca_sha_task_partial_hash *partial = nullptr;
    must(doca_sha_task_partial_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, piece, third, {.u64 = 9}, &partial));
    EXPECT_EQ(doca_sha_task_partial_hash_get_src(partial), piece);
    EXPECT_EQ(doca_sha_task_partial_hash_get_dst(partial), third);
    EXPECT_EQ(doca_sha_task_partial_hash_get_algorithm(partial), DOCA_SHA_ALGORITHM_SHA256);
    doca_task_free(doca_sha_task_partial_hash_as_task(partial));
}

TEST_P(ShaTaskTest, lists_are_hashed_as_one_message_and_the_digest_is_appended)
{
    const BufHandle head = source("a");
    BufHandle tail = source("bc");
    must(doca_buf_chain_list(head, tail));
    tail.release(); // given back with the head
    const BufHandle dst = room(2 * 20);
    ASSERT_EQ(hash(DOCA_SHA_ALGORITHM_SHA1, head, dst), DOCA_SUCCESS);
    const std::string once(sha_vectors[0].digests[0]);
    EXPECT_EQ(digest_in(dst), once);
    ASSERT_EQ(hash(DOCA_SHA_ALGORITHM_SHA1, head, dst), DOCA_SUCCESS);
    EXPECT_EQ(digest_in(dst), once + once);
}

TEST_P(ShaTaskTest, a_wrong_task_fails_in_its_callback_and_the_context_goes_on)
{
    const BufHandle src = source("abc");
    const BufHandle dst = room(20);
    const BufHandle small = room(19);
    EXPECT_EQ(hash(DOCA_SHA_ALGORITHM_SHA1, src, small), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(data_len_of(small), 0u);
    EXPECT_EQ(state_of(ctx()), DOCA_CTX_STATE_RUNNING);
    doca_sha_task_hash *task = nullptr;
    ASSERT_EQ(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA1, src, small, {.u64 = 7}, &task), DOCA_SUCCESS);
    EXPECT_EQ(doca_task_try_submit(doca_sha_task_hash_as_task(task)), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_task_hash_set_dst(task, dst), DOCA_SUCCESS);
    EXPECT_EQ(doca_sha_task_hash_get_dst(task), dst);
    EXPECT_EQ(doca_task_try_submit(doca_sha_task_hash_as_task(task)), DOCA_SUCCESS);
    while (num_ended != 2)
        ASSERT_EQ(doca_pe_progress(pe), 1);
    EXPECT_EQ(digest_in(dst), sha_vectors[0].digests[0]);
    doca_task_free(doca_sha_task_hash_as_task(task));
}

TEST_P(ShaTaskTest, memory_that_may_not_be_written_takes_no_digest)
{
    std::vector<std::byte> own(64);
    const MmapHandle read_only = map_of(dev, own, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
    BufHandle dst;
    must(doca_buf_inventory_buf_get_by_addr(inventory, read_only, own.data(), own.size(), dst.out()));
    EXPECT_EQ(hash(DOCA_SHA_ALGORITHM_SHA1, source("abc"), dst), DOCA_ERROR_NOT_PERMITTED);
}

TEST_P(ShaTaskTest, tasks_are_as_many_as_the_logarithm_says)
{
    const BufHandle src = source("abc");
    const BufHandle dst = room(64);
    std::vector<doca_sha_task_hash *> tasks(1u << log_num_tasks);
    for (doca_sha_task_hash *&task : tasks)
        ASSERT_EQ(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA512, src, dst, {.u64 = 7}, &task),
                  DOCA_SUCCESS);
    doca_sha_task_hash *more = nullptr;
    EXPECT_EQ(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA512, src, dst, {.u64 = 7}, &more),
              DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(more, nullptr);
    EXPECT_EQ(doca_sha_task_hash_get_algorithm(tasks[0]), DOCA_SHA_ALGORITHM_SHA512);
    EXPECT_EQ(doca_sha_task_hash_get_dst(tasks[0]), dst);
    for (doca_sha_task_hash *const task : tasks)
        doca_task_free(doca_sha_task_hash_as_task(task));
    EXPECT_EQ(doca_sha_task_hash_alloc_init(sha, no_value<doca_sha_algorithm>(9), src, dst, {.u64 = 7}, &more),
              DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA1, nullptr, dst, {.u64 = 7}, &more),
              DOCA_ERROR_INVALID_VALUE);
}

TEST_P(ShaTaskTest, configuration_belongs_to_idle_contexts)
{
    EXPECT_EQ(doca_sha_task_hash_set_conf(sha, hash_ended<true>, hash_ended<false>, 0), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sha_task_partial_hash_set_conf(sha, piece_ended<true>, piece_ended<false>, 0), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sha_destroy(sha), DOCA_ERROR_IN_USE);
    ASSERT_EQ(doca_ctx_stop(ctx()), DOCA_SUCCESS);
    EXPECT_EQ(doca_sha_task_hash_set_conf(sha, hash_ended<true>, nullptr, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_task_hash_set_conf(sha, hash_ended<true>, hash_ended<false>, 200), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_task_hash_set_conf(sha, hash_ended<true>, hash_ended<false>, 0), DOCA_SUCCESS);
    doca_sha_task_hash *task = nullptr;
    const BufHandle src = source("abc");
    const BufHandle dst = room(20);
    EXPECT_EQ(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA1, src, dst, {.u64 = 7}, &task),
              DOCA_ERROR_BAD_STATE);
    ASSERT_EQ(doca_ctx_start(ctx()), DOCA_SUCCESS);
    EXPECT_EQ(hash(DOCA_SHA_ALGORITHM_SHA1, src, dst), DOCA_SUCCESS);
}

// Pieces

class ShaPieces : public ShaTaskTest {
protected:
    void SetUp() override
    {
        ShaTaskTest::SetUp();
        text = std::string(3 * 128, 'x') + "the rest";
        whole_src = source(text);
        whole_dst = room(64);
    }
    void TearDown() override
    {
        if (task != nullptr)
            doca_task_free(as_task());
        ShaTaskTest::TearDown();
    }
    /// What the whole text gives.
    std::string whole(doca_sha_algorithm algorithm)
    {
        must(doca_buf_reset_data_len(whole_dst));
        must(hash(algorithm, whole_src, whole_dst));
        return digest_in(whole_dst);
    }
    void alloc(doca_sha_algorithm algorithm, const doca_buf *src, doca_buf *dst)
    {
        must(doca_sha_task_partial_hash_alloc_init(sha, algorithm, src, dst, {.u64 = 9}, &task));
    }
    [[nodiscard]] doca_task *as_task() const { return doca_sha_task_partial_hash_as_task(task); }

    std::string text;
    BufHandle whole_src;
    BufHandle whole_dst;
    doca_sha_task_partial_hash *task = nullptr;
};

INSTANTIATE_TEST_SUITE_P(device, ShaPieces, testing::ValuesIn(hashing_devices()), name_of_device);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ShaPieces);

TEST_P(ShaPieces, give_the_digest_of_the_whole)
{
    const BufHandle first = source(text.substr(0, 128));
    const BufHandle middle = source(text.substr(128, 256));
    const BufHandle last = source(text.substr(384));
    for (int i = 0; i != 3; ++i) {
        const BufHandle dst = room(digest_sizes[i]);
        alloc(algorithms[i], first, dst);
        EXPECT_EQ(run(as_task()), DOCA_SUCCESS);
        EXPECT_EQ(doca_sha_task_partial_hash_get_has_result(task), 0);
        EXPECT_EQ(data_len_of(dst), 0u);
        EXPECT_EQ(doca_sha_task_partial_hash_set_src(task, middle), DOCA_SUCCESS);
        EXPECT_EQ(run(as_task()), DOCA_SUCCESS);
        EXPECT_EQ(doca_sha_task_partial_hash_set_src(task, last), DOCA_SUCCESS);
        EXPECT_EQ(doca_sha_task_partial_hash_set_is_final_buf(task), DOCA_SUCCESS);
        EXPECT_EQ(doca_sha_task_partial_hash_get_is_final(task), 1);
        EXPECT_EQ(run(as_task()), DOCA_SUCCESS);
        EXPECT_EQ(doca_sha_task_partial_hash_get_has_result(task), 1);
        EXPECT_EQ(digest_in(dst), whole(algorithms[i]));
        // Another message with the same task.
        EXPECT_EQ(doca_sha_task_partial_hash_reset(task), DOCA_SUCCESS);
        EXPECT_EQ(doca_sha_task_partial_hash_get_is_final(task), 0);
        EXPECT_EQ(doca_sha_task_partial_hash_get_has_result(task), 0);
        EXPECT_EQ(doca_sha_task_partial_hash_set_src(task, whole_src), DOCA_SUCCESS);
        EXPECT_EQ(doca_sha_task_partial_hash_set_is_final_buf(task), DOCA_SUCCESS);
        must(doca_buf_reset_data_len(dst));
        EXPECT_EQ(run(as_task()), DOCA_SUCCESS);
        EXPECT_EQ(digest_in(dst), whole(algorithms[i]));
        doca_task_free(as_task());
        task = nullptr;
    }
}

TEST_P(ShaPieces, of_two_messages_do_not_mix)
{
    const BufHandle first = source(text.substr(0, 384));
    const BufHandle last = source(text.substr(384));
    const BufHandle dst = room(32);
    const BufHandle other_dst = room(32);
    alloc(DOCA_SHA_ALGORITHM_SHA256, first, dst);
    doca_sha_task_partial_hash *other = nullptr;
    must(doca_sha_task_partial_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, first, other_dst, {.u64 = 9}, &other));
    EXPECT_EQ(run(as_task()), DOCA_SUCCESS);
    EXPECT_EQ(run(doca_sha_task_partial_hash_as_task(other)), DOCA_SUCCESS);
    EXPECT_EQ(run(doca_sha_task_partial_hash_as_task(other)),
              DOCA_SUCCESS); // its message has the piece twice
    for (doca_sha_task_partial_hash *each : {task, other}) {
        must(doca_sha_task_partial_hash_set_src(each, last));
        must(doca_sha_task_partial_hash_set_is_final_buf(each));
        EXPECT_EQ(run(doca_sha_task_partial_hash_as_task(each)), DOCA_SUCCESS);
    }
    EXPECT_EQ(digest_in(dst), whole(DOCA_SHA_ALGORITHM_SHA256));
    EXPECT_NE(digest_in(other_dst), digest_in(dst));
    doca_task_free(doca_sha_task_partial_hash_as_task(other));
}

TEST_P(ShaPieces, but_the_last_are_multiples_of_the_block)
{
    const BufHandle odd = source("odd");
    const BufHandle first = source(text.substr(0, 384));
    const BufHandle last = source(text.substr(384));
    const BufHandle dst = room(64);
    alloc(DOCA_SHA_ALGORITHM_SHA512, first, dst);
    EXPECT_EQ(run(as_task()), DOCA_SUCCESS);
    must(doca_sha_task_partial_hash_set_src(task, odd));
    EXPECT_EQ(doca_task_try_submit(as_task()), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(run(as_task()), DOCA_ERROR_INVALID_VALUE);
    must(doca_sha_task_partial_hash_set_src(task, last)); // the message goes on where it was
    must(doca_sha_task_partial_hash_set_is_final_buf(task));
    EXPECT_EQ(run(as_task()), DOCA_SUCCESS);
    EXPECT_EQ(digest_in(dst), whole(DOCA_SHA_ALGORITHM_SHA512));
}

TEST_P(ShaPieces, keep_the_algorithm_of_their_message)
{
    const BufHandle first = source(text.substr(0, 384));
    const BufHandle dst = room(64);
    alloc(DOCA_SHA_ALGORITHM_SHA1, first, dst);
    EXPECT_EQ(doca_sha_task_partial_hash_set_algorithm(task, DOCA_SHA_ALGORITHM_SHA512), DOCA_SUCCESS);
    EXPECT_EQ(run(as_task()), DOCA_SUCCESS);
    EXPECT_EQ(doca_sha_task_partial_hash_set_algorithm(task, DOCA_SHA_ALGORITHM_SHA1), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sha_task_partial_hash_get_algorithm(task), DOCA_SHA_ALGORITHM_SHA512);
    EXPECT_EQ(doca_sha_task_partial_hash_reset(task), DOCA_SUCCESS);
    EXPECT_EQ(doca_sha_task_partial_hash_set_algorithm(task, DOCA_SHA_ALGORITHM_SHA1), DOCA_SUCCESS);
}

TEST_P(ShaPieces, that_are_submitted_are_not_changed)
{
    const BufHandle first = source(text.substr(0, 384));
    const BufHandle dst = room(64);
    alloc(DOCA_SHA_ALGORITHM_SHA1, first, dst);
    ASSERT_EQ(doca_task_submit(as_task()), DOCA_SUCCESS);
    EXPECT_EQ(doca_sha_task_partial_hash_set_is_final_buf(task), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sha_task_partial_hash_reset(task), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_sha_task_partial_hash_set_algorithm(task, DOCA_SHA_ALGORITHM_SHA256), DOCA_ERROR_BAD_STATE);
    while (num_ended == 0)
        ASSERT_EQ(doca_pe_progress(pe), 1);
}

} // namespace
} // namespace doca_test
