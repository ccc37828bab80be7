// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The software device's connections with details, pages and messages that lie. Includes what the library
// keeps to itself: only one who knows the layout can lie well.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/child_process.hpp"
#include "support/queue_pair_memory.hpp"
#include "support/rdma_fixture.hpp"

namespace {

using namespace doca_test;
using namespace opendoca::soft;

/// The bytes of @p d, with a checksum that is right.
std::vector<std::byte> seal(const ConnectionDetails &d)
{
    return to_bytes(opendoca::DescriptorKind::soft_connection, d);
}

enum class Lie : std::uint32_t {
    none,
    not_sealed,
    too_short,
    writable,
    wrong_slab_magic,
    wrong_slab_version,
    wrong_slab_number,
    no_slots,
    too_many_slots,
    odd_slots,
    huge_slots,
    wrong_magic,
    wrong_version,
    wrong_id,
    wrong_nonce,
    no_queue,
    odd_queue,
    long_queue,
    no_chain,
    long_chain,
    fifo,
    last = fifo,
};

/// A copy of the slab of an honest head, the one that @p details name, that lies in one point, as a descriptor of this
/// process.
int forge(const ConnectionDetails &details, Lie lie)
{
    if (lie == Lie::fifo) {
        int ends[2];
        must_hold(pipe2(ends, O_CLOEXEC) == 0, "a pipe");
        return ends[0];
    }
    const MappedHead honest(details);
    const int fd = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const std::size_t size = lie == Lie::too_short ? 4096 : honest.slab().size();
    must_hold(fd >= 0 && ftruncate(fd, static_cast<off_t>(size)) == 0, "a memfd");
    void *const start = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must_hold(start != MAP_FAILED, "a mapping");
    std::memcpy(start, honest.slab().start(), size);
    auto &slab = *static_cast<SlabHeader *>(start);
    auto &page = *reinterpret_cast<QueuePairPage *>(
        SlabLayout{SealedPage::Writers::owner, slab.num_slots, slab.slot_size}.slot(start, details.head_slot));
    switch (lie) {
    case Lie::wrong_slab_magic:
        slab.magic[0] = 'X';
        break;
    case Lie::wrong_slab_version:
        ++slab.version;
        break;
    case Lie::wrong_slab_number:
        ++slab.number;
        break;
    case Lie::no_slots:
        slab.num_slots = 0;
        break;
    case Lie::too_many_slots:
        slab.num_slots = UINT32_MAX;
        break;
    case Lie::odd_slots:
        ++slab.slot_size;
        break;
    case Lie::huge_slots:
        slab.slot_size = std::uint64_t{1} << 52;
        break;
    case Lie::wrong_magic:
        page.magic[0] = 'X';
        break;
    case Lie::wrong_version:
        ++page.version;
        break;
    case Lie::wrong_id:
        ++page.id;
        break;
    case Lie::wrong_nonce:
        ++page.nonce[3];
        break;
    case Lie::no_queue:
        page.recv_queue_size = 0;
        break;
    case Lie::odd_queue:
        page.recv_queue_size = 3;
        break;
    case Lie::long_queue:
        page.recv_queue_size = 1U << 31;
        break;
    case Lie::no_chain:
        page.chain_length = 0;
        break;
    case Lie::long_chain:
        page.chain_length = UINT32_MAX;
        break;
    default:
        break;
    }
    munmap(start, size);
    const int others = lie == Lie::writable ? 0 : F_SEAL_FUTURE_WRITE;
    if (lie != Lie::not_sealed)
        must_hold(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | others) == 0, "seals");
    return fd;
}

struct ForgerRequest {
    char device[DOCA_DEVINFO_IBDEV_NAME_SIZE];
    Lie lie;
    std::uint64_t id; ///< that both the details and the head have, unless 0
};

const ChildProgram forger_program("rdma-forger", [](Channel &parent) {
    const auto request = parent.receive<ForgerRequest>();
    const DevHandle dev = open_device(request.device);
    const RdmaEnd end(dev);
    ConnectionDetails details = parse_details(end.details());
    if (request.id != 0) {
        details.queue_pair_id = request.id;
        own_head(details).id = request.id;
    }
    details.head_fd = forge(details, request.lie);
    parent.send_bytes(seal(details));
    (void)parent.receive_bytes(); // ends with the test
});

