// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Many connections on one work queue: they come and go while others have traffic, their peers sleep, lie and die.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sys/mman.h>

#include "../../src/core/device/soft/connection/doorbell.hpp"

#include "support/child_process.hpp"
#include "support/queue_pair_memory.hpp"
#include "support/rdma_crowd.hpp"

namespace {

using namespace doca_test;
using namespace opendoca::soft;

class RdmaMany : public DeviceTest {};
INSTANTIATE_FOR_FEW_DEVICES(RdmaMany, can_connect);

TEST_P(RdmaMany, EachTalksWhileOthersComeAndGo)
{
    Crowd left(dev), right(dev);
    add_pair(left, right);
    right.receive(0); // in flight while there are a few, and while there are many
    for (std::size_t i = 1; i != many; ++i) {
        add_pair(left, right);
        for (std::size_t other = 1; other <= i; ++other) {
            exchange(left, right, other);
            exchange(right, left, other);
        }
    }
    left.send(0);
    left.expect(0, DOCA_RDMA_JOB_SEND);
    right.expect(0, DOCA_RDMA_JOB_RECV);
    // What a send waits for is news as well.
    left.send(3);
    EXPECT_EQ(left.retrieve().status, DOCA_ERROR_AGAIN);
    right.receive(3);
    left.expect(3, DOCA_RDMA_JOB_SEND);
    right.expect(3, DOCA_RDMA_JOB_RECV);
    for (std::size_t i = 0; i != many; i += 2) {
        left.remove(i);
        right.remove(i);
    }
    for (std::size_t i = 1; i < many; i += 2)
        exchange(left, right, i);
    for (std::size_t i = many; i != 2 * many; ++i) { // in the places of those that have gone, and in new ones
        add_pair(left, right);
        exchange(left, right, i);
        exchange(right, left, 1);
    }
}

TEST_P(RdmaMany, ThatAreInFlightWhenTheyBecomeManyAreNotForgotten)
{
    Crowd left(dev), right(dev);
    for (std::size_t i = 0; i != many; ++i) {
        add_pair(left, right);
        left.send(i); // waits for a receive
        EXPECT_EQ(left.retrieve().status, DOCA_ERROR_AGAIN);
    }
    for (std::size_t i = many; i-- != 0;) {
        right.receive(i);
        left.expect(i, DOCA_RDMA_JOB_SEND);
        right.expect(i, DOCA_RDMA_JOB_RECV);
    }
}

TEST_P(RdmaMany, AStoppedPeerIsNewsOfItsConnectionAlone)
{
    if (!GetParam().is_soft())
        GTEST_SKIP() << "an idle side is not told of its peer's end";
    Crowd left(dev), right(dev);
    for (std::size_t i = 0; i != many; ++i)
        add_pair(left, right);
    right.receive(5);
    right.receive(6);
    EXPECT_EQ(right.retrieve().status, DOCA_ERROR_AGAIN);
    left.remove(7); // nothing waits for it yet
    EXPECT_EQ(right.retrieve().status, DOCA_ERROR_AGAIN);
    left.remove(5);
    RdmaEnded ended = right.wait();
    EXPECT_EQ(ended.user_data, 5U);
    EXPECT_EQ(ended.result.result, DOCA_ERROR_CONNECTION_RESET);
    right.receive(7);
    ended = right.wait();
    EXPECT_EQ(ended.user_data, 7U);
    EXPECT_EQ(ended.result.result, DOCA_ERROR_CONNECTION_RESET);
    left.send(6);
    left.expect(6, DOCA_RDMA_JOB_SEND);
    right.expect(6, DOCA_RDMA_JOB_RECV);
}

// A process with as many ends as the test, which sends by one when it is told to.

enum class Deed : std::uint32_t {
    send,
    receive,
    put_quietly,    ///< stores a message as send does, but is killed before it could ring
    ring_all,       ///< sets all bits of the test's page of doorbells
    send_and_hush,  ///< sends, and clears them all, other connections' as well
    lie_about_bell, ///< its own: the page, the index and the descriptor
};

struct CrowdOrder {
    Deed deed;
    std::uint32_t number;
};

struct CrowdRequest {
    char device[DOCA_DEVINFO_IBDEV_NAME_SIZE];
    std::uint32_t count;
};

void write_all(DoorbellPage &page, std::uint64_t bits)
{
    for (auto &word : page.words)
        word = bits;
    for (auto &group : page.groups)
        group = bits;
    page.root = bits;
}

const ChildProgram crowd_program("rdma-crowd", [](Channel &parent) {
    const auto request = parent.receive<CrowdRequest>();
    const DevHandle dev = open_device(request.device);
    Crowd crowd(dev);
    std::vector<std::vector<std::byte>> theirs;
    for (std::uint32_t i = 0; i != request.count; ++i) {
        theirs.push_back(parent.receive_bytes());
        parent.send_bytes(crowd.details(crowd.add()));
        crowd.connect(i, theirs[i]);
    }
    parent.send(true);
    for (;;) {
        const auto order = parent.receive<CrowdOrder>();
        switch (order.deed) {
        case Deed::receive:
            crowd.receive(order.number);
            break;
        case Deed::send:
        case Deed::send_and_hush:
            crowd.send(order.number);
            crowd.expect(order.number, DOCA_RDMA_JOB_SEND);
            break;
        default:
            break;
        }
        if (order.deed >= Deed::put_quietly) {
            const ConnectionDetails victim = parse_details(theirs[order.number]),
                                    own = parse_details(crowd.details(order.number));
            if (order.deed == Deed::put_quietly) {
                const MappedRegion region(victim);
                MessageCell &cell = region.cell(0);
                cell.length = 0;
                cell.kind = MessageKind::in_cell;
                cell.sequence.store(1, std::memory_order_release);
                raise(SIGKILL);
            }
            if (order.deed == Deed::lie_about_bell) {
                QueuePairPage &mine = own_head(own);
                const DoorbellRequest bell(mine.doorbell_request.load());
                struct Lie {
                    DoorbellRequest bell;
                    std::int32_t fd;
                };
                const std::int32_t fd = mine.doorbells_fd.load();
                for (const Lie &lie : {Lie{DoorbellRequest(bell.page() + 1, bell.index(), 3), fd},
                                       Lie{DoorbellRequest(bell.page() + 2, bell.index(), 3), 1 << 20},
                                       Lie{DoorbellRequest(bell.page() + 3, bell.index(), 3), own.head_fd},
                                       Lie{DoorbellRequest(bell.page(), 0xffffff, 3), fd}}) {
                    mine.doorbells_fd.store(lie.fd);
                    mine.doorbell_request.store(lie.bell.word());
                    parent.send(true); // the test sends
                    (void)parent.receive<CrowdOrder>();
                }
            } else {
                const MappedFile doorbells(victim.pid, MappedHead(victim)->doorbells_fd.load(), PROT_READ | PROT_WRITE);
                write_all(*static_cast<DoorbellPage *>(doorbells.start()),
                          order.deed == Deed::ring_all ? UINT64_MAX : 0);
            }
        }
        parent.send(true);
    }
});

/// The test's ends, each connected with one of the other process.
struct Session {
    Session(doca_dev *dev, const DeviceParam &device, bool is_event_driven, std::size_t count = many)
        : crowd(dev, is_event_driven)
    {
        CrowdRequest request = {};
        device.ibdev.copy(request.device, sizeof(request.device) - 1);
        request.count = static_cast<std::uint32_t>(count);
        peer.channel().send(request);
        for (std::size_t i = 0; i != count; ++i) {
            peer.channel().send_bytes(crowd.details(crowd.add()));
            crowd.connect(i, peer.channel().receive_bytes());
        }
        must_hold(peer.channel().receive<bool>(), "all are connected");
    }
    void order(Deed deed, std::size_t number)
    {
        peer.channel().send(CrowdOrder{deed, static_cast<std::uint32_t>(number)});
    }
    void expect_done() { must_hold(peer.channel().receive<bool>(), "the peer has done it"); }

