// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What connections take of the system, and the slabs in which the software device keeps what both ends share. Includes
// what the library keeps to itself, to see where it is.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/child_process.hpp"
#include "support/footprint.hpp"
#include "support/queue_pair_memory.hpp"
#include "support/rdma_crowd.hpp"
#include "support/sanitizers.hpp"

namespace {

using namespace doca_test;
using namespace opendoca::soft;

/// The region of the end with these details: the number of its slab, and its index there.
struct Place {
    std::uint32_t slab;
    std::uint32_t slot;
    bool operator==(const Place &) const = default;
};

Place region_of(const std::vector<std::byte> &details)
{
    const MappedHead head(parse_details(details));
    return {head->region_slab.load(), head->region_slot.load()};
}

enum class SlabDeed : std::uint32_t { connect, receive, send, send_in_vain, send_while_short, send_always_short, end };

struct SlabOrder {
    SlabDeed deed;
    std::uint32_t number;
};

/// While it exists, the process can get no more than another MiB of addresses.
class NoAddresses {
public:
    NoAddresses()
    {
        must_work(getrlimit(RLIMIT_AS, &before_));
        std::size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        rlimit lower = before_;
        lower.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + (std::size_t{1} << 20);
        must_work(setrlimit(RLIMIT_AS, &lower));
    }
    NoAddresses(const NoAddresses &) = delete;
    NoAddresses &operator=(const NoAddresses &) = delete;
    ~NoAddresses() { must_work(setrlimit(RLIMIT_AS, &before_)); }

private:
    static void must_work(int returned) { must_hold(returned == 0, "the limit of addresses can be changed"); }

    rlimit before_{};
};

struct SlabRequest {
    char device[DOCA_DEVINFO_IBDEV_NAME_SIZE];
};

const ChildProgram slab_peer_program("rdma-slab-peer", [](Channel &parent) {
    const auto request = parent.receive<SlabRequest>();
    const DevHandle dev = open_device(request.device);
    Crowd crowd(dev);
    for (;;) {
        const auto order = parent.receive<SlabOrder>();
        if (order.deed == SlabDeed::connect) {
            const std::size_t number = crowd.add();
            parent.send_bytes(crowd.details(number));
            crowd.connect(number, parent.receive_bytes());
        } else if (order.deed == SlabDeed::receive) {
            crowd.receive(order.number);
        } else if (order.deed == SlabDeed::send) {
            crowd.send(order.number);
            crowd.expect(order.number, DOCA_RDMA_JOB_SEND);
        } else if (order.deed == SlabDeed::send_in_vain) {
            crowd.send(order.number);
            must_hold(crowd.wait().result.result == DOCA_ERROR_CONNECTION_RESET, "the connection is broken");
        } else if (order.deed == SlabDeed::send_while_short) {
            {
                const NoAddresses limit;
                crowd.send(order.number);
                must_hold(crowd.retrieve().status == DOCA_ERROR_AGAIN, "it waits");
            }
            crowd.expect(order.number, DOCA_RDMA_JOB_SEND);
        } else if (order.deed == SlabDeed::send_always_short) {
            must_hold(setenv("DOCA_RDMA_TIMEOUT", "0.1", 1) == 0, "the time is limited");
            const NoAddresses limit;
            crowd.send(order.number);
            must_hold(crowd.wait().result.result == DOCA_ERROR_CONNECTION_RESET, "it ends");
        } else {
            crowd.remove(order.number);
        }
        parent.send(true);
    }
});

/// A process that this one has connections with. Its ends are numbered from 0.
class SlabPeer {
public:
    explicit SlabPeer(const DeviceParam &device)
    {
        SlabRequest request = {};
        device.ibdev.copy(request.device, sizeof(request.device) - 1);
        process_.channel().send(request);
    }

    /// Connects its next end to the one with these @p details. Returns the details of that end.
    std::vector<std::byte> connect_to(const std::vector<std::byte> &details)
    {
        process_.channel().send(SlabOrder{SlabDeed::connect, 0});
        std::vector<std::byte> theirs = process_.channel().receive_bytes();
        process_.channel().send_bytes(details);
        expect_done();
        ++num_ends_;
        return theirs;
    }
    /// Connects its next end and end @p number of @p crowd with each other. Returns the details of its own.
    std::vector<std::byte> connect(const Crowd &crowd, std::size_t number)
    {
        std::vector<std::byte> theirs = connect_to(crowd.details(number));
        crowd.connect(number, theirs);
        return theirs;
    }
    void order(SlabDeed deed, std::uint32_t number)
    {
        process_.channel().send(SlabOrder{deed, number});
        expect_done();
    }

