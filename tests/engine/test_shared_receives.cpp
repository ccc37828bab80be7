// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Receives that connections share: several senders, one queue of receives.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "../../src/core/checks/transfer_check.hpp"
#include "../../src/core/device/queue_pair.hpp"
#include "../../src/core/objects/dev.hpp"
#include "../conformance/support/rdma_fixture.hpp"
#include "front_end.hpp"

using namespace doca_test;

namespace {

using opendoca::ConnectionState;
using opendoca::Opcode;
using opendoca::QueuePair;
using opendoca::ReceiveQueue;
using opendoca::Request;
using opendoca::TransferCheck;
using opendoca::TransferPlan;

constexpr std::uint32_t queue_size = 16;

class SharedReceives : public DeviceTest {
protected:
    /// A connection from a sender to the receiver.
    struct Connection {
        std::atomic<ConnectionState> sender_state{ConnectionState::initial};
        std::atomic<ConnectionState> receiver_state{ConnectionState::initial};
        std::unique_ptr<QueuePair> sender;
        std::unique_ptr<QueuePair> receiver;
    };

    void SetUp() override
    {
        const doca_error_t status =
            dev.get()->device().create_receive_queue(receiver.completions, queue_size, 2, receives);
        if (status == DOCA_ERROR_NOT_SUPPORTED)
            GTEST_SKIP() << "connections of this device do not share receives";
        ASSERT_EQ(status, DOCA_SUCCESS);
        for (Connection &connection : connections)
            connect(connection);
        fill(source, 3);
    }
    void TearDown() override
    {
        for (Connection &connection : connections)
            disconnect(connection);
    }
    void connect(Connection &connection)
    {
        must(create(connection.sender_state, nullptr, connection.sender));
        must(create(connection.receiver_state, receives.get(), connection.receiver));
        must(connection.sender->attach(sender.completions));
        must(connection.receiver->attach(receiver.completions));
        must(connection.sender->connect(connection.receiver->details()));
        must(connection.receiver->connect(connection.sender->details()));
    }
    static void disconnect(Connection &connection)
    {
        if (connection.sender != nullptr)
            connection.sender->detach();
        if (connection.receiver != nullptr)
            connection.receiver->detach();
    }
    [[nodiscard]] doca_error_t create(std::atomic<ConnectionState> &state, ReceiveQueue *shared,
                                      std::unique_ptr<QueuePair> &pair)
    {
        opendoca::QueuePairSettings settings{};
        settings.send_queue_size = queue_size;
        settings.recv_queue_size = queue_size;
        settings.recv_chain_length = 2;
        settings.permissions = DOCA_ACCESS_LOCAL_READ_WRITE;
        settings.mtu = dev.get()->function().can.rdma.active_mtu;
        settings.has_grh = true;
        settings.shared_receives = shared;
        return dev.get()->device().create_queue_pair(settings, state, pair);
    }
    [[nodiscard]] doca_error_t send(Connection &connection, Task &task, const doca_buf *src, std::uint32_t immediate)
    {
        Request request{};
        request.opcode = Opcode::send_with_immediate;
        request.immediate = immediate;
        request.local = const_cast<doca_buf *>(src);
        const doca_error_t status = check.check(request);
        return status == DOCA_SUCCESS ? connection.sender->post(task.tag(), request) : status;
    }
    [[nodiscard]] doca_error_t post(Task &task, doca_buf *dst)
    {
        TransferPlan plan{};
        const doca_error_t status = check.receive(dst, plan);
        return status == DOCA_SUCCESS ? receives->receive(task.tag(), dst, plan) : status;
    }
    void run_until(const std::function<bool()> &is_done)
    {
        while (!is_done()) {
            if (!sender.progress() && !receiver.progress())
                std::this_thread::yield();
        }
    }
    void progress_some()
    {
        for (int i = 0; i < 100; ++i) {
            (void)sender.progress();
            (void)receiver.progress();
        }
    }

