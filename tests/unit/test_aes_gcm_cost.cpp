// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// From the allocation of AES-GCM tasks to their callbacks nothing is allocated or locked: neither for short and long
// texts, lists, IVs of changing lengths and both kinds of tags, nor for a wrong tag.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../conformance/support/sanitizers.hpp"
#include "../conformance/v3/aes_gcm_tasks.hpp"
#include "cost_counters.hpp"

namespace doca_test {
namespace {

class AesGcmCost : public AesGcmTest {};

TEST_P(AesGcmCost, TasksAllocateNothing)
{
    if (is_sanitized)
        GTEST_SKIP() << "sanitizers have an allocator of their own";
    const GcmMessage message{some_bytes(32, 1), some_bytes(12, 2), some_bytes(20, 3), some_bytes(400000, 4), 16};
    const Bytes sealed = sealed_by_openssl(message);
    const GcmKeyHandle key = context.key(message.key);
    const std::vector<std::size_t> ends = {1, 19, 1000};
    const BufHandle plain = list(message.plain(), ends, false), there = list(sealed, ends, true);
    const BufHandle good = source(sealed), wrong = source(sealed_by_openssl({message.key, {}, {}, Bytes(100), 16}));
    const BufHandle back = room(sealed.size()), short_plain = source(Bytes(500)), short_there = room(600);
    context.succeeded.reserve(10000);
    context.failed.reserve(10000);
    context.frees_tasks = true;
    const auto run = [&] {
        context.succeeded.clear();
        context.failed.clear();
        for (std::uint32_t round = 0; round != 20; ++round) {
            for (doca_buf *buf = there; buf != nullptr;) {
                (void)doca_buf_reset_data_len(buf);
                (void)doca_buf_get_next_in_list(buf, &buf);
            }
            (void)doca_buf_reset_data_len(back);
            (void)doca_buf_reset_data_len(short_there);
            doca_aes_gcm_task_encrypt *encrypt[2] = {};
            doca_aes_gcm_task_decrypt *decrypt[2] = {};
            const std::uint8_t *const iv = message.iv.data();
            if (doca_aes_gcm_task_encrypt_alloc_init(context.get(), plain, there, key, iv, round % 13, 16, 20, {},
                                                     &encrypt[0]) != DOCA_SUCCESS ||
                doca_aes_gcm_task_encrypt_alloc_init(context.get(), short_plain, short_there, key, iv, 12, 12, 0, {},
                                                     &encrypt[1]) != DOCA_SUCCESS ||
                doca_aes_gcm_task_decrypt_alloc_init(context.get(), good, back, key, iv, 12, 16, 20, {}, &decrypt[0]) !=
                    DOCA_SUCCESS ||
                doca_aes_gcm_task_decrypt_alloc_init(context.get(), wrong, back, key, iv, 12, 16, 0, {}, &decrypt[1]) !=
                    DOCA_SUCCESS)
                return false;
            if (doca_task_submit(doca_aes_gcm_task_encrypt_as_task(encrypt[1])) != DOCA_SUCCESS ||
                doca_task_submit(doca_aes_gcm_task_decrypt_as_task(decrypt[1])) != DOCA_SUCCESS ||
                doca_task_submit(doca_aes_gcm_task_encrypt_as_task(encrypt[0])) != DOCA_SUCCESS ||
                doca_task_submit(doca_aes_gcm_task_decrypt_as_task(decrypt[0])) != DOCA_SUCCESS)
                return false;
            while (context.num_ended() != 4U * (round + 1))
                (void)doca_pe_progress(pe);
        }
        return true;
    };
    ASSERT_TRUE(run());
    begin_counting();
    const bool has_run = run();
    const Costs costs = end_counting();
    EXPECT_TRUE(has_run);
    EXPECT_EQ(context.failed.size(), 20u);
    EXPECT_EQ(costs.allocations, 0u);
    EXPECT_EQ(costs.locks, 0u);
}

/// A long one, for which the others wait.
TEST_P(AesGcmCost, SixtyFourTasksInFlightAllocateNothing)
{
    if (is_sanitized)
        GTEST_SKIP() << "sanitizers have an allocator of their own";
    constexpr std::uint32_t in_flight = 64;
    constexpr std::size_t long_text = 600000, short_text = 500, tag = 16;
    GcmContext many(dev, pe, in_flight);
    must(doca_ctx_start(many.ctx()));
    {
        const GcmKeyHandle key = many.key(some_bytes(16, 1));
        const Bytes iv = some_bytes(12, 2);
        const BufHandle long_source = source(some_bytes(long_text, 3)),
                        short_source = source(some_bytes(short_text, 4));
        std::vector<BufHandle> rooms;
        for (std::uint32_t i = 0; i != in_flight; ++i)
            rooms.push_back(room((i == 0 ? long_text : short_text) + tag));
        many.succeeded.reserve(in_flight);
        many.frees_tasks = true;
        begin_counting();
        bool is_submitted = true;
        for (std::uint32_t i = 0; i != in_flight; ++i) {
            doca_aes_gcm_task_encrypt *task = nullptr;
            is_submitted =
                is_submitted &&
                doca_aes_gcm_task_encrypt_alloc_init(many.get(), i == 0 ? long_source : short_source, rooms[i], key,
                                                     iv.data(), 12, tag, 0, {}, &task) == DOCA_SUCCESS &&
                doca_task_submit(doca_aes_gcm_task_encrypt_as_task(task)) == DOCA_SUCCESS;
        }
        const bool have_waited = many.num_ended() == 0;
        while (many.num_ended() != in_flight)
            (void)doca_pe_progress(pe);
        const Costs costs = end_counting();
        EXPECT_TRUE(is_submitted && have_waited);
        EXPECT_EQ(many.succeeded.size(), in_flight);
        EXPECT_EQ(costs.allocations, 0u);
        EXPECT_EQ(costs.locks, 0u);
    }
    many.stop(pe);
}

INSTANTIATE_FOR_ENCRYPTING_DEVICES(AesGcmCost);

} // namespace
} // namespace doca_test
