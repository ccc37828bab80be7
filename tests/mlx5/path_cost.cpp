// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Jobs of DOCA 2.2 on an RDMA device for callgrind, which counts what is marked here: submit, and retrieve until the
// job has completed. Retrieves that find nothing count as well. Their number is printed, and their cost is measured by
// itself, so that path_cost.sh, which runs this program, can subtract them.
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "../conformance/support/rdma_fixture.hpp"
#include "counted_jobs.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t size = 64;

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

} // namespace
