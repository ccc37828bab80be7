// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Peers of Comch that are slow, or do not keep the rules of consumers and producers: what they make this side keep is
// bounded, and a connection that breaks the rules is ended. A hostile peer is made of the transport alone.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <poll.h>

#include "../../../src/comch/v3/control.hpp"
#include "../../../src/comm_channel/connection.hpp"
#include "../../../src/core/objects/dev.hpp"
#include "../support/clock_ahead.hpp"
#include "comch_sides.hpp"

using namespace doca_test;
using opendoca::comch::ControlKind;
using opendoca::comch::ControlMessage;
using namespace opendoca::comm_channel;
using opendoca::comm_channel::Connection;

namespace {

class ComchPeers : public ComchTest {
protected:
    static constexpr int most_messages = 20'000; ///< of a peer that is never stopped

    void SetUp() override
    {
        ComchTest::SetUp();
        ASSERT_EQ(doca_ctx_start(server_ctx()), DOCA_SUCCESS);
    }
    [[nodiscard]] ServiceKey key() const
    {
        const doca_dev_rep *const of_client = rep;
        const opendoca::FunctionIdentity function = of_client->info->info.identity();
        return make_service_key(function.name, function.pci_address, name);
    }
    enum class Peer : std::uint8_t { comch, comch_two_channels, comm_channel };
    /// Returns a client of the transport that has sent its hello.
    [[nodiscard]] std::unique_ptr<Connection> begin_raw(Peer kind = Peer::comch)
    {
        opendoca::UniqueFd socket;
        must(ServiceSearch().connect(key(), name, socket));
        const auto watching =
            kind == Peer::comch ? Connection::Watching::by_one_channel : Connection::Watching::by_two_channels;
        auto made = std::make_unique<Connection>(Connection::Side::client, std::move(socket), *host, watching);
        if (kind != Peer::comm_channel)
            made->offer_control_messages();
        must(made->send_hello(key(), Limits{}));
        return made;
    }
    /// Returns such a client after the server has accepted it.
    [[nodiscard]] std::unique_ptr<Connection> connect_raw(Peer kind = Peer::comch)
    {
        auto made = begin_raw(kind);
        run_until([&] { return made->receive_welcome(Limits{}) == DOCA_SUCCESS && !at_server.connected.empty(); });
        return made;
    }
    /// Until the server ends the connection: how many messages of @p make that takes.
    template <typename Make>
    int flood(Connection &peer, Make make)
    {
        for (int i = 0; i != most_messages; ++i) {
            const ControlMessage message = make(i);
            while (peer.send(&message, sizeof(message), static_cast<std::uint32_t>(message.kind)) == DOCA_ERROR_AGAIN &&
                   at_server.disconnected.empty())
                (void)doca_pe_progress(at_server.pe);
            (void)doca_pe_progress(at_server.pe);
            if (!at_server.disconnected.empty())
                return i;
        }
        return most_messages;
    }
    void one_message_ends_it(ControlKind kind, std::size_t length = sizeof(ControlMessage), std::uint32_t number = 7)
    {
        at_server.connected.clear();
        at_server.disconnected.clear();
        const std::unique_ptr<Connection> peer = connect_raw();
        ControlMessage message{};
        message.consumer = message.producer = number;
        must(peer->send(&message, length, static_cast<std::uint32_t>(kind)));
        run_until([&] { return !at_server.disconnected.empty(); });
        EXPECT_TRUE(at_server.expired.empty()) << "the program hears of a consumer that never came";
        EXPECT_TRUE(at_server.consumers.empty());
    }
};

TEST_F(ComchPeers, a_client_of_comm_channel_exchanges_messages_and_has_no_consumers)
{
    const std::unique_ptr<Connection> peer = connect_raw(Peer::comm_channel);
    EXPECT_FALSE(peer->has_control_messages());
    must(peer->send("hello", 5));
    run_until([&] { return !at_server.messages.empty(); });
    EXPECT_EQ(at_server.messages[0], "hello");
    std::vector<std::byte> memory(64);
    const MmapHandle map = map_of(dpu, memory, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    const LogCapture log;
    ConsumerHandle consumer;
    ProducerHandle producer;
    EXPECT_EQ(doca_comch_consumer_create(at_server.connected[0], map, consumer.out()), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_comch_producer_create(at_server.connected[0], producer.out()), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_TRUE(log.has("uses Comm Channel, which has no consumers and producers")) << log.text();
    EXPECT_TRUE(at_server.disconnected.empty());
}

TEST_F(ComchPeers, a_control_message_of_a_client_of_comm_channel_ends_its_connection)
{
    const std::unique_ptr<Connection> peer = connect_raw(Peer::comm_channel);
    ControlMessage message{};
    message.consumer = 7;
    must(peer->send(&message, sizeof(message), static_cast<std::uint32_t>(ControlKind::new_consumer)));
    run_until([&] { return !at_server.disconnected.empty(); });
    EXPECT_TRUE(at_server.consumers.empty());
}

/// The connections' memories that this process has mapped, by address. Both ends of a connection have one.
std::set<std::uintptr_t> memories()
{
    std::set<std::uintptr_t> found;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find("memfd:opendoca-comm-channel") != std::string::npos)
            found.insert(std::stoul(line, nullptr, 16));
    }
    return found;
}

/// The program is never told of such a client, and must not be kept busy by it.
TEST_F(ComchPeers, a_client_that_corrupts_the_memory_before_it_is_reported_is_dropped)
{
    // With messages of two others, the server sometimes takes a client in and then first delivers a message.
    const std::unique_ptr<Connection> one = connect_raw();
    at_server.connected.clear();
    const std::unique_ptr<Connection> other = connect_raw();
    std::unique_ptr<Connection> bad;
    std::set<std::uintptr_t> before;
    constexpr int max_tries = 200;
    int tries = 0;
    for (bool is_unreported = false; !is_unreported; ++tries) {
        ASSERT_LT(tries, max_tries);
        before = memories();
        at_server.connected.clear();
        bad = begin_raw();
        while (bad->receive_welcome(Limits{}) != DOCA_SUCCESS) {
            (void)one->send("x", 1);
            (void)other->send("x", 1);
            (void)doca_pe_progress(at_server.pe);
        }
        is_unreported = at_server.connected.empty();
    }
    for (const std::uintptr_t memory : memories()) {
        if (!before.contains(memory))
            reinterpret_cast<SharedPage *>(memory)->to_service.sent.store(1'000'000);
    }
    must(doca_pe_request_notification(at_server.pe)); // looks for messages of all clients, reported or not
    run_until([&] { return bad->check_end(); });
    EXPECT_TRUE(at_server.connected.empty());
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(at_server.pe, &handle));
    pollfd ready = {.fd = handle, .events = POLLIN, .revents = 0};
    constexpr int polls = 10'000;
    for (int i = 0; i != polls; ++i)
        (void)doca_pe_progress(at_server.pe);
    must(doca_pe_request_notification(at_server.pe));
    EXPECT_EQ(poll(&ready, 1, 0), 0) << "the server has something to do";
}

