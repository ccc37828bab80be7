// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Processes that die. The card is clean afterwards, whatever they were at, and for those that they were
// connected to they are a peer that does not answer.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>

#include "keys.hpp"
#include "peer.hpp"

namespace card_test {
namespace {

using namespace std::chrono_literals;

enum Stage : std::uint64_t {
    opened,
    has_domain,
    has_queue,
    has_memory,
    has_pair,
    connected,
    in_traffic,
    shares_key,
    stages
};

constexpr AccessKey secret = {'s'};

/// Goes as far as the stage, says so, and waits to be killed.
int be_victim()
{
    const Message order = receive_from_test();
    const auto stage = order.word[0];
    Owned<ibv_context> context = open_device("mlx5_1");
    std::unique_ptr<Device> device;
    std::unique_ptr<Buffer> buffer;
    std::unique_ptr<Connection> connection;
    Owned<ibv_pd> pd;
    DevxKey key;
    if (stage >= has_domain)
        pd.reset(ibv_alloc_pd(context.get()));
    if (stage >= has_queue)
        device = std::make_unique<Device>("mlx5_1");
    if (stage >= has_memory)
        buffer = std::make_unique<Buffer>(*device, 1 << 20);
    if (stage >= has_pair)
        connection = std::make_unique<Connection>(*device);
    Message answer{};
    if (stage >= connected) {
        Address peer{static_cast<std::uint32_t>(order.word[1]), {}, 0};
        std::memcpy(peer.gid.raw, order.bytes, sizeof(peer.gid.raw));
        if (connection->connect_to(peer) != 0)
            return 1;
        const Address own = connection->address();
        answer.word[0] = own.number;
        std::memcpy(answer.bytes, own.gid.raw, sizeof(own.gid.raw));
        answer.word[1] = buffer->address();
        answer.word[2] = buffer->mr->rkey;
    }
    if (stage >= shares_key) {
        key = make_direct_key(*device->context, *device->pd, buffer->bytes.data(), buffer->bytes.size());
        if (key.object == nullptr || allow_access(*device->context, key.index, secret) != 0)
            return 1;
    }
    send_to_test(answer);
    for (std::uint32_t remote = 0; stage == in_traffic;) {
        if (remote == 0) { // the peer's memory
            const Message memory = receive_from_test();
            answer.word[1] = memory.word[0];
            remote = static_cast<std::uint32_t>(memory.word[1]);
        }
        connection->post(IBV_WR_RDMA_WRITE, *buffer->mr, answer.word[1], remote, 1 << 20);
        if (next_completion(*device->cq).status != IBV_WC_SUCCESS)
            return 1;
    }
    receive_from_test();
    return 0;
}

class Death : public testing::TestWithParam<std::uint64_t> {
protected:
    Device device{"mlx5_0"};
    Buffer local{device, 1 << 20, all_rights, 'l'};

    Message start(Peer &victim, Connection &connection, std::uint64_t stage)
    {
        const Address own = connection.address();
        Message order{{stage, own.number, 0, 0, 0, 0}, {}};
        std::memcpy(order.bytes, own.gid.raw, sizeof(own.gid.raw));
        victim.send(order);
        return victim.receive();
    }
    static Address address_in(const Message &message)
    {
        Address address{static_cast<std::uint32_t>(message.word[0]), {}, 0};
        std::memcpy(address.gid.raw, message.bytes, sizeof(address.gid.raw));
        return address;
    }
};

TEST_P(Death, LeavesTheCardClean)
{
    Connection connection(device);
    const int objects = card_count("objects"), keys = card_count("keys"), files = card_count("files");
    Peer victim("host", "victim");
    start(victim, connection, GetParam());
    EXPECT_GT(card_count("files"), files);
    victim.kill();
    EXPECT_TRUE(card_count_becomes("files", files));
    EXPECT_TRUE(card_count_becomes("objects", objects)) << ask_card("status");
    EXPECT_TRUE(card_count_becomes("keys", keys));
}

INSTANTIATE_TEST_SUITE_P(Card, Death, testing::Range<std::uint64_t>(opened, stages));

TEST_F(Death, OfAPeerIsNoAnswerAndNotAnError)
{
    Connection connection(device);
    Peer victim("host", "victim");
    const Message its = start(victim, connection, connected);
    ASSERT_EQ(connection.connect_to(address_in(its), {.timeout = 10, .retries = 2}), 0);
    connection.post(IBV_WR_RDMA_WRITE, *local.mr, its.word[1], static_cast<std::uint32_t>(its.word[2]), 4096);
    ASSERT_EQ(next_completion(*device.cq).status, IBV_WC_SUCCESS);
    victim.kill();
    connection.post(IBV_WR_RDMA_WRITE, *local.mr, its.word[1], static_cast<std::uint32_t>(its.word[2]), 4096);
    EXPECT_EQ(next_completion(*device.cq).status, IBV_WC_RETRY_EXC_ERR);
}

TEST_F(Death, OfThePeerInTheMiddleOfATransferIsNoAnswerEither)
{
    for (int i = 0; i < 10; ++i) {
        Connection connection(device);
        Peer victim("host", "victim");
        const Message its = start(victim, connection, connected);
        ASSERT_EQ(connection.connect_to(address_in(its), {.timeout = 8, .retries = 2}), 0);
        std::thread killer([&] {
            std::this_thread::sleep_for(std::chrono::microseconds(i * 700)); // any time is a good one
            victim.kill();
        });
        ibv_wc_status status = IBV_WC_SUCCESS;
        while (status == IBV_WC_SUCCESS) {
            connection.post(IBV_WR_RDMA_WRITE, *local.mr, its.word[1], static_cast<std::uint32_t>(its.word[2]),
                            1 << 20);
            status = next_completion(*device.cq).status;
        }
        killer.join();
        EXPECT_EQ(status, IBV_WC_RETRY_EXC_ERR) << ibv_wc_status_str(status);
    }
}

TEST_F(Death, DuringItsOwnTrafficLeavesOthersUnaffected)
{
    Connection{device}; // libmlx5 keeps its doorbell page for the next
    const int objects = card_count("objects");
    for (int i = 0; i < 5; ++i) {
        Connection connection(device);
        Peer victim("host", "victim");
        const Message its = start(victim, connection, in_traffic);
        ASSERT_EQ(connection.connect_to(address_in(its)), 0);
        victim.send({{local.address(), local.mr->rkey, 0, 0, 0, 0}, {}});
        const volatile std::uint8_t *last = &local.bytes.back(); // the card writes it
        const auto sent = [&] { return *last == 0; };            // the victim's memory is all 0
        for (const auto end = std::chrono::steady_clock::now() + 60s;
             !sent() && std::chrono::steady_clock::now() < end;)
            std::this_thread::yield();
        EXPECT_TRUE(sent());
        victim.kill();
        local.bytes.back() = 'l';
    }
    EXPECT_TRUE(card_count_becomes("objects", objects));
    Pair pair(device, device);
    pair.first.post(IBV_WR_RDMA_WRITE, *local.mr, local.address(), local.mr->rkey, 64);
    EXPECT_EQ(next_completion(*device.cq).status, IBV_WC_SUCCESS) << "the card goes on";
}

} // namespace
} // namespace card_test

int main(int argc, char **argv)
{
    if (card_test::role(argc, argv) == "victim")
        return card_test::be_victim();
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
