// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages of Comm Channel by queue pairs of the card: a service at the function that has the representors, whose port has
// no address, and a client at the subfunction. That the card has carried them, and what is left when it does not.
#include "../card/behaviour/verbs.hpp"
#include "../conformance/support/comm_channel.hpp"

namespace {

using namespace doca_test;
using card_test::ask_card;
using card_test::card_count;

constexpr int size = 1000;

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

TEST_F(MessagesOfTheCard, WakeWhoSleepsAndArriveBeforeTheEndOfTheirSender)
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
    for (const char *const command : {"refuse create_qp 12 count 100", "refuse reg_mr 12 count 1",
                                      "refuse reg_mr 12 skip 1 count 1", "refuse modify_qp 22 skip 2 count 100",
                                      "refuse modify_qp 22 skip 4 count 100"}) {
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
