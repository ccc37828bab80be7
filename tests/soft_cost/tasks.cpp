// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Tasks and graphs of DOCA 3.0 on the software device for callgrind, which counts submit and progress: see count.sh.
// Both ends of a connection are in this process, each with a progress engine of its own. An operation has completed
// when its submit returns, so each progress call finds one.
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <doca_graph.h>

#include "../conformance/v3/dma_tasks.hpp"
#include "../conformance/v3/rdma_instance.hpp"
#include "../mlx5/counted_jobs.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t size = 64; ///< of a copy and of a part of the memory
constexpr std::size_t word_size = 8;
constexpr std::size_t chain_length = 3; ///< nodes of a graph

/// The callback of tasks that succeed: counts in the int that is the task's user data.
template <typename Task>
void note(Task *, doca_data count, doca_data)
{
    ++*static_cast<int *>(count.ptr);
}
template <typename Task>
void note_failure(Task *task, doca_data, doca_data)
{
    ADD_FAILURE() << doca_error_get_name(doca_task_get_status(reinterpret_cast<doca_task *>(task)));
}

class SoftTaskCost : public testing::Test {
protected:
    void TearDown() override
    {
        for (doca_task *const task : tasks)
            doca_task_free(task);
        if (state_of(dma.ctx()) != DOCA_CTX_STATE_IDLE)
            must(doca_ctx_stop(dma.ctx()));
    }

    /// Connects both, and returns the end of @p from.
    static doca_rdma_connection *connect(RdmaInstance &from, RdmaInstance &to)
    {
        from.start();
        to.start();
        const void *details[2];
        std::size_t sizes[2];
        doca_rdma_connection *ends[2];
        must(doca_rdma_export(from.get(), &details[0], &sizes[0], &ends[0]));
        must(doca_rdma_export(to.get(), &details[1], &sizes[1], &ends[1]));
        must(doca_rdma_connect(from.get(), details[1], sizes[1], ends[0]));
        must(doca_rdma_connect(to.get(), details[0], sizes[0], ends[1]));
        while (from.connected.empty() || to.connected.empty()) {
            (void)from.progress();
            (void)to.progress();
        }
        return ends[0];
    }
    void connect()
    {
        must(doca_rdma_task_receive_set_conf(right.get(), note, note_failure, 1));
        must(doca_rdma_task_send_set_conf(left.get(), note, note_failure, 1));
        must(doca_rdma_task_write_set_conf(left.get(), note, note_failure, 1));
        must(doca_rdma_task_read_set_conf(left.get(), note, note_failure, 1));
        must(doca_rdma_task_atomic_fetch_add_set_conf(left.get(), note, note_failure, 1));
        connection = connect(left, right);
    }
    /// Counts a call of left's engine that finds nothing.
    void run_empty(const char *name)
    {
        count_jobs(
            name, [] {}, [&] { EXPECT_EQ(doca_pe_progress(left.pe()), 0) << "it finds something"; }, [] {},
            [](bool) { return 0; });
    }
    template <typename Task>
    doca_task *kept(Task *task)
    {
        tasks.push_back(reinterpret_cast<doca_task *>(task)); // a task begins with it
        return tasks.back();
    }
    static void must_progress(doca_pe *pe, bool is_counted)
    {
        EXPECT_NE(counted(is_counted, [&] { return doca_pe_progress(pe); }), 0) << "nothing has completed";
    }
    /// Counts @p submit and one progress call of each of @p engines; @p before is called before each.
    template <typename Before, typename Submit>
    void run(const char *name, const std::vector<doca_pe *> &engines, Before before, Submit submit)
    {
        count_jobs(
            name, before, submit, [&] { num_ended = 0; },
            [&](bool is_counted) {
                for (doca_pe *const engine : engines)
                    must_progress(engine, is_counted);
                EXPECT_EQ(num_ended, static_cast<int>(engines.size()));
                return 0;
            });
    }
    /// Does the same with an instance of @p graph, until its callback was called.
    void run_graph(const char *name, doca_graph_instance *instance)
    {
        count_jobs(
            name,
            [&] {
                for (const BufHandle &buf : copies)
                    reset(buf);
            },
            [&] { must(doca_graph_instance_submit(instance)); }, [&] { num_ended = 0; },
            [&](bool is_counted) {
                while (num_ended == 0)
                    must_progress(pe, is_counted);
                return 0;
            });
    }
    static void graph_ended(doca_graph_instance *, doca_data, doca_data count) { ++*static_cast<int *>(count.ptr); }
    [[nodiscard]] doca_graph *new_graph()
    {
        doca_graph *graph = nullptr;
        must(doca_graph_create(pe, &graph));
        must(doca_graph_set_conf(graph, graph_ended, graph_ended, 1));
        must(doca_graph_set_user_data(graph, {.ptr = &num_ended}));
        return graph;
    }
    static void destroy(doca_graph *graph, doca_graph_instance *instance)
    {
        must(doca_graph_instance_destroy(instance));
        must(doca_graph_stop(graph));
        must(doca_graph_destroy(graph));
    }
    static void reset(doca_buf *buf) { must(doca_buf_reset_data_len(buf)); }
    [[nodiscard]] BufHandle buffer(doca_mmap *from, std::size_t part, std::size_t length, bool is_full)
    {
        BufHandle buf;
        must(is_full ? doca_buf_inventory_buf_get_by_data(inventory, from, &memory[part * size], length, buf.out())
                     : doca_buf_inventory_buf_get_by_addr(inventory, from, &memory[part * size], length, buf.out()));
        return buf;
    }
    /// Starts the DMA context, and returns a task that copies @p src to @p dst.
    [[nodiscard]] doca_task *copy_task(const doca_buf *src, doca_buf *dst)
    {
        if (state_of(dma.ctx()) == DOCA_CTX_STATE_IDLE) {
            must(doca_dma_task_memcpy_set_conf(dma.dma(), note, note_failure, chain_length));
            must(doca_ctx_start(dma.ctx()));
        }
        doca_dma_task_memcpy *task = nullptr;
        must(doca_dma_task_memcpy_alloc_init(dma.dma(), src, dst, {.ptr = &num_ended}, &task));
        return kept(task);
    }

