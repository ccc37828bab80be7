// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What goes wrong on request, and what no request is needed for: peers that do not answer, or are not ready.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <thread>

#include <poll.h>

#include <gtest/gtest.h>

#include "verbs.hpp"

namespace card_test {
namespace {

using namespace std::chrono_literals;

class Faults : public testing::Test {
protected:
    ~Faults() override { EXPECT_EQ(ask_card("clear"), "ok"); }
    Device first{"mlx5_0"}, second{"mlx5_1"};
    Buffer local{first, 4096, all_rights, 'l'}, remote{second, 4096};

    void post_write(Pair &pair)
    {
        pair.first.post(IBV_WR_RDMA_WRITE, *local.mr, remote.address(), remote.mr->rkey, 64);
    }
};

TEST_F(Faults, ACommandIsRefusedAsOftenAsWanted)
{
    ASSERT_EQ(ask_card("refuse alloc_pd 12 skip 1 count 2"), "ok");
    const Owned<ibv_pd> passes(ibv_alloc_pd(first.context.get()));
    EXPECT_NE(passes, nullptr);
    for (int i = 0; i < 2; ++i) {
        errno = 0;
        EXPECT_EQ(ibv_alloc_pd(first.context.get()), nullptr);
        EXPECT_EQ(errno, ENOMEM);
    }
    EXPECT_NE(Owned<ibv_pd>(ibv_alloc_pd(first.context.get())), nullptr);
}

TEST_F(Faults, APrmCommandIsRefusedWithItsStatus)
{
    ASSERT_EQ(ask_card("refuse QUERY_HCA_CAP 5"), "ok");
    std::uint8_t in[16] = {}, out[4112] = {};
    set_bits(in, 0, 16, 0x100);
    EXPECT_NE(mlx5dv_devx_general_cmd(first.context.get(), in, sizeof(in), out, sizeof(out)), 0);
    EXPECT_EQ(errno, EREMOTEIO);
    EXPECT_EQ(out[0], 5) << "the status";
    EXPECT_NE(get_bits(out, 32, 32), 0u) << "the syndrome";
}

TEST_F(Faults, WhatIsNotUnderstoodIsSaid)
{
    for (const char *line : {"", "refuse", "refuse nothing 5", "refuse reg_mr 0", "refuse reg_mr 5 skip",
                             "refuse reg_mr 5 count 0", "delay-completion", "delay-completion x", "port-down",
                             "port-down host 9", "port-down nowhere 0", "lose-completion twice", "explode"})
        EXPECT_TRUE(ask_card(*line == '\0' ? " " : line).starts_with("error: ")) << line;
}

TEST_F(Faults, ALostCompletionNeverComes)
{
    Pair pair(first, second);
    ASSERT_EQ(ask_card("lose-completion"), "ok");
    post_write(pair);
    post_write(pair);
    const ibv_wc completion = next_completion(*first.cq);
    EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
    EXPECT_FALSE(has_completion_within(*first.cq, 50ms)) << "two requests, one completion";
}

TEST_F(Faults, ALateCompletionHoldsBackThoseBehindIt)
{
    Pair pair(first, second);
    ASSERT_EQ(ask_card("delay-completion 200"), "ok");
    const auto start = std::chrono::steady_clock::now();
    post_write(pair);
    post_write(pair);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
    EXPECT_GE(std::chrono::steady_clock::now() - start, 190ms);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(remote.bytes[0], 'l');
}

TEST_F(Faults, AQueueThatHoldsCompletionsBackCanBeDestroyed)
{
    {
        Pair pair(first, second);
        ASSERT_EQ(ask_card("delay-completion 60000"), "ok");
        post_write(pair);
        EXPECT_FALSE(has_completion_within(*first.cq, 20ms));
    }
    first.cq.reset();
    EXPECT_TRUE(ask_card("status").starts_with("ok"));
}

TEST_F(Faults, AQueuePairThatWasResetHasNoLateCompletions)
{
    Pair pair(first, second);
    ASSERT_EQ(ask_card("delay-completion 100"), "ok");
    post_write(pair);
    EXPECT_FALSE(has_completion_within(*first.cq, 20ms));
    ASSERT_EQ(pair.first.set_state(IBV_QPS_RESET), 0);
    EXPECT_FALSE(has_completion_within(*first.cq, 200ms));
}

TEST_F(Faults, QueuePairsBreakOnRequest)
{
    Pair pair(first, second);
    pair.first.post_receive(*local.mr, 64);
    ASSERT_EQ(ask_card("qp-fatal host 0"), "ok");
    EXPECT_EQ(next_event(*first.context), IBV_EVENT_QP_FATAL);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(pair.first.state(), IBV_QPS_ERR);
    EXPECT_EQ(pair.second.state(), IBV_QPS_RTS);
}

TEST_F(Faults, ALostMessageIsSentAgain)
{
    Pair pair(first, second, {.timeout = 13, .retries = 3}); // 34 ms: the card may have to wait for a processor
    ASSERT_EQ(ask_card("lose-message count 2"), "ok");
    post_write(pair);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(remote.bytes[0], 'l');
}

// As on a machine with too much to do.
TEST_F(Faults, RetriesAreNotSpentWhileTheCardStandsStill)
{
    Pair pair(first, second, {.timeout = 15, .retries = 2}); // 134 ms, three times
    ASSERT_EQ(ask_card("lose-message count 2"), "ok");
    const pid_t card = card_count("pid");
    ASSERT_GT(card, 1);
    post_write(pair);
    ASSERT_EQ(kill(card, SIGSTOP), 0);
    std::this_thread::sleep_for(500ms);
    ASSERT_EQ(kill(card, SIGCONT), 0);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
}

TEST_F(Faults, AMessageThatIsLostTooOftenSpendsTheRetries)
{
    Pair pair(first, second, {.timeout = 8, .retries = 2});
    ASSERT_EQ(ask_card("lose-message count 100"), "ok");
    post_write(pair);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_RETRY_EXC_ERR);
    EXPECT_EQ(remote.bytes[0], 0);
}

TEST_F(Faults, APeerThatIsNotThereSpendsTheRetriesNotLess)
{
    Connection alone(first);
    Address nobody = alone.address();
    nobody.number = 0xfffff0;
    ASSERT_EQ(alone.connect_to(nobody, {.timeout = 13, .retries = 2}), 0); // 34 ms, three times
    const auto start = std::chrono::steady_clock::now();
    alone.post(IBV_WR_RDMA_WRITE, *local.mr, remote.address(), remote.mr->rkey, 64);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_RETRY_EXC_ERR);
    EXPECT_GE(std::chrono::steady_clock::now() - start, 100ms);
    EXPECT_EQ(alone.state(), IBV_QPS_ERR);
}

