// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// How much inline data a queue pair gets, from a device that refuses some sizes. The device is this test's own:
// a context of libibverbs with one operation.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "../../src/core/device/verbs/reliable_connection.hpp"

using namespace opendoca::verbs;

namespace {

int num_completion_queues = 0;

} // namespace

// In the place of libibverbs', which keeps these operations of a context to itself.
extern "C" ibv_cq *ibv_create_cq(ibv_context *, int, void *, ibv_comp_channel *, int)
{
    static ibv_cq completions;
    ++num_completion_queues;
    return &completions;
}
extern "C" int ibv_destroy_cq(ibv_cq *)
{
    --num_completion_queues;
    return 0;
}
extern "C" int ibv_destroy_qp(ibv_qp *)
{
    return 0;
}
extern "C" ibv_qp *ibv_create_qp(ibv_pd *pd, ibv_qp_init_attr *wanted); // below

namespace {

/// Creates queue pairs as libmlx5 does: it writes to the sizes even where it then refuses them.
class VerbsQueuePairSizes : public testing::Test {
protected:
    VerbsQueuePairSizes()
    {
        device_.sz = sizeof(device_);
        device_.create_qp_ex = &create;
        device_.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
        tried.clear();
        most_sends = 1U << 20;
    }

    /// Of 32 sends, with as much inline data as possible.
    [[nodiscard]] bool is_created() noexcept
    {
        attributes = {};
        attributes.cap.max_send_wr = 32;
        attributes.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        return create_with_inline(device_.context, attributes).release() != nullptr;
    }

    ibv_qp_init_attr_ex attributes{}; ///< as is_created() has left them
    static inline std::vector<ibv_qp_cap> tried;
    static inline std::int64_t most_inline; ///< that the device can do; -1: no queue pair of this size at all
    static inline std::uint32_t most_sends;
    static inline int error;

    [[nodiscard]] ibv_context &context() noexcept { return device_.context; }
    /// As a driver without extended calls has it, all of whose queue pairs are for classic ones.
    void take_extended_calls_away() noexcept { device_.create_qp_ex = nullptr; }

public:
    static ibv_qp *create(ibv_qp_cap &cap)
    {
        static ibv_qp queue_pair;
        tried.push_back(cap);
        const bool is_possible = cap.max_inline_data <= most_inline && cap.max_send_wr <= most_sends;
        cap.max_inline_data = cap.max_inline_data / 64 * 64 + 60; // what fills a send's entry
        cap.max_send_wr *= 2;
        errno = tried.size() < 200 ? error : ENODEV; // which ends what would not end
        return is_possible ? &queue_pair : nullptr;
    }

private:
    static ibv_qp *create(ibv_context *, ibv_qp_init_attr_ex *wanted) { return create(wanted->cap); }

    verbs_context device_{};
};

TEST_F(VerbsQueuePairSizes, WhatIsTooLargeIsTriedAFewTimes)
{
    most_inline = -1;
    for (const int reason : {EINVAL, ENOMEM}) {
        error = reason;
        tried.clear();
        EXPECT_FALSE(is_created());
        EXPECT_EQ(errno, reason);
        EXPECT_LT(tried.size(), 10U);
        ASSERT_FALSE(tried.empty());
        EXPECT_EQ(tried.back().max_inline_data, 0U) << "the smallest that there is";
        for (const ibv_qp_cap &cap : tried)
            EXPECT_EQ(cap.max_send_wr, 32U);
    }
}

TEST_F(VerbsQueuePairSizes, InlineDataIsAsLargeAsTheDeviceAllows)
{
    error = EINVAL;
    for (const std::uint32_t most : {0U, 40U, 100U, 1024U}) {
        most_inline = most;
        ASSERT_TRUE(is_created()) << most;
        EXPECT_EQ(attributes.cap.max_send_wr, 64U) << "what the device has made of 32";
        EXPECT_GE(attributes.cap.max_inline_data, tried.back().max_inline_data) << most;
        EXPECT_LE(tried.back().max_inline_data, most);
        EXPECT_GE(tried.back().max_inline_data, std::min(most / 2, 128U)) << most;
    }
}

TEST_F(VerbsQueuePairSizes, TheLargestQueuesAreFoundByTrying)
{
    error = EINVAL;
    most_inline = 1024;
    ibv_pd pd{};
    pd.context = &context();
    for (const std::uint32_t most : {1U, 4096U, 32768U}) {
        most_sends = most;
        tried.clear();
        EXPECT_EQ(largest_queues(pd, {}, 32768), most);
        EXPECT_EQ(tried.back().max_send_wr, most);
        EXPECT_EQ(tried.back().max_recv_wr, most);
    }
    EXPECT_EQ(largest_queues(pd, {}, 1000), 512U) << "a power of two, and not more than was asked for";
    EXPECT_EQ(num_completion_queues, 0);
    most_sends = 0;
    tried.clear();
    EXPECT_EQ(largest_queues(pd, {}, 32768), 0U);
    EXPECT_LT(tried.size(), 200U);
}

TEST_F(VerbsQueuePairSizes, WithoutExtendedCallsItIsOneForClassicCalls)
{
    most_inline = 70;
    error = EINVAL;
    ASSERT_TRUE(is_created());
    EXPECT_NE(attributes.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, 0U);
    take_extended_calls_away();
    ASSERT_TRUE(is_created());
    EXPECT_EQ(attributes.comp_mask, unsigned{IBV_QP_INIT_ATTR_PD});
    EXPECT_EQ(tried.back().max_inline_data, 64U);
    most_inline = -1;
    EXPECT_FALSE(is_created());
}

TEST_F(VerbsQueuePairSizes, OtherReasonsAreNotTriedAgain)
{
    most_inline = -1;
    error = ENODEV;
    EXPECT_FALSE(is_created());
    EXPECT_EQ(tried.size(), 1U);
}

} // namespace

extern "C" ibv_qp *ibv_create_qp(ibv_pd *, ibv_qp_init_attr *wanted)
{
    return VerbsQueuePairSizes::create(wanted->cap);
}
