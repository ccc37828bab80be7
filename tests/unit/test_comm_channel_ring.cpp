// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The rings of Comm Channel, and what an endpoint does when the other side breaks the rules: a process of the same user
// may write what it likes into the shared memory and to the socket. It must not harm more than its own connection.
#include <algorithm>
#include <random>
#include <ranges>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "../../src/comm_channel/greeting.hpp"
#include "../../src/comm_channel/limits.hpp"
#include "../../src/comm_channel/ring.hpp"
#include "../conformance/comm_channel_fixture.hpp"

namespace cc = opendoca::cc;

using namespace doca_test;
using opendoca::UniqueFd;
using opendoca::cc::ChannelMemory;
using opendoca::cc::Geometry;
using opendoca::cc::RingOutcome;
using opendoca::cc::RingReceiver;
using opendoca::cc::RingSender;

namespace {

constexpr Geometry small = {.max_message = 64, .to_service = 8, .to_client = 16};

/// Both ends of one direction, each with its own mapping.
struct Ring {
    Ring()
    {
        must(service.create(small, fd));
        must(client.adopt(fd, small));
        sender = {client.header().to_service, client.slots_to_service(), small.to_service, small};
        receiver = {service.header().to_service, service.slots_to_service(), small.to_service, small};
    }

    RingOutcome put(const std::string &text) { return sender.put(std::as_bytes(std::span(text))); }
    RingOutcome take(std::string &text)
    {
        char room[64];
        std::size_t length = 0;
        const RingOutcome outcome = receiver.take(std::as_writable_bytes(std::span(room)), length);
        text.assign(room, length);
        return outcome;
    }
    cc::Slot &slot(std::size_t i)
    {
        return *reinterpret_cast<cc::Slot *>(client.slots_to_service() + i * small.stride());
    }

    UniqueFd fd;
    ChannelMemory service, client;
    RingSender sender;
    RingReceiver receiver;
};

/// A client that speaks the language but is none of ours.
class Attacker {
public:
    explicit Attacker(const std::string &name) : address_{"pf0", "0000:0b:00.0", name}
    {
        must(cc::connect_to(address_, socket_));
    }