TEST_F(Faults, APeerThatComesLaterAnswers)
{
    Connection early(first), late(second);
    ASSERT_EQ(early.connect_to(late.address(), {.timeout = 0}), 0); // waits for ever
    early.post(IBV_WR_RDMA_WRITE, *local.mr, remote.address(), remote.mr->rkey, 64);
    EXPECT_FALSE(has_completion_within(*first.cq, 20ms));
    ASSERT_EQ(late.connect_to(early.address()), 0);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
}

TEST_F(Faults, APeerThatComesLaterIsGivenAllOfALongTransfer)
{
    constexpr std::uint32_t bytes = 9 << 20; // more than the card copies before it looks at other requests
    Buffer from(first, bytes, all_rights, 'l'), to(second, bytes);
    Connection early(first), late(second);
    ASSERT_EQ(early.connect_to(late.address(), {.timeout = 0}), 0);
    early.post(IBV_WR_RDMA_WRITE, *from.mr, to.address(), to.mr->rkey, bytes);
    EXPECT_FALSE(has_completion_within(*first.cq, 20ms)); // there is no doorbell after this
    ASSERT_EQ(late.connect_to(early.address()), 0);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(to.bytes, from.bytes);
}

TEST_F(Faults, AVanishedFunctionAnswersNoMoreUntilItAppears)
{
    ASSERT_EQ(ask_card("vanish host 1"), "ok");
    {
        Pair pair(first, second, {.timeout = 8, .retries = 1});
        post_write(pair);
        EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_RETRY_EXC_ERR);
        EXPECT_EQ(next_event(*second.context, 20ms), -1) << "nobody is told";
    }
    ASSERT_EQ(ask_card("appear host 1"), "ok");
    Pair pair(first, second);
    post_write(pair);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
}