    int num_ended = 0; ///< callbacks that were called
    DevHandle dev = open_device(connecting_devices().front());
    std::vector<std::byte> memory = std::vector<std::byte>((5 + chain_length) * size);
    MmapHandle map = map_of(dev, memory, rdma_rights);
    MmapHandle imported = [this] {
        const void *descriptor = nullptr;
        std::size_t length = 0;
        MmapHandle created;
        must(doca_mmap_export_rdma(map, dev, &descriptor, &length));
        must(doca_mmap_create_from_export(nullptr, descriptor, length, dev, created.out()));
        return created;
    }();
    InventoryHandle inventory = inventory_of(16);
    BufHandle full = buffer(map, 0, word_size, true);
    BufHandle empty = buffer(map, 1, word_size, false);
    BufHandle remote_full = buffer(imported, 2, word_size, true);
    BufHandle remote_empty = buffer(imported, 3, word_size, false);
    BufHandle copy_src = buffer(map, 4, size, true);
    std::array<BufHandle, chain_length> copies = {buffer(map, 5, size, false), buffer(map, 6, size, false),
                                                  buffer(map, 7, size, false)};
    RdmaInstance left{dev};
    RdmaInstance right{dev};
    PeHandle pe = [] {
        PeHandle created;
        must(doca_pe_create(created.out()));
        return created;
    }();
    DmaContext dma{dev, pe, chain_length};
    doca_rdma_connection *connection = nullptr; ///< left's
    std::vector<doca_task *> tasks;
};

TEST_F(SoftTaskCost, OfWrite)
{
    connect();
    doca_rdma_task_write *task = nullptr;
    must(doca_rdma_task_write_allocate_init(left.get(), connection, full, remote_empty, {.ptr = &num_ended}, &task));
    run(
        "write", {left.pe()}, [&] { reset(remote_empty); },
        [submitted = kept(task)] { must(doca_task_submit(submitted)); });
}

TEST_F(SoftTaskCost, OfRead)
{
    connect();
    doca_rdma_task_read *task = nullptr;
    must(doca_rdma_task_read_allocate_init(left.get(), connection, remote_full, empty, {.ptr = &num_ended}, &task));
    run(
        "read", {left.pe()}, [&] { reset(empty); }, [submitted = kept(task)] { must(doca_task_submit(submitted)); });
}

TEST_F(SoftTaskCost, OfFetchAndAdd)
{
    connect();
    doca_rdma_task_atomic_fetch_add *task = nullptr;
    must(doca_rdma_task_atomic_fetch_add_allocate_init(left.get(), connection, remote_full, full, 1,
                                                       {.ptr = &num_ended}, &task));
    run(
        "fetch_and_add", {left.pe()}, [] {}, [submitted = kept(task)] { must(doca_task_submit(submitted)); });
}

/// Submits the receive, then the send, and retrieves both.
TEST_F(SoftTaskCost, OfSendAndReceive)
{
    connect();
    doca_rdma_task_receive *receive = nullptr;
    must(doca_rdma_task_receive_allocate_init(right.get(), empty, {.ptr = &num_ended}, &receive));
    doca_rdma_task_send *send = nullptr;
    must(doca_rdma_task_send_allocate_init(left.get(), connection, full, {.ptr = &num_ended}, &send));
    run(
        "send_and_receive", {left.pe(), right.pe()}, [&] { reset(empty); },
        [first = kept(receive), second = kept(send)] {
            must(doca_task_submit(first));
            must(doca_task_submit(second));
        });
}

