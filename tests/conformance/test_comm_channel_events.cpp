// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Comm Channel with events, with many clients, and with threads.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/comm_channel.hpp"
#include "support/process_traits.hpp"
#include "support/sanitizers.hpp"

using namespace doca_test;

namespace {

struct Channels {
    explicit Channels(doca_comm_channel_ep_t *ep) { must(doca_comm_channel_ep_get_event_channel(ep, &send, &recv)); }

    int send = -1;
    int recv = -1;
};

} // namespace

class CommChannelEventTest : public testing::TestWithParam<DevicePair> {
protected:
    void SetUp() override { connect(); }
    void connect()
    {
        must(doca_comm_channel_ep_connect(client, name.c_str(), &to_service));
        ASSERT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
        must(await_connection(to_service));
    }
    Address *to_client()
    {
        must(send_text(client, to_service, "hello"));
        return await_message(service).from;
    }

    DevHandle dpu{open_device(GetParam().importer)};
    DevHandle host{open_device(GetParam().exporter)};
    RepHandle rep{open_representor(dpu, GetParam().exporter.pci)};
    const std::string name = service_name();
    EpHandle service{make_service(dpu, rep, name)};
    EpHandle client{make_endpoint(host)};
    Address *to_service = nullptr;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CommChannelEventTest);
INSTANTIATE_TEST_SUITE_P(pair, CommChannelEventTest, testing::ValuesIn(one_comm_channel_pair()), pair_name);

TEST_P(CommChannelEventTest, channels_are_distinct_and_stay)
{
    for (doca_comm_channel_ep_t *ep : {service.get(), client.get()}) {
        const Channels channels(ep);
        EXPECT_NE(channels.send, channels.recv);
        int send = -1, recv = -1;
        must(doca_comm_channel_ep_get_event_channel(ep, &send, nullptr));
        must(doca_comm_channel_ep_get_event_channel(ep, nullptr, &recv));
        EXPECT_EQ(send, channels.send);
        EXPECT_EQ(recv, channels.recv);
        EXPECT_FALSE(is_readable(send));
        EXPECT_FALSE(is_readable(recv));
    }
}

TEST_P(CommChannelEventTest, a_message_wakes_who_has_armed)
{
    Address *const peer = to_client();
    const Channels of_service(service), of_client(client);
    must(doca_comm_channel_ep_event_handle_arm_recv(service));
    must(doca_comm_channel_ep_event_handle_arm_recv(client));
    for (int round = 0; round < 3; ++round) {
        EXPECT_FALSE(is_readable(of_service.recv));
        EXPECT_FALSE(is_readable(of_client.recv));
        must(send_text(client, to_service, "a"));
        must(send_text(client, to_service, "b"));
        await_readable(of_service.recv);
        EXPECT_FALSE(is_readable(of_client.recv));
        EXPECT_EQ(receive(service).text, "a");
        EXPECT_TRUE(is_readable(of_service.recv)) << "until nothing is left";
        EXPECT_EQ(receive(service).text, "b");
        EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
        must(send_text(service, peer, "answer"));
        await_readable(of_client.recv);
        EXPECT_EQ(receive(client).text, "answer");
        EXPECT_EQ(receive(client).status, DOCA_ERROR_AGAIN);
    }
    EXPECT_FALSE(is_readable(of_client.send));
    EXPECT_FALSE(is_readable(of_service.send));
}

TEST_P(CommChannelEventTest, arming_tells_of_a_message_that_is_there)
{
    must(send_text(client, to_service, "early"));
    const Channels channels(service);
    EXPECT_FALSE(is_readable(channels.recv));
    must(doca_comm_channel_ep_event_handle_arm_recv(service));
    EXPECT_TRUE(is_readable(channels.recv));
    EXPECT_EQ(receive(service).text, "early");
    must(doca_comm_channel_ep_event_handle_arm_recv(service));
    await_silence(service, channels.recv);
}