TEST_F(Faults, WithoutAReceiveRequestTheSenderGivesUp)
{
    Pair pair(first, second, {.rnr_retries = 2});
    pair.first.post(IBV_WR_SEND, *local.mr, 0, 0, 64);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_RNR_RETRY_EXC_ERR);
}

TEST_F(Faults, AReceiveRequestThatComesLaterIsTaken)
{
    Pair pair(first, second, {.rnr_retries = 7}); // for ever
    pair.first.post(IBV_WR_SEND, *local.mr, 0, 0, 64);
    EXPECT_FALSE(has_completion_within(*first.cq, 20ms));
    pair.second.post_receive(*remote.mr, 64);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
    const ibv_wc received = next_completion(*second.cq);
    EXPECT_EQ(received.status, IBV_WC_SUCCESS);
    EXPECT_EQ(received.byte_len, 64u);
    EXPECT_EQ(remote.bytes[63], 'l');
}

TEST_F(Faults, APortGoesDownAndComesUp)
{
    ibv_port_attr port{};
    ASSERT_EQ(ask_card("port-down host 0"), "ok");
    EXPECT_EQ(next_event(*first.context), IBV_EVENT_PORT_ERR);
    ASSERT_EQ(ibv_query_port(first.context.get(), 1, &port), 0);
    EXPECT_EQ(port.state, IBV_PORT_DOWN);
    {
        Pair pair(first, second, {.timeout = 8, .retries = 1});
        post_write(pair);
        EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_RETRY_EXC_ERR);
    }
    ASSERT_EQ(ask_card("port-up host 0"), "ok");
    EXPECT_EQ(next_event(*first.context), IBV_EVENT_PORT_ACTIVE);
    Pair pair(first, second);
    post_write(pair);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
}

TEST_F(Faults, AnArmedQueueNotifiesOnce)
{
    Pair pair(first, second);
    ASSERT_EQ(ibv_req_notify_cq(first.cq.get(), 0), 0);
    post_write(pair);
    ibv_cq *told = nullptr;
    void *context = nullptr;
    ASSERT_EQ(ibv_get_cq_event(first.channel.get(), &told, &context), 0);
    EXPECT_EQ(told, first.cq.get());
    ibv_ack_cq_events(told, 1);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
    post_write(pair); // not armed
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
}

bool has_event(const Device &device)
{
    pollfd state{device.channel->fd, POLLIN, 0};
    return poll(&state, 1, 0) == 1;
}

void take_event(const Device &device)
{
    ibv_cq *told = nullptr;
    void *context = nullptr;
    ASSERT_EQ(ibv_get_cq_event(device.channel.get(), &told, &context), 0);
    ibv_ack_cq_events(told, 1);
}

TEST_F(Faults, TheEventOfASentMessageIsHeldBackForAMoment)
{
    if (std::thread::hardware_concurrency() == 1)
        GTEST_SKIP() << "the card lets nobody else run in that moment";
    Pair pair(first, second);
    const auto send = [&] {
        ASSERT_EQ(ibv_req_notify_cq(first.cq.get(), 0), 0);
        pair.second.post_receive(*remote.mr, 64);
        pair.first.post(IBV_WR_SEND, *local.mr, 0, 0, 64);
        ASSERT_EQ(next_completion(*second.cq).status, IBV_WC_SUCCESS);
    };
    // Who takes the completion before that, and arms the queue for the next, gets none. A processor is needed in time.
    bool was_held_back = false;
    for (const auto end = std::chrono::steady_clock::now() + 240s;
         !was_held_back && std::chrono::steady_clock::now() < end;) {
        send();
        ASSERT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
        ASSERT_EQ(ibv_req_notify_cq(first.cq.get(), 0), 0);
        ask_card("status"); // it has done with what it was at
        was_held_back = !has_event(first);
        while (has_event(first))
            take_event(first);
    }
    EXPECT_TRUE(was_held_back);
    send();
    take_event(first); // it comes to who waits for it
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
}

} // namespace
} // namespace card_test