TEST_F(SoftTaskCost, OfEmptyProgressWithOneContext)
{
    connect();
    for (int i = 0; i != 1000; ++i)
        (void)left.progress();
    run_empty("empty_of_1_context");
}

/// The others are parked by then.
TEST_F(SoftTaskCost, OfEmptyProgressWithManyContexts)
{
    connect();
    std::deque<RdmaInstance> ends;
    for (int i = 0; i != 100; ++i) {
        RdmaInstance &one = ends.emplace_back(dev, 1, left.pe());
        connect(one, ends.emplace_back(dev, 1, right.pe()));
    }
    for (int i = 0; i != 4096; ++i)
        (void)left.progress();
    run_empty("empty_of_100_contexts");
}

TEST_F(SoftTaskCost, OfCopy)
{
    doca_task *const task = copy_task(copy_src, copies[0]);
    run(
        "copy", {pe}, [&] { reset(copies[0]); }, [&] { must(doca_task_submit(task)); });
}

/// Across the PCIe: a port of the DPU copies from memory of a function of the host.
TEST_F(SoftTaskCost, OfCopyOfImportedMemory)
{
    const DevHandle host = open_device("soft_pf0");
    const DevHandle dpu = open_device("soft_p0");
    const MmapHandle exported =
        map_of(host, memory, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    const void *descriptor = nullptr;
    std::size_t length = 0;
    must(doca_mmap_export_pci(exported, host, &descriptor, &length));
    MmapHandle there;
    must(doca_mmap_create_from_export(nullptr, descriptor, length, dpu, there.out()));
    const MmapHandle here = map_of(dpu, memory);
    const BufHandle src = buffer(there, 4, size, true);
    const BufHandle dst = buffer(here, 5, size, false);
    const DmaContext context(dpu, pe, 1);
    must(doca_dma_task_memcpy_set_conf(context.dma(), note, note_failure, 1));
    must(doca_ctx_start(context.ctx()));
    doca_dma_task_memcpy *task = nullptr;
    must(doca_dma_task_memcpy_alloc_init(context.dma(), src, dst, {.ptr = &num_ended}, &task));
    doca_task *const submitted = doca_dma_task_memcpy_as_task(task);
    run(
        "copy_of_imported", {pe}, [&] { reset(dst); }, [&] { must(doca_task_submit(submitted)); });
    doca_task_free(submitted);
    must(doca_ctx_stop(context.ctx()));
}

TEST_F(SoftTaskCost, OfGraphOfCopies)
{
    doca_graph *const graph = new_graph();
    std::array<doca_graph_node *, chain_length> nodes;
    std::array<doca_task *, chain_length> chained;
    for (std::size_t i = 0; i != chain_length; ++i) {
        chained[i] = copy_task(i == 0 ? copy_src : copies[i - 1], copies[i]);
        must(doca_graph_node_create_from_ctx(graph, dma.ctx(), &nodes[i]));
        if (i != 0)
            must(doca_graph_add_dependency(graph, nodes[i - 1], nodes[i]));
    }
    must(doca_graph_start(graph));
    doca_graph_instance *instance = nullptr;
    must(doca_graph_instance_create(graph, &instance));
    for (std::size_t i = 0; i != chain_length; ++i)
        must(doca_graph_instance_set_ctx_node_data(instance, nodes[i], chained[i]));
    run_graph("graph_of_3_copies", instance);
    destroy(graph, instance);
}

/// After a copy, as a graph needs a task.
TEST_F(SoftTaskCost, OfGraphOfCallbacks)
{
    doca_graph *const graph = new_graph();
    std::array<doca_graph_node *, 1 + chain_length> nodes;
    must(doca_graph_node_create_from_ctx(graph, dma.ctx(), &nodes[0]));
    for (std::size_t i = 1; i != nodes.size(); ++i) {
        must(doca_graph_node_create_from_user(
            graph, [](void *) { return DOCA_SUCCESS; }, &nodes[i]));
        must(doca_graph_add_dependency(graph, nodes[i - 1], nodes[i]));
    }
    doca_task *const task = copy_task(copy_src, copies[0]);
    must(doca_graph_start(graph));
    doca_graph_instance *instance = nullptr;
    must(doca_graph_instance_create(graph, &instance));
    must(doca_graph_instance_set_ctx_node_data(instance, nodes[0], task));
    for (std::size_t i = 1; i != nodes.size(); ++i)
        must(doca_graph_instance_set_user_node_data(instance, nodes[i], nullptr));
    run_graph("graph_of_a_copy_and_3_callbacks", instance);
    destroy(graph, instance);
}

} // namespace
