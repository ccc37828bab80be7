// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// RDMA between two processes, in memory of every kind, and with peers that sleep, fail and die.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <poll.h>

#include "support/rdma_peer.hpp"

namespace {

using namespace doca_test;

struct KindParam {
    DeviceParam device;
    MemoryKind kind;
};

std::ostream &operator<<(std::ostream &stream, const KindParam &param)
{
    return stream << param.device << " " << name_of(param.kind);
}

std::vector<KindParam> kind_params()
{
    std::vector<KindParam> params;
    for (const DeviceParam &device : few_devices_that(can_connect)) {
        for (const MemoryKind kind : all_memory_kinds) {
            if (Memory::is_available(kind))
                params.push_back({device, kind});
        }
    }
    return params;
}

std::string kind_name(const testing::TestParamInfo<KindParam> &info)
{
    return as_test_name(info.param.device.ibdev + "_" + name_of(info.param.kind));
}

/// This process's instance and memory, and a peer with both.
struct Session {
    static constexpr std::size_t size = std::size_t{1} << 16;

    Session(const DeviceParam &device, const RdmaPeer::Options &options, const RdmaOptions &own = {})
        : dev(open_device(device)),
          memory(options.kind, options.size),
          map(dev, memory.bytes(), exposed),
          peer(device, options),
          imported(import_rdma(peer.descriptor(), dev)),
          end(dev, own)
    {
        fill(memory.bytes(), 1);
        must(end.connect(peer.details()));
        must(peer.connect(end.details()));
    }

    [[nodiscard]] BufHandle local_full(std::size_t offset, std::size_t len) const
    {
        return inventory.full(map, memory.data() + offset, len);
    }
    [[nodiscard]] BufHandle local_empty(std::size_t offset, std::size_t len) const
    {
        return inventory.empty(map, memory.data() + offset, len);
    }
    [[nodiscard]] BufHandle remote_full(std::size_t offset, std::size_t len) const
    {
        return inventory.full(imported, peer.addr() + offset, len);
    }
    [[nodiscard]] BufHandle remote_empty(std::size_t offset, std::size_t len) const
    {
        return inventory.empty(imported, peer.addr() + offset, len);
    }

