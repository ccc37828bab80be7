// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Jobs on an RDMA device for callgrind, which counts in what is marked here: submit, and retrieve until the
// job is given out. Retrieves that find nothing count as well; how many there were is printed, and what one
// costs is found out by itself, so that path_cost.sh, which runs this, can subtract them; and so is what a
// program executes that does the same by libibverbs.
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

class PathCost : public testing::Test {
protected:
    void SetUp() override
    {
        must(left.connect(right.details()));
        must(right.connect(left.details()));
    }

    static doca_error_t retrieve_once(doca_workq *workq, bool is_counted, bool has_structure)
    {
        doca_rdma_result result = {};
        doca_event event = {};
        event.result.ptr = has_structure ? &result : nullptr;
        return counted(is_counted, [&] { return doca_workq_progress_retrieve(workq, &event, 0); });
    }

    /// Gives the number of retrieves that found nothing.
    static int retrieve(doca_workq *workq, bool is_counted, bool has_structure)
    {
        int num_empty = 0;
        doca_error_t status = DOCA_ERROR_AGAIN;
        while ((status = retrieve_once(workq, is_counted, has_structure)) == DOCA_ERROR_AGAIN) {
            ++num_empty;
            std::this_thread::yield();
        }
        must(status);
        return num_empty;
    }

    /// Jobs that @p submit makes on @p workq, one at a time; @p before is called before each, @p after once
    /// it was submitted.
    template <typename Submit, typename Before, typename After>
    static void run(const char *name, doca_workq *workq, bool is_rdma, Submit submit, Before before, After after)
    {
        count_jobs(
            name, before, [&] { must(submit()); }, after,
            [&](bool is_counted) { return retrieve(workq, is_counted, is_rdma); });
    }

    [[nodiscard]] std::byte &part(std::size_t number) { return memory[number * size]; }
    /// For what the next job moves from part @p from to @p dst.
    void prepare(doca_buf *dst, std::size_t from)
    {
        must(doca_buf_reset_data_len(dst));
        part(from) = std::byte(std::to_integer<unsigned>(part(from)) + 1);
    }
    /// What is counted after this mostly finds a completion.
    void await_mark(std::size_t from, std::size_t to)
    {
        while (__atomic_load_n(reinterpret_cast<const unsigned char *>(&part(to)), __ATOMIC_ACQUIRE) !=
               std::to_integer<unsigned char>(part(from)))
            std::this_thread::yield();
        for (int i = 0; i != 50; ++i) // the completion follows
            std::this_thread::yield();
    }

    DevHandle dev{open_device(devices_that(can_connect).front())};
    std::vector<std::byte> memory = std::vector<std::byte>(4 * size);
    LocalMap map{dev.get(), memory, exposed};
    MmapHandle imported{import_rdma(export_rdma(map, dev), dev)};
    Inventory inventory{8};
    BufHandle full = inventory.full(map, &memory[0], size);
    BufHandle empty = inventory.empty(map, &memory[size], size);
    BufHandle remote_full = inventory.full(imported, &memory[2 * size], size);
    BufHandle remote_empty = inventory.empty(imported, &memory[3 * size], size);
    RdmaEnd left{dev};
    RdmaEnd right{dev};
};

/// With a job in flight that does not end: only then is the device asked.
TEST_F(PathCost, OfEmptyRetrieves)
{
    must(right.receive(nullptr));
    CALLGRIND_ZERO_STATS;
    for (int i = 0; i != num_counted_jobs; ++i)
        must_hold(retrieve_once(right.workq(), true, true) == DOCA_ERROR_AGAIN, "there is nothing to retrieve");
    CALLGRIND_DUMP_STATS_AT("nothing");
}

TEST_F(PathCost, OfWrite)
{
    run(
        "write", left.workq(), true, [&] { return left.write(remote_empty, full); }, [&] { prepare(remote_empty, 0); },
        [&] { await_mark(0, 3); });
}

TEST_F(PathCost, OfRead)
{
    run(
        "read", left.workq(), true, [&] { return left.read(empty, remote_full); }, [&] { prepare(empty, 2); },
        [&] { await_mark(2, 1); });
}

TEST_F(PathCost, OfSend)
{
    const auto post = [&] {
        must(doca_buf_reset_data_len(empty));
        must(right.receive(empty));
    };
    run(
        "send", left.workq(), true, [&] { return left.send(full); }, post,
        [&] { (void)retrieve(right.workq(), false, true); });
}

TEST_F(PathCost, OfReceive)
{
    run(
        "receive", right.workq(), true, [&] { return right.receive(empty); },
        [&] { must(doca_buf_reset_data_len(empty)); },
        [&] {
            must(left.send(full));
            (void)retrieve(left.workq(), false, true);
        });
}

TEST_F(PathCost, OfCopy)
{
    const DmaEngine engine(dev);
    run(
        "copy", engine.workq(), false, [&] { return engine.submit(empty, full); }, [&] { prepare(empty, 0); },
        [&] { await_mark(0, 1); });
}

/// The same by libibverbs alone, on a queue pair to itself.
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
