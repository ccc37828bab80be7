// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The engine's connections, through a front end of the test's own: both ends in this process.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
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
using opendoca::Request;
using opendoca::TransferCheck;
using opendoca::TransferPlan;

constexpr std::uint32_t all_rights =
    DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC;

/// One end, with tasks of its own.
struct End {
    explicit End(doca_dev *dev)
        : check(dev->device(), {dev->function().can.rdma.max_message_size, dev->function().can.rdma.max_chain_length, 1,
                                dev->function().can.rdma.atomics})
    {
        const opendoca::QueuePairSettings settings = {.send_queue_size = 16,
                                                      .recv_queue_size = 16,
                                                      .recv_chain_length = 1,
                                                      .permissions = all_rights,
                                                      .mtu = dev->function().can.rdma.active_mtu,
                                                      .is_mtu_fixed = false,
                                                      .has_grh = true,
                                                      .gid_index = 0,
                                                      .is_gid_fixed = false,
                                                      .service_level = 0};
        must(dev->device().create_queue_pair(settings, state, pair));
        must(pair->attach(tasks.completions));
    }
    ~End() { pair->detach(); }

    [[nodiscard]] std::vector<std::byte> details() const { return {pair->details().begin(), pair->details().end()}; }

    TransferCheck check;
    TaskEngine tasks;
    std::atomic<ConnectionState> state{ConnectionState::initial};
    std::unique_ptr<opendoca::QueuePair> pair;
};

/// A request with operands, which TransferCheck is to complete.
Request request_of(Opcode opcode, doca_buf *local, doca_buf *remote = nullptr)
{
    Request request{};
    request.opcode = opcode;
    request.local = local;
    request.remote = remote;
    return request;
}

class EngineConnections : public DeviceTest {
protected:
    void SetUp() override
    {
        ASSERT_EQ(a.pair->connect(b.details()), DOCA_SUCCESS);
        ASSERT_EQ(b.pair->connect(a.details()), DOCA_SUCCESS);
        const void *descriptor = nullptr;
        std::size_t length = 0;
        ASSERT_EQ(doca_mmap_export_rdma(b_map, dev, &descriptor, &length), DOCA_SUCCESS);
        ASSERT_EQ(doca_mmap_create_from_export(nullptr, descriptor, length, dev, b_from_a.out()), DOCA_SUCCESS);
    }
    void run_both(const Task &one, const Task &other)
    {
        while (!one.has_ended() || !other.has_ended()) {
            if (!a.tasks.progress() && !b.tasks.progress())
                std::this_thread::yield();
        }
    }

    std::vector<std::byte> a_memory = std::vector<std::byte>(4096);
    std::vector<std::byte> b_memory = std::vector<std::byte>(4096);
    LocalMap a_map{dev, a_memory};
    LocalMap b_map{dev, b_memory, all_rights};
    MmapHandle b_from_a;
    Inventory inventory{16};
    End a{dev};
    End b{dev};
};

INSTANTIATE_FOR_DEVICES(EngineConnections, can_connect);

TEST_P(EngineConnections, carry_messages)
{
    fill(a_memory, 7);
    const BufHandle src = inventory.full(a_map, a_memory.data(), 1000);
    const BufHandle dst = inventory.empty(b_map, b_memory.data(), 4096);
    Task sent, received;
    TransferPlan plan{};
    ASSERT_EQ(b.check.receive(dst, plan), DOCA_SUCCESS);
    ASSERT_EQ(b.pair->receive(received.tag(), dst, plan), DOCA_SUCCESS);
    Request send = request_of(Opcode::send_with_immediate, src);
    send.immediate = 0x01020304;
    ASSERT_EQ(a.check.check(send), DOCA_SUCCESS);
    ASSERT_EQ(a.pair->post(sent.tag(), send), DOCA_SUCCESS);
    run_both(sent, received);
    EXPECT_EQ(sent.status(), DOCA_SUCCESS);
    EXPECT_EQ(received.status(), DOCA_SUCCESS);
    EXPECT_EQ(received.result().length, 1000u);
    EXPECT_EQ(received.result().immediate, 0x01020304u);
    EXPECT_EQ(received.result().received, opendoca::Received::send_with_immediate);
    EXPECT_TRUE(std::equal(a_memory.begin(), a_memory.begin() + 1000, b_memory.begin()));
}

/// A notification without data. Its destination is not used, not even while it waits for a receive: the program may
/// have freed it.
TEST_P(EngineConnections, WriteOfNothingDoesNotUseItsDestination)
{
    BufHandle there = inventory.empty(b_from_a, b_memory.data(), 256);
    Request write = request_of(Opcode::write_with_immediate, nullptr, there);
    write.immediate = 7;
    ASSERT_EQ(a.check.check(write), DOCA_SUCCESS);
    there.reset();
    Task written, received;
    ASSERT_EQ(a.pair->post(written.tag(), write), DOCA_SUCCESS);
    (void)a.tasks.progress(); // tries again
    TransferPlan plan{};
    ASSERT_EQ(b.check.receive(nullptr, plan), DOCA_SUCCESS);
    ASSERT_EQ(b.pair->receive(received.tag(), nullptr, plan), DOCA_SUCCESS);
    run_both(written, received);
    EXPECT_EQ(written.status(), DOCA_SUCCESS);
    EXPECT_EQ(received.status(), DOCA_SUCCESS);
    EXPECT_EQ(received.result().immediate, 7u);
}

