// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A device that dies. The card does not come back from it, so this is a program, and a card, of its own.
#include <cerrno>

#include <gtest/gtest.h>

#include "verbs.hpp"

namespace card_test {
namespace {

using namespace std::chrono_literals;

TEST(FatalEvent, EndsTheDeviceAndLeavesTheOthers)
{
    Device first("mlx5_0"), second("mlx5_1");
    Buffer local(first, 64), remote(second, 64);
    {
        Pair pair(first, second, {.timeout = 8, .retries = 1});
        ASSERT_EQ(ask_card("fatal host 0"), "ok");
        EXPECT_EQ(next_event(*first.context), IBV_EVENT_DEVICE_FATAL);
        pair.first.post(IBV_WR_RDMA_WRITE, *local.mr, remote.address(), remote.mr->rkey, 64);
        EXPECT_FALSE(has_completion_within(*first.cq, 50ms)) << "a dead device completes nothing";
        errno = 0;
        EXPECT_EQ(ibv_alloc_pd(first.context.get()), nullptr);
        EXPECT_EQ(errno, EIO);
        EXPECT_EQ(pair.first.set_state(IBV_QPS_ERR), EIO);
        pair.second.post(IBV_WR_RDMA_WRITE, *remote.mr, local.address(), local.mr->rkey, 64);
        EXPECT_EQ(next_completion(*second.cq).status, IBV_WC_RETRY_EXC_ERR);
    }
    EXPECT_EQ(ibv_dereg_mr(local.mr.release()), 0) << "what a program has can still be freed";
    Pair others(second, second);
    others.first.post(IBV_WR_RDMA_WRITE, *remote.mr, remote.address(), remote.mr->rkey, 32);
    EXPECT_EQ(next_completion(*second.cq).status, IBV_WC_SUCCESS);
}

} // namespace
} // namespace card_test