    ChildProcess peer{"rdma-crowd"};
    Crowd crowd;
};

TEST_P(RdmaMany, NewsOfAnotherProcessWakeASleeper)
{
    for (const std::size_t count : {std::size_t{3}, many}) {
        Session s(dev, GetParam(), true, count);
        std::vector<std::size_t> numbers(count);
        std::mt19937 random(1);
        for (std::size_t i = 0; i != count; ++i) {
            numbers[i] = i;
            s.crowd.receive(i);
        }
        for (int round = 0; round != 5; ++round) {
            std::ranges::shuffle(numbers, random);
            for (const std::size_t i : numbers) {
                const RdmaEnded ended = s.crowd.wait_asleep([&] { s.order(Deed::send, i); });
                ASSERT_EQ(ended.result.result, DOCA_SUCCESS);
                ASSERT_EQ(ended.user_data, i);
                s.expect_done();
                s.crowd.receive(i);
            }
        }
        // A send that waits, and is told of the receive.
        for (const std::size_t i : numbers) {
            s.crowd.send(i);
            const RdmaEnded ended = s.crowd.wait_asleep([&] { s.order(Deed::receive, i); });
            ASSERT_EQ(ended.result.result, DOCA_SUCCESS);
            ASSERT_EQ(ended.type, DOCA_RDMA_JOB_SEND);
            s.expect_done();
        }
    }
}

TEST_P(RdmaMany, TheDeathOfAProcessIsNewsOfAllItsConnections)
{
    if (!GetParam().is_soft())
        GTEST_SKIP() << "an idle side is not told of its peer's end";
    for (const bool is_event_driven : {false, true}) {
        Session s(dev, GetParam(), is_event_driven);
        for (std::size_t i = 0; i != many; ++i)
            s.crowd.receive(i);
        EXPECT_EQ(s.crowd.retrieve().status, DOCA_ERROR_AGAIN);
        if (is_event_driven) {
            (void)s.crowd.wait_asleep([&] { s.peer.kill(); });
        } else {
            s.peer.kill();
            (void)s.crowd.wait();
        }
        for (std::size_t i = 1; i != many; ++i)
            EXPECT_EQ(s.crowd.wait().result.result, DOCA_ERROR_CONNECTION_RESET);
        EXPECT_EQ(s.crowd.retrieve().status, DOCA_ERROR_AGAIN);
    }
}

/// Those that know the layout of the software device.
class RdmaManyForged : public RdmaMany {
protected:
    void SetUp() override
    {
        if (!GetParam().is_soft())
            GTEST_SKIP() << "the layout is the software device's";
    }
};
INSTANTIATE_FOR_FEW_DEVICES(RdmaManyForged, can_connect);

TEST_P(RdmaManyForged, MessageOfAPeerThatDiedBeforeTheDoorbellIsReceived)
{
    for (const std::size_t count : {std::size_t{3}, many}) {
        for (const bool is_event_driven : {false, true}) {
            Session s(dev, GetParam(), is_event_driven, count);
            s.crowd.receive(1);
            s.crowd.receive(2);
            EXPECT_EQ(s.crowd.retrieve().status, DOCA_ERROR_AGAIN);
            RdmaEnded ended = {};
            if (is_event_driven) {
                ended = s.crowd.wait_asleep([&] { s.order(Deed::put_quietly, 2); });
            } else {
                s.order(Deed::put_quietly, 2);
                ended = s.crowd.wait();
            }
            for (int i = 0; i != 2; ++i) {
                EXPECT_EQ(ended.result.result, ended.user_data == 2 ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_RESET);
                if (i == 0)
                    ended = s.crowd.wait();
            }
            s.crowd.receive(2);
            EXPECT_EQ(s.crowd.wait().result.result, DOCA_ERROR_CONNECTION_RESET);
        }
    }
}

TEST_P(RdmaManyForged, WhatOthersWriteToTheDoorbellsIsAHintAndNothingMore)
{
    Session s(dev, GetParam(), false);
    for (std::size_t i = 0; i != many; ++i)
        s.crowd.receive(i);
    for (std::size_t i = 0; i != many; ++i) {
        s.order(Deed::ring_all, i);
        s.expect_done();
        EXPECT_EQ(s.crowd.retrieve().status, DOCA_ERROR_AGAIN);
        s.order(Deed::send_and_hush, i);
        const RdmaEnded ended = s.crowd.wait(); // perhaps late
        EXPECT_EQ(ended.user_data, i);
        EXPECT_EQ(ended.result.result, DOCA_SUCCESS);
        s.expect_done();
    }
}

TEST_P(RdmaManyForged, PeerWithAForgedDoorbellIsOnlyNotNotified)
{
    Session s(dev, GetParam(), false);
    constexpr int num_lies = 4;
    for (int lie = 0; lie != num_lies; ++lie) {
        s.order(Deed::receive, 4);
        s.expect_done();
    }
    s.order(Deed::lie_about_bell, 4);
    for (int lie = 0; lie != num_lies; ++lie) {
        s.expect_done();
        s.crowd.send(4);
        s.crowd.expect(4, DOCA_RDMA_JOB_SEND);
        s.order(Deed::send, 0); // goes on
    }
    s.expect_done();
    s.crowd.receive(3);
    s.order(Deed::send, 3);
    s.crowd.expect(3, DOCA_RDMA_JOB_RECV);
}

/// Both sides in threads of this process, so that thread sanitizers see them.
TEST_P(RdmaMany, BothSidesTalkAtOnce)
{
    constexpr int num_rounds = 50;
    for (const bool is_event_driven : {false, true}) {
        Crowd left(dev, is_event_driven), right(dev, is_event_driven);
        for (std::size_t i = 0; i != many; ++i)
            add_pair(left, right);
        const auto talk = [&](const Crowd &crowd) {
            for (std::size_t i = 0; i != many; ++i)
                crowd.receive(i);
            std::vector<int> rounds_left(many, num_rounds);
            for (std::size_t i = 0; i != many; ++i)
                crowd.send(i);
            for (int open_ends = 2 * static_cast<int>(many); open_ends != 0; --open_ends) {
                RdmaEnded ended = crowd.retrieve();
                if (ended.status == DOCA_ERROR_AGAIN)
                    ended = is_event_driven ? crowd.wait_asleep() : crowd.wait();
                must(ended.result.result);
                if (ended.type != DOCA_RDMA_JOB_RECV || rounds_left[ended.user_data] == 0)
                    continue;
                --rounds_left[ended.user_data];
                crowd.receive(ended.user_data);
                crowd.send(ended.user_data);
                open_ends += 2;
            }
        };
        std::atomic<bool> has_failed{false};
        const auto guarded_talk = [&](const Crowd &crowd) {
            try {
                talk(crowd);
            } catch (const std::exception &error) {
                ADD_FAILURE() << error.what();
                has_failed = true;
            }
        };
        std::thread other([&] { guarded_talk(right); });
        guarded_talk(left);
        other.join();
        ASSERT_FALSE(has_failed);
    }
}

} // namespace