    DevHandle dev;
    Memory memory;
    LocalMap map;
    RdmaPeer peer;
    MmapHandle imported;
    Inventory inventory{64};
    RdmaEnd end;
};

class RdmaMemory : public testing::TestWithParam<KindParam> {
protected:
    Session s{GetParam().device, {.kind = GetParam().kind, .size = std::size_t{512} << 10}};
};
INSTANTIATE_TEST_SUITE_P(device, RdmaMemory, testing::ValuesIn(kind_params()), kind_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RdmaMemory);

TEST_P(RdmaMemory, IsReadWrittenAndUpdatedWhileThePeerIsBlocked)
{
    void *addr = nullptr;
    std::size_t len = 0;
    must(doca_mmap_get_memrange(s.imported, &addr, &len));
    EXPECT_EQ(addr, s.peer.addr());
    EXPECT_EQ(len, std::size_t{512} << 10);
    for (const std::size_t length : {std::size_t{8}, std::size_t{5000}, std::size_t{300} << 10}) {
        const BufHandle src = s.local_full(0, length);
        const BufHandle dst = s.remote_empty(4096, length);
        ASSERT_EQ(s.end.write(dst, src), DOCA_SUCCESS);
        // On the software device it has ended in submit.
        const RdmaEnded ended = GetParam().device.is_soft() ? s.end.try_retrieve() : s.end.wait();
        EXPECT_EQ(ended.result.result, DOCA_SUCCESS);
        EXPECT_TRUE(s.peer.has(1, 4096, length));
        const BufHandle back = s.local_empty(0, length);
        s.peer.fill(3);
        const BufHandle from = s.remote_full(0, length);
        ASSERT_EQ(s.end.read(back, from), DOCA_SUCCESS);
        EXPECT_EQ(s.end.result(), DOCA_SUCCESS);
        EXPECT_TRUE(is_filled(s.memory.bytes().first(length), 3));
        fill(s.memory.bytes(), 1);
        s.peer.fill(2);
    }
    const BufHandle target = s.remote_full(16, 8);
    const BufHandle result = s.local_empty(0, 8);
    std::uint64_t before = 0, after = 0;
    ASSERT_EQ(s.end.add(target, result, 5), DOCA_SUCCESS);
    EXPECT_EQ(s.end.result(), DOCA_SUCCESS);
    std::memcpy(&before, s.memory.data(), sizeof(before));
    ASSERT_EQ(s.end.compare_swap(target, result, before + 5, 1), DOCA_SUCCESS);
    EXPECT_EQ(s.end.result(), DOCA_SUCCESS);
    std::memcpy(&after, s.memory.data(), sizeof(after));
    EXPECT_EQ(after, before + 5);
    const BufHandle seen = s.local_empty(0, 8);
    ASSERT_EQ(s.end.read(seen, target), DOCA_SUCCESS);
    EXPECT_EQ(s.end.result(), DOCA_SUCCESS);
    std::memcpy(&after, s.memory.data(), sizeof(after));
    EXPECT_EQ(after, 1U);
}

TEST_P(RdmaMemory, TakesMessagesOfAllSizes)
{
    for (const std::size_t length : {1U, 40U, 41U, 5000U, 200'000U}) {
        // There: the receive is posted, and its process sleeps while the message comes.
        ASSERT_EQ(s.peer.receive(0, length), DOCA_SUCCESS);
        const BufHandle src = s.local_full(0, length);
        ASSERT_EQ(s.end.send(src), DOCA_SUCCESS);
        ASSERT_EQ(s.end.result(), DOCA_SUCCESS);
        RdmaEnded ended = s.peer.retrieve();
        ASSERT_EQ(ended.result.result, DOCA_SUCCESS);
        EXPECT_EQ(ended.result.length, length);
        EXPECT_TRUE(s.peer.has(1, 0, length));
        // And back: the send waits for the receive.
        s.peer.fill(4);
        ASSERT_EQ(s.peer.send(0, length), DOCA_SUCCESS);
        EXPECT_EQ(s.end.try_retrieve().status, DOCA_ERROR_AGAIN);
        const BufHandle dst = s.local_empty(100, length);
        ASSERT_EQ(s.end.receive(dst), DOCA_SUCCESS);
        ASSERT_EQ(s.peer.retrieve().result.result, DOCA_SUCCESS);
        ended = s.end.wait();
        ASSERT_EQ(ended.result.result, DOCA_SUCCESS);
        EXPECT_EQ(ended.result.length, length);
        EXPECT_TRUE(is_filled(s.memory.bytes().subspan(100, length), 4));
        fill(s.memory.bytes(), 1);
    }
}

TEST_P(RdmaMemory, AtomicsOfThreeProcessesAddUp)
{
    // All add to this process's memory: two peers, and it itself by a connection with itself.
    const std::uint32_t count = GetParam().device.is_soft() ? 3000 : 500; // a way to a device takes long
    constexpr std::size_t offset = 64;
    const std::vector<std::byte> descriptor = export_rdma(s.map, s.dev);
    std::memset(s.memory.data() + offset, 0, sizeof(std::uint64_t));
    RdmaPeer other(GetParam().device, {.size = 4096});
    const RdmaEnd to_other(s.dev), to_self(s.dev);
    must(to_other.connect(other.details()));
    must(other.connect(to_other.details()));
    must(to_self.connect(to_self.details()));
    s.peer.begin_to_add(count, offset, descriptor);
    other.begin_to_add(count, offset, descriptor);
    const MmapHandle own = import_rdma(descriptor, s.dev);
    const BufHandle target = s.inventory.full(own, s.memory.data() + offset, 8);
    const BufHandle result = s.local_empty(0, 8);
    for (std::uint32_t i = 0; i < count; ++i) {
        ASSERT_EQ(to_self.add(target, result, 1), DOCA_SUCCESS);
        ASSERT_EQ(to_self.result(), DOCA_SUCCESS);
    }
    EXPECT_EQ(s.peer.end_adding(), DOCA_SUCCESS);
    EXPECT_EQ(other.end_adding(), DOCA_SUCCESS);
    std::uint64_t sum = 0;
    std::memcpy(&sum, s.memory.data() + offset, sizeof(sum));
    EXPECT_EQ(sum, 3 * count);
}

class RdmaProcesses : public testing::TestWithParam<DeviceParam> {};
INSTANTIATE_FOR_FEW_DEVICES(RdmaProcesses, can_connect);

/// Of ping-pong, which takes far longer where a network is in between.
int num_rounds(const DeviceParam &device)
{
    return device.is_soft() ? 200 : 30;
}

TEST_P(RdmaProcesses, ASleepingReceiverIsWoken)
{
    RdmaPeer::Options options;
    options.rdma.is_event_driven = true;
    Session s(GetParam(), options, {.is_event_driven = true});
    const BufHandle src = s.local_full(0, 3000);
    for (int round = 0; round < num_rounds(GetParam()); ++round) {
        ASSERT_EQ(s.peer.receive(0, 3000), DOCA_SUCCESS);
        s.peer.begin_to_wait();
        ASSERT_EQ(s.end.send(src), DOCA_SUCCESS);
        const RdmaEnded ended = s.peer.end_waiting();
        ASSERT_EQ(ended.result.result, DOCA_SUCCESS);
        ASSERT_EQ(ended.result.length, 3000U);
        EXPECT_EQ(s.end.result(), DOCA_SUCCESS);
    }
}

TEST_P(RdmaProcesses, ASleepingSenderIsWoken)
{
    RdmaPeer::Options options;
    options.rdma.is_event_driven = true;
    Session s(GetParam(), options);
    const BufHandle dst = s.local_empty(0, 3000);
    for (int round = 0; round < num_rounds(GetParam()); ++round) {
        ASSERT_EQ(s.peer.send(0, 8 + static_cast<std::size_t>(round) * 10), DOCA_SUCCESS);
        s.peer.begin_to_wait();
        must(doca_buf_reset_data_len(dst));
        ASSERT_EQ(s.end.receive(dst), DOCA_SUCCESS);
        EXPECT_EQ(s.peer.end_waiting().result.result, DOCA_SUCCESS);
        EXPECT_EQ(s.end.result(), DOCA_SUCCESS);
    }
}

/// How long a thread may sleep that has to be woken, in ms. Less where it is known not to be: device_suite.sh.
int wake_limit()
{
    const char *const known = std::getenv("OPENDOCA_TEST_WAKE_LIMIT");
    return known != nullptr ? std::atoi(known) : 60'000;
}

/// Three jobs are in flight, their thread sleeps, and the peer dies.
void expect_woken_by_the_peers_death(Session &s)
{
    doca_event_handle_t handle = -1;
    must(doca_workq_get_event_handle(s.end.workq(), &handle));
    must(doca_workq_event_handle_arm(s.end.workq()));
    pollfd wish = {.fd = handle, .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&wish, 1, 0), 0);
    s.peer.process().kill();
    ASSERT_EQ(poll(&wish, 1, wake_limit()), 1);
    must(doca_workq_event_handle_clear(s.end.workq(), handle));
    const doca_error_t expected[] = {DOCA_ERROR_CONNECTION_RESET, DOCA_ERROR_SHUTDOWN, DOCA_ERROR_SHUTDOWN};
    for (std::uint64_t i = 0; i < 3; ++i) {
        const RdmaEnded ended = s.end.wait();
        EXPECT_EQ(ended.status, DOCA_ERROR_IO_FAILED);
        EXPECT_EQ(ended.user_data, i);
        EXPECT_EQ(ended.result.result, expected[i]);
    }
    EXPECT_EQ(s.end.try_retrieve().status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(s.end.state(), DOCA_RDMA_STATE_ERROR);
    EXPECT_EQ(s.end.send(nullptr), DOCA_ERROR_BAD_STATE);
}

TEST_P(RdmaProcesses, ADeadPeerWakesAndFailsSendsThatWait)
{
    Session s(GetParam(), {}, {.is_event_driven = true});
    const BufHandle buf = s.local_full(0, 3000);
    for (std::uint64_t i = 0; i < 3; ++i)
        ASSERT_EQ(s.end.send(buf, {}, i), DOCA_SUCCESS);
    expect_woken_by_the_peers_death(s);
}

TEST_P(RdmaProcesses, ADeadPeerWakesAndFailsReceives)
{
    Session s(GetParam(), {}, {.is_event_driven = true});
    const BufHandle buf = s.local_empty(0, 3000);
    for (std::uint64_t i = 0; i < 3; ++i)
        ASSERT_EQ(s.end.receive(buf, i), DOCA_SUCCESS);
    expect_woken_by_the_peers_death(s);
}

TEST_P(RdmaProcesses, TheNextJobFindsADeadPeer)
{
    for (int job = 0; job < 4; ++job) {
        Session s(GetParam(), {.kind = job % 2 == 0 ? MemoryKind::memfd : MemoryKind::heap});
        ASSERT_EQ(s.peer.receive(0, 100), DOCA_SUCCESS);
        s.peer.process().kill();
        s.peer.process().wait_for_end();
        EXPECT_EQ(s.end.try_retrieve().status, DOCA_ERROR_AGAIN);
        EXPECT_EQ(s.end.state(), DOCA_RDMA_STATE_CONNECTED);
        const BufHandle full = s.local_full(0, 8), empty = s.local_empty(0, 8);
        const BufHandle far_full = s.remote_full(0, 8), far_empty = s.remote_empty(0, 8);
        switch (job) {
        case 0:
            ASSERT_EQ(s.end.send(full), DOCA_SUCCESS);
            break;
        case 1:
            ASSERT_EQ(s.end.write(far_empty, full), DOCA_SUCCESS);
            break;
        case 2:
            ASSERT_EQ(s.end.read(empty, far_full), DOCA_SUCCESS);
            break;
        default:
            ASSERT_EQ(s.end.add(far_full, empty, 1), DOCA_SUCCESS);
        }
        const RdmaEnded ended = s.end.wait();
        EXPECT_EQ(ended.status, DOCA_ERROR_IO_FAILED);
        EXPECT_EQ(ended.result.result, DOCA_ERROR_CONNECTION_RESET) << job;
        EXPECT_EQ(s.end.state(), DOCA_RDMA_STATE_ERROR);
    }
}

TEST_P(RdmaProcesses, AReceiveFindsADeadPeer)
{
    Session s(GetParam(), {}, {.is_event_driven = true});
    s.peer.process().kill();
    s.peer.process().wait_for_end();
    doca_event_handle_t handle = -1;
    must(doca_workq_get_event_handle(s.end.workq(), &handle));
    ASSERT_EQ(s.end.receive(nullptr), DOCA_SUCCESS);
    must(doca_workq_event_handle_arm(s.end.workq()));
    pollfd wish = {.fd = handle, .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&wish, 1, wake_limit()), 1);
    EXPECT_EQ(s.end.result(), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(s.end.state(), DOCA_RDMA_STATE_ERROR);
}

TEST_P(RdmaProcesses, BothSidesRecoverFromAFailure)
{
    Session s(GetParam(), {});
    const BufHandle src = s.local_full(0, 200);
    for (int round = 0; round < 3; ++round) {
        ASSERT_EQ(s.peer.receive(0, 100), DOCA_SUCCESS);
        ASSERT_EQ(s.end.send(src), DOCA_SUCCESS);
        EXPECT_EQ(s.end.result(), DOCA_ERROR_FULL);
        EXPECT_EQ(s.peer.retrieve().result.result, DOCA_ERROR_FULL);
        EXPECT_EQ(s.end.state(), DOCA_RDMA_STATE_ERROR);
        s.end.stop();
        EXPECT_EQ(s.end.state(), DOCA_RDMA_STATE_RESET);
        s.end.start();
        s.peer.restart();
        ASSERT_EQ(s.peer.connect(s.end.details()), DOCA_SUCCESS);
        ASSERT_EQ(s.peer.receive(0, 200), DOCA_SUCCESS);
        ASSERT_EQ(s.end.connect(s.peer.details()), DOCA_SUCCESS);
        ASSERT_EQ(s.end.send(src), DOCA_SUCCESS);
        EXPECT_EQ(s.end.result(), DOCA_SUCCESS);
        EXPECT_EQ(s.peer.retrieve().result.result, DOCA_SUCCESS);
        EXPECT_TRUE(s.peer.has(1, 0, 200));
    }
}

TEST_P(RdmaProcesses, AStoppedMapIsRevokedAndCanBeExportedAgain)
{
    for (const MemoryKind kind : {MemoryKind::heap, MemoryKind::memfd}) {
        Session s(GetParam(), {.kind = kind});
        ASSERT_EQ(s.peer.stop_map(), DOCA_SUCCESS);
        const BufHandle src = s.local_full(0, 8);
        const BufHandle dst = s.remote_empty(0, 8);
        ASSERT_EQ(s.end.write(dst, src), DOCA_SUCCESS);
        EXPECT_EQ(s.end.result(), DOCA_ERROR_NOT_PERMITTED);
        EXPECT_EQ(s.end.state(), DOCA_RDMA_STATE_ERROR);
        EXPECT_EQ(data_len_of(dst), 0U);
        s.peer.export_map();
        s.peer.restart();
        s.end.stop();
        s.end.start();
        must(s.end.connect(s.peer.details()));
        must(s.peer.connect(s.end.details()));
        const MmapHandle again = import_rdma(s.peer.descriptor(), s.dev);
        const BufHandle fresh = s.inventory.empty(again, s.peer.addr(), 8);
        ASSERT_EQ(s.end.write(fresh, src), DOCA_SUCCESS);
        EXPECT_EQ(s.end.result(), DOCA_SUCCESS);
        EXPECT_TRUE(s.peer.has(1, 0, 8));
    }
}

TEST_P(RdmaProcesses, AStoppedPeerFailsWhatWaits)
{
    Session s(GetParam(), {}, {.is_event_driven = true});
    ASSERT_EQ(s.end.receive(nullptr), DOCA_SUCCESS);
    doca_event_handle_t handle = -1;
    must(doca_workq_get_event_handle(s.end.workq(), &handle));
    must(doca_workq_event_handle_arm(s.end.workq()));
    ASSERT_EQ(s.peer.stop(), DOCA_SUCCESS);
    pollfd wish = {.fd = handle, .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&wish, 1, wake_limit()), 1);
    EXPECT_EQ(s.end.result(), DOCA_ERROR_CONNECTION_RESET);
}

TEST_P(RdmaProcesses, WhatWasSentBeforeTheEndStillArrives)
{
    Session s(GetParam(), {});
    const BufHandle dst = s.local_empty(0, 100), more = s.local_empty(100, 100);
    ASSERT_EQ(s.end.receive(dst, 1), DOCA_SUCCESS);
    ASSERT_EQ(s.end.receive(more, 2), DOCA_SUCCESS);
    ASSERT_EQ(s.peer.send(0, 100), DOCA_SUCCESS);
    EXPECT_EQ(s.peer.retrieve().result.result, DOCA_SUCCESS);
    s.peer.process().kill();
    s.peer.process().wait_for_end();
    EXPECT_EQ(s.end.result(), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(s.memory.bytes().first(100), 2));
    if (!GetParam().is_soft()) { // an idle side of a reliable connection does not notice the other one's end
        ASSERT_EQ(s.end.send(nullptr, {}, 3), DOCA_SUCCESS);
        const RdmaEnded ended = s.end.wait();
        EXPECT_EQ(ended.user_data, 3U);
        EXPECT_EQ(ended.result.result, DOCA_ERROR_CONNECTION_RESET);
    }
    const RdmaEnded ended = s.end.wait();
    EXPECT_EQ(ended.user_data, 2U);
    EXPECT_EQ(ended.result.result, GetParam().is_soft() ? DOCA_ERROR_CONNECTION_RESET : DOCA_ERROR_SHUTDOWN);
}

TEST_P(RdmaProcesses, OnlyThePeerHasAccess)
{
    Session s(GetParam(), {});
    const RdmaEnd stranger(s.dev);
    must(stranger.connect(s.peer.details()));
    const BufHandle src = s.local_full(0, 8);
    const BufHandle dst = s.remote_empty(0, 8);
    ASSERT_EQ(s.peer.receive(0, 8), DOCA_SUCCESS);
    ASSERT_EQ(stranger.send(src), DOCA_SUCCESS);
    EXPECT_EQ(stranger.result(), DOCA_ERROR_CONNECTION_RESET);
    // The peer has not noticed.
    ASSERT_EQ(s.end.send(src), DOCA_SUCCESS);
    EXPECT_EQ(s.end.result(), DOCA_SUCCESS);
    EXPECT_EQ(s.peer.retrieve().result.result, DOCA_SUCCESS);
    // Nor can this connection reach the memory of another process than its peer's.
    RdmaPeer other(GetParam(), {});
    const MmapHandle foreign = import_rdma(other.descriptor(), s.dev);
    const BufHandle elsewhere = s.inventory.empty(foreign, other.addr(), 8);
    ASSERT_EQ(s.end.write(elsewhere, src), DOCA_SUCCESS);
    EXPECT_EQ(s.end.result(), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_TRUE(other.has(2, 0, 8));
}

} // namespace