    [[nodiscard]] std::size_t num_ends() const { return num_ends_; }

private:
    void expect_done() { must_hold(process_.channel().receive<bool>(), "the peer has done it"); }

    ChildProcess process_{"rdma-slab-peer"};
    std::size_t num_ends_ = 0;
};

class RdmaSlabs : public DeviceTest {
protected:
    void SetUp() override
    {
        if (!GetParam().is_soft())
            GTEST_SKIP() << "the layout is the software device's";
    }
};
INSTANTIATE_FOR_FEW_DEVICES(RdmaSlabs, can_connect);

constexpr std::size_t some = 40;   // as many as it takes that the first slabs are there
constexpr std::size_t most = 640;  // connections in the end
constexpr std::size_t few_fds = 6; // for most - some: slabs double

TEST_P(RdmaSlabs, IdleConnectionsInOneProcessTakeNoDescriptorAndLittleMemory)
{
    const bool measures_memory = can_measure_memory();
    Crowd left(dev), right(dev);
    for (std::size_t i = 0; i != some; ++i)
        add_pair(left, right);
    const std::size_t descriptors = num_descriptors(), bytes = bytes_in_use();
    for (std::size_t i = some; i != most; ++i)
        add_pair(left, right);
    EXPECT_EQ(left.retrieve().status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(right.retrieve().status, DOCA_ERROR_AGAIN);
    EXPECT_LE(num_descriptors() - descriptors, few_fds);
    if (measures_memory) {
        EXPECT_LE((bytes_in_use() - bytes) / (2 * (most - some)), std::size_t{6} << 10) << "queues of 16";
    }
}

// A sender that looks late whether its message was received may find the receiver gone.
TEST_P(RdmaSlabs, TheHeadOfAQueuePairThatIsGoneShowsWhatItHasReceived)
{
    Crowd left(dev), right(dev);
    add_pair(left, right);
    const ConnectionDetails details = parse_details(right.details(0));
    const MappedHead head(details);
    exchange(left, right, 0);
    right.remove(0);
    EXPECT_EQ(head->connected_to.load(), QueuePairPage::closed);
    EXPECT_EQ(head->id.load(), details.queue_pair_id);
    EXPECT_EQ(head->num_taken.load(), 1U);
}

TEST_P(RdmaSlabs, AFileThatHasTheNumberOfAClosedDescriptorIsLeftAlone)
{
    Crowd left(dev), right(dev);
    add_pair(left, right);
    const std::int32_t number = MappedHead(parse_details(left.details(0)))->region_fd.load();
    const int file = memfd_create("file-of-the-program", MFD_CLOEXEC);
    const std::vector<char> content(1 << 20, 'x');
    ASSERT_EQ(write(file, content.data(), content.size()), static_cast<ssize_t>(content.size()));
    ASSERT_EQ(dup2(file, number), number); // closes the slab's; the library closes this one in its place
    left.remove(0);
    right.remove(0);
    std::vector<char> now(content.size());
    EXPECT_EQ(pread(file, now.data(), now.size(), 0), static_cast<ssize_t>(now.size()));
    EXPECT_EQ(now, content);
    close(file);
}

TEST_P(RdmaSlabs, IdleConnectionWithDefaultQueuesTakesAtMost12KiB)
{
    if (!can_measure_memory())
        GTEST_SKIP() << "memory is taken that programs do not take";
    std::vector<RdmaHandle> ends;
    const auto add = [&] {
        RdmaHandle end;
        must(doca_rdma_create(end.out()));
        must(doca_ctx_dev_add(doca_rdma_as_ctx(end), dev));
        must(doca_ctx_start(doca_rdma_as_ctx(end)));
        ends.push_back(std::move(end));
    };
    const auto connect = [&](std::size_t one, std::size_t other) {
        const void *details = nullptr;
        std::size_t size = 0;
        must(doca_rdma_export(ends[other], &details, &size));
        must(doca_rdma_connect(ends[one], details, size));
    };
    std::size_t bytes = 0;
    for (std::size_t i = 0; i != most; i += 2) {
        if (i == some)
            bytes = bytes_in_use();
        add();
        add();
        connect(i, i + 1);
        connect(i + 1, i);
    }
    EXPECT_LE((bytes_in_use() - bytes) / (most - some), std::size_t{12} << 10);
    for (const RdmaHandle &end : ends)
        EXPECT_EQ(doca_ctx_stop(doca_rdma_as_ctx(end)), DOCA_SUCCESS);
}

TEST_P(RdmaSlabs, IdleConnectionsWithAnotherProcessTakeNoDescriptor)
{
    SlabPeer peer(GetParam());
    Crowd crowd(dev);
    for (std::size_t i = 0; i != some; ++i)
        peer.connect(crowd, crowd.add());
    const std::size_t descriptors = num_descriptors();
    for (std::size_t i = some; i != most / 2; ++i)
        peer.connect(crowd, crowd.add());
    EXPECT_EQ(crowd.retrieve().status, DOCA_ERROR_AGAIN);
    EXPECT_LE(num_descriptors() - descriptors, few_fds);
}

TEST_P(RdmaSlabs, EventDrivenConnectionsShareTheDescriptorsOfTheirThread)
{
    SlabPeer peer(GetParam());
    const std::size_t before = num_descriptors();
    Crowd crowd(dev, true);
    const auto connect_up_to = [&](std::size_t count) {
        for (std::size_t i = peer.num_ends(); i != count; ++i)
            peer.connect(crowd, crowd.add());
        // Maps what the peer shares, and blocks.
        const auto last = static_cast<std::uint32_t>(count - 1);
        crowd.receive(last);
        EXPECT_EQ(crowd.wait_asleep([&] { peer.order(SlabDeed::send, last); }).result.result, DOCA_SUCCESS);
        peer.order(SlabDeed::receive, last);
        crowd.send(last);
        EXPECT_EQ(crowd.wait().result.result, DOCA_SUCCESS);
        return num_descriptors();
    };
    // Of the process: 2 pages and a slab of heads. Of the thread: the handle and its eventfd, the doorbells and a pipe.
    // Of the peer: its end, its pipe and 2 slabs at most. What the C library opens is not counted.
    constexpr std::size_t fds_of_one = 14;
    EXPECT_LE(connect_up_to(1) - before, fds_of_one);
    const std::size_t with_some = connect_up_to(some);
    EXPECT_LE(connect_up_to(1000) - with_some, few_fds);
}

TEST_P(RdmaSlabs, AllDescriptorsAreClosedWithTheLastConnection)
{
    const auto talk = [&] {
        Crowd left(dev), right(dev);
        for (std::size_t i = 0; i != some; ++i) {
            add_pair(left, right);
            exchange(left, right, i);
        }
    };
    talk();
    const std::size_t descriptors = num_descriptors();
    talk();
    EXPECT_EQ(num_descriptors(), descriptors);
}

TEST_P(RdmaSlabs, SlabOfOnePeerProcessHasNoSlotOfAnother)
{
    std::array<SlabPeer, 2> peers = {SlabPeer(GetParam()), SlabPeer(GetParam())};
    Crowd crowd(dev), own(dev);
    std::vector<std::vector<Place>> places(peers.size());
    for (std::size_t i = 0; i != 8; ++i) {
        const std::size_t number = crowd.add();
        peers[i % 2].connect(crowd, number);
        places[i % 2].push_back(region_of(crowd.details(number)));
    }
    own.add();
    crowd.add();
    crowd.connect(8, own.details(0));
    const Place within = region_of(crowd.details(8));
    for (std::size_t i = 0; i != places[0].size(); ++i) {
        EXPECT_EQ(places[0][i].slab, places[0][0].slab);
        EXPECT_EQ(places[1][i].slab, places[1][0].slab);
        EXPECT_EQ(places[0][i].slot, i);
    }
    EXPECT_NE(places[0][0].slab, places[1][0].slab);
    EXPECT_NE(within.slab, places[0][0].slab);
    EXPECT_NE(within.slab, places[1][0].slab);
}

TEST_P(RdmaSlabs, SlotIsReusedOnceBothSidesAreThroughWithIt)
{
    SlabPeer peer(GetParam());
    Crowd crowd(dev);
    const auto connect = [&] {
        const std::size_t number = crowd.add();
        peer.connect(crowd, number);
        return region_of(crowd.details(number));
    };
    const auto get_message = [&](std::uint32_t number) {
        crowd.receive(number);
        peer.order(SlabDeed::send, number);
        crowd.expect(number, DOCA_RDMA_JOB_RECV);
    };
    (void)connect(); // keeps the slab
    const Place second = connect();
    get_message(1);
    crowd.remove(1);
    const Place third = connect();
    EXPECT_NE(third, second) << "the peer still has its end, and may write to the slot";
    get_message(2);
    peer.order(SlabDeed::end, 1);
    EXPECT_EQ(connect(), second);
    const MappedRegion region(parse_details(crowd.details(3)));
    EXPECT_EQ(region.cell(0).sequence.load(), 0U) << "nothing of the former connection is left";
    get_message(3);
    get_message(0);
}

TEST_P(RdmaSlabs, SlotIsReusedAtOnceIfThePeerHasEndedBefore)
{
    SlabPeer peer(GetParam());
    Crowd crowd(dev);
    for (int i = 0; i != 2; ++i)
        peer.connect(crowd, crowd.add());
    const Place second = region_of(crowd.details(1));
    peer.order(SlabDeed::end, 1);
    crowd.remove(1);
    peer.connect(crowd, crowd.add());
    EXPECT_EQ(region_of(crowd.details(2)), second);
}

/// Connects end 1 of @p peer with end 1 of @p crowd, ends that of the peer, and connects others of the peer to the same
/// end, by its details, which are outdated, until one has the head of the first. Returns the number of that one.
std::uint32_t succeed_by_outdated_details(SlabPeer &peer, const Crowd &crowd)
{
    const ConnectionDetails former = parse_details(peer.connect(crowd, 1));
    peer.order(SlabDeed::end, 1);
    for (std::uint32_t number = 2; number != 1000; ++number) {
        const ConnectionDetails next = parse_details(peer.connect_to(crowd.details(1)));
        if (next.head_slab == former.head_slab && next.head_slot == former.head_slot)
            return number;
        peer.order(SlabDeed::end, number);
    }
    must_hold(false, "heads are used again");
    __builtin_unreachable();
}

TEST_P(RdmaSlabs, NextOwnerOfAHeadIsNotTakenForTheFormerOne)
{
    SlabPeer peer(GetParam());
    Crowd crowd(dev);
    crowd.add();
    crowd.add();
    peer.connect(crowd, 0); // keeps the slabs
    const std::uint32_t successor = succeed_by_outdated_details(peer, crowd);
    crowd.send(1);
    const RdmaEnded ended = crowd.retrieve();
    EXPECT_NE(ended.status, DOCA_ERROR_AGAIN) << "it need not wait";
    EXPECT_EQ(ended.result.result, DOCA_ERROR_CONNECTION_RESET);
    peer.order(SlabDeed::send_in_vain, successor);
}

TEST_P(RdmaSlabs, EndConnectedByOutdatedDetailsIsNotConnected)
{
    SlabPeer peer(GetParam());
    Crowd crowd(dev);
    crowd.add();
    crowd.add();
    peer.connect(crowd, 0);
    const std::uint32_t successor = succeed_by_outdated_details(peer, crowd);
    crowd.receive(1);
    peer.order(SlabDeed::send_in_vain, successor);
    EXPECT_EQ(crowd.wait().result.result, DOCA_ERROR_CONNECTION_RESET);
    // The other connection of both processes goes on.
    crowd.receive(0);
    peer.order(SlabDeed::send, 0);
    crowd.expect(0, DOCA_RDMA_JOB_RECV);
}

TEST_P(RdmaSlabs, MessageWaitsWhileTheRegionCannotBeMapped)
{
    if (is_sanitized)
        GTEST_SKIP() << "a sanitizer needs addresses";
    SlabPeer peer(GetParam());
    Crowd crowd(dev);
    peer.connect(crowd, crowd.add());
    crowd.receive(0);
    peer.order(SlabDeed::send_while_short, 0);
    crowd.expect(0, DOCA_RDMA_JOB_RECV);
}

TEST_P(RdmaSlabs, ConnectionEndsIfTheRegionCannotBeMappedForTooLong)
{
    if (is_sanitized)
        GTEST_SKIP() << "a sanitizer needs addresses";
    SlabPeer peer(GetParam());
    Crowd crowd(dev);
    peer.connect(crowd, crowd.add());
    crowd.receive(0);
    peer.order(SlabDeed::send_always_short, 0);
    EXPECT_EQ(crowd.wait().result.result, DOCA_ERROR_CONNECTION_RESET);
}

TEST_P(RdmaSlabs, QueuePairConnectedToItselfReceivesItsMessages)
{
    Crowd crowd(dev);
    crowd.add();
    crowd.connect(0, crowd.details(0));
    crowd.receive(0);
    crowd.send(0);
    int types = 0;
    for (int i = 0; i != 2; ++i) {
        const RdmaEnded ended = crowd.wait();
        EXPECT_EQ(ended.result.result, DOCA_SUCCESS);
        types |= 1 << ended.type % 8;
    }
    EXPECT_EQ(types, 1 << DOCA_RDMA_JOB_SEND % 8 | 1 << DOCA_RDMA_JOB_RECV % 8);
}

TEST_P(RdmaSlabs, ConnectionsThatComeAndGoReuseTheirSlots)
{
    Crowd left(dev), right(dev);
    add_pair(left, right);
    const std::size_t descriptors = num_descriptors();
    for (std::size_t i = 1; i != 300; ++i) {
        add_pair(left, right);
        exchange(left, right, i);
        (i % 2 == 0 ? left : right).remove(i);
        (i % 2 == 0 ? right : left).remove(i);
    }
    EXPECT_LE(num_descriptors(), descriptors + 1) << "of the doorbells";
    exchange(left, right, 0);
}

} // namespace
