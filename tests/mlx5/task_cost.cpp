// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Tasks of DOCA 3.0 on an RDMA device for callgrind, which counts what is marked here: doca_task_submit(), and
// doca_pe_progress() until the task's callback was called. As in path_cost.cpp, the number of progress calls that find
// nothing is printed, and the cost of one is measured by itself.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

#include "../conformance/v3/dma_tasks.hpp"
#include "../conformance/v3/rdma_instance.hpp"
#include "counted_jobs.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t size = 64;

/// Two connected instances of one device, each with a progress engine of its own, and tasks that are submitted again
/// and again.
class TaskCost : public testing::Test {
protected:
    void SetUp() override
    {
        left.start();
        right.start();
        const void *details[2];
        std::size_t sizes[2];
        must(doca_rdma_export(left.get(), &details[0], &sizes[0], &connection));
        must(doca_rdma_export(right.get(), &details[1], &sizes[1], &at_right));
        must(doca_rdma_connect(left.get(), details[1], sizes[1], connection));
        must(doca_rdma_connect(right.get(), details[0], sizes[0], at_right));
        while (left.connected.empty() || right.connected.empty()) {
            (void)left.progress();
            (void)right.progress();
        }
    }
    void TearDown() override
    {
        for (doca_task *const task : tasks)
            doca_task_free(task);
    }

    /// A task's user data. The program keeps the task.
    Outcome &outcome()
    {
        Outcome &added = outcomes.emplace_back();
        added.then = [&added](doca_task *) { added.keeps_task = true; };
        return added;
    }
    template <typename Task>
    doca_task *kept(Task *task)
    {
        tasks.push_back(reinterpret_cast<doca_task *>(task)); // a task begins with it
        return tasks.back();
    }
    doca_task *receive_task()
    {
        doca_rdma_task_receive *task = nullptr;
        must(doca_rdma_task_receive_allocate_init(right.get(), empty, {.ptr = &outcome()}, &task));
        return kept(task);
    }
    doca_task *send_task()
    {
        doca_rdma_task_send *task = nullptr;
        must(doca_rdma_task_send_allocate_init(left.get(), connection, full, {.ptr = &outcome()}, &task));
        return kept(task);
    }

    /// Calls doca_pe_progress() until @p outcome has counted another completion. Returns how often it found nothing.
    static int await(doca_pe *pe, const Outcome &outcome, bool is_counted)
    {
        const int known = outcome.num_succeeded + outcome.num_failed;
        int num_empty = 0;
        while (outcome.num_succeeded + outcome.num_failed == known) {
            if (counted(is_counted, [&] { return doca_pe_progress(pe); }) == 0) {
                ++num_empty;
                std::this_thread::yield();
            }
        }
        return num_empty;
    }
    /// Submits @p task again and again on @p pe; @p before is called before each submit, @p after behind it.
    template <typename Before, typename After>
    static void run(const char *name, doca_pe *pe, doca_task *task, const Outcome &outcome, Before before, After after)
    {
        count_jobs(
            name, before, [&] { must(doca_task_submit(task)); }, after,
            [&](bool is_counted) { return await(pe, outcome, is_counted); });
        EXPECT_EQ(outcome.num_failed, 0) << doca_error_get_name(outcome.status);
    }

    [[nodiscard]] std::byte &part(std::size_t number) { return memory[number * size]; }
    /// Prepares what the next task moves from part @p from to @p dst.
    void prepare(doca_buf *dst, std::size_t from)
    {
        must(doca_buf_reset_data_len(dst));
        part(from) = static_cast<std::byte>(std::to_integer<unsigned>(part(from)) + 1);
    }
    /// Waits for the data, so that the progress that is counted mostly finds a completion.
    void await_mark(std::size_t from, std::size_t to)
    {
        while (__atomic_load_n(reinterpret_cast<const unsigned char *>(&part(to)), __ATOMIC_ACQUIRE) !=
               std::to_integer<unsigned char>(part(from)))
            std::this_thread::yield();
        for (int i = 0; i != 50; ++i) // the completion follows
            std::this_thread::yield();
    }
    [[nodiscard]] BufHandle buffer(doca_mmap *from, std::size_t number, bool is_full)
    {
        BufHandle buf;
        must(is_full ? doca_buf_inventory_buf_get_by_data(inventory, from, &part(number), size, buf.out())
                     : doca_buf_inventory_buf_get_by_addr(inventory, from, &part(number), size, buf.out()));
        return buf;
    }

