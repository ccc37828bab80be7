// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Jobs on an RDMA device for callgrind, which counts in what is marked here: submit, and retrieve until the
// job is given out. Retrieves that find nothing count as well; how many there were is printed, and what one
// costs is found out by itself, so that path_cost.sh, which runs this, can subtract them.
#include <cstdio>

#include <valgrind/callgrind.h>

#include "../conformance/support/rdma_fixture.hpp"

namespace {

using namespace doca_test;

constexpr int warm_up = 10;
constexpr int num_jobs = 100; // path_cost.sh divides by it
constexpr std::size_t size = 64;

template <typename Call>
doca_error_t counted(bool is_counted, Call call)
{
    if (is_counted)
        CALLGRIND_TOGGLE_COLLECT;
    const doca_error_t status = call();
    if (is_counted)
        CALLGRIND_TOGGLE_COLLECT;
    return status;
}

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
    static void run(const char *name, doca_workq *workq, bool is_rdma, Submit submit, Before before,
                    After after)
    {
        CALLGRIND_ZERO_STATS;
        int num_empty = 0;
        for (int i = -warm_up; i != num_jobs; ++i) {
            before();
            must(counted(i >= 0, submit));
            after();
            const int in_vain = retrieve(workq, i >= 0, is_rdma);
            num_empty += i >= 0 ? in_vain : 0;
        }
        CALLGRIND_DUMP_STATS_AT(name);
        std::printf("empty retrieves of %s: %d\n", name, num_empty);
    }

    static constexpr auto nothing = [] {};

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
    for (int i = 0; i != num_jobs; ++i)
        must_hold(retrieve_once(right.workq(), true, true) == DOCA_ERROR_AGAIN,
                  "there is nothing to retrieve");
    CALLGRIND_DUMP_STATS_AT("nothing");
}

TEST_F(PathCost, OfWrite)
{
    run(
        "write", left.workq(), true, [&] { return left.write(remote_empty, full); },
        [&] { must(doca_buf_reset_data_len(remote_empty)); }, nothing);
}

TEST_F(PathCost, OfRead)
{
    run(
        "read", left.workq(), true, [&] { return left.read(empty, remote_full); },
        [&] { must(doca_buf_reset_data_len(empty)); }, nothing);
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
        "copy", engine.workq(), false, [&] { return engine.submit(empty, full); },
        [&] { must(doca_buf_reset_data_len(empty)); }, nothing);
}

} // namespace