    void hello() { must_hold(cc::send_hello(socket_.get(), address_, {4080, 16, 16}), "the hello is sent"); }
    void be_welcomed()
    {
        Geometry geometry{};
        UniqueFd fd;
        must_hold(cc::receive_welcome(socket_.get(), geometry, fd) == cc::GreetingOutcome::done, "a welcome");
        must(memory.adopt(fd, geometry));
    }
    void send(const void *bytes, std::size_t size) const
    {
        (void)::send(socket_.get(), bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    [[nodiscard]] bool is_thrown_out() const
    {
        pollfd wanted = {.fd = socket_.get(), .events = POLLRDHUP, .revents = 0};
        return poll(&wanted, 1, 0) == 1 && (wanted.revents & (POLLRDHUP | POLLHUP)) != 0;
    }
    [[nodiscard]] cc::Slot &slot(std::size_t i) const
    {
        return *reinterpret_cast<cc::Slot *>(memory.slots_to_service() + i * memory.geometry().stride());
    }
    [[nodiscard]] int socket() const { return socket_.get(); }

    ChannelMemory memory;

private:
    cc::ServiceAddress address_;
    UniqueFd socket_;
};

/// A service with an honest client and an attacker.
struct Attacked {
    Attacked()
    {
        must_hold(service.receive().status == DOCA_ERROR_AGAIN, "the honest client is taken in");
        must(honest.update());
    }
    void take_attacker_in()
    {
        attacker.hello();
        must_hold(service.receive().status == DOCA_ERROR_AGAIN, "the attacker is taken in");
        attacker.be_welcomed();
    }
    /// The honest client gets on with its work.
    void expect_service()
    {
        ASSERT_EQ(honest.send("hello"), DOCA_SUCCESS);
        const Received got = service.receive();
        ASSERT_EQ(got.text, "hello");
        ASSERT_EQ(service.send(got.from, "answer"), DOCA_SUCCESS);
        EXPECT_EQ(honest.wait_to_receive().text, "answer");
    }

    std::string name = unique_service();
    Service service{name, {4080, 16, 16}};
    Client honest{name};
    Attacker attacker{name};
};

} // namespace

TEST(CommChannelRing, Geometry)
{
    EXPECT_TRUE(small.is_valid());
    for (const Geometry &bad : {Geometry{63, 8, 8}, {4081, 8, 8}, {64, 0, 8}, {64, 8, 7}, {64, 12, 8}, {64, 8, 16384},
                                {0, 0, 0}, {UINT32_MAX, UINT32_MAX, UINT32_MAX}})
        EXPECT_FALSE(bad.is_valid()) << bad.max_message << ' ' << bad.to_service << ' ' << bad.to_client;
    for (std::uint32_t size = cc::min_message; size <= cc::max_message; ++size) {
        const std::size_t stride = Geometry{size, 8, 8}.stride();
        ASSERT_GE(stride, size + sizeof(cc::Slot));
        ASSERT_EQ(stride % 64, 0u);
        ASSERT_NE(stride % 4096, 0u);
    }
}

TEST(CommChannelRing, MessagesInOrderAndNoMoreThanThereIsRoom)
{
    Ring ring;
    std::string text;
    EXPECT_EQ(ring.take(text), RingOutcome::not_now);
    for (int round = 0; round < 100; ++round) {
        for (int i = 0; i < 8; ++i)
            ASSERT_EQ(ring.put(std::to_string(i)), RingOutcome::done);
        ASSERT_EQ(ring.put("x"), RingOutcome::not_now);
        ASSERT_EQ(ring.sender.in_flight(), 8u);
        for (int i = 0; i < 8; ++i) {
            ASSERT_EQ(ring.take(text), RingOutcome::done);
            ASSERT_EQ(text, std::to_string(i));
        }
        ASSERT_EQ(ring.take(text), RingOutcome::not_now);
        ASSERT_EQ(ring.sender.in_flight(), 0u);
    }
}

TEST(CommChannelRing, TheBellIsRungForWhoAskedAndOnce)
{
    Ring ring;
    std::string text;
    EXPECT_FALSE(ring.receiver.wait_for_message());
    EXPECT_EQ(ring.put("1"), RingOutcome::done_and_ring);
    EXPECT_EQ(ring.put("2"), RingOutcome::done);
    EXPECT_TRUE(ring.receiver.wait_for_message());
    while (ring.put("x") != RingOutcome::not_now) {
    }
    EXPECT_FALSE(ring.sender.wait_for_room());
    EXPECT_EQ(ring.take(text), RingOutcome::done_and_ring);
    EXPECT_EQ(ring.take(text), RingOutcome::done);
    EXPECT_TRUE(ring.sender.wait_for_room());
}

TEST(CommChannelRing, LengthsThatCannotBeAreFoundOut)
{
    for (const std::uint32_t length : {0u, 65u, 0x7fffffffu, 0xffffffffu}) {
        Ring ring;
        ring.slot(0).length = length;
        ring.slot(0).ticket.store(1);
        std::string text;
        EXPECT_EQ(ring.take(text), RingOutcome::damaged) << length;
    }
}

TEST(CommChannelRing, CountsThatCannotBeAreFoundOut)
{
    for (const std::uint64_t received : {std::uint64_t{9}, std::uint64_t{1} << 63, UINT64_MAX}) {
        Ring ring;
        while (ring.put("x") == RingOutcome::done) {
        }
        ring.client.header().to_service.received.store(received);
        EXPECT_EQ(ring.put("x"), RingOutcome::damaged) << received;
        EXPECT_EQ(ring.sender.in_flight(), 8u);
    }
    Ring ring;
    std::string text;
    while (ring.put("x") == RingOutcome::done) {
    }
    EXPECT_EQ(ring.take(text), RingOutcome::done);
    EXPECT_EQ(ring.put("x"), RingOutcome::done);
    ring.client.header().to_service.received.store(0); // less than before
    EXPECT_EQ(ring.put("x"), RingOutcome::damaged);
}

TEST(CommChannelRing, OnlySealedMemoryOfTheRightSizeIsAdopted)
{
    ChannelMemory memory;
    const UniqueFd unsealed(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(ftruncate(unsealed.get(), static_cast<off_t>(small.size())), 0);
    EXPECT_EQ(memory.adopt(unsealed, small), DOCA_ERROR_INITIALIZATION);
    ASSERT_EQ(fcntl(unsealed.get(), F_ADD_SEALS, F_SEAL_GROW), 0);
    EXPECT_EQ(memory.adopt(unsealed, small), DOCA_ERROR_INITIALIZATION);
    ASSERT_EQ(fcntl(unsealed.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
    EXPECT_EQ(memory.adopt(unsealed, {64, 8, 8}), DOCA_ERROR_INITIALIZATION);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const UniqueFd reader(ends[0]), writer(ends[1]);
    EXPECT_EQ(memory.adopt(reader, small), DOCA_ERROR_INITIALIZATION);
    EXPECT_EQ(memory.adopt(unsealed, small), DOCA_SUCCESS);
}

TEST(CommChannelAttack, GreetingsThatMakeNoSense)
{
    const std::string garbage(300, 'g');
    for (const std::size_t size : {1, 64, 191, 192, 193, 300}) {
        Attacked test;
        test.attacker.send(garbage.data(), size);
        EXPECT_EQ(test.service.receive().status, DOCA_ERROR_AGAIN);
        EXPECT_TRUE(test.attacker.is_thrown_out()) << size;
        test.expect_service();
    }
    Attacked test;
    test.attacker.send("", 0); // a message without bytes
    EXPECT_EQ(test.service.receive().status, DOCA_ERROR_AGAIN);
    EXPECT_TRUE(test.attacker.is_thrown_out());
    test.expect_service();
}

TEST(CommChannelAttack, GreetingsForAnotherService)
{
    const std::string name = unique_service();
    const Service service(name);
    const std::pair<cc::ServiceAddress, cc::QueueSizes> hellos[] = {
        {{"pf1", "0000:0b:00.0", name}, {4080, 8, 8}},
        {{"pf0", "0000:0b:00.1", name}, {4080, 8, 8}},
        {{"pf0", "0000:0b:00.0", name + "x"}, {4080, 8, 8}},
        {{"pf0", "0000:0b:00.0", std::string(120, 'x')}, {4080, 8, 8}},
        {{"pf0", "0000:0b:00.0", name}, {4081, 8, 8}},
        {{"pf0", "0000:0b:00.0", name}, {4080, 9, 8}},
        {{"pf0", "0000:0b:00.0", name}, {4080, 8, 16384}},
        {{"pf0", "0000:0b:00.0", name}, {0, 0, 0}},
    };
    for (const auto &[address, sizes] : hellos) {
        const Attacker attacker(name);
        ASSERT_TRUE(cc::send_hello(attacker.socket(), address, sizes));
        EXPECT_EQ(service.receive().status, DOCA_ERROR_AGAIN);
        EXPECT_TRUE(attacker.is_thrown_out());
    }
    EXPECT_EQ(service.update().peers.size(), 0u);
    EXPECT_EQ(service.update().pending, 0u);
}

TEST(CommChannelAttack, AClientThatNeverGreetsIsOnlyPending)
{
    Attacked test;
    EXPECT_EQ(test.service.receive().status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(test.service.update().pending, 1u);
    test.expect_service();
}

TEST(CommChannelAttack, ALengthBeyondTheSlotEndsThatConnectionAlone)
{
    Attacked test;
    test.take_attacker_in();
    test.attacker.slot(0).length = 1 << 20;
    test.attacker.slot(0).ticket.store(1);
    EXPECT_EQ(test.service.receive().status, DOCA_ERROR_AGAIN);
    EXPECT_TRUE(test.attacker.is_thrown_out());
    test.expect_service();
}

TEST(CommChannelAttack, AFalseCountEndsThatConnectionAlone)
{
    Attacked test;
    test.take_attacker_in();
    const auto state = test.service.update();
    ASSERT_EQ(state.peers.size(), 2u);
    test.attacker.memory.header().to_client.received.store(UINT64_MAX / 2);
    doca_error_t status = DOCA_SUCCESS;
    for (int i = 0; i < 20 && status == DOCA_SUCCESS; ++i)
        status = test.service.send(state.peers[1], "x");
    EXPECT_EQ(status, DOCA_ERROR_CONNECTION_RESET);
    EXPECT_TRUE(test.attacker.is_thrown_out());
    test.expect_service();
}

TEST(CommChannelAttack, BellsWithoutEnd)
{
    Attacked test;
    test.take_attacker_in();
    const int fd = test.service.recv_fd();
    test.service.arm_recv();
    const std::string bells(100, 'b');
    for (int round = 0; round < 20; ++round) {
        for (std::size_t i = 0; i < 1000; ++i)
            test.attacker.send(bells.data(), 1 + i % bells.size());
        EXPECT_EQ(test.service.receive().status, DOCA_ERROR_AGAIN);
    }
    test.expect_service();
    while (is_readable(fd))
        ASSERT_EQ(test.service.receive().status, DOCA_ERROR_AGAIN);
}

TEST(CommChannelAttack, DescriptorsSentWithBellsAreNotKept)
{
    Attacked test;
    test.take_attacker_in();
    const auto count_descriptors = [] {
        return std::ranges::count_if(std::views::iota(0, 1024), [](int fd) { return fcntl(fd, F_GETFD) >= 0; });
    };
    const auto before = count_descriptors();
    for (int i = 0; i < 10; ++i)
        ASSERT_TRUE(cc::send_welcome(test.attacker.socket(), small, STDERR_FILENO));
    EXPECT_EQ(test.service.receive().status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(count_descriptors(), before);
}

/// The whole memory is written to, again and again, while the service works on.
TEST(CommChannelAttack, RandomDamage)
{
    std::mt19937 random(20260101);
    for (int round = 0; round < 200; ++round) {
        Attacked test;
        test.take_attacker_in();
        const auto state = test.service.update();
        const std::size_t size = test.attacker.memory.geometry().size();
        auto *const bytes = reinterpret_cast<std::byte *>(&test.attacker.memory.header());
        for (int step = 0; step < 30; ++step) {
            for (int i = 0; i < 20; ++i) {
                // Most of it where the words are that mean something.
                const std::size_t place = i % 2 == 0 ? random() % sizeof(cc::ChannelHeader) : random() % size;
                bytes[place] = static_cast<std::byte>(random());
            }
            test.attacker.slot(random() % 16).ticket.store(random() % 20);
            (void)test.service.receive();
            (void)test.service.send(state.peers[1], numbered(step, 4080));
            (void)doca_comm_channel_peer_addr_update_info(state.peers[1]);
            if (step % 10 == 0)
                (void)doca_comm_channel_ep_event_handle_arm_recv(test.service);
        }
        while (test.service.receive().status == DOCA_SUCCESS) {
        }
        ASSERT_EQ(test.honest.update(), DOCA_SUCCESS);
        test.expect_service();
    }
}

/// A service that is none: what a client does with its answers.
TEST(CommChannelAttack, WelcomesThatMakeNoSense)
{
    const cc::ServiceAddress address = {"pf0", "0000:0b:00.0", unique_service()};
    UniqueFd listener;
    ASSERT_EQ(cc::listen_at(address, listener), DOCA_SUCCESS);
    ChannelMemory memory;
    UniqueFd right;
    ASSERT_EQ(memory.create(small, right), DOCA_SUCCESS);
    const Geometry answers[] = {{0, 0, 0}, {64, 8, 8}, {64, 9, 16}, {4081, 8, 16}, {64, 8, UINT32_MAX}};
    for (int i = 0; i < 8; ++i) {
        const Client client(address.service);
        const UniqueFd socket(accept(listener.get(), nullptr, nullptr));
        ASSERT_TRUE(socket.is_open());
        if (i < 5) {
            ASSERT_TRUE(cc::send_welcome(socket.get(), answers[i], right.get()));
        } else if (i == 5) {
            ASSERT_TRUE(cc::send_welcome(socket.get(), small, STDERR_FILENO));
        } else if (i == 6) {
            cc::send_refusal(socket.get());
        } else {
            ASSERT_EQ(::send(socket.get(), "x", 1, MSG_NOSIGNAL), 1);
        }
        EXPECT_EQ(client.update(), DOCA_ERROR_CONNECTION_ABORTED) << i;
        EXPECT_EQ(client.send("x"), DOCA_ERROR_INITIALIZATION) << i;
    }
    const Client client(address.service);
    const UniqueFd socket(accept(listener.get(), nullptr, nullptr));
    ASSERT_TRUE(cc::send_welcome(socket.get(), small, right.get()));
    EXPECT_EQ(client.update(), DOCA_SUCCESS) << "one that makes sense";
}