    DevHandle dev = open_device(connecting_devices().front());
    std::vector<std::byte> memory = std::vector<std::byte>(4 * size);
    MmapHandle map = map_of(dev, memory, rdma_rights);
    MmapHandle imported = [this] {
        const void *descriptor = nullptr;
        std::size_t length = 0;
        MmapHandle created;
        must(doca_mmap_export_rdma(map, dev, &descriptor, &length));
        must(doca_mmap_create_from_export(nullptr, descriptor, length, dev, created.out()));
        return created;
    }();
    InventoryHandle inventory = inventory_of(8);
    BufHandle full = buffer(map, 0, true);
    BufHandle empty = buffer(map, 1, false);
    BufHandle remote_full = buffer(imported, 2, true);
    BufHandle remote_empty = buffer(imported, 3, false);
    RdmaInstance left{dev};
    RdmaInstance right{dev};
    doca_rdma_connection *connection = nullptr; ///< left's
    doca_rdma_connection *at_right = nullptr;
    std::deque<Outcome> outcomes;
    std::vector<doca_task *> tasks;
};

/// With a task in flight that does not end: only then is the device asked.
TEST_F(TaskCost, OfEmptyProgress)
{
    doca_task *const task = receive_task();
    must(doca_task_submit(task));
    CALLGRIND_ZERO_STATS;
    for (int i = 0; i != num_counted_jobs; ++i)
        EXPECT_EQ(counted(true, [&] { return doca_pe_progress(right.pe()); }), 0);
    CALLGRIND_DUMP_STATS_AT("nothing");
    (void)doca_ctx_stop(right.ctx()); // flushes the task
    (void)await(right.pe(), outcomes.back(), false);
}

TEST_F(TaskCost, OfWrite)
{
    Outcome &written = outcome();
    doca_rdma_task_write *task = nullptr;
    must(doca_rdma_task_write_allocate_init(left.get(), connection, full, remote_empty, {.ptr = &written}, &task));
    run(
        "write", left.pe(), kept(task), written, [&] { prepare(remote_empty, 0); }, [&] { await_mark(0, 3); });
}

TEST_F(TaskCost, OfRead)
{
    Outcome &read = outcome();
    doca_rdma_task_read *task = nullptr;
    must(doca_rdma_task_read_allocate_init(left.get(), connection, remote_full, empty, {.ptr = &read}, &task));
    run(
        "read", left.pe(), kept(task), read, [&] { prepare(empty, 2); }, [&] { await_mark(2, 1); });
}

TEST_F(TaskCost, OfSend)
{
    doca_task *const receive = receive_task();
    const Outcome &received = outcomes.back();
    doca_task *const send = send_task();
    run(
        "send", left.pe(), send, outcomes.back(),
        [&] {
            must(doca_buf_reset_data_len(empty));
            must(doca_task_submit(receive));
        },
        [&] { (void)await(right.pe(), received, false); });
}

TEST_F(TaskCost, OfReceive)
{
    doca_task *const send = send_task();
    const Outcome &sent = outcomes.back();
    doca_task *const receive = receive_task();
    run(
        "receive", right.pe(), receive, outcomes.back(), [&] { must(doca_buf_reset_data_len(empty)); },
        [&] {
            must(doca_task_submit(send));
            (void)await(left.pe(), sent, false);
        });
}

TEST_F(TaskCost, OfCopy)
{
    PeHandle pe;
    must(doca_pe_create(pe.out()));
    DmaContext context(dev, pe, 1);
    must(doca_ctx_start(context.ctx()));
    Copy copy;
    must(context.alloc(copy, full, empty));
    count_jobs(
        "copy", [&] { prepare(empty, 0); }, [&] { must(doca_task_submit(copy.as_task())); }, [&] { await_mark(0, 1); },
        [&](bool is_counted) {
            const int known = copy.num_succeeded;
            int num_empty = 0;
            while (copy.num_succeeded == known) {
                if (counted(is_counted, [&] { return doca_pe_progress(pe); }) == 0) {
                    ++num_empty;
                    std::this_thread::yield();
                }
            }
            return num_empty;
        });
    doca_task_free(copy.as_task());
    must(doca_ctx_stop(context.ctx()));
}

} // namespace