/// As by the thread of a server, while that of a consumer finds the damage.
TEST_F(ComchPeers, a_connection_with_damaged_memory_can_be_armed)
{
    const std::set<std::uintptr_t> before = memories();
    const std::unique_ptr<Connection> peer = connect_raw();
    for (const std::uintptr_t memory : memories()) {
        if (!before.contains(memory))
            reinterpret_cast<SharedPage *>(memory)->to_client.sent.store(1'000'000);
    }
    EXPECT_FALSE(peer->has_message());
    EXPECT_TRUE(peer->has_ended());
    peer->arm_for_message();
    peer->arm_for_space();
    EXPECT_FALSE(peer->has_space());
}

/// A side that watches messages and space separately has a socket for space.
TEST_F(ComchPeers, a_client_is_told_of_space_on_the_descriptors_that_it_has)
{
    for (const Peer kind : {Peer::comch, Peer::comch_two_channels, Peer::comm_channel}) {
        SCOPED_TRACE(static_cast<int>(kind));
        at_server.connected.clear();
        at_server.messages.clear();
        const std::unique_ptr<Connection> peer = connect_raw(kind);
        EXPECT_EQ(peer->space_fd() == peer->message_fd(), kind == Peer::comch);
        std::size_t num_sent = 0;
        while (peer->send("x", 1) == DOCA_SUCCESS)
            ++num_sent;
        peer->arm_for_space();
        ASSERT_FALSE(peer->has_space());
        run_until([&] { return at_server.messages.size() == num_sent; });
        pollfd space = {.fd = peer->space_fd(), .events = POLLIN, .revents = 0};
        EXPECT_EQ(poll(&space, 1, 10'000), 1);
        EXPECT_TRUE(peer->has_space());
        EXPECT_FALSE(peer->drain_all_doorbells()) << "the server lives";
        EXPECT_EQ(poll(&space, 1, 0), 0) << "all doorbells were drained";
    }
}

/// The oldest of those that say nothing go, and nobody that has said hello, whether before them or behind them.
TEST_F(ComchPeers, clients_that_say_nothing_are_not_kept_without_limit)
{
    constexpr std::size_t num_kept = max_silent_clients;
    std::vector<opendoca::UniqueFd> silent;
    std::vector<std::unique_ptr<Connection>> good;
    const auto is_closed = [](const opendoca::UniqueFd &socket) {
        pollfd ended = {.fd = socket.get(), .events = POLLIN, .revents = 0};
        return poll(&ended, 1, 0) == 1;
    };
    const auto num_closed = [&] { return static_cast<std::size_t>(std::ranges::count_if(silent, is_closed)); };
    for (int i = 0; i != 2; ++i) { // as the queue of the socket is limited
        for (std::size_t count = 0; count != num_kept + 32; ++count) {
            good.push_back(begin_raw());
            must(ServiceSearch().connect(key(), name, silent.emplace_back()));
        }
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        run_until([&] {
            return (at_server.connected.size() == good.size() && num_closed() == silent.size() - num_kept) ||
                   std::chrono::steady_clock::now() > end;
        });
        ASSERT_EQ(at_server.connected.size(), good.size());
        ASSERT_EQ(num_closed(), silent.size() - num_kept);
    }
    EXPECT_TRUE(std::ranges::none_of(std::span(silent).last(num_kept), is_closed)) << "those that came last";
    for (const std::unique_ptr<Connection> &each : good)
        EXPECT_EQ(each->receive_welcome(Limits{}), DOCA_SUCCESS);
    EXPECT_TRUE(at_server.disconnected.empty());
}

TEST_F(ComchPeers, clients_that_say_nothing_are_not_waited_for_for_ever)
{
    opendoca::UniqueFd silent;
    must(ServiceSearch().connect(key(), name, silent));
    const auto is_closed = [&] {
        pollfd ended = {.fd = silent.get(), .events = POLLIN, .revents = 0};
        return poll(&ended, 1, 0) == 1;
    };
    const std::unique_ptr<Connection> good = connect_raw(); // so the server has looked
    EXPECT_FALSE(is_closed());
    seconds_ahead += 9;
    for (int i = 0; i != 1000; ++i)
        (void)doca_pe_progress(at_server.pe);
    EXPECT_FALSE(is_closed());
    seconds_ahead += 2;
    for (int i = 0; i != 1000; ++i)
        (void)doca_pe_progress(at_server.pe);
    EXPECT_TRUE(is_closed());
    EXPECT_TRUE(at_server.disconnected.empty());
}

TEST_F(ComchPeers, a_peer_that_announces_consumers_and_reads_nothing_is_cut_off)
{
    const std::unique_ptr<Connection> peer = connect_raw();
    const int sent = flood(*peer, [](int i) {
        ControlMessage message{};
        message.kind = i % 2 == 0 ? ControlKind::new_consumer : ControlKind::expired;
        message.consumer = static_cast<std::uint32_t>(i / 2) + 1;
        return message;
    });
    EXPECT_LT(sent, most_messages);
    EXPECT_EQ(state_of(server_ctx()), DOCA_CTX_STATE_RUNNING);
}

TEST_F(ComchPeers, a_peer_with_too_many_consumers_is_cut_off)
{
    const std::unique_ptr<Connection> peer = connect_raw();
    std::array<std::byte, 4096> answer;
    const int sent = flood(*peer, [&](int i) {
        std::size_t length = answer.size();
        std::uint32_t kind = 0;
        while (peer->receive(answer.data(), length, kind) == DOCA_SUCCESS)
            length = answer.size();
        ControlMessage message{};
        message.kind = ControlKind::new_consumer;
        message.consumer = static_cast<std::uint32_t>(i) + 1;
        return message;
    });
    EXPECT_EQ(at_server.consumers.size(), opendoca::comch::max_unanswered);
    EXPECT_LT(sent, most_messages);
}

TEST_F(ComchPeers, a_peer_that_asks_and_reads_nothing_is_cut_off)
{
    const std::unique_ptr<Connection> peer = connect_raw();
    const int sent = flood(*peer, [](int i) {
        ControlMessage message{};
        message.kind = ControlKind::connect;
        message.consumer = 1; // that is not there: refused
        message.producer = static_cast<std::uint32_t>(i);
        return message;
    });
    EXPECT_LT(sent, most_messages);
}

TEST_F(ComchPeers, what_was_not_asked_and_what_is_no_message_ends_the_connection)
{
    one_message_ends_it(ControlKind::known);
    one_message_ends_it(ControlKind::accept);
    one_message_ends_it(ControlKind::refuse);
    one_message_ends_it(ControlKind::expired);
    one_message_ends_it(static_cast<ControlKind>(99));
    one_message_ends_it(ControlKind::new_consumer, sizeof(ControlMessage) - 1);
    one_message_ends_it(ControlKind::new_consumer, sizeof(ControlMessage), 0); // which means none
    at_server.connected.clear();
    start_client(); // others are served as before
    EXPECT_EQ(at_server.connected.size(), 1u);
}

/// Somebody on the server's side of a connection.
class Member {
public:
    static constexpr std::uint32_t consumer = 5; ///< of the peer

    explicit Member(doca_comch_connection *connection)
    {
        must(doca_pe_create(pe_.out()));
        must(doca_comch_producer_create(connection, producer_.out()));
        must(doca_comch_producer_task_send_set_conf(producer_, ended, failed, 4));
        must(doca_ctx_set_user_data(ctx(), {.ptr = this}));
        must(doca_pe_connect_ctx(pe_, ctx()));
        must(doca_ctx_start(ctx()));
    }
    Member(const Member &) = delete;
    Member &operator=(const Member &) = delete;
    ~Member()
    {
        (void)doca_ctx_stop(ctx());
        while (state_of(ctx()) != DOCA_CTX_STATE_IDLE)
            progress();
    }

    void progress() { (void)doca_pe_progress(pe_); }
    /// Immediate data.
    void send(std::uint32_t length = 1, std::uint32_t to = consumer)
    {
        static std::uint8_t text[] = {'t', 'e', 'x', 't'};
        doca_comch_producer_task_send *task = nullptr;
        must(doca_comch_producer_task_send_alloc_init(producer_, nullptr, text, length, to, &task));
        must(doca_task_submit(doca_comch_producer_task_send_as_task(task)));
    }

    std::vector<doca_error_t> ends; ///< of sends

private:
    static void end(doca_comch_producer_task_send *sent, void *self)
    {
        doca_task *const task = doca_comch_producer_task_send_as_task(sent);
        static_cast<Member *>(self)->ends.push_back(doca_task_get_status(task));
        doca_task_free(task);
    }
    static void ended(doca_comch_producer_task_send *task, doca_data, doca_data ctx_data) { end(task, ctx_data.ptr); }
    static void failed(doca_comch_producer_task_send *task, doca_data, doca_data ctx_data) { end(task, ctx_data.ptr); }
    [[nodiscard]] doca_ctx *ctx() const { return doca_comch_producer_as_ctx(producer_); }

    PeHandle pe_;
    ProducerHandle producer_;
};

/// The consumer's peer goes before it has answered: neither the send that waits nor a later one waits for ever.
TEST_F(ComchPeers, a_message_longer_than_was_agreed_ends_the_connection)
{
    ASSERT_EQ(doca_ctx_stop(server_ctx()), DOCA_SUCCESS);
    must(doca_comch_server_set_max_msg_size(server, 100));
    ASSERT_EQ(doca_ctx_start(server_ctx()), DOCA_SUCCESS);
    const std::unique_ptr<Connection> peer = connect_raw();
    EXPECT_EQ(peer->max_send_length(), 100u);
    const std::string text(101, 'x');
    must(peer->send(text.data(), 100));
    must(peer->send(text.data(), 101));
    run_until([&] { return !at_server.disconnected.empty(); });
    ASSERT_EQ(at_server.messages.size(), 1u);
    EXPECT_EQ(at_server.messages[0].size(), 100u);
}

TEST_F(ComchPeers, sends_to_a_consumer_that_never_answers_end_with_the_connection)
{
    std::unique_ptr<Connection> peer = connect_raw();
    ControlMessage message{};
    message.kind = ControlKind::new_consumer;
    message.consumer = Member::consumer;
    must(peer->send(&message, sizeof(message), static_cast<std::uint32_t>(message.kind)));
    run_until([&] { return at_server.consumers == std::vector<std::uint32_t>{Member::consumer}; });
    Member member(at_server.connected[0]);
    member.send();
    run_until([&] { return doca_pe_progress(at_server.pe) == 0; });
    EXPECT_TRUE(member.ends.empty());
    peer.reset();
    run_until([&] { return !at_server.disconnected.empty(); });
    run_until([&] { return member.progress(), member.ends.size() == 1; });
    member.send();
    run_until([&] { return member.progress(), member.ends.size() == 2; });
    EXPECT_EQ(member.ends, (std::vector{DOCA_ERROR_CONNECTION_RESET, DOCA_ERROR_CONNECTION_RESET}));
}

TEST_F(ComchPeers, what_a_consumer_takes_is_what_its_peer_says)
{
    const std::unique_ptr<Connection> peer = connect_raw();
    ControlMessage message{};
    message.kind = ControlKind::new_consumer;
    message.details_size = sizeof(std::uint32_t);
    message.details[0] = std::byte{2};
    message.consumer = Member::consumer;
    must(peer->send(&message, sizeof(message), static_cast<std::uint32_t>(message.kind)));
    message.details_size = UINT32_MAX; // and what is none
    message.consumer = Member::consumer + 1;
    must(peer->send(&message, sizeof(message), static_cast<std::uint32_t>(message.kind)));
    run_until([&] { return at_server.consumers.size() == 2; });
    Member member(at_server.connected[0]);
    for (const std::uint32_t to : {Member::consumer, Member::consumer + 1}) {
        member.send(2, to); // waits for the answer
        member.send(3, to);
    }
    run_until([&] { return member.progress(), member.ends.size() == 2; });
    EXPECT_EQ(member.ends, (std::vector{DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_INVALID_VALUE}));
}

/// A producer that has not heard of the limit, as of a library from before it, is kept to it by the consumer.
TEST_F(ComchPeers, immediate_data_is_never_longer_than_the_consumer_has_said)
{
    start_client();
    std::vector<std::byte> memory(64);
    const MmapHandle map = map_of(host, memory, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    const InventoryHandle inventory = inventory_of(1);
    Member member(at_server.connected[0]);
    for (const std::uint32_t limit : {0u, 2u}) {
        SCOPED_TRACE(limit);
        PeHandle pe;
        must(doca_pe_create(pe.out()));
        ConsumerHandle consumer;
        must(doca_comch_consumer_create(to_server, map, consumer.out()));
        must(doca_comch_consumer_set_imm_data_len(consumer, limit));
        std::vector<doca_error_t> ends;
        const auto ended = [](doca_comch_consumer_task_post_recv *task, doca_data, doca_data ctx_data) {
            doca_task *const base = doca_comch_consumer_task_post_recv_as_task(task);
            static_cast<std::vector<doca_error_t> *>(ctx_data.ptr)->push_back(doca_task_get_status(base));
            doca_task_free(base);
        };
        must(doca_comch_consumer_task_post_recv_set_conf(consumer, ended, ended, 1));
        doca_ctx *const ctx = doca_comch_consumer_as_ctx(consumer);
        must(doca_ctx_set_user_data(ctx, {.ptr = &ends}));
        must(doca_pe_connect_ctx(pe, ctx));
        ASSERT_EQ(doca_ctx_start(ctx), DOCA_ERROR_IN_PROGRESS);
        ControlMessage told{};
        ASSERT_TRUE(to_server->fast->to_peer.take(told));
        EXPECT_EQ(told.details[0], static_cast<std::byte>(limit));
        told.details_size = 0;
        to_server->fast->to_peer.put(told);
        const auto run_all_until = [&](const std::function<bool()> &is_done) {
            run_until([&] { return (void)doca_pe_progress(pe), member.progress(), is_done(); });
        };
        run_all_until([&] { return state_of(ctx) == DOCA_CTX_STATE_RUNNING; });
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_data(inventory, map, memory.data(), memory.size(), buf.out()));
        must(doca_buf_set_data(buf, memory.data(), 5));
        doca_comch_consumer_task_post_recv *task = nullptr;
        must(doca_comch_consumer_task_post_recv_alloc_init(consumer, buf, &task));
        must(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
        member.send(limit + 1, told.consumer);
        run_all_until([&] { return !ends.empty(); });
        EXPECT_EQ(ends, std::vector{DOCA_ERROR_FULL});
        EXPECT_EQ(data_len_of(buf), 5u);
        (void)doca_ctx_stop(ctx);
        run_all_until([&] {
            return state_of(ctx) == DOCA_CTX_STATE_IDLE && at_server.expired.size() == at_server.consumers.size();
        });
    }
}

/// What is left to receive of one that is given up is not waited for: nobody receives it.
TEST_F(ComchPeers, a_connection_that_lacks_memory_ends_whatever_is_left)
{
    const std::unique_ptr<Connection> peer = connect_raw();
    for (int i = 0; i != 3; ++i)
        must(peer->send("left", 4));
    at_server.connected[0]->fast->fail();
    run_until([&] { return !at_server.disconnected.empty(); });
}

/// Of two connections that have ended, one has a member: it stays as long as that, and keeps nobody awake.
TEST_F(ComchPeers, a_connection_that_has_ended_stays_for_its_members_alone)
{
    std::unique_ptr<Connection> empty = connect_raw();
    at_server.connected.clear();
    std::unique_ptr<Connection> used = connect_raw();
    const std::weak_ptr<opendoca::comch::FastPath> fast = at_server.connected[0]->fast;
    auto member = std::make_unique<Member>(at_server.connected[0]);
    empty.reset();
    used.reset();
    run_until([&] { return at_server.disconnected.size() == 2; });
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(at_server.pe, &handle));
    run_until([&] {
        while (doca_pe_progress(at_server.pe) != 0)
            ;
        must(doca_pe_request_notification(at_server.pe));
        pollfd ready = {.fd = handle, .events = POLLIN, .revents = 0};
        const bool sleeps = poll(&ready, 1, 0) == 0;
        must(doca_pe_clear_notification(at_server.pe, handle));
        return sleeps;
    });
    EXPECT_FALSE(fast.expired());
    member.reset();
    run_until([&] { return fast.expired(); });
}

/// Nobody progresses the server: what its client has to tell it waits.
TEST_F(ComchPeers, consumers_that_the_peer_does_not_hear_of_are_limited)
{
    start_client();
    std::vector<std::byte> memory(4096);
    const MmapHandle map = map_of(host, memory, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    const PeHandle pe = [] {
        PeHandle made;
        must(doca_pe_create(made.out()));
        return made;
    }();
    const auto begin_and_end = [&] {
        ConsumerHandle consumer;
        must(doca_comch_consumer_create(to_server, map, consumer.out()));
        doca_ctx *const ctx = doca_comch_consumer_as_ctx(consumer);
        must(doca_pe_connect_ctx(pe, ctx));
        const doca_error_t status = doca_ctx_start(ctx);
        (void)doca_ctx_stop(ctx);
        while (state_of(ctx) != DOCA_CTX_STATE_IDLE)
            (void)doca_pe_progress(pe);
        return status;
    };
    std::uint32_t count = 0;
    doca_error_t status = DOCA_ERROR_IN_PROGRESS;
    while (status == DOCA_ERROR_IN_PROGRESS && count != 2 * opendoca::comch::max_unanswered) {
        status = begin_and_end();
        count += status == DOCA_ERROR_IN_PROGRESS;
    }
    EXPECT_EQ(status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(count, opendoca::comch::max_unanswered);
    run_until([&] { return at_server.expired.size() == count; });
    EXPECT_EQ(at_server.consumers, at_server.expired);
    while (begin_and_end() == DOCA_ERROR_AGAIN) // the answers are still on their way
        run_until([&] { return doca_pe_progress(at_client.pe) == 0; });
}

} // namespace
