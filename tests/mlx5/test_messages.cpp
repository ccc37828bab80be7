// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages of Comm Channel by queue pairs of the card: a service at the function that has the representors, whose port
// has no address, and a client at the subfunction. That the card has carried them, and what is left when it does not.
#include <cstdint>
#include <cstring>
#include <string>

#include "../card/behaviour/verbs.hpp"
#include "../conformance/support/child_process.hpp"
#include "../conformance/support/comm_channel.hpp"

namespace {

using namespace doca_test;
using card_test::ask_card;
using card_test::card_count;

constexpr int size = 1000;

/// How a process ends.
enum class End : std::uint32_t {
    disconnects,
    destroys,
    is_killed ///< while it sends
};

struct Order {
    char service[64] = {};
    End end = End::disconnects;
    int exchanges = 0; ///< before the last messages; the first ones go by TCP
    int messages = 0;
};

/// A client that is told to, sends numbers, and ends without a look at who gets them.
const ChildProgram last_words("last_words", [](Channel &parent) {
    const auto order = parent.receive<Order>();
    const DevHandle dev = open_device("mlx5_1");
    EpHandle ep = make_endpoint(dev, {.queue = 32});
    Address *peer = nullptr;
    must(doca_comm_channel_ep_connect(ep, order.service, &peer));
    must(await_connection(peer));
    for (int i = 0; i < order.exchanges; ++i) {
        must(until_not(DOCA_ERROR_AGAIN, [&] { return send_text(ep, peer, std::string(size, 'x')); }));
        must(await_message(ep).status);
    }
    parent.send(true);
    (void)parent.receive<bool>();
    for (int i = 0; i < order.messages || order.end == End::is_killed; ++i)
        must(until_not(DOCA_ERROR_AGAIN, [&] { return send_text(ep, peer, std::to_string(i)); }));
    if (order.end == End::disconnects)
        must(doca_comm_channel_ep_disconnect(ep, peer));
    else
        must(doca_comm_channel_ep_destroy(ep.release()));
    _exit(0);
});

class MessagesOfTheCard : public testing::Test {
protected:
    void connect()
    {
        service.reset();
        service = make_service(dpu, rep, name, {.queue = 32});
        connect_client();
    }
    void connect_client()
    {
        client.reset();
        client = make_endpoint(host, {.queue = 32});
        must(doca_comm_channel_ep_connect(client, name.c_str(), &to_service));
        ASSERT_EQ(until_not(DOCA_ERROR_CONNECTION_INPROGRESS,
                            [&] {
                                (void)receive(service);
                                return doca_comm_channel_peer_addr_update_info(to_service);
                            }),
                  DOCA_SUCCESS);
    }
    /// One message there and one back.
    [[nodiscard]] bool exchange(char letter)
    {
        const std::string text(size, letter);
        if (until_not(DOCA_ERROR_AGAIN, [&] { return send_text(client, to_service, text); }) != DOCA_SUCCESS)
            return false;
        const Received there = await_message(service);
        if (there.text != text || send_text(service, there.from, text) != DOCA_SUCCESS)
            return false;
        to_client = there.from;
        return await_message(client).text == text;
    }
    /// By TCP the card gets none of it.
    void exchange_until_the_card_carries()
    {
        const int before = card_count("message-bytes");
        for (int i = 0; card_count("message-bytes") < before + 4 * size; ++i) {
            ASSERT_LT(i, 100'000) << "the queue pairs are not used";
            ASSERT_TRUE(exchange('a'));
        }
    }

    /// A client of another process, served until its last messages begin.
    void serve(ChildProcess &child, const Order &order)
    {
        child.channel().send(order);
        while (!child.channel().is_readable()) {
            const Received got = receive(service);
            if (got.status == DOCA_SUCCESS)
                must(send_text(service, got.from, got.text));
        }
        ASSERT_TRUE(child.channel().receive<bool>());
        child.channel().send(true);
    }
    [[nodiscard]] Order order(End end, int exchanges, int messages) const
    {
        Order order{.end = end, .exchanges = exchanges, .messages = messages};
        name.copy(order.service, sizeof(order.service) - 1);
        return order;
    }

    const DevHandle dpu{open_device("mlx5_0")}, host{open_device("mlx5_1")};
    const RepHandle rep{open_representor(dpu, pci_of(doca_dev_as_devinfo(host)))};
    const std::string name = service_name();
    EpHandle service, client;
    Address *to_service = nullptr, *to_client = nullptr;
};

TEST_F(MessagesOfTheCard, AreCarriedByItsQueuePairs)
{
    connect();
    exchange_until_the_card_carries();
    const int bytes = card_count("message-bytes");
    for (int i = 0; i < 50; ++i)
        ASSERT_TRUE(exchange('b'));
    EXPECT_GE(card_count("message-bytes"), bytes + 2 * 50 * size) << "all of them";
}

TEST_F(MessagesOfTheCard, FillTheQueueAndNoMoreThoughTheReceiverDoesNotLook)
{
    connect();
    exchange_until_the_card_carries();
    for (int round = 0; round < 5; ++round) {
        int sent = 0;
        while (send_text(client, to_service, std::to_string(sent)) == DOCA_SUCCESS)
            ++sent;
        EXPECT_EQ(sent, 32);
        for (int i = 0; i < sent; ++i)
            EXPECT_EQ(await_message(service).text, std::to_string(i));
        EXPECT_EQ(until_not(DOCA_ERROR_AGAIN, [&] { return send_text(client, to_service, "room"); }), DOCA_SUCCESS);
        EXPECT_EQ(await_message(service).text, "room");
        // All places are free again as soon as the client has heard of it.
        std::uint64_t in_flight = 1;
        EXPECT_EQ(until_not(DOCA_ERROR_AGAIN,
                            [&] {
                                (void)receive(service);
                                must(doca_comm_channel_peer_addr_update_info(to_service));
                                must(doca_comm_channel_peer_addr_get_send_in_flight_messages(to_service, &in_flight));
                                return in_flight == 0 ? DOCA_SUCCESS : DOCA_ERROR_AGAIN;
                            }),
                  DOCA_SUCCESS);
    }
}

TEST_F(MessagesOfTheCard, WakeTheWaiterAndArriveBeforeTheEndOfTheirSender)
{
    connect();
    exchange_until_the_card_carries();
    int recv = -1;
    must(doca_comm_channel_ep_get_event_channel(service, nullptr, &recv));
    must(doca_comm_channel_ep_event_handle_arm_recv(service));
    while (receive(service).status == DOCA_ERROR_AGAIN && is_readable(recv)) {
        // What the card has told before.
    }
    for (int i = 0; i < 20; ++i)
        must(send_text(client, to_service, "last " + std::to_string(i)));
    must(doca_comm_channel_ep_disconnect(client, to_service));
    for (int i = 0; i < 20;) {
        await_readable(recv);
        const Received got = receive(service);
        if (got.status == DOCA_ERROR_AGAIN)
            continue;
        ASSERT_EQ(got.text, "last " + std::to_string(i));
        ++i;
    }
}

TEST_F(MessagesOfTheCard, OfAProcessThatEndsWellAllArrive)
{
    service = make_service(dpu, rep, name, {.queue = 32});
    for (int round = 0; round < 12; ++round) {
        ChildProcess child("last_words");
        // From the first moments, when messages still go by TCP, to those when all go by the card.
        serve(child, order(round % 2 == 0 ? End::disconnects : End::destroys, round, 32));
        EXPECT_EQ(child.wait(), 0); // it is gone, and nobody has looked
        for (int i = 0; i < 32; ++i)
            ASSERT_EQ(await_message(service).text, std::to_string(i)) << "round " << round;
        EXPECT_NE(receive(service).status, DOCA_SUCCESS);
    }
}

TEST_F(MessagesOfTheCard, OfAProcessThatIsKilledNoneIsMissingBeforeAnotherOne)
{
    service = make_service(dpu, rep, name, {.queue = 32});
    for (int round = 0; round < 6; ++round) {
        ChildProcess child("last_words");
        serve(child, order(End::is_killed, 3 * round, 0));
        int next = 0;
        const auto take_next = [&](const Received &got) {
            EXPECT_EQ(got.text, std::to_string(next)) << "round " << round;
            ++next;
        };
        while (next <= 10 * round)
            take_next(await_message(service));
        child.kill();
        child.wait_for_end();
        for (;;) { // what came before
            const Received got = receive(service);
            if (got.status == DOCA_ERROR_CONNECTION_RESET)
                break;
            if (got.status == DOCA_SUCCESS)
                take_next(got);
        }
    }
}

TEST_F(MessagesOfTheCard, ADisconnectWaitsForTheCardToSendAgain)
{
    connect();
    exchange_until_the_card_carries();
    must(send_text(client, to_service, "first"));
    ASSERT_EQ(await_message(service).text, "first");
    ASSERT_EQ(ask_card("lose-message count 2"), "ok"); // each costs a second
    must(send_text(client, to_service, "last"));
    must(doca_comm_channel_ep_disconnect(client, to_service));
    client.reset();
    EXPECT_EQ(await_message(service).text, "last");
    ASSERT_EQ(ask_card("clear"), "ok");
}

/// The service goes on by its queue pair, sends, and leaves. The client hears of that by TCP when it looks again, and
/// its own queue pair has failed by then.
TEST_F(MessagesOfTheCard, ThatCameBeforeTcpToldThatTheyWouldAreThere)
{
    connect();
    const int tries = card_count("messages");
    must(send_text(client, to_service, "hello"));
    const Received hello = await_message(service);
    ASSERT_EQ(hello.text, "hello");
    while (card_count("messages") == tries)
        (void)receive(service); // takes the client's offer, and tries its queue pair
    const int bytes = card_count("message-bytes");
    for (int i = 0; i < 100; ++i)
        (void)receive(service);
    must(send_text(service, hello.from, std::string(size, 'x')));
    must(send_text(service, hello.from, "last"));
    must(doca_comm_channel_ep_disconnect(service, hello.from));
    service.reset();
    ASSERT_GE(card_count("message-bytes"), bytes + size) << "the service's queue pair is used";
    ASSERT_EQ(ask_card("qp-fatal dpu 1"), "ok");
    for (int i = 0; i < 200; ++i)
        (void)ask_card("status"); // between its answers, the card flushes what the client's queue pair has posted
    EXPECT_EQ(await_message(client).text.size(), std::size_t{size});
    EXPECT_EQ(await_message(client).text, "last");
    EXPECT_EQ(until_not(DOCA_ERROR_AGAIN, [&] { return receive(client).status; }), DOCA_ERROR_CONNECTION_RESET);
}

TEST_F(MessagesOfTheCard, EndWithAQueuePairThatBreaks)
{
    connect();
    exchange_until_the_card_carries();
    ASSERT_EQ(ask_card("qp-fatal dpu 1"), "ok");
    EXPECT_EQ(until_not(DOCA_ERROR_AGAIN, [&] { return receive(client).status; }), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(send_text(client, to_service, "x"), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(until_not(DOCA_SUCCESS,
                        [&] {
                            (void)receive(service);
                            return send_text(service, to_client, "x") == DOCA_ERROR_CONNECTION_RESET
                                       ? DOCA_ERROR_CONNECTION_RESET
                                       : DOCA_SUCCESS;
                        }),
              DOCA_ERROR_CONNECTION_RESET);
    // Others come, and are served.
    connect_client();
    exchange_until_the_card_carries();
}

TEST_F(MessagesOfTheCard, GoByTcpWhereThereIsNoQueuePair)
{
    // The service's, the client's, and the ways from each to the other.
    for (const char *const command :
         {"refuse create_qp 12 count 100", "refuse reg_mr 12 count 1", "refuse reg_mr 12 skip 1 count 1",
          "refuse modify_qp 22 skip 2 count 100", "refuse modify_qp 22 skip 4 count 100"}) {
        ASSERT_EQ(ask_card(command), "ok");
        connect();
        const int bytes = card_count("message-bytes");
        for (int i = 0; i < 50; ++i)
            ASSERT_TRUE(exchange('c')) << command;
        EXPECT_EQ(card_count("message-bytes"), bytes) << command;
        ASSERT_EQ(ask_card("clear"), "ok");
    }
}

} // namespace
