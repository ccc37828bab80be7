// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// RDMA jobs that fail, in submit and in retrieve, and what that leaves behind.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "support/log_capture.hpp"
#include "support/rdma_fixture.hpp"

namespace {

using namespace doca_test;

class RdmaErrors : public RdmaTest {
protected:
    /// Nothing has changed: the instance works as before.
    void expect_works()
    {
        EXPECT_EQ(left.try_retrieve().status, DOCA_ERROR_AGAIN);
        EXPECT_EQ(left.state(), DOCA_RDMA_STATE_CONNECTED);
        const BufHandle src = local_full(0, 8);
        const BufHandle dst = remote_empty(0, 8);
        ASSERT_EQ(left.write(dst, src), DOCA_SUCCESS);
        EXPECT_EQ(left.result(), DOCA_SUCCESS);
    }
};
INSTANTIATE_FOR_FEW_DEVICES(RdmaErrors, can_connect);

TEST_P(RdmaErrors, UnknownTypesAreRefused)
{
    for (const int type : {int{DOCA_ACTION_RDMA_FIRST}, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD + 1, 0, -1}) {
        doca_rdma_job_read_write job = {};
        job.base.type = type;
        job.base.ctx = left.ctx();
        EXPECT_EQ(doca_workq_submit(left.workq(), &job.base), DOCA_ERROR_INVALID_VALUE) << type;
    }
    expect_works();
}

TEST_P(RdmaErrors, MissingAndMisplacedBuffersAreRefused)
{
    const BufHandle full = local_full(0, 8), empty = local_empty(0, 8);
    const BufHandle far_full = remote_full(0, 8), far_empty = remote_empty(0, 8);
    EXPECT_EQ(left.write(nullptr, full), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(left.read(nullptr, far_full), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(left.add(nullptr, empty, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(left.add(far_full, nullptr, 1), DOCA_ERROR_INVALID_VALUE);
    // A local one where a remote one belongs, and the reverse.
    EXPECT_EQ(left.write(empty, full), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(left.write(far_empty, far_full), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(left.read(empty, full), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(left.read(far_empty, far_full), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(left.send(far_full), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(left.receive(far_empty), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(left.add(full, empty, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(left.add(far_full, far_empty, 1), DOCA_ERROR_INVALID_VALUE);
    expect_works();
}

class RdmaImportTest : public testing::TestWithParam<DevicePair> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RdmaImportTest);
INSTANTIATE_TEST_SUITE_P(pair, RdmaImportTest, testing::ValuesIn(few_device_pairs()), pair_name);

/// What the other side of the PCIe has shared can be copied by DMA; the local side of RDMA is this process's own.
TEST_P(RdmaImportTest, LocalBuffersAreOfThisProcess)
{
    const DevHandle host = open_device(GetParam().exporter), dev = open_device(GetParam().importer);
    if (!can_connect(doca_dev_as_devinfo(dev)))
        GTEST_SKIP() << "the importer does no RDMA";
    std::vector<std::byte> exported(64), own(64);
    const LocalMap exported_map(host, exported, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE);
    const LocalMap own_map(dev, own, exposed);
    const void *descriptor = nullptr;
    std::size_t descriptor_len = 0;
    must(doca_mmap_export_dpu(exported_map, host, &descriptor, &descriptor_len));
    MmapHandle imported;
    must(doca_mmap_create_from_export(nullptr, descriptor, descriptor_len, dev, imported.out()));
    const MmapHandle remote = import_rdma(export_rdma(own_map, dev), dev);
    RdmaEnd end(dev);
    ASSERT_EQ(end.connect(end.details()), DOCA_SUCCESS);
    const Inventory inventory(6);
    const BufHandle full = inventory.full(imported, exported.data(), 8);
    const BufHandle empty = inventory.empty(imported, exported.data(), 8);
    const BufHandle remote_full = inventory.full(remote, own.data(), 8);
    const BufHandle remote_empty = inventory.empty(remote, own.data(), 8);
    const LogCapture log;
    EXPECT_EQ(end.send(full), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_LOGGED(log, "by DMA to or from memory of this process");
    EXPECT_EQ(end.receive(empty), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(end.read(empty, remote_full), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(end.write(remote_empty, full), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(end.add(remote_full, full, 1), DOCA_ERROR_NOT_SUPPORTED);
    // In a list, each member counts.
    const BufHandle list = inventory.full(own_map, own.data(), 8);
    must(doca_buf_list_chain(list, inventory.full(imported, exported.data(), 8).release()));
    EXPECT_EQ(end.send(list), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(end.try_retrieve().status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(end.state(), DOCA_RDMA_STATE_CONNECTED);
}

TEST_P(RdmaErrors, WhatDoesNotFitIsRefused)
{
    const BufHandle src = local_full(0, 9);
    const BufHandle dst = inventory.with(imported, right_memory.data(), 16, right_memory.data(), 8);
    EXPECT_EQ(left.write(dst, src), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(left.write(dst, src, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(data_len_of(dst), 8U);
    EXPECT_TRUE(is_filled(right_bytes(0, 32), 2));
    expect_works();
}

/// Where a program has moved a buffer's data to is looked at before the transfer.
TEST_P(RdmaErrors, DataOutsideOfItsBufferIsRefused)
{
    const BufHandle full = local_full(64, 64), empty = local_empty(64, 64);
    const BufHandle far_full = remote_full(64, 64), far_empty = remote_empty(64, 64);
    const auto moved = [](BufHandle buf, int offset, std::size_t length) {
        must(doca_buf_set_data(buf, data_of(buf) + offset, length));
        return buf;
    };
    for (const auto &[offset, length] : {std::pair{-8, 8}, {56, 16}, {72, 0}}) {
        SCOPED_TRACE(offset);
        const auto data_len = static_cast<std::size_t>(length);
        const BufHandle own = moved(local_full(64, 64), offset, data_len);
        const BufHandle peers = moved(remote_full(64, 64), offset, data_len);
        EXPECT_EQ(left.write(far_empty, own), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(left.write(peers, full), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(left.read(own, far_full), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(left.read(empty, peers), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(left.send(own), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(left.receive(own), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(left.add(peers, empty, 1), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(left.add(far_full, own, 1), DOCA_ERROR_INVALID_VALUE);
    }
    EXPECT_TRUE(is_filled(right_bytes(0, 256), 2));
    expect_works();
}

TEST_P(RdmaErrors, ChainsHaveALimit)
{
    std::uint32_t longest = 0;
    must(doca_rdma_get_max_buf_chain_len(info, DOCA_RDMA_JOB_SEND, DOCA_RDMA_TRANSPORT_RC, &longest));
    const auto chain = [&](std::uint32_t count) {
        BufHandle head = local_full(0, 1);
        for (std::uint32_t i = 1; i < count; ++i)
            must(doca_buf_list_chain(head, local_full(i, 1).release()));
        return head;
    };
    {
        const BufHandle fits = chain(longest);
        const BufHandle dst = remote_empty(0, 64);
        EXPECT_EQ(left.write(dst, fits), DOCA_SUCCESS);
        EXPECT_EQ(left.result(), DOCA_SUCCESS);
        EXPECT_TRUE(is_filled(right_bytes(0, longest), 1));
    }
    const BufHandle list = chain(longest + 1);
    const BufHandle dst = remote_empty(0, 64);
    EXPECT_EQ(left.write(dst, list), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(left.send(list), DOCA_ERROR_INVALID_VALUE);
    // A receive's limit is the property; remote buffers are never chains.
    const BufHandle receive = chain(5);
    EXPECT_EQ(left.receive(receive), DOCA_ERROR_INVALID_VALUE);
    const BufHandle remote_list = remote_empty(0, 8);
    must(doca_buf_list_chain(remote_list, remote_empty(8, 8).release()));
    const BufHandle src = local_full(0, 8);
    EXPECT_EQ(left.write(remote_list, src), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(left.read(local_empty(0, 8), remote_list), DOCA_ERROR_INVALID_VALUE);
    // Nor is an element that is no head taken.
    doca_buf *inner = nullptr;
    must(doca_buf_list_next(receive, &inner));
    EXPECT_EQ(left.send(inner), DOCA_ERROR_INVALID_VALUE);
    expect_works();
}

TEST_P(RdmaErrors, AtomicsNeedAnAlignedWord)
{
    const BufHandle result = local_empty(0, 8), small = local_empty(0, 7);
    const BufHandle target = remote_full(8, 8), crooked = remote_full(4, 8), short_target = remote_full(8, 7);
    EXPECT_EQ(left.add(crooked, result, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(left.compare_swap(crooked, result, 1, 2), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(left.add(short_target, result, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(left.add(target, small, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_TRUE(is_filled(right_bytes(0, 32), 2));
    expect_works();
}

TEST_P(RdmaErrors, LocalMemoryMustBeWritable)
{
    Memory memory(MemoryKind::heap, 4096);
    const LocalMap map(dev, memory.bytes(), DOCA_ACCESS_RDMA_READ);
    const BufHandle buf = inventory.full(map, memory.data(), 8), empty = inventory.empty(map, memory.data(), 8);
    EXPECT_EQ(left.send(buf), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(left.receive(empty), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(left.write(remote_empty(0, 8), buf), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(left.read(empty, remote_full(0, 8)), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(left.add(remote_full(0, 8), empty, 1), DOCA_ERROR_NOT_PERMITTED);
    expect_works();
}

TEST_P(RdmaErrors, MemoryOfAnotherDeviceIsRefused)
{
    const std::vector<DeviceParam> all = devices_that(can_connect);
    if (all.size() < 2)
        GTEST_SKIP() << "one device only";
    const bool is_first = GetParam().pci == all.front().pci && GetParam().ibdev == all.front().ibdev;
    const DevHandle second = open_device(is_first ? all.back() : all.front());
    Memory memory(MemoryKind::heap, 4096);
    const LocalMap map(second.get(), memory.bytes(), exposed);
    const BufHandle buf = inventory.full(map, memory.data(), 8);
    EXPECT_EQ(left.send(buf), DOCA_ERROR_INVALID_VALUE);
    const MmapHandle other = import_rdma(export_rdma(right_map, dev), second);
    const BufHandle far = inventory.empty(other, right_memory.data(), 8);
    EXPECT_EQ(left.write(far, local_full(0, 8)), DOCA_ERROR_INVALID_VALUE);
    expect_works();
    // With both devices, both kinds of memory work.
    const LocalMap both({second.get(), dev.get()}, memory.bytes(), exposed);
    const BufHandle good = inventory.full(both, memory.data(), 8);
    const BufHandle dst = remote_empty(0, 8);
    ASSERT_EQ(left.write(dst, good), DOCA_SUCCESS);
    EXPECT_EQ(left.result(), DOCA_SUCCESS);
    // But what was exported through the other device is not the peer's.
    const MmapHandle foreign = import_rdma(export_rdma(both, second), dev);
    const BufHandle target = inventory.empty(foreign, memory.data(), 8);
    const BufHandle src = local_full(0, 8);
    ASSERT_EQ(left.write(target, src), DOCA_SUCCESS);
    EXPECT_EQ(left.result(), DOCA_ERROR_NOT_PERMITTED);
}

TEST_P(RdmaErrors, FullQueuesRefuse)
{
    const RdmaEnd small(dev, {.depth = 8, .send_queue_size = 2, .recv_queue_size = 3}), peer(dev);
    must(small.connect(peer.details()));
    must(peer.connect(small.details()));
    std::uint32_t actual = 0;
    must(doca_rdma_get_recv_queue_size(small.rdma(), &actual));
    EXPECT_EQ(actual, 4U);
    for (std::uint64_t i = 0; i < 2; ++i)
        ASSERT_EQ(small.send(nullptr, {}, i), DOCA_SUCCESS);
    EXPECT_EQ(small.send(nullptr), DOCA_ERROR_NO_MEMORY);
    for (std::uint64_t i = 0; i < 4; ++i)
        ASSERT_EQ(small.receive(nullptr, 10 + i), DOCA_SUCCESS);
    EXPECT_EQ(small.receive(nullptr), DOCA_ERROR_NO_MEMORY);
    ASSERT_EQ(peer.receive(nullptr), DOCA_SUCCESS);
    EXPECT_EQ(small.wait().user_data, 0U);
    ASSERT_EQ(small.send(nullptr, {}, 2), DOCA_SUCCESS); // there is room again
    ASSERT_EQ(peer.send(nullptr), DOCA_SUCCESS);
    EXPECT_EQ(small.wait().user_data, 10U);
    ASSERT_EQ(small.receive(nullptr), DOCA_SUCCESS);

    const RdmaEnd shallow(dev, {.depth = 2}), other(dev);
    must(shallow.connect(other.details()));
    must(other.connect(shallow.details()));
    ASSERT_EQ(shallow.receive(nullptr), DOCA_SUCCESS);
    ASSERT_EQ(shallow.write(nullptr, nullptr), DOCA_SUCCESS); // ended, not retrieved
    EXPECT_EQ(shallow.write(nullptr, nullptr), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(shallow.receive(nullptr), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(shallow.result(), DOCA_SUCCESS);
    EXPECT_EQ(shallow.write(nullptr, nullptr), DOCA_SUCCESS);
    EXPECT_EQ(shallow.result(), DOCA_SUCCESS);
}

TEST_P(RdmaErrors, JobsNeedAConnection)
{
    const RdmaEnd alone(dev);
    EXPECT_EQ(alone.send(nullptr), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(alone.receive(nullptr), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(alone.write(nullptr, nullptr), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(alone.try_retrieve().status, DOCA_ERROR_AGAIN);
}

TEST_P(RdmaErrors, AMessageThatIsTooLongFailsOnBothSides)
{
    for (const std::size_t room : {std::size_t{0}, std::size_t{7}, std::size_t{99}}) {
        const RdmaEnd a(dev), b(dev);
        must(a.connect(b.details()));
        must(b.connect(a.details()));
        const BufHandle src = local_full(0, room < 99 ? room + 1 : 4000);
        const BufHandle dst = right_empty(0, 99);
        must(doca_buf_set_data(dst, right_memory.data(), 99 - room));
        ASSERT_EQ(b.receive(room == 0 ? nullptr : dst.get(), 1), DOCA_SUCCESS);
        ASSERT_EQ(b.receive(nullptr, 2), DOCA_SUCCESS);
        ASSERT_EQ(a.receive(nullptr, 3), DOCA_SUCCESS);
        ASSERT_EQ(a.send(src, {}, 4), DOCA_SUCCESS);
        RdmaEnded ended = a.wait();
        EXPECT_EQ(ended.status, DOCA_ERROR_IO_FAILED);
        EXPECT_EQ(ended.user_data, 4U);
        EXPECT_EQ(ended.result.result, DOCA_ERROR_FULL);
        ended = a.wait();
        EXPECT_EQ(ended.user_data, 3U);
        EXPECT_EQ(ended.result.result, DOCA_ERROR_SHUTDOWN);
        ended = b.wait();
        EXPECT_EQ(ended.status, DOCA_ERROR_IO_FAILED);
        EXPECT_EQ(ended.user_data, 1U);
        EXPECT_EQ(ended.result.result, DOCA_ERROR_FULL);
        ended = b.wait();
        EXPECT_EQ(ended.user_data, 2U);
        EXPECT_EQ(ended.result.result, DOCA_ERROR_SHUTDOWN);
        EXPECT_EQ(a.state(), DOCA_RDMA_STATE_ERROR);
        EXPECT_EQ(b.state(), DOCA_RDMA_STATE_ERROR);
        EXPECT_EQ(data_len_of(dst), 99 - room);
        EXPECT_TRUE(is_filled(right_bytes(0, 200), 2));
        EXPECT_EQ(a.try_retrieve().status, DOCA_ERROR_AGAIN);
        EXPECT_EQ(b.try_retrieve().status, DOCA_ERROR_AGAIN);
    }
}

TEST_P(RdmaErrors, RightsOfThePeerAreCheckedOnMemoryAndInstance)
{
    constexpr std::uint32_t rights[] = {DOCA_ACCESS_RDMA_READ, DOCA_ACCESS_RDMA_WRITE, DOCA_ACCESS_RDMA_ATOMIC};
    const BufHandle full = local_full(0, 8);
    for (const bool on_memory : {true, false}) {
        for (int job = 0; job < 4; ++job) {
            for (const std::uint32_t missing : rights) {
                const std::uint32_t given = all_rdma_rights & ~missing;
                const LocalMap map(dev, right_memory.bytes(),
                                   on_memory ? DOCA_ACCESS_LOCAL_READ_WRITE | given : exposed);
                const MmapHandle far = import_rdma(export_rdma(map, dev), dev);
                const RdmaEnd a(dev), b(dev, {.permissions = on_memory ? exposed : given});
                must(a.connect(b.details()));
                must(b.connect(a.details()));
                const BufHandle empty = local_empty(0, 8);
                const BufHandle far_full = inventory.full(far, right_memory.data(), 8);
                const BufHandle far_empty = inventory.empty(far, right_memory.data(), 8);
                ASSERT_EQ(b.receive(nullptr), DOCA_SUCCESS);
                const std::uint32_t needed = job == 0 ? rights[0] : job == 3 ? rights[2] : rights[1];
                ASSERT_EQ(job == 0   ? a.read(empty, far_full)
                          : job == 1 ? a.write(far_empty, full)
                          : job == 2 ? a.write(far_empty, full, 5)
                                     : a.add(far_full, empty, 1),
                          DOCA_SUCCESS);
                EXPECT_EQ(a.result(), missing == needed ? DOCA_ERROR_NOT_PERMITTED : DOCA_SUCCESS)
                    << on_memory << job << missing;
                EXPECT_EQ(a.state(), missing == needed ? DOCA_RDMA_STATE_ERROR : DOCA_RDMA_STATE_CONNECTED);
            }
        }
    }
}

/// Also of memory that the connection has accessed before, with another right.
TEST_P(RdmaErrors, RightsAreCheckedForEachJob)
{
    constexpr std::uint32_t rights[] = {DOCA_ACCESS_RDMA_READ, DOCA_ACCESS_RDMA_WRITE, DOCA_ACCESS_RDMA_ATOMIC};
    for (const std::size_t missing : {0U, 1U, 2U}) {
        const LocalMap map(dev, right_memory.bytes(),
                           DOCA_ACCESS_LOCAL_READ_WRITE | (all_rdma_rights & ~rights[missing]));
        const MmapHandle far = import_rdma(export_rdma(map, dev), dev);
        const RdmaEnd a(dev), b(dev);
        must(a.connect(b.details()));
        must(b.connect(a.details()));
        const BufHandle full = local_full(0, 8);
        const BufHandle empty = local_empty(64, 8);
        const BufHandle far_full = inventory.full(far, right_memory.data(), 8);
        const BufHandle far_empty = inventory.empty(far, right_memory.data(), 8);
        const auto submit = [&](std::size_t job) {
            must(doca_buf_reset_data_len(empty));
            must(doca_buf_reset_data_len(far_empty));
            return job == 0 ? a.read(empty, far_full) : job == 1 ? a.write(far_empty, full) : a.add(far_full, empty, 1);
        };
        for (const std::size_t job : {0U, 1U, 2U, 0U, 1U, 2U}) {
            if (job == missing)
                continue;
            ASSERT_EQ(submit(job), DOCA_SUCCESS);
            EXPECT_EQ(a.result(), DOCA_SUCCESS) << job;
        }
        const std::vector<std::byte> before(right_memory.data(), right_memory.data() + 8);
        ASSERT_EQ(submit(missing), DOCA_SUCCESS);
        EXPECT_EQ(a.result(), DOCA_ERROR_NOT_PERMITTED) << missing;
        EXPECT_EQ(std::memcmp(before.data(), right_memory.data(), 8), 0);
    }
}

TEST_P(RdmaErrors, MemoryWhoseMapWasStoppedIsNotAccessed)
{
    for (const std::size_t job : {0U, 1U, 2U}) {
        const LocalMap map(dev, right_memory.bytes(), exposed);
        const MmapHandle far = import_rdma(export_rdma(map, dev), dev);
        const RdmaEnd a(dev), b(dev);
        must(a.connect(b.details()));
        must(b.connect(a.details()));
        const BufHandle full = local_full(0, 8);
        const BufHandle empty = local_empty(64, 8);
        const BufHandle far_full = inventory.full(far, right_memory.data(), 8);
        const BufHandle far_empty = inventory.empty(far, right_memory.data(), 8);
        const auto submit = [&] {
            must(doca_buf_reset_data_len(empty));
            must(doca_buf_reset_data_len(far_empty));
            return job == 0 ? a.read(empty, far_full) : job == 1 ? a.write(far_empty, full) : a.add(far_full, empty, 1);
        };
        for (int i = 0; i != 3; ++i) {
            ASSERT_EQ(submit(), DOCA_SUCCESS);
            EXPECT_EQ(a.result(), DOCA_SUCCESS) << job;
        }
        must(doca_mmap_stop(map));
        fill(right_memory.bytes(), 3);
        const std::vector<std::byte> ours(left_memory.data(), left_memory.data() + 128);
        ASSERT_EQ(submit(), DOCA_SUCCESS);
        EXPECT_NE(a.result(), DOCA_SUCCESS) << job;
        EXPECT_TRUE(is_filled(right_bytes(0, 200), 3)) << job;
        EXPECT_EQ(std::memcmp(ours.data(), left_memory.data(), ours.size()), 0) << job;
    }
}

/// As a queue pair's, which looks at its memory keys for bytes alone.
TEST_P(RdmaErrors, WritesOfNoBytesTakeTheRightOfTheInstanceAlone)
{
    const LocalMap map(dev, right_memory.bytes(), DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ);
    const MmapHandle far = import_rdma(export_rdma(map, dev), dev);
    const BufHandle far_empty = inventory.empty(far, right_memory.data(), 8);
    for (const std::uint32_t given : {all_rdma_rights, all_rdma_rights & ~DOCA_ACCESS_RDMA_WRITE}) {
        for (const auto immediate : {std::optional<std::uint32_t>{}, std::optional<std::uint32_t>{5}}) {
            const RdmaEnd a(dev), b(dev, {.permissions = given});
            must(a.connect(b.details()));
            must(b.connect(a.details()));
            ASSERT_EQ(b.receive(nullptr), DOCA_SUCCESS);
            ASSERT_EQ(a.write(far_empty, nullptr, immediate), DOCA_SUCCESS);
            EXPECT_EQ(a.result(), given == all_rdma_rights ? DOCA_SUCCESS : DOCA_ERROR_NOT_PERMITTED)
                << immediate.has_value() << " 0x" << std::hex << given;
        }
    }
}

TEST_P(RdmaErrors, AFailureFlushesWhatIsInFlight)
{
    const BufHandle src = local_full(0, 8);
    const BufHandle dst = remote_empty(0, 8);
    Memory memory(MemoryKind::heap, 4096);
    LocalMap map(dev, memory.bytes(), DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ);
    const MmapHandle far = import_rdma(export_rdma(map, dev), dev);
    const BufHandle forbidden = inventory.empty(far, memory.data(), 8);
    const BufHandle room = right_empty(0, 8);
    ASSERT_EQ(left.receive(nullptr, 1), DOCA_SUCCESS);
    ASSERT_EQ(left.send(src, {}, 2), DOCA_SUCCESS);
    ASSERT_EQ(left.write(forbidden, src, {}, 3), DOCA_SUCCESS);
    ASSERT_EQ(left.write(dst, src, {}, 4), DOCA_SUCCESS);
    ASSERT_EQ(left.receive(nullptr, 5), DOCA_SUCCESS);
    ASSERT_EQ(right.receive(room, 6), DOCA_SUCCESS);
    std::map<std::uint64_t, doca_error_t> results;
    for (int i = 0; i < 5; ++i) {
        const RdmaEnded ended = left.wait();
        EXPECT_TRUE(results.emplace(ended.user_data, ended.result.result).second) << ended.user_data;
        EXPECT_EQ(ended.status, ended.result.result == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED);
    }
    const std::map<std::uint64_t, doca_error_t> expected = {{1, DOCA_ERROR_SHUTDOWN},
                                                            {2, DOCA_SUCCESS},
                                                            {3, DOCA_ERROR_NOT_PERMITTED},
                                                            {4, DOCA_ERROR_SHUTDOWN},
                                                            {5, DOCA_ERROR_SHUTDOWN}};
    EXPECT_EQ(results, expected);
    EXPECT_EQ(left.try_retrieve().status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(data_len_of(dst), 0U);
    EXPECT_TRUE(is_filled(right_bytes(8, 32), 2, 8));
    // What came before the failure has arrived.
    EXPECT_EQ(right.wait().result.result, DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(right_bytes(0, 8), 1));
}

TEST_P(RdmaErrors, ReceivesAreCancelledByRemovingTheWorkQueue)
{
    const BufHandle dst = local_empty(0, 64);
    ASSERT_EQ(left.receive(dst, 1), DOCA_SUCCESS);
    ASSERT_EQ(left.receive(nullptr, 2), DOCA_SUCCESS);
    ASSERT_EQ(left.send(nullptr, {}, 3), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_workq_rm(left.ctx(), left.workq()), DOCA_ERROR_NOT_PERMITTED);
    std::uint64_t sum = 0;
    for (int i = 0; i < 3; ++i) {
        const RdmaEnded ended = left.wait();
        EXPECT_EQ(ended.status, DOCA_ERROR_IO_FAILED);
        EXPECT_EQ(ended.result.result, DOCA_ERROR_SHUTDOWN);
        sum += ended.user_data;
    }
    EXPECT_EQ(sum, 6U);
    EXPECT_EQ(left.state(), DOCA_RDMA_STATE_ERROR);
    EXPECT_EQ(doca_ctx_workq_rm(left.ctx(), left.workq()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_workq_add(left.ctx(), left.workq()), DOCA_SUCCESS);
    // The peer learns of it by its next job.
    ASSERT_EQ(right.send(nullptr), DOCA_SUCCESS);
    EXPECT_EQ(right.result(), DOCA_ERROR_CONNECTION_RESET);
}

TEST_P(RdmaErrors, CompletedJobsAreNotCancelled)
{
    ASSERT_EQ(left.write(nullptr, nullptr), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_workq_rm(left.ctx(), left.workq()), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(left.result(), DOCA_SUCCESS);
    EXPECT_EQ(left.state(), DOCA_RDMA_STATE_CONNECTED);
    EXPECT_EQ(doca_ctx_workq_rm(left.ctx(), left.workq()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_workq_add(left.ctx(), left.workq()), DOCA_SUCCESS);
    expect_works();
}

} // namespace