/// One receive for each wake-up is enough.
TEST_P(CommChannelEventTest, no_message_is_forgotten_between_bells)
{
    const Channels channels(service);
    must(doca_comm_channel_ep_event_handle_arm_recv(service));
    const int count = times(20'000);
    std::thread sender([&] {
        for (int i = 0; i < count; ++i)
            (void)until_not(DOCA_ERROR_AGAIN, [&] { return send_text(client, to_service, std::to_string(i)); });
    });
    for (int i = 0; i < count;) {
        await_readable(channels.recv);
        const Received got = receive(service);
        if (got.status != DOCA_ERROR_AGAIN) {
            EXPECT_EQ(got.text, std::to_string(i));
            ++i;
        }
    }
    sender.join();
}

TEST_P(CommChannelEventTest, room_wakes_a_sender)
{
    const Channels channels(client);
    must(doca_comm_channel_ep_event_handle_arm_send(client));
    EXPECT_TRUE(is_readable(channels.send)) << "there is room";
    EXPECT_FALSE(is_readable(channels.recv));
    must(send_text(client, to_service, "1"));
    EXPECT_FALSE(is_readable(channels.send)) << "a message ends it";
    for (int round = 0; round < 3; ++round) {
        while (send_text(client, to_service, "x") == DOCA_SUCCESS) {
        }
        EXPECT_FALSE(is_readable(channels.send));
        must(doca_comm_channel_ep_event_handle_arm_send(client));
        EXPECT_FALSE(is_readable(channels.send)) << "there is none";
        must(receive(service).status);
        await_readable(channels.send);
    }
    EXPECT_FALSE(is_readable(channels.recv));
}

/// As programs with a thread for each direction have it.
TEST_P(CommChannelEventTest, a_sender_and_a_receiver_with_events_in_threads)
{
    Address *const peer = to_client();
    const int count = times(5'000);
    std::mutex of_client, of_service;
    const Channels of_client_ep(client), of_service_ep(service);
    const auto send_all = [&](doca_comm_channel_ep_t *ep, Address *to, std::mutex &lock) {
        const Channels &channels = ep == client.get() ? of_client_ep : of_service_ep;
        for (int i = 0; i < count;) {
            std::unique_lock guard(lock);
            const doca_error_t status = send_text(ep, to, std::to_string(i));
            i += status == DOCA_SUCCESS ? 1 : 0;
            if (status == DOCA_ERROR_AGAIN) {
                must(doca_comm_channel_ep_event_handle_arm_send(ep));
                guard.unlock();
                await_readable(channels.send);
            }
        }
    };
    const auto receive_all = [&](doca_comm_channel_ep_t *ep, std::mutex &lock) {
        const Channels &channels = ep == client.get() ? of_client_ep : of_service_ep;
        for (int i = 0; i < count;) {
            std::unique_lock guard(lock);
            must(doca_comm_channel_ep_event_handle_arm_recv(ep));
            guard.unlock();
            await_readable(channels.recv);
            guard.lock();
            for (Received got = receive(ep); got.status == DOCA_SUCCESS; got = receive(ep), ++i)
                EXPECT_EQ(got.text, std::to_string(i));
        }
    };
    std::thread threads[] = {
        std::thread([&] { send_all(client, to_service, of_client); }),
        std::thread([&] { receive_all(client, of_client); }),
        std::thread([&] { send_all(service, peer, of_service); }),
    };
    receive_all(service, of_service);
    for (std::thread &thread : threads)
        thread.join();
}

TEST_P(CommChannelEventTest, clients_that_come_wake_a_service)
{
    const Channels channels(service);
    must(doca_comm_channel_ep_event_handle_arm_recv(service));
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    EXPECT_FALSE(is_readable(channels.recv));
    EpHandle other = make_endpoint(host);
    Address *peer = nullptr;
    must(doca_comm_channel_ep_connect(other, name.c_str(), &peer));
    const Channels of_other(other);
    await_readable(channels.recv);
    EXPECT_FALSE(is_readable(of_other.recv));
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    EXPECT_FALSE(is_readable(channels.recv));
    await_readable(of_other.recv);
    await_readable(of_other.send);
    EXPECT_EQ(doca_comm_channel_peer_addr_update_info(peer), DOCA_SUCCESS);
    must(send_text(other, peer, "from the new one"));
    await_readable(channels.recv);
    EXPECT_EQ(receive(service).text, "from the new one");
}

/// Not even when it comes before the client knows that it is connected.
TEST_P(CommChannelEventTest, a_message_of_a_service_that_writes_first_is_not_forgotten)
{
    EpHandle other = make_endpoint(host);
    Address *peer = nullptr;
    must(doca_comm_channel_ep_connect(other, name.c_str(), &peer));
    const Channels channels(other);
    must(doca_comm_channel_ep_event_handle_arm_recv(other));
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    must(doca_comm_channel_ep_update_service_state_info(service));
    Address **list = nullptr;
    std::uint32_t count = 0;
    must(doca_comm_channel_ep_get_peer_addr_list(service, &list, &count));
    ASSERT_EQ(count, 2u);
    must(send_text(service, list[1], "welcome"));
    must(await_connection(peer));
    await_readable(channels.recv);
    EXPECT_EQ(receive(other).text, "welcome");
}

TEST_P(CommChannelEventTest, the_end_of_the_peer_wakes)
{
    const Channels of_client(client);
    must(doca_comm_channel_ep_event_handle_arm_recv(client));
    EXPECT_EQ(receive(client).status, DOCA_ERROR_AGAIN);
    service.reset();
    await_readable(of_client.recv);
    await_readable(of_client.send);
    EXPECT_EQ(receive(client).status, DOCA_ERROR_CONNECTION_RESET);
}

/// Also a sender whose other thread receives, and so is the first to see the end.
TEST_P(CommChannelEventTest, the_end_of_a_client_wakes_who_waits_for_room)
{
    Address *const peer = to_client();
    const Channels channels(service);
    while (send_text(service, peer, "x") == DOCA_SUCCESS) {
    }
    must(doca_comm_channel_ep_event_handle_arm_send(service));
    EXPECT_FALSE(is_readable(channels.send)) << "there is none";
    client.reset();
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    EXPECT_TRUE(is_readable(channels.send));
    EXPECT_EQ(send_text(service, peer, "x"), DOCA_ERROR_CONNECTION_RESET);
}

/// Refused because the connection is still being made, and then completed by another call.
TEST_P(CommChannelEventTest, a_connection_wakes_who_waits_for_room)
{
    EpHandle other = make_endpoint(host);
    Address *peer = nullptr;
    must(doca_comm_channel_ep_connect(other, name.c_str(), &peer));
    const Channels channels(other);
    EXPECT_EQ(send_text(other, peer, "x"), DOCA_ERROR_AGAIN);
    EXPECT_FALSE(is_readable(channels.send));
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    must(await_connection(peer));
    EXPECT_TRUE(is_readable(channels.send));
    must(send_text(other, peer, "x"));
    EXPECT_FALSE(is_readable(channels.send));
}

TEST_P(CommChannelEventTest, changes_of_a_service)
{
    const auto peers = [&] {
        Address **list = nullptr;
        std::uint32_t count = 77;
        must(doca_comm_channel_ep_get_peer_addr_list(service, &list, &count));
        return std::set<Address *>(list, list + count);
    };
    const auto pending = [&] {
        std::uint32_t count = 77;
        must(doca_comm_channel_ep_get_pending_connections(service, &count));
        return count;
    };
    const auto update = [&] { return doca_comm_channel_ep_update_service_state_info(service); };
    int fd = -1;
    must(doca_comm_channel_ep_get_service_event_channel(service, &fd));
    EXPECT_TRUE(peers().empty()) << "before the first update";
    EXPECT_EQ(update(), DOCA_SUCCESS);
    EXPECT_EQ(peers().size(), 1u);
    EXPECT_EQ(pending(), 0u);
    EXPECT_FALSE(is_readable(fd));
    EXPECT_EQ(peers(), std::set<Address *>{to_client()});
    EXPECT_FALSE(is_readable(fd)) << "messages are no change";

    EpHandle other = make_endpoint(host);
    Address *peer = nullptr;
    must(doca_comm_channel_ep_connect(other, name.c_str(), &peer));
    await_readable(fd);
    EXPECT_EQ(update(), DOCA_SUCCESS);
    EXPECT_EQ(pending(), 1u);
    EXPECT_EQ(peers().size(), 1u);
    EXPECT_FALSE(is_readable(fd));
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN) << "this takes it in";
    await_readable(fd);
    EXPECT_EQ(update(), DOCA_SUCCESS);
    EXPECT_EQ(pending(), 0u);
    EXPECT_EQ(peers().size(), 2u);
    must(await_connection(peer));

    other.reset();
    await_readable(fd);
    EXPECT_EQ(update(), DOCA_SUCCESS);
    EXPECT_EQ(peers().size(), 1u);
    EXPECT_FALSE(is_readable(fd));
    // A service may write first, to an address of the list.
    must(send_text(service, *peers().begin(), "first"));
    EXPECT_EQ(await_message(client).text, "first");
}

TEST_P(CommChannelEventTest, many_clients)
{
    constexpr std::size_t count = 60;
    struct Client {
        EpHandle ep;
        Address *service = nullptr;
        Address *at_service = nullptr;
    };
    std::vector<Client> clients(count);
    for (Client &one : clients) {
        one.ep = make_endpoint(host);
        must(doca_comm_channel_ep_connect(one.ep, name.c_str(), &one.service));
    }
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    for (std::size_t i = 0; i < count; ++i) {
        must(await_connection(clients[i].service));
        must(send_text(clients[i].ep, clients[i].service, std::to_string(i)));
        must(send_text(clients[i].ep, clients[i].service, "and " + std::to_string(i)));
    }
    std::set<Address *> addresses;
    for (std::size_t i = 0; i < 2 * count; ++i) {
        const Received got = await_message(service);
        ASSERT_EQ(got.status, DOCA_SUCCESS);
        addresses.insert(got.from);
        must(send_text(service, got.from, "to " + got.text));
        if (i == count - 1) {
            EXPECT_EQ(addresses.size(), count) << "each had its turn before any had two";
        }
    }
    EXPECT_EQ(addresses.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(await_message(clients[i].ep).text, "to " + std::to_string(i));
        EXPECT_EQ(await_message(clients[i].ep).text, "to and " + std::to_string(i));
    }
    clients.resize(count / 2);
    for (Client &one : clients)
        must(send_text(one.ep, one.service, "still here"));
    for (std::size_t i = 0; i < count / 2; ++i)
        EXPECT_EQ(await_message(service).text, "still here");
}

TEST_P(CommChannelEventTest, everything_is_given_back)
{
    const auto use = [&] {
        EpHandle other = make_endpoint(host);
        Address *peer = nullptr;
        must(doca_comm_channel_ep_connect(other, name.c_str(), &peer));
        EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
        must(await_connection(peer));
        const Channels channels(other);
        must(send_text(other, peer, "x"));
        const Address *const from = await_message(service).from;
        must(doca_comm_channel_ep_disconnect(other, peer));
        EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
        must(doca_comm_channel_ep_disconnect(service, const_cast<Address *>(from)));
    };
    use();
    const Resources before = resources_in_use();
    for (int i = 0; i < 10; ++i)
        use();
    EXPECT_EQ(resources_in_use(), before);
}
