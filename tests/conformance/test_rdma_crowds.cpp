// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Instances that share a work queue, and with it what their device has for each work queue: they come to it in any
// order, fill it, fail, and leave it.
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "support/rdma_crowd.hpp"

namespace {

using namespace doca_test;

class RdmaCrowds : public DeviceTest {};
INSTANTIATE_FOR_FEW_DEVICES(RdmaCrowds, can_connect);

TEST_P(RdmaCrowds, DetailsAreAskedForBeforeOrAfterTheWorkQueueIsAdded)
{
    for (const bool is_event_driven : {false, true}) {
        Crowd left(dev, is_event_driven), right(dev, is_event_driven);
        for (std::size_t i = 0; i != 6; ++i)
            add_pair(left, right, i % 2 == 0 ? Crowd::Export::before_it_is_added : Crowd::Export::later);
        for (std::size_t i = 0; i != 6; ++i) {
            exchange(left, right, i);
            exchange(right, left, i);
        }
        if (!is_event_driven)
            continue;
        for (std::size_t i = 0; i != 6; ++i) {
            right.receive(i);
            const RdmaEnded ended = right.wait_asleep([&] { left.send(i); });
            EXPECT_EQ(ended.user_data, i);
            left.expect(i, DOCA_RDMA_JOB_SEND);
        }
        left.remove(0); // and what the others share goes on
        right.remove(1);
        exchange(left, right, 2);
        exchange(left, right, 3);
    }
}

/// There is room for all completions that there can be: as many as the work queue is deep.
TEST_P(RdmaCrowds, TogetherFillTheWorkQueue)
{
    constexpr std::size_t num_pairs = Crowd::depth / 16;
    Crowd left(dev), right(dev);
    for (std::size_t i = 0; i != num_pairs; ++i)
        add_pair(left, right);
    for (int round = 0; round != 3; ++round) {
        for (std::size_t i = 0; i != Crowd::depth; ++i) {
            right.receive(i % num_pairs);
            left.send(i % num_pairs);
        }
        std::vector<int> received(num_pairs), sent(num_pairs);
        for (std::size_t i = 0; i != Crowd::depth; ++i) {
            const RdmaEnded receipt = right.wait(), end = left.wait();
            ASSERT_EQ(receipt.result.result, DOCA_SUCCESS);
            ASSERT_EQ(end.result.result, DOCA_SUCCESS);
            ++received[receipt.user_data];
            ++sent[end.user_data];
        }
        EXPECT_EQ(received, std::vector<int>(num_pairs, 16));
        EXPECT_EQ(sent, std::vector<int>(num_pairs, 16));
    }
}

/// What a connection had in flight does not end twice, and nobody else's operations end by it.
TEST_P(RdmaCrowds, TheFailureOfOneLeavesTheOthersAlone)
{
    constexpr std::size_t num_pairs = 8, num_receives = 10;
    Crowd left(dev), right(dev);
    std::vector<std::byte> memory(64);
    LocalMap map(dev, memory);
    Inventory inventory(4);
    for (std::size_t i = 0; i != num_pairs; ++i)
        add_pair(left, right);
    for (std::size_t failing = 0; failing != num_pairs - 2; ++failing) {
        const BufHandle small = inventory.empty(map, memory.data(), 8);
        const BufHandle large = inventory.full(map, memory.data(), 64);
        right.receive(failing, small);
        for (std::size_t i = 0; i != num_receives; ++i)
            right.receive(failing);
        right.receive(num_pairs - 1);
        left.send(failing, large);
        for (std::size_t i = 0; i != num_receives + 1; ++i) {
            const RdmaEnded ended = right.wait();
            EXPECT_EQ(ended.user_data, failing);
            EXPECT_EQ(ended.result.result, i == 0 ? DOCA_ERROR_FULL : DOCA_ERROR_SHUTDOWN);
        }
        const RdmaEnded ended = left.wait();
        EXPECT_EQ(ended.user_data, failing);
        EXPECT_NE(ended.result.result, DOCA_SUCCESS);
        EXPECT_EQ(right.state(failing), DOCA_RDMA_STATE_ERROR);
        left.send(num_pairs - 1);
        left.expect(num_pairs - 1, DOCA_RDMA_JOB_SEND);
        right.expect(num_pairs - 1, DOCA_RDMA_JOB_RECV);
        // In the memory of operations that have been flushed.
        for (std::size_t i = 0; i != Crowd::depth; ++i)
            exchange(left, right, failing + 1 + i % (num_pairs - 1 - failing));
        if (failing % 2 == 0) {
            left.remove(failing);
            right.remove(failing);
        }
    }
}

/// The thread of the work queue goes on meanwhile.
TEST_P(RdmaCrowds, AreStoppedByAnotherThread)
{
    Crowd left(dev), right(dev);
    for (std::size_t i = 0; i != many; ++i)
        add_pair(left, right);
    for (std::size_t i = 1; i != many; ++i) {
        left.leave(i);
        right.leave(i);
    }
    std::atomic<bool> have_stopped{false};
    std::thread stopper([&] {
        for (std::size_t i = 1; i != many; ++i) {
            left.stop(i);
            right.stop(i);
        }
        have_stopped = true;
    });
    do
        exchange(left, right, 0);
    while (!have_stopped);
    stopper.join();
    exchange(left, right, 0);
}

TEST_P(RdmaCrowds, ChangeTheirWorkQueue)
{
    Crowd left(dev), right(dev), other(dev);
    for (std::size_t i = 0; i != 3; ++i)
        add_pair(left, right);
    // Not known to a peer: it is as if it had never been there.
    const std::size_t fresh = left.add();
    left.leave(fresh);
    const std::size_t moved = other.adopt(left, fresh);
    EXPECT_EQ(other.join(moved), DOCA_SUCCESS);
    // A connected one can come back. Where a device has something for each work queue, it has to.
    left.leave(1);
    const doca_error_t status = other.join(other.adopt(left, 1));
    EXPECT_EQ(status, GetParam().is_soft() ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED);
    exchange(left, right, 0);
    left.leave(2);
    EXPECT_EQ(left.join(2), DOCA_SUCCESS);
    exchange(left, right, 2);
    exchange(right, left, 0);
}

/// One that was alone on its work queue takes what it has there with it.
TEST_P(RdmaCrowds, TheOnlyOneOfAWorkQueueCanChangeItWhileConnected)
{
    Crowd left(dev), right(dev), other(dev);
    add_pair(left, right);
    exchange(left, right, 0);
    left.leave(0);
    ASSERT_EQ(other.join(other.adopt(left, 0)), DOCA_SUCCESS);
    exchange(other, right, 0);
    exchange(right, other, 0);
}

} // namespace