/// What a peer does to the page of an instance that trusts it.
enum class Trick : std::uint32_t {
    long_cell,
    long_slot,
    strange_kind,
    strange_opcode,
    too_much,     ///< more than the receive takes, and no word of it
    early_credit, ///< receives that do not exist
    last_message = early_credit,
    far_segment,     ///< of its own receive: outside of its memory
    unknown_segment, ///< in an export that does not exist
    no_segments,
};

struct TricksterRequest {
    char device[DOCA_DEVINFO_IBDEV_NAME_SIZE];
    Trick trick;
    ConnectionDetails victim;
};

const ChildProgram trickster_program("rdma-trickster", [](Channel &parent) {
    const auto request = parent.receive<TricksterRequest>();
    const DevHandle dev = open_device(request.device);
    Memory memory(MemoryKind::heap, 1 << 16);
    const LocalMap map(dev.get(), memory.bytes(), exposed);
    const Inventory inventory(1);
    const BufHandle buf = inventory.empty(map, memory.data(), memory.size());
    const RdmaEnd end(dev);
    must(end.connect(seal(request.victim)));
    parent.send_bytes(end.details());
    (void)parent.receive_bytes(); // the victim has connected
    const MappedRegion own(parse_details(end.details())), victim(request.victim);
    if (request.trick > Trick::last_message) {
        must(end.receive(buf));
        ReceiveEntry &entry = own.first_entry();
        if (request.trick == Trick::far_segment)
            entry.segments()->addr += 1 << 16;
        if (request.trick == Trick::unknown_segment)
            entry.segments()->entry = UINT32_MAX;
        if (request.trick == Trick::no_segments)
            entry.num_segments = 0;
    } else {
        MessageCell &cell = victim.cell(0);
        cell.length = request.trick == Trick::long_cell   ? 41
                      : request.trick == Trick::long_slot ? 1U << 30
                      : request.trick == Trick::too_much  ? 4096
                                                          : 8;
        cell.kind = request.trick == Trick::long_slot      ? MessageKind::in_slot
                    : request.trick == Trick::strange_kind ? static_cast<MessageKind>(77)
                    : request.trick == Trick::too_much     ? MessageKind::placed
                                                           : MessageKind::in_cell;
        cell.received = request.trick == Trick::strange_opcode ? 99 : DOCA_RDMA_OPCODE_RECV_SEND;
        cell.num_posted = request.trick == Trick::early_credit ? 1U << 30 : 0;
        cell.shortest_receive = UINT32_MAX;
        cell.sequence.store(1, std::memory_order_release);
    }
    parent.send(true);
    (void)parent.receive_bytes();
});

/// What a peer writes to its own head, where it says in which slot messages to it are to be stored.
enum class RegionLie : std::uint32_t {
    none,
    no_descriptor,
    private_slab, ///< the one of the head
    other_number,
    far_slot,
    free_slot,
    last = free_slot,
};

struct MisleadingRequest {
    char device[DOCA_DEVINFO_IBDEV_NAME_SIZE];
    RegionLie lie;
    ConnectionDetails victim;
};

const ChildProgram misleading_program("rdma-misleading", [](Channel &parent) {
    const auto request = parent.receive<MisleadingRequest>();
    const DevHandle dev = open_device(request.device);
    const RdmaEnd end(dev);
    must(end.connect(seal(request.victim)));
    const ConnectionDetails details = parse_details(end.details());
    QueuePairPage &head = own_head(details);
    switch (request.lie) {
    case RegionLie::no_descriptor:
        head.region_fd = 1 << 20;
        break;
    case RegionLie::private_slab:
        head.region_fd = details.head_fd;
        head.region_slab = details.head_slab;
        break;
    case RegionLie::other_number:
        ++head.region_slab;
        break;
    case RegionLie::far_slot:
        head.region_slot = UINT32_MAX;
        break;
    case RegionLie::free_slot:
        ++head.region_slot;
        break;
    default:
        must(end.receive(nullptr));
        break;
    }
    parent.send_bytes(end.details());
    (void)parent.receive_bytes(); // ends with the test
});

