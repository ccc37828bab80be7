// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Jobs of DOCA 2.2 on the software device for callgrind, which counts submit and retrieve: see count.sh. Both ends of a
// connection are in this process, each with a work queue of its own. An operation has completed when its submit
// returns, so each retrieve finds one.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../conformance/support/rdma_crowd.hpp"
#include "../conformance/support/rdma_fixture.hpp"
#include "../mlx5/counted_jobs.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t size = 64; ///< of a copy and of a part of the memory
constexpr std::size_t word_size = 8;

class SoftJobCost : public testing::Test {
protected:
    void SetUp() override
    {
        must(left.connect(right.details()));
        must(right.connect(left.details()));
    }

    /// Counts @p submit, and the retrieval of one job from each of @p workqs; @p before is called before each.
    template <typename Before, typename Submit>
    static void run(const char *name, const std::vector<doca_workq *> &workqs, Before before, Submit submit)
    {
        count_jobs(
            name, before, [&] { must(submit()); }, [] {},
            [&](bool is_counted) {
                for (doca_workq *const workq : workqs) {
                    doca_rdma_result result = {};
                    doca_event event = {};
                    event.result.ptr = &result;
                    must(counted(is_counted, [&] { return doca_workq_progress_retrieve(workq, &event, 0); }));
                }
                return 0;
            });
    }
    /// Counts @p retrieve, which must find nothing.
    template <typename Retrieve>
    static void run_empty(const char *name, Retrieve retrieve)
    {
        count_jobs(
            name, [] {}, [&] { EXPECT_EQ(retrieve(), DOCA_ERROR_AGAIN); }, [] {}, [](bool) { return 0; });
    }
    static void reset(doca_buf *buf) { must(doca_buf_reset_data_len(buf)); }

    DevHandle dev{open_device(devices_that(can_connect).front())};
    std::vector<std::byte> memory = std::vector<std::byte>(6 * size);
    LocalMap map{dev.get(), memory, exposed};
    MmapHandle imported{import_rdma(export_rdma(map, dev), dev)};
    Inventory inventory{8};
    BufHandle full = inventory.full(map, &memory[0], word_size);
    BufHandle empty = inventory.empty(map, &memory[size], word_size);
    BufHandle remote_full = inventory.full(imported, &memory[2 * size], word_size);
    BufHandle remote_empty = inventory.empty(imported, &memory[3 * size], word_size);
    BufHandle copy_src = inventory.full(map, &memory[4 * size], size);
    BufHandle copy_dst = inventory.empty(map, &memory[5 * size], size);
    RdmaEnd left{dev};
    RdmaEnd right{dev};
};

TEST_F(SoftJobCost, OfWrite)
{
    run(
        "write", {left.workq()}, [&] { reset(remote_empty); }, [&] { return left.write(remote_empty, full); });
}

TEST_F(SoftJobCost, OfRead)
{
    run(
        "read", {left.workq()}, [&] { reset(empty); }, [&] { return left.read(empty, remote_full); });
}

TEST_F(SoftJobCost, OfFetchAndAdd)
{
    run(
        "fetch_and_add", {left.workq()}, [] {}, [&] { return left.add(remote_full, full, 1); });
}

/// Submits the receive, then the send, and retrieves both.
TEST_F(SoftJobCost, OfSendAndReceive)
{
    run(
        "send_and_receive", {left.workq(), right.workq()}, [&] { reset(empty); },
        [&] {
            const doca_error_t status = right.receive(empty);
            return status == DOCA_SUCCESS ? left.send(full) : status;
        });
}

TEST_F(SoftJobCost, OfEmptyRetrieveWithOneConnection)
{
    run_empty("empty_of_1_connection", [&] {
        doca_event event = {};
        return doca_workq_progress_retrieve(left.workq(), &event, 0);
    });
}

TEST_F(SoftJobCost, OfEmptyRetrieveWithManyConnections)
{
    Crowd one(dev), other(dev);
    for (int i = 0; i != 100; ++i)
        add_pair(one, other);
    while (one.retrieve().status != DOCA_ERROR_AGAIN) {
    }
    run_empty("empty_of_100_connections", [&] { return one.retrieve().status; });
}

TEST_F(SoftJobCost, OfCopy)
{
    const DmaEngine engine(dev);
    run(
        "copy", {engine.workq()}, [&] { reset(copy_dst); }, [&] { return engine.submit(copy_dst, copy_src); });
}

} // namespace
