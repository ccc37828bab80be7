// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// RDMA jobs between two instances of one process.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <arpa/inet.h>

#include <doca_graph.h>

#include "support/rdma_fixture.hpp"

namespace {

using namespace doca_test;

class Rdma : public RdmaTest {};
INSTANTIATE_FOR_FEW_DEVICES(Rdma, can_connect);

TEST_P(Rdma, WriteAppendsToTheRemoteBuffer)
{
    for (const std::size_t len : {1U, 7U, 8U, 31U, 32U, 64U, 65U, 4096U, 20000U}) {
        const BufHandle src = local_full(5, len);
        const BufHandle dst = inventory.with(imported, right_memory.data() + 3, len + 16, right_memory.data() + 3, 16);
        ASSERT_EQ(left.write(dst, src, {}, 0x77), DOCA_SUCCESS);
        const RdmaEnded ended = left.wait();
        EXPECT_EQ(ended.status, DOCA_SUCCESS);
        EXPECT_EQ(ended.type, DOCA_RDMA_JOB_WRITE);
        EXPECT_EQ(ended.user_data, 0x77U);
        EXPECT_EQ(ended.result.result, DOCA_SUCCESS);
        EXPECT_EQ(ended.result.length, 0U);
        EXPECT_EQ(ended.result.rdma_peer_addr, nullptr);
        EXPECT_TRUE(is_filled(right_bytes(19, len), 1, 5)) << len;
        EXPECT_TRUE(is_filled(right_bytes(0, 19), 2)) << len;
        EXPECT_TRUE(is_filled(right_bytes(19 + len, 100), 2, 19 + len)) << len;
        EXPECT_EQ(data_len_of(dst), len + 16);
        fill(right_memory.bytes(), 2);
    }
}

/// More maps than a connection keeps the keys of, some of which are imported again.
TEST_P(Rdma, MapsAreAccessedInTurn)
{
    constexpr std::size_t count = 11;
    constexpr std::size_t part = 256;
    std::vector<LocalMap> maps;
    std::vector<MmapHandle> imports(count);
    for (std::size_t i = 0; i != count; ++i)
        maps.emplace_back(dev, right_memory.bytes().subspan(i * part, part), exposed);
    for (int round = 0; round != 4; ++round) {
        for (std::size_t i = 0; i != count; ++i) {
            if (round == 0 || i % 3 == 0)
                imports[i] = import_rdma(export_rdma(maps[i], dev), dev);
            std::byte *const at = right_memory.data() + i * part;
            for (const std::size_t len : {std::size_t{8}, std::size_t{100}}) {
                fill(right_memory.bytes(), 2);
                const BufHandle src = local_full(i, len);
                const BufHandle dst = inventory.empty(imports[i], at, len);
                ASSERT_EQ(left.write(dst, src), DOCA_SUCCESS);
                EXPECT_EQ(left.result(), DOCA_SUCCESS);
                EXPECT_TRUE(is_filled(right_bytes(i * part, len), 1, i)) << i << " " << len;
                EXPECT_TRUE(is_filled(right_bytes(i * part + len, part), 2, i * part + len)) << i << " " << len;
                const BufHandle back = local_empty(4096, len);
                ASSERT_EQ(left.read(back, dst), DOCA_SUCCESS);
                EXPECT_EQ(left.wait().result.length, len);
                EXPECT_EQ(std::memcmp(left_memory.data() + 4096, at, len), 0) << i << " " << len;
            }
        }
    }
}

TEST_P(Rdma, ReadMovesTheSmallerOfSourceAndRoom)
{
    for (const std::size_t len : {1U, 8U, 63U, 64U, 4096U, 30000U}) {
        const BufHandle src = remote_full(9, len);
        const BufHandle dst = local_empty(1, len + 10);
        ASSERT_EQ(left.read(dst, src), DOCA_SUCCESS);
        const RdmaEnded ended = left.wait();
        EXPECT_EQ(ended.status, DOCA_SUCCESS);
        EXPECT_EQ(ended.type, DOCA_RDMA_JOB_READ);
        EXPECT_EQ(ended.result.length, len);
        EXPECT_EQ(data_len_of(dst), len);
        EXPECT_TRUE(is_filled(left_memory.bytes().subspan(1, len), 2, 9)) << len;
        EXPECT_TRUE(is_filled(left_memory.bytes().subspan(1 + len, 10), 1, 1 + len)) << len;
        fill(left_memory.bytes(), 1);
    }
    const BufHandle src = remote_full(0, 100);
    const BufHandle small = local_empty(0, 40);
    ASSERT_EQ(left.read(small, src), DOCA_SUCCESS);
    EXPECT_EQ(left.wait().result.length, 40U);
    EXPECT_EQ(data_len_of(small), 40U);
}

TEST_P(Rdma, ADestinationWithoutTailroomIsOverwritten)
{
    const BufHandle src = local_full(0, 24);
    const BufHandle dst = remote_full(0, 64);
    ASSERT_EQ(left.write(dst, src), DOCA_SUCCESS);
    EXPECT_EQ(left.result(), DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(dst), 24U);
    EXPECT_TRUE(is_filled(right_bytes(0, 24), 1));

    const BufHandle full_dst = full(right_map, right_memory, 1000, 64);
    ASSERT_EQ(right.receive(full_dst), DOCA_SUCCESS);
    ASSERT_EQ(left.send(src), DOCA_SUCCESS);
    EXPECT_EQ(right.result(), DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(full_dst), 24U);
    EXPECT_TRUE(is_filled(right_bytes(1000, 24), 1));
    EXPECT_EQ(left.result(), DOCA_SUCCESS);
}

TEST_P(Rdma, ChainsScatterAndGather)
{
    const BufHandle src = local_full(0, 10);
    must(doca_buf_list_chain(src, local_full(100, 0).release()));
    must(doca_buf_list_chain(src, local_full(200, 3000).release()));
    const BufHandle dst = remote_empty(0, 5000);
    ASSERT_EQ(left.write(dst, src), DOCA_SUCCESS);
    EXPECT_EQ(left.result(), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(right_bytes(0, 10), 1));
    EXPECT_TRUE(is_filled(right_bytes(10, 3000), 1, 200));
    EXPECT_EQ(data_len_of(dst), 3010U);

    const BufHandle back = local_empty(10000, 7);
    doca_buf *const second = local_empty(11000, 4000).release();
    must(doca_buf_list_chain(back, second));
    ASSERT_EQ(left.read(back, dst), DOCA_SUCCESS);
    const RdmaEnded ended = left.wait();
    EXPECT_EQ(ended.result.result, DOCA_SUCCESS);
    EXPECT_EQ(ended.result.length, 3010U);
    EXPECT_EQ(data_len_of(back), 7U);
    EXPECT_EQ(data_len_of(second), 3003U);
    EXPECT_TRUE(is_filled(left_memory.bytes().subspan(10000, 7), 1));
    EXPECT_TRUE(is_filled(left_memory.bytes().subspan(11000, 3), 1, 7));
    EXPECT_TRUE(is_filled(left_memory.bytes().subspan(11003, 3000), 1, 200));
}

TEST_P(Rdma, MessagesFillChainsOfReceives)
{
    for (const std::size_t len : {1U, 20U, 40U, 41U, 100U, 5000U}) {
        const BufHandle src = local_full(0, len / 2);
        must(doca_buf_list_chain(src, local_full(20000, len - len / 2).release()));
        const BufHandle dst = right_empty(0, 13);
        doca_buf *const second = right_empty(100, 6000).release();
        must(doca_buf_list_chain(dst, second));
        ASSERT_EQ(right.receive(dst, 5), DOCA_SUCCESS);
        ASSERT_EQ(left.send(src), DOCA_SUCCESS);
        const RdmaEnded ended = right.wait();
        EXPECT_EQ(ended.status, DOCA_SUCCESS);
        EXPECT_EQ(ended.type, DOCA_RDMA_JOB_RECV);
        EXPECT_EQ(ended.user_data, 5U);
        EXPECT_EQ(ended.result.result, DOCA_SUCCESS);
        EXPECT_EQ(ended.result.opcode, DOCA_RDMA_OPCODE_RECV_SEND);
        EXPECT_EQ(ended.result.length, len);
        EXPECT_EQ(left.result(), DOCA_SUCCESS);
        std::vector<std::byte> sent(len), got(len);
        fill(std::span(sent).first(len / 2), 1);
        fill(std::span(sent).subspan(len / 2), 1, 20000);
        const std::size_t first = std::min<std::size_t>(len, 13);
        EXPECT_EQ(data_len_of(dst), first);
        EXPECT_EQ(data_len_of(second), len - first);
        std::ranges::copy(right_bytes(0, first), got.begin());
        std::ranges::copy(right_bytes(100, len - first), got.begin() + static_cast<std::ptrdiff_t>(first));
        EXPECT_EQ(sent, got) << len;
    }
}

TEST_P(Rdma, ImmediatesArriveAsTheyWereGiven)
{
    const BufHandle src = local_full(0, 16);
    const BufHandle dst = right_empty(0, 16);
    ASSERT_EQ(right.receive(dst), DOCA_SUCCESS);
    ASSERT_EQ(left.send(src, htonl(0x01020304)), DOCA_SUCCESS);
    RdmaEnded ended = right.wait();
    EXPECT_EQ(ended.result.opcode, DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM);
    EXPECT_EQ(ended.result.immediate_data, htonl(0x01020304));
    EXPECT_EQ(ended.result.length, 16U);
    EXPECT_EQ(left.wait().type, DOCA_RDMA_JOB_SEND_IMM);

    for (const std::size_t len : {0U, 8U, 3000U}) {
        const BufHandle wsrc = local_full(0, 3000);
        must(doca_buf_set_data(wsrc, left_memory.data(), len));
        const BufHandle wdst = remote_empty(8000, 4000);
        ASSERT_EQ(right.receive(nullptr), DOCA_SUCCESS);
        ASSERT_EQ(left.write(wdst, wsrc, htonl(77)), DOCA_SUCCESS);
        ended = right.wait();
        EXPECT_EQ(ended.result.result, DOCA_SUCCESS);
        EXPECT_EQ(ended.result.opcode, DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM);
        EXPECT_EQ(ended.result.immediate_data, htonl(77));
        EXPECT_EQ(ended.result.length, len);
        EXPECT_TRUE(is_filled(right_bytes(8000, len), 1));
        EXPECT_EQ(left.wait().type, DOCA_RDMA_JOB_WRITE_IMM);
        EXPECT_EQ(data_len_of(wdst), len);
    }
}

TEST_P(Rdma, EmptyMessagesAndTransfersNeedNoBuffers)
{
    ASSERT_EQ(right.receive(nullptr), DOCA_SUCCESS);
    ASSERT_EQ(left.send(nullptr), DOCA_SUCCESS);
    RdmaEnded ended = right.wait();
    EXPECT_EQ(ended.result.result, DOCA_SUCCESS);
    EXPECT_EQ(ended.result.length, 0U);
    EXPECT_EQ(left.result(), DOCA_SUCCESS);
    ASSERT_EQ(left.read(nullptr, nullptr), DOCA_SUCCESS);
    EXPECT_EQ(left.wait().result.length, 0U);
    ASSERT_EQ(left.write(nullptr, nullptr), DOCA_SUCCESS);
    EXPECT_EQ(left.result(), DOCA_SUCCESS);
    ASSERT_EQ(right.receive(nullptr), DOCA_SUCCESS);
    ASSERT_EQ(left.write(nullptr, nullptr, 5), DOCA_SUCCESS);
    ended = right.wait();
    EXPECT_EQ(ended.result.opcode, DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM);
    EXPECT_EQ(ended.result.immediate_data, 5U);
    EXPECT_EQ(left.result(), DOCA_SUCCESS);
}

TEST_P(Rdma, AtomicsGiveTheOldValue)
{
    std::uint64_t value = 40;
    std::memcpy(right_memory.data() + 64, &value, sizeof(value));
    const BufHandle target = remote_full(64, 8);
    const BufHandle result = local_empty(3, 8); // needs no alignment
    const auto old = [&] {
        std::uint64_t word = 0;
        std::memcpy(&word, left_memory.data() + 3, sizeof(word));
        return word;
    };
    const auto now = [&] {
        std::uint64_t word = 0;
        std::memcpy(&word, right_memory.data() + 64, sizeof(word));
        return word;
    };
    ASSERT_EQ(left.add(target, result, 2), DOCA_SUCCESS);
    const RdmaEnded ended = left.wait();
    EXPECT_EQ(ended.type, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD);
    EXPECT_EQ(ended.result.result, DOCA_SUCCESS);
    EXPECT_EQ(old(), 40U);
    EXPECT_EQ(now(), 42U);
    EXPECT_EQ(data_len_of(result), 0U);
    EXPECT_EQ(data_len_of(target), 8U);

    ASSERT_EQ(left.compare_swap(target, result, 41, 7), DOCA_SUCCESS);
    EXPECT_EQ(left.wait().type, DOCA_RDMA_JOB_ATOMIC_CMP_SWP);
    EXPECT_EQ(old(), 42U);
    EXPECT_EQ(now(), 42U);
    ASSERT_EQ(left.compare_swap(target, result, 42, 7), DOCA_SUCCESS);
    EXPECT_EQ(left.result(), DOCA_SUCCESS);
    EXPECT_EQ(old(), 42U);
    EXPECT_EQ(now(), 7U);
    ASSERT_EQ(left.add(target, result, UINT64_MAX), DOCA_SUCCESS);
    EXPECT_EQ(left.result(), DOCA_SUCCESS);
    EXPECT_EQ(now(), 6U);
}

TEST_P(Rdma, ASendWaitsForTheReceiveAndKeepsTheOrder)
{
    const BufHandle first = local_full(0, 8);
    const BufHandle second = local_full(100, 3000);
    const BufHandle write_src = local_full(4000, 8);
    const BufHandle write_dst = remote_empty(4000, 8);
    const BufHandle read_dst = local_empty(5000, 8);
    const BufHandle read_src = remote_full(6000, 8);
    ASSERT_EQ(left.send(first, {}, 1), DOCA_SUCCESS);
    ASSERT_EQ(left.write(write_dst, write_src, {}, 2), DOCA_SUCCESS);
    ASSERT_EQ(left.send(second, {}, 3), DOCA_SUCCESS);
    ASSERT_EQ(left.read(read_dst, read_src, 4), DOCA_SUCCESS);
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(left.try_retrieve().status, DOCA_ERROR_AGAIN);
    EXPECT_TRUE(is_filled(right_bytes(4000, 8), 2, 4000)) << "the write overtook the send";

    const BufHandle dst = right_empty(0, 8);
    ASSERT_EQ(right.receive(dst), DOCA_SUCCESS);
    EXPECT_EQ(left.wait().user_data, 1U);
    EXPECT_EQ(left.wait().user_data, 2U);
    EXPECT_EQ(left.try_retrieve().status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(right.wait().result.length, 8U);
    const BufHandle large = right_empty(100, 3000);
    ASSERT_EQ(right.receive(large), DOCA_SUCCESS);
    EXPECT_EQ(left.wait().user_data, 3U);
    const RdmaEnded ended = left.wait();
    EXPECT_EQ(ended.user_data, 4U);
    EXPECT_EQ(ended.result.length, 8U);
    EXPECT_EQ(right.wait().result.length, 3000U);
    EXPECT_TRUE(is_filled(right_bytes(100, 3000), 1, 100));
}

TEST_P(Rdma, AReceiveEndsThoughTheQueueNeverRunsEmpty)
{
    const BufHandle src = local_full(0, 8);
    const BufHandle dst = remote_full(0, 8); // is overwritten
    ASSERT_EQ(left.receive(nullptr), DOCA_SUCCESS);
    ASSERT_EQ(right.send(nullptr), DOCA_SUCCESS);
    int type = 0;
    for (int i = 0; i < 1000 && type != DOCA_RDMA_JOB_RECV; ++i) {
        ASSERT_EQ(left.write(dst, src), DOCA_SUCCESS);
        type = left.wait().type;
    }
    EXPECT_EQ(type, DOCA_RDMA_JOB_RECV);
}

TEST_P(Rdma, ManyMessagesGoRoundTheQueues)
{
    // Both directions, with receives of several sizes, often and out of step enough to meet every way a
    // message takes.
    const std::size_t sizes[] = {8, 40, 41, 300, 0, 2000};
    std::vector<BufHandle> sources, to_right, to_left;
    for (std::size_t i = 0; i < 8; ++i) {
        to_right.push_back(right_empty(i * 2000, 2000));
        to_left.push_back(local_empty(30000 + i * 2000, 2000));
    }
    for (const std::size_t len : sizes)
        sources.push_back(local_full(len, len));
    const BufHandle right_src = full(right_map, right_memory, 60000, 20);
    std::size_t posted = 0;
    for (std::uint32_t round = 0; round < 3000; ++round) {
        for (; posted < round + 1 + round % 8; ++posted) {
            must(doca_buf_reset_data_len(to_right[posted % 8]));
            ASSERT_EQ(right.receive(to_right[posted % 8], posted), DOCA_SUCCESS);
        }
        const std::size_t len = sizes[round % std::size(sizes)];
        ASSERT_EQ(left.send(sources[round % std::size(sizes)], round), DOCA_SUCCESS);
        const RdmaEnded ended = right.wait();
        ASSERT_EQ(ended.result.result, DOCA_SUCCESS);
        ASSERT_EQ(ended.user_data, round);
        ASSERT_EQ(ended.result.length, len);
        ASSERT_EQ(ended.result.immediate_data, round);
        ASSERT_TRUE(is_filled(right_bytes(round % 8 * 2000, len), 1, len));
        ASSERT_EQ(left.result(), DOCA_SUCCESS);
        if (round % 3 != 0)
            continue;
        must(doca_buf_reset_data_len(to_left[round % 8]));
        ASSERT_EQ(left.receive(to_left[round % 8]), DOCA_SUCCESS);
        ASSERT_EQ(right.send(right_src), DOCA_SUCCESS);
        ASSERT_EQ(left.wait().result.length, 20U);
        ASSERT_EQ(right.result(), DOCA_SUCCESS);
    }
}

TEST_P(Rdma, WithoutAResultPointerNothingIsWritten)
{
    const BufHandle src = local_full(0, 8);
    const BufHandle dst = remote_empty(0, 8);
    ASSERT_EQ(left.write(dst, src, {}, 9), DOCA_SUCCESS);
    doca_event event = {};
    EXPECT_EQ(wait_for(left.workq(), event), DOCA_SUCCESS);
    EXPECT_EQ(event.type, DOCA_RDMA_JOB_WRITE);
    EXPECT_EQ(event.user_data.u64, 9U);
    EXPECT_EQ(event.result.ptr, nullptr);
    ASSERT_EQ(right.receive(nullptr), DOCA_SUCCESS);
    ASSERT_EQ(left.send(nullptr), DOCA_SUCCESS);
    EXPECT_EQ(wait_for(right.workq(), event), DOCA_SUCCESS);
    EXPECT_EQ(event.result.ptr, nullptr);
    EXPECT_EQ(left.result(), DOCA_SUCCESS);
    // Nor while there is nothing to retrieve.
    doca_rdma_result result;
    std::memset(&result, 0x5a, sizeof(result));
    const doca_rdma_result before = result;
    event.result.ptr = &result;
    event.type = 123;
    EXPECT_EQ(doca_workq_progress_retrieve(left.workq(), &event, 0), DOCA_ERROR_AGAIN);
    EXPECT_EQ(event.result.ptr, &result);
    EXPECT_EQ(event.type, 123);
    EXPECT_EQ(std::memcmp(&result, &before, sizeof(result)), 0);
}

TEST_P(Rdma, AnInstanceCanConnectToItself)
{
    const RdmaEnd self(dev);
    must(self.connect(self.details()));
    const BufHandle src = local_full(0, 500);
    const BufHandle dst = right_empty(0, 500);
    ASSERT_EQ(self.send(src, {}, 1), DOCA_SUCCESS);
    EXPECT_EQ(self.try_retrieve().status, DOCA_ERROR_AGAIN);
    ASSERT_EQ(self.receive(dst, 2), DOCA_SUCCESS);
    const RdmaEnded first = self.wait(), second = self.wait();
    EXPECT_EQ(first.user_data + second.user_data, 3U);
    EXPECT_EQ(first.result.result, DOCA_SUCCESS);
    EXPECT_EQ(second.result.result, DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(right_bytes(0, 500), 1));
    const BufHandle target = remote_empty(1000, 500);
    ASSERT_EQ(self.write(target, src), DOCA_SUCCESS);
    EXPECT_EQ(self.result(), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(right_bytes(1000, 500), 1));
}

TEST_P(Rdma, JobsCanBeNodesOfAGraph)
{
    // A message to itself and its receive, and when both have ended, a write of what has come.
    const RdmaEnd self(dev);
    must(self.connect(self.details()));
    const BufHandle src = local_full(0, 500), room = local_empty(1000, 500);
    const BufHandle arrived = local_full(1000, 500), dst = remote_empty(0, 500);
    doca_rdma_job_recv receive = {};
    receive.base.type = DOCA_RDMA_JOB_RECV;
    receive.dst_buff = room;
    doca_rdma_job_send send = {};
    send.base.type = DOCA_RDMA_JOB_SEND_IMM;
    send.src_buff = src;
    send.immediate_data = 9;
    doca_rdma_job_read_write write = {};
    write.base.type = DOCA_RDMA_JOB_WRITE;
    write.src_buff = arrived;
    write.dst_buff = dst;
    doca_job *const jobs[] = {&receive.base, &send.base, &write.base};
    doca_rdma_result results[3] = {};
    doca_event events[3] = {};

    doca_graph *graph = nullptr;
    must(doca_graph_create(&graph));
    doca_graph_node *nodes[3] = {};
    for (int i = 0; i < 3; ++i) {
        jobs[i]->ctx = self.ctx();
        events[i].result.ptr = &results[i];
        must(doca_graph_ctx_node_create(graph, jobs[i]->type, self.ctx(), &nodes[i]));
    }
    must(doca_graph_add_dependency(graph, nodes[0], nodes[2]));
    must(doca_graph_add_dependency(graph, nodes[1], nodes[2]));
    must(doca_graph_start(graph));
    must(doca_graph_workq_add(graph, self.workq()));
    doca_graph_instance *instance = nullptr;
    must(doca_graph_instance_create(graph, &instance));
    for (int i = 0; i < 3; ++i)
        must(doca_graph_instance_set_ctx_node_data(instance, nodes[i], jobs[i], &events[i]));
    must(doca_workq_graph_submit(self.workq(), instance, {.u64 = 77}));
    doca_event event = {};
    EXPECT_EQ(wait_for(self.workq(), event), DOCA_SUCCESS);
    EXPECT_EQ(event.user_data.u64, 77U);
    EXPECT_EQ(results[0].length, 500U);
    EXPECT_EQ(results[0].immediate_data, 9U);
    for (const doca_rdma_result &result : results)
        EXPECT_EQ(result.result, DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(right_bytes(0, 500), 1));
    must(doca_graph_instance_destroy(instance));
    must(doca_graph_workq_rm(graph, self.workq()));
    must(doca_graph_stop(graph));
    must(doca_graph_destroy(graph));
}

TEST_P(Rdma, JobsBeforeThePeerHasConnectedWait)
{
    const RdmaEnd early(dev), late(dev);
    must(early.connect(late.details()));
    const BufHandle src = local_full(0, 8);
    const BufHandle dst = remote_empty(0, 8);
    ASSERT_EQ(early.write(dst, src), DOCA_SUCCESS);
    ASSERT_EQ(early.receive(nullptr), DOCA_SUCCESS);
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(early.try_retrieve().status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(early.state(), DOCA_RDMA_STATE_CONNECTED);
    must(late.connect(early.details()));
    EXPECT_EQ(early.result(), DOCA_SUCCESS);
    ASSERT_EQ(late.send(nullptr), DOCA_SUCCESS);
    EXPECT_EQ(late.result(), DOCA_SUCCESS);
    EXPECT_EQ(early.result(), DOCA_SUCCESS);
}

} // namespace
