// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What path_cost.cpp and task_cost.cpp do, by libibverbs alone: the instructions of a program that makes the same calls
// itself. Run by path_cost.sh under callgrind.
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "../conformance/support/plain_verbs.hpp"
#include "../conformance/support/rdma_fixture.hpp"
#include "bare_verbs.hpp"
#include "counted_jobs.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t size = 64;

constexpr auto nothing = [] {};

/// A queue pair that is connected to itself.
class BareCost : public testing::Test {
protected:
    void SetUp() override
    {
        must_hold(pd != nullptr, "ibv_alloc_pd");
        region.reset(ibv_reg_mr(pd.get(), memory.data(), memory.size(),
                                IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE));
        must_hold(region != nullptr, "ibv_reg_mr");
        ibv_qp_init_attr_ex wanted{};
        wanted.qp_type = IBV_QPT_RC;
        wanted.send_cq = sent.get();
        wanted.recv_cq = received.get();
        wanted.cap = {4, 4, 1, 1, size};
        wanted.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        wanted.pd = pd.get();
        wanted.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_RDMA_WRITE;
        pair.reset(ibv_create_qp_ex(context.get(), &wanted));
        must_hold(pair != nullptr, "ibv_create_qp_ex");
        connect_to_itself(pair.get());
    }

    [[nodiscard]] VerbsHandle<ibv_cq> create_queue() const
    {
        ibv_cq_init_attr_ex wanted{};
        wanted.cqe = 8;
        wanted.wc_flags = IBV_WC_EX_WITH_BYTE_LEN;
        ibv_cq_ex *const queue = ibv_create_cq_ex(context.get(), &wanted);
        must_hold(queue != nullptr, "ibv_create_cq_ex");
        return VerbsHandle<ibv_cq>(ibv_cq_ex_to_cq(queue));
    }

    [[nodiscard]] bare::Transfer transfer() const
    {
        return {1, memory_at(0), size, region->lkey, reinterpret_cast<std::uintptr_t>(memory_at(1)), region->rkey};
    }
    [[nodiscard]] void *memory_at(std::size_t part) const { return const_cast<std::byte *>(&memory[part * size]); }
    [[nodiscard]] ibv_qp_ex *sender() const { return ibv_qp_to_qp_ex(pair.get()); }

    /// Gives how often there was no completion yet.
    static int await(ibv_cq *queue, bool is_counted, bool (*poll)(ibv_cq_ex *, bare::Completion &))
    {
        auto *const extended = reinterpret_cast<ibv_cq_ex *>(queue); // as ibv_cq_ex_to_cq() has it
        bare::Completion completion{};
        int num_empty = 0;
        for (; !counted(is_counted, [&] { return poll(extended, completion); }); ++num_empty)
            std::this_thread::yield();
        must_hold(completion.status == IBV_WC_SUCCESS, "a completion without an error");
        return num_empty;
    }

    DevHandle dev{open_device(devices_that(can_connect).front())};
    VerbsHandle<ibv_context> context{open_context(ibdev_of(doca_dev_as_devinfo(dev)))};
    VerbsHandle<ibv_pd> pd{ibv_alloc_pd(context.get())};
    std::vector<std::byte> memory = std::vector<std::byte>(2 * size);
    VerbsHandle<ibv_mr> region;
    VerbsHandle<ibv_cq> sent{create_queue()};
    VerbsHandle<ibv_cq> received{create_queue()};
    VerbsHandle<ibv_qp> pair;
};

TEST_F(BareCost, OfEmptyPolls)
{
    CALLGRIND_ZERO_STATS;
    for (int i = 0; i != num_counted_jobs; ++i) {
        bare::Completion completion{};
        auto *const extended = reinterpret_cast<ibv_cq_ex *>(sent.get());
        must_hold(!counted(true, [&] { return bare::poll(extended, completion); }), "there is nothing to poll");
    }
    CALLGRIND_DUMP_STATS_AT("bare nothing");
}

TEST_F(BareCost, OfWrite)
{
    count_jobs(
        "bare write", nothing, [&] { must_hold(bare::post_write(sender(), transfer()) == 0, "a write"); }, nothing,
        [&](bool is_counted) { return await(sent.get(), is_counted, bare::poll); });
}

TEST_F(BareCost, OfRead)
{
    count_jobs(
        "bare read", nothing, [&] { must_hold(bare::post_read(sender(), transfer()) == 0, "a read"); }, nothing,
        [&](bool is_counted) { return await(sent.get(), is_counted, bare::poll); });
}

TEST_F(BareCost, OfSend)
{
    count_jobs(
        "bare send", [&] { must_hold(bare::post_receive(pair.get(), transfer()) == 0, "a receive"); },
        [&] { must_hold(bare::post_send(sender(), transfer()) == 0, "a send"); },
        [&] { (void)await(received.get(), false, bare::poll_receive); },
        [&](bool is_counted) { return await(sent.get(), is_counted, bare::poll); });
}

TEST_F(BareCost, OfReceive)
{
    count_jobs(
        "bare receive", nothing, [&] { must_hold(bare::post_receive(pair.get(), transfer()) == 0, "a receive"); },
        [&] {
            must_hold(bare::post_send(sender(), transfer()) == 0, "a send");
            (void)await(sent.get(), false, bare::poll);
        },
        [&](bool is_counted) { return await(received.get(), is_counted, bare::poll_receive); });
}

TEST_F(BareCost, OfCopy)
{
    count_jobs(
        "bare copy", nothing,
        [&] {
            must_hold(bare::post_receive(pair.get(), transfer()) == 0, "a receive");
            must_hold(bare::post_send(sender(), transfer()) == 0, "a send");
        },
        [&] { (void)await(sent.get(), false, bare::poll); },
        [&](bool is_counted) { return await(received.get(), is_counted, bare::poll); });
}

} // namespace