TEST_P(EngineConnections, read_write_and_count_in_the_peers_memory)
{
    fill(a_memory, 9);
    const BufHandle src = inventory.full(a_map, a_memory.data(), 256);
    const BufHandle there = inventory.empty(b_from_a, b_memory.data(), 256);
    Request request = request_of(Opcode::write, src, there);
    Task written;
    ASSERT_EQ(a.check.check(request), DOCA_SUCCESS);
    ASSERT_EQ(a.pair->post(written.tag(), request), DOCA_SUCCESS);
    a.tasks.run(written);
    EXPECT_EQ(written.status(), DOCA_SUCCESS);
    EXPECT_TRUE(std::equal(a_memory.begin(), a_memory.begin() + 256, b_memory.begin()));

    const BufHandle back = inventory.empty(a_map, &a_memory[1024], 256);
    Task read;
    request = request_of(Opcode::read, back, there);
    ASSERT_EQ(a.check.check(request), DOCA_SUCCESS);
    ASSERT_EQ(a.pair->post(read.tag(), request), DOCA_SUCCESS);
    a.tasks.run(read);
    EXPECT_EQ(read.status(), DOCA_SUCCESS);
    EXPECT_EQ(read.result().length, 256u);
    EXPECT_TRUE(std::equal(a_memory.begin(), a_memory.begin() + 256, a_memory.begin() + 1024));

    const std::uint64_t before = 40;
    std::memcpy(&b_memory[512], &before, sizeof(before));
    const BufHandle word = inventory.full(b_from_a, &b_memory[512], 8);
    const BufHandle old = inventory.full(a_map, &a_memory[2048], 8);
    Task added;
    request = request_of(Opcode::fetch_and_add, old, word);
    request.operand = 2;
    ASSERT_EQ(a.check.check(request), DOCA_SUCCESS);
    ASSERT_EQ(a.pair->post(added.tag(), request), DOCA_SUCCESS);
    a.tasks.run(added);
    EXPECT_EQ(added.status(), DOCA_SUCCESS);
    std::uint64_t after = 0, fetched = 0;
    std::memcpy(&after, &b_memory[512], sizeof(after));
    std::memcpy(&fetched, &a_memory[2048], sizeof(fetched));
    EXPECT_EQ(after, 42u);
    EXPECT_EQ(fetched, 40u);
}

/// Two front ends on one device at the same time, each with a queue of its own; and they understand each other.
TEST_P(EngineConnections, reach_instances_of_a_work_queue)
{
    End own(dev);
    const RdmaEnd instance(dev);
    ASSERT_EQ(own.pair->connect(instance.details()), DOCA_SUCCESS);
    ASSERT_EQ(instance.connect(own.details()), DOCA_SUCCESS);
    for (std::uint64_t round = 0; round < 20; ++round) {
        fill(a_memory, static_cast<unsigned>(round));
        const BufHandle src = inventory.full(a_map, a_memory.data(), 100);
        const BufHandle there = inventory.empty(b_map, b_memory.data(), 100);
        const BufHandle back = inventory.empty(a_map, &a_memory[1024], 100);
        Task sent, received;
        TransferPlan plan{};
        ASSERT_EQ(own.check.receive(back, plan), DOCA_SUCCESS);
        ASSERT_EQ(own.pair->receive(received.tag(), back, plan), DOCA_SUCCESS);
        ASSERT_EQ(instance.receive(there, round), DOCA_SUCCESS);
        Request send = request_of(Opcode::send, src);
        ASSERT_EQ(own.check.check(send), DOCA_SUCCESS);
        ASSERT_EQ(own.pair->post(sent.tag(), send), DOCA_SUCCESS);
        const RdmaEnded ended = instance.wait();
        EXPECT_EQ(ended.status, DOCA_SUCCESS);
        EXPECT_EQ(ended.user_data, round);
        EXPECT_EQ(ended.result.length, 100u);
        ASSERT_EQ(instance.send(there), DOCA_SUCCESS);
        own.tasks.run(sent);
        own.tasks.run(received);
        EXPECT_EQ(instance.result(), DOCA_SUCCESS);
        EXPECT_TRUE(std::equal(a_memory.begin(), a_memory.begin() + 100, a_memory.begin() + 1024));
    }
}

TEST_P(EngineConnections, that_are_flushed_end_what_waits)
{
    const BufHandle dst = inventory.empty(b_map, b_memory.data(), 64);
    Task received;
    TransferPlan plan{};
    ASSERT_EQ(b.check.receive(dst, plan), DOCA_SUCCESS);
    ASSERT_EQ(b.pair->receive(received.tag(), dst, plan), DOCA_SUCCESS);
    EXPECT_FALSE(b.tasks.progress());
    b.pair->flush();
    b.tasks.run(received);
    EXPECT_EQ(received.status(), DOCA_ERROR_SHUTDOWN);
    EXPECT_EQ(b.pair->state(), ConnectionState::failed);
}

} // namespace