    TaskEngine sender;
    TaskEngine receiver;
    TransferCheck check{dev.get()->device(), {1U << 30, 2, 2, false}};
    std::unique_ptr<ReceiveQueue> receives;
    std::array<Connection, 3> connections;
    std::vector<std::byte> source = std::vector<std::byte>(1 << 20);
    std::vector<std::byte> room = std::vector<std::byte>(4 << 20);
    LocalMap source_map{dev, source};
    LocalMap room_map{dev, room};
    Inventory inventory{64};
};

INSTANTIATE_FOR_DEVICES(SharedReceives, can_connect);

TEST_P(SharedReceives, go_to_whichever_connection_a_message_comes_by)
{
    // Each connection carries lengths of every kind: in a cell, in a slot, and placed by the sender.
    constexpr std::array<std::size_t, 4> lengths = {8, 1000, 8192, 1 << 20};
    for (const std::size_t length : lengths) {
        std::array<Task, 3> received, sent;
        std::vector<BufHandle> buffers;
        for (std::size_t i = 0; i < connections.size(); ++i) {
            buffers.push_back(inventory.empty(room_map, &room[i << 20], 1 << 20));
            ASSERT_EQ(post(received[i], buffers.back()), DOCA_SUCCESS);
        }
        std::vector<BufHandle> sources;
        for (std::size_t i = 0; i < connections.size(); ++i) {
            sources.push_back(inventory.full(source_map, source.data(), length - i));
            ASSERT_EQ(send(connections[i], sent[i], sources.back(), static_cast<std::uint32_t>(i)), DOCA_SUCCESS);
        }
        run_until([&] { return received[0].has_ended() && received[1].has_ended() && received[2].has_ended(); });
        run_until([&] { return sent[0].has_ended() && sent[1].has_ended() && sent[2].has_ended(); });
        std::size_t seen = 0;
        for (std::size_t i = 0; i < received.size(); ++i) {
            ASSERT_EQ(received[i].status(), DOCA_SUCCESS);
            const opendoca::Result &result = received[i].result();
            EXPECT_EQ(result.length, length - result.immediate) << "the length belongs to the connection";
            EXPECT_EQ(0, std::memcmp(&room[i << 20], source.data(), result.length));
            seen |= std::size_t{1} << result.immediate;
        }
        EXPECT_EQ(seen, 7u) << "one message of each connection";
    }
}

TEST_P(SharedReceives, messages_that_come_first_wait_in_order)
{
    constexpr std::uint32_t count = 8;
    std::array<Task, count> sent, received;
    std::vector<BufHandle> sources, buffers;
    for (std::uint32_t i = 0; i < count; ++i) {
        sources.push_back(inventory.full(source_map, source.data(), i % 2 == 0 ? 16 : 20000));
        ASSERT_EQ(send(connections[0], sent[i], sources.back(), i), DOCA_SUCCESS);
    }
    progress_some();
    for (std::uint32_t i = 0; i < count; ++i) {
        EXPECT_FALSE(received[i].has_ended());
        buffers.push_back(inventory.empty(room_map, &room[i * 32768], 32768));
        ASSERT_EQ(post(received[i], buffers.back()), DOCA_SUCCESS);
    }
    run_until([&] { return received[count - 1].has_ended() && sent[count - 1].has_ended(); });
    for (std::uint32_t i = 0; i < count; ++i) {
        EXPECT_EQ(received[i].status(), DOCA_SUCCESS);
        EXPECT_EQ(received[i].result().immediate, i);
        EXPECT_EQ(received[i].result().length, i % 2 == 0 ? 16u : 20000u);
    }
}

TEST_P(SharedReceives, are_given_one_by_one_to_many_connections_that_wait)
{
    if (!GetParam().is_soft())
        GTEST_SKIP() << "which of them gets a receive is the device's business";
    constexpr std::uint32_t count = 15, messages = 2; // more than the software device looks at directly
    std::array<Connection, count> many;
    for (Connection &connection : many)
        connect(connection);
    std::array<Task, count * messages> sent, received;
    const BufHandle src = inventory.full(source_map, source.data(), 16);
    for (std::uint32_t i = 0; i < sent.size(); ++i)
        ASSERT_EQ(send(many[i % count], sent[i], src, i), DOCA_SUCCESS);
    progress_some();
    // One that was about to get a receive goes, and so does one that still waits: another gets it.
    const auto leave = [&](Connection &connection) {
        disconnect(connection);
        connection.sender.reset();
        connection.receiver.reset();
    };
    std::array<std::uint32_t, count> next{};
    std::vector<BufHandle> buffers;
    const std::uint32_t expected = messages * (count - 2);
    for (std::uint32_t i = 0; i < expected; ++i) {
        buffers.push_back(inventory.empty(room_map, &room[i * 64], 64));
        ASSERT_EQ(post(received[i], buffers.back()), DOCA_SUCCESS);
        if (i == 0) {
            leave(many[0]);
            leave(many[7]);
        }
        for (int polls = 0; polls != 10 && !received[i].has_ended(); ++polls)
            (void)receiver.progress();
        ASSERT_TRUE(received[i].has_ended()) << "at once, and not when all connections have been looked at";
        ASSERT_EQ(received[i].status(), DOCA_SUCCESS);
        const std::uint32_t number = received[i].result().immediate;
        EXPECT_EQ(number / count, next[number % count]++) << "messages of a connection come in order";
    }
    for (std::uint32_t i = 0; i < count; ++i)
        EXPECT_EQ(next[i], i == 0 || i == 7 ? 0 : messages) << i;
    for (Connection &connection : many)
        disconnect(connection);
}

TEST_P(SharedReceives, stay_for_the_others_when_a_connection_ends)
{
    std::array<Task, 2> received;
    std::vector<BufHandle> buffers;
    for (std::size_t i = 0; i < received.size(); ++i) {
        buffers.push_back(inventory.empty(room_map, &room[i * 4096], 4096));
        ASSERT_EQ(post(received[i], buffers.back()), DOCA_SUCCESS);
    }
    connections[0].sender->flush();
    connections[0].sender->detach();
    connections[0].sender.reset();
    if (GetParam().is_soft()) // others do not tell an idle side that its peer has gone
        run_until([&] { return connections[0].receiver->state() == ConnectionState::failed; });
    EXPECT_FALSE(received[0].has_ended());
    Task sent;
    const BufHandle src = inventory.full(source_map, source.data(), 64);
    ASSERT_EQ(send(connections[1], sent, src, 5), DOCA_SUCCESS);
    run_until([&] { return received[0].has_ended(); });
    EXPECT_EQ(received[0].status(), DOCA_SUCCESS);
    EXPECT_EQ(received[0].result().immediate, 5u);
    for (Connection &connection : connections)
        connection.receiver->flush();
    receives->flush();
    receiver.run(received[1]);
    EXPECT_EQ(received[1].status(), DOCA_ERROR_SHUTDOWN);
}

TEST_P(SharedReceives, that_are_too_short_end_the_connection)
{
    Task received, sent;
    const BufHandle dst = inventory.empty(room_map, room.data(), 100);
    const BufHandle src = inventory.full(source_map, source.data(), 64 * 1024);
    ASSERT_EQ(post(received, dst), DOCA_SUCCESS);
    ASSERT_EQ(send(connections[2], sent, src, 0), DOCA_SUCCESS);
    run_until([&] { return received.has_ended() && sent.has_ended(); });
    EXPECT_NE(received.status(), DOCA_SUCCESS);
    EXPECT_NE(sent.status(), DOCA_SUCCESS);
    EXPECT_EQ(connections[2].receiver->state(), ConnectionState::failed);
}

TEST_P(SharedReceives, are_as_many_as_the_queue_holds)
{
    std::array<Task, queue_size + 1> received;
    std::vector<BufHandle> buffers;
    for (std::uint32_t i = 0; i < queue_size; ++i) {
        buffers.push_back(inventory.empty(room_map, &room[i * 64], 64));
        ASSERT_EQ(post(received[i], buffers.back()), DOCA_SUCCESS);
    }
    buffers.push_back(inventory.empty(room_map, &room[queue_size * 64], 64));
    EXPECT_EQ(post(received[queue_size], buffers.back()), DOCA_ERROR_NO_MEMORY);
    for (Connection &connection : connections)
        connection.receiver->flush();
    receives->flush();
    receiver.run(received[queue_size - 1]);
    EXPECT_EQ(received[0].status(), DOCA_ERROR_SHUTDOWN);
}

} // namespace