class RdmaForged : public DeviceTest {
protected:
    void SetUp() override
    {
        if (!GetParam().is_soft())
            GTEST_SKIP() << "the layout is the software device's";
    }

    template <typename Request>
    [[nodiscard]] Request request() const
    {
        Request request = {};
        GetParam().ibdev.copy(request.device, sizeof(request.device) - 1);
        return request;
    }
};
INSTANTIATE_FOR_FEW_DEVICES(RdmaForged, can_connect);

TEST_P(RdmaForged, DetailsMustFitTheirProcess)
{
    const RdmaEnd end(dev);
    ChildProcess forger("rdma-forger");
    forger.channel().send(request<ForgerRequest>());
    const std::vector<std::byte> good = forger.channel().receive_bytes();
    const std::function<void(ConnectionDetails &)> lies[] = {
        [](ConnectionDetails &d) { d.pid = 0; },
        [](ConnectionDetails &d) { d.pid = 1; },
        [](ConnectionDetails &d) { d.pid = UINT32_MAX; },
        [](ConnectionDetails &d) { d.pid = static_cast<std::uint32_t>(getpid()); },
        [](ConnectionDetails &d) { d.page_fd = -1; },
        [](ConnectionDetails &d) { d.page_fd = d.head_fd; },
        [](ConnectionDetails &d) { d.head_fd = d.page_fd; },
        [](ConnectionDetails &d) { d.head_fd = 0; },
        [](ConnectionDetails &d) { d.head_fd = -1; },
        [](ConnectionDetails &d) { d.head_fd = 9999; },
        [](ConnectionDetails &d) { ++d.head_slab; },
        [](ConnectionDetails &d) { d.head_slab = 0; },
        [](ConnectionDetails &d) { ++d.head_slot; },
        [](ConnectionDetails &d) { d.head_slot = UINT32_MAX; },
        [](ConnectionDetails &d) { ++d.start_time; },
        [](ConnectionDetails &d) { ++d.pid_namespace; },
        [](ConnectionDetails &d) { d.queue_pair_id = 0; },
        [](ConnectionDetails &d) { d.queue_pair_id = UINT64_MAX; },
        [](ConnectionDetails &d) { ++d.queue_pair_id; },
        [](ConnectionDetails &d) { ++d.nonce[0]; },
    };
    for (std::size_t i = 0; i < std::size(lies); ++i) {
        ConnectionDetails details = parse_details(good);
        lies[i](details);
        EXPECT_EQ(end.connect(seal(details)), DOCA_ERROR_CONNECTION_ABORTED) << i;
    }
    // All others are in the header, or make the checksum wrong.
    for (std::size_t i = 0; i < good.size(); ++i) {
        std::vector<std::byte> changed = good;
        changed[i] ^= std::byte{0x40};
        EXPECT_EQ(end.connect(changed), DOCA_ERROR_CONNECTION_ABORTED) << "byte " << i;
    }
    EXPECT_EQ(end.state(), DOCA_RDMA_STATE_INIT);
    EXPECT_EQ(end.connect(good), DOCA_SUCCESS);
}

/// The sum of both ids is what connects the ends: a peer that knows the other end's must not choose it.
TEST_P(RdmaForged, IdThatMakesNoConnectionIsRefused)
{
    const RdmaEnd end(dev);
    const std::uint64_t own = parse_details(end.details()).queue_pair_id;
    for (const std::uint64_t sum : {std::uint64_t{0}, QueuePairPage::closed, std::uint64_t{1}}) {
        ChildProcess forger("rdma-forger");
        auto order = request<ForgerRequest>();
        order.id = sum - own;
        forger.channel().send(order);
        EXPECT_EQ(end.connect(forger.channel().receive_bytes()),
                  sum == 1 ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_ABORTED)
            << sum;
        EXPECT_EQ(end.state() == DOCA_RDMA_STATE_INIT, sum != 1) << sum;
    }
}

