// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Endpoints of Comm Channel that several threads use at the same time.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <doca_log.h>

#include "support/comm_channel.hpp"
#include "support/sanitizers.hpp"

using namespace doca_test;

namespace {

constexpr std::uint32_t num_messages = 2000;

/// Ends a test that hangs with a message: a wait for an event that does not come.
void await_event(int fd, const char *what)
{
    must_hold(is_readable(fd, 60'000), what);
}

/// What a program has around its sends and receives, but not around its arming: nothing, or a mutex.
struct NoLock {
    void lock() const noexcept {}
    void unlock() const noexcept {}
};

std::string message_of(std::uint32_t number)
{
    std::string text(sizeof(number) + number % 4000, static_cast<char>(number));
    std::memcpy(text.data(), &number, sizeof(number));
    return text;
}

} // namespace

class CommChannelThreadsTest : public testing::TestWithParam<DevicePair> {
protected:
    void SetUp() override
    {
        must(doca_comm_channel_ep_connect(client, name.c_str(), &to_service));
        ASSERT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
        must(await_connection(to_service));
        must(send_text(client, to_service, "hello"));
        to_client = await_message(service).from;
    }

    template <typename Lock>
    static void send_all(Lock &lock, doca_comm_channel_ep_t *ep, Address *to)
    {
        doca_event_channel_t has_space = -1;
        must(doca_comm_channel_ep_get_event_channel(ep, &has_space, nullptr));
        for (std::uint32_t i = 0; i != num_messages;) {
            const std::string text = message_of(i);
            std::unique_lock guard(lock);
            const doca_error_t status = send_text(ep, to, text);
            guard.unlock();
            if (status == DOCA_ERROR_AGAIN) {
                must(doca_comm_channel_ep_event_handle_arm_send(ep));
                await_event(has_space, "there is room for a message");
                continue;
            }
            ASSERT_EQ(status, DOCA_SUCCESS) << "message " << i;
            ++i;
        }
    }

    template <typename Lock>
    static void receive_all(Lock &lock, doca_comm_channel_ep_t *ep)
    {
        doca_event_channel_t has_message = -1;
        must(doca_comm_channel_ep_get_event_channel(ep, nullptr, &has_message));
        for (std::uint32_t i = 0; i != num_messages;) {
            std::unique_lock guard(lock);
            const Received got = receive(ep);
            guard.unlock();
            if (got.status == DOCA_ERROR_AGAIN) {
                must(doca_comm_channel_ep_event_handle_arm_recv(ep));
                await_event(has_message, "a message comes");
                continue;
            }
            ASSERT_EQ(got.status, DOCA_SUCCESS) << "message " << i;
            ASSERT_TRUE(got.text == message_of(i)) << "message " << i;
            ++i;
        }
    }

    /// A thread for each direction of both endpoints.
    template <typename Lock>
    void exchange()
    {
        Lock of_client, of_service;
        std::thread threads[] = {
            std::thread([&] { send_all(of_client, client, to_service); }),
            std::thread([&] { receive_all(of_client, client); }),
            std::thread([&] { send_all(of_service, service, to_client); }),
            std::thread([&] { receive_all(of_service, service); }),
        };
        for (std::thread &thread : threads)
            thread.join();
    }

    DevHandle dpu{open_device(GetParam().importer)};
    DevHandle host{open_device(GetParam().exporter)};
    RepHandle rep{open_representor(dpu, GetParam().exporter.pci)};
    const std::string name = service_name();
    EpHandle service{make_service(dpu, rep, name)};
    EpHandle client{make_endpoint(host)};
    Address *to_service = nullptr;
    Address *to_client = nullptr;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CommChannelThreadsTest);
INSTANTIATE_TEST_SUITE_P(pair, CommChannelThreadsTest, testing::ValuesIn(one_comm_channel_pair()), pair_name);

/// As shipped applications have it: their lock is held around sends and receives, and not around arming.
TEST_P(CommChannelThreadsTest, ArmingOutsideOfTheProgramsLockIsSafe)
{
    exchange<std::mutex>();
}

TEST_P(CommChannelThreadsTest, SendReceiveAndArmingWithoutAnyLockAreSafe)
{
    exchange<NoLock>();
}

TEST_P(CommChannelThreadsTest, GettersAndUpdatesAreSafeDuringSendsAndReceives)
{
    std::atomic<bool> is_over = false;
    std::thread reader([&] {
        std::uint64_t last_sent = 0;
        while (!is_over) {
            std::uint64_t sent = 0, other = 0, user_data = 0;
            std::uint16_t size = 0;
            doca_dev *dev = nullptr;
            Address **list = nullptr;
            std::uint32_t count = 0;
            must(doca_comm_channel_peer_addr_update_info(to_service));
            must(doca_comm_channel_peer_addr_get_send_messages(to_service, &sent));
            EXPECT_GE(sent, last_sent);
            last_sent = sent;
            must(doca_comm_channel_peer_addr_get_recv_bytes(to_service, &other));
            must(doca_comm_channel_peer_addr_get_send_in_flight_messages(to_service, &other));
            EXPECT_LE(other, 8u);
            must(doca_comm_channel_peer_addr_set_user_data(to_service, sent));
            must(doca_comm_channel_peer_addr_get_user_data(to_service, &user_data));
            EXPECT_EQ(user_data, sent);
            must(doca_comm_channel_ep_get_max_msg_size(client, &size));
            EXPECT_EQ(size, longest_message);
            must(doca_comm_channel_ep_get_device(client, &dev));
            EXPECT_EQ(dev, host.get());
            EXPECT_EQ(doca_comm_channel_ep_set_max_msg_size(client, 100), DOCA_ERROR_BAD_STATE);
            must(doca_comm_channel_ep_update_service_state_info(service));
            must(doca_comm_channel_ep_get_peer_addr_list(service, &list, &count));
            EXPECT_EQ(count, 1u);
            std::this_thread::yield();
        }
    });
    exchange<NoLock>();
    is_over = true;
    reader.join();
}

TEST_P(CommChannelThreadsTest, MessagesOfEachSendingThreadKeepTheirOrder)
{
    const auto send_own = [&](std::uint8_t thread) {
        for (std::uint32_t i = 0; i != num_messages / 2;) {
            const std::string text = std::string(1, static_cast<char>(thread)) + message_of(i);
            const doca_error_t status = send_text(client, to_service, text);
            ASSERT_TRUE(status == DOCA_SUCCESS || status == DOCA_ERROR_AGAIN) << status;
            if (status == DOCA_SUCCESS)
                ++i;
            else
                std::this_thread::yield();
        }
    };
    std::thread threads[] = {std::thread([&] { send_own(0); }), std::thread([&] { send_own(1); })};
    std::uint32_t next[2] = {0, 0};
    while (next[0] + next[1] != num_messages) {
        const Received got = await_message(service);
        ASSERT_EQ(got.status, DOCA_SUCCESS);
        const auto thread = static_cast<std::uint8_t>(got.text[0]);
        ASSERT_LT(thread, 2);
        ASSERT_TRUE(got.text.substr(1) == message_of(next[thread]))
            << "thread " << int{thread} << ", message " << next[thread];
        ++next[thread];
    }
    for (std::thread &thread : threads)
        thread.join();
}

/// A thread that still has the address finds that it is none.
TEST_P(CommChannelThreadsTest, SendsFailAfterAnotherThreadHasDisconnected)
{
    std::atomic<int> num_sent = 0;
    std::atomic<doca_error_t> end = DOCA_SUCCESS;
    std::thread sender([&] {
        doca_error_t status = DOCA_SUCCESS;
        while (status == DOCA_SUCCESS || status == DOCA_ERROR_AGAIN) {
            status = send_text(client, to_service, "x");
            num_sent += status == DOCA_SUCCESS ? 1 : 0;
        }
        end = status;
    });
    std::atomic<bool> is_over = false;
    std::thread receiver([&] {
        while (!is_over)
            (void)receive(service);
    });
    while (num_sent < 100)
        std::this_thread::yield();
    must(doca_comm_channel_ep_disconnect(client, to_service));
    sender.join();
    EXPECT_EQ(end, DOCA_ERROR_NOT_CONNECTED);
    is_over = true;
    receiver.join();
}

TEST_P(CommChannelThreadsTest, OfTwoConnectsAtTheSameTimeOneSucceeds)
{
    for (int round = 0; round != 20; ++round) {
        const EpHandle other = make_endpoint(host);
        Address *peers[2] = {nullptr, nullptr};
        doca_error_t statuses[2] = {};
        std::atomic<int> num_ready = 0;
        const auto connect = [&](int which) {
            ++num_ready;
            while (num_ready != 2)
                ;
            statuses[which] = doca_comm_channel_ep_connect(other, name.c_str(), &peers[which]);
        };
        std::thread first([&] { connect(0); });
        connect(1);
        first.join();
        const int winner = statuses[0] == DOCA_SUCCESS ? 0 : 1;
        ASSERT_EQ(statuses[winner], DOCA_SUCCESS);
        ASSERT_EQ(statuses[1 - winner], DOCA_ERROR_NOT_PERMITTED);
        ASSERT_EQ(until_not(DOCA_ERROR_CONNECTION_INPROGRESS,
                            [&] {
                                (void)receive(service);
                                return doca_comm_channel_peer_addr_update_info(peers[winner]);
                            }),
                  DOCA_SUCCESS);
        must(doca_comm_channel_ep_disconnect(other, peers[winner]));
    }
}

namespace {

doca_comm_channel_ep_t *used_by_handler = nullptr;
int num_handled = 0;

void use_endpoint(char *)
{
    std::uint16_t size = 0;
    if (used_by_handler != nullptr && doca_comm_channel_ep_get_max_msg_size(used_by_handler, &size) == DOCA_SUCCESS)
        ++num_handled;
}

} // namespace

/// A backend is called without the endpoint's lock, and so may use the endpoint.
TEST_P(CommChannelThreadsTest, ALogHandlerMayUseTheEndpointThatLogs)
{
    static char buffer[32]; // each line is one or more calls of the handler
    static doca_logger_backend *const backend = [] {
        doca_logger_backend *made = nullptr;
        must(doca_log_create_buffer_backend(buffer, sizeof(buffer), use_endpoint, &made));
        return made;
    }();
    must_hold(backend != nullptr, "a backend");
    std::thread idle([&] { // so that the lock is one of a process with threads
        used_by_handler = client.get();
        EXPECT_EQ(doca_comm_channel_ep_set_max_msg_size(client, 100), DOCA_ERROR_BAD_STATE);
        EXPECT_EQ(doca_comm_channel_ep_set_max_msg_size(client, 100), DOCA_ERROR_BAD_STATE);
        used_by_handler = nullptr;
    });
    idle.join();
    EXPECT_GT(num_handled, 0);
}