TEST_P(RdmaForged, DetailsOfAnEarlierVersionAreRefused)
{
    const RdmaEnd end(dev), peer(dev);
    const ConnectionDetails details = parse_details(peer.details());
    for (const std::uint16_t version : {std::uint16_t{1}, std::uint16_t{2}}) {
        opendoca::DescriptorWriter writer(opendoca::DescriptorKind::soft_connection, version, version);
        ConnectionDetails::visit(details, [&](const auto &field) { writer.put(field); });
        EXPECT_EQ(end.connect(writer.finish()), version == 1 ? DOCA_ERROR_CONNECTION_ABORTED : DOCA_SUCCESS);
    }
}

TEST_P(RdmaForged, PagesAreChecked)
{
    for (std::uint32_t lie = 0; lie <= static_cast<std::uint32_t>(Lie::last); ++lie) {
        ChildProcess forger("rdma-forger");
        auto order = request<ForgerRequest>();
        order.lie = static_cast<Lie>(lie);
        forger.channel().send(order);
        const RdmaEnd end(dev);
        EXPECT_EQ(end.connect(forger.channel().receive_bytes()),
                  order.lie == Lie::none ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_ABORTED)
            << lie;
    }
}

TEST_P(RdmaForged, PlaceOfThePeersMessagesIsChecked)
{
    for (std::uint32_t i = 0; i <= static_cast<std::uint32_t>(RegionLie::last); ++i) {
        const RdmaEnd end(dev);
        ChildProcess peer("rdma-misleading");
        auto order = request<MisleadingRequest>();
        order.lie = static_cast<RegionLie>(i);
        order.victim = parse_details(end.details());
        peer.channel().send(order);
        must(end.connect(peer.channel().receive_bytes()));
        ASSERT_EQ(end.send(nullptr), DOCA_SUCCESS);
        EXPECT_EQ(end.wait().result.result, order.lie == RegionLie::none ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_RESET)
            << i;
    }
}

TEST_P(RdmaForged, APeersLiesHurtOnlyTheConnection)
{
    for (std::uint32_t i = 0; i <= static_cast<std::uint32_t>(Trick::no_segments); ++i) {
        const auto trick = static_cast<Trick>(i);
        std::vector<std::byte> memory(8192);
        fill(memory, 1);
        const LocalMap map(dev, memory, exposed);
        const Inventory inventory(2);
        const BufHandle dst = inventory.empty(map, memory.data(), 64);
        const BufHandle src = inventory.full(map, &memory[2000], 3000);
        const RdmaEnd end(dev);
        ChildProcess peer("rdma-trickster");
        auto order = request<TricksterRequest>();
        order.trick = trick;
        order.victim = parse_details(end.details());
        peer.channel().send(order);
        must(end.connect(peer.channel().receive_bytes()));
        ASSERT_EQ(end.receive(dst), DOCA_SUCCESS);
        peer.channel().send(true);
        ASSERT_TRUE(peer.channel().receive<bool>());
        if (trick > Trick::last_message) {
            ASSERT_EQ(end.send(src), DOCA_SUCCESS);
        }
        const RdmaEnded ended = end.wait();
        if (trick == Trick::early_credit) {
            EXPECT_EQ(ended.result.result, DOCA_SUCCESS);
            EXPECT_EQ(ended.result.length, 8U);
            ASSERT_EQ(end.send(src), DOCA_SUCCESS);
            EXPECT_EQ(end.try_retrieve().status, DOCA_ERROR_AGAIN) << "there is no receive";
        } else {
            EXPECT_EQ(ended.result.result, trick == Trick::too_much ? DOCA_ERROR_FULL : DOCA_ERROR_IO_FAILED) << i;
            EXPECT_EQ(ended.result.length, 0U) << i;
            EXPECT_EQ(end.state(), DOCA_RDMA_STATE_ERROR);
            EXPECT_TRUE(is_filled(memory, 1)) << i;
        }
    }
}

} // namespace
