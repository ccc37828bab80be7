// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Comm Channel with both ends in this process: functions, states, errors, messages.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "support/comm_channel.hpp"
#include "support/log_capture.hpp"
#include "support/sanitizers.hpp"

using namespace doca_test;

namespace {

constexpr auto INVALID = DOCA_ERROR_INVALID_VALUE;

bool has_no_comm_channel(doca_devinfo *info)
{
    return !has_comm_channel(info);
}

std::string pattern(std::size_t size, unsigned seed)
{
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i)
        text[i] = static_cast<char>((i * 131 + seed * 17 + (i >> 8)) & 0xff);
    return text;
}

} // namespace

class CommChannelDeviceTest : public DeviceTest {};
INSTANTIATE_FOR_EVERY_DEVICE(CommChannelDeviceTest, has_comm_channel);

class NoCommChannelTest : public DeviceTest {};
INSTANTIATE_FOR_EVERY_DEVICE(NoCommChannelTest, has_no_comm_channel);

TEST_P(CommChannelDeviceTest, limits)
{
    std::uint32_t value = 0;
    EXPECT_EQ(doca_comm_channel_get_max_service_name_len(&value), DOCA_SUCCESS);
    EXPECT_GE(value, 32u);
    EXPECT_EQ(doca_comm_channel_get_max_message_size(info, &value), DOCA_SUCCESS);
    EXPECT_GE(value, longest_message);
    EXPECT_EQ(doca_comm_channel_get_max_send_queue_size(info, &value), DOCA_SUCCESS);
    EXPECT_GE(value, 8192u);
    EXPECT_EQ(doca_comm_channel_get_max_recv_queue_size(info, &value), DOCA_SUCCESS);
    EXPECT_GE(value, 8192u);
    value = 77;
    if (has_representors(info)) {
        EXPECT_EQ(doca_comm_channel_get_service_max_num_connections(info, &value), DOCA_SUCCESS);
        EXPECT_GE(value, 2u);
    } else {
        EXPECT_EQ(doca_comm_channel_get_service_max_num_connections(info, &value), DOCA_ERROR_NOT_SUPPORTED);
        EXPECT_EQ(value, 77u);
    }
}

TEST_P(NoCommChannelTest, everything_says_no)
{
    std::uint32_t value = 77;
    for (const auto query :
         {doca_comm_channel_get_max_message_size, doca_comm_channel_get_max_send_queue_size,
          doca_comm_channel_get_max_recv_queue_size, doca_comm_channel_get_service_max_num_connections})
        EXPECT_EQ(query(info, &value), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(value, 77u);
    EpHandle ep;
    ASSERT_EQ(doca_comm_channel_ep_create(ep.out()), DOCA_SUCCESS);
    EXPECT_EQ(doca_comm_channel_ep_set_device(ep, dev), DOCA_ERROR_NOT_SUPPORTED);
}

TEST(CommChannel, null_is_refused_everywhere)
{
    std::uint64_t word = 77;
    std::uint32_t number = 77;
    std::uint16_t size = 77;
    char byte = 0;
    std::size_t length = 1;
    int fd = 77;
    doca_dev *dev = untouched<doca_dev>();
    doca_dev_rep *rep = untouched<doca_dev_rep>();
    Address *peer = untouched<Address>();
    Address **list = nullptr;
    EpHandle ep;
    EXPECT_EQ(doca_comm_channel_ep_create(nullptr), INVALID);
    ASSERT_EQ(doca_comm_channel_ep_create(ep.out()), DOCA_SUCCESS);
    EXPECT_EQ(doca_comm_channel_get_max_service_name_len(nullptr), INVALID);
    for (const auto query :
         {doca_comm_channel_get_max_message_size, doca_comm_channel_get_max_send_queue_size,
          doca_comm_channel_get_max_recv_queue_size, doca_comm_channel_get_service_max_num_connections})
        EXPECT_EQ(query(nullptr, &number), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_get_device(nullptr, &dev), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_get_device(ep, nullptr), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_get_device_rep(nullptr, &rep), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_get_device_rep(ep, nullptr), INVALID);
    for (const auto get : {doca_comm_channel_ep_get_max_msg_size, doca_comm_channel_ep_get_send_queue_size,
                           doca_comm_channel_ep_get_recv_queue_size}) {
        EXPECT_EQ(get(nullptr, &size), INVALID);
        EXPECT_EQ(get(ep, nullptr), INVALID);
    }
    for (const auto set : {doca_comm_channel_ep_set_max_msg_size, doca_comm_channel_ep_set_send_queue_size,
                           doca_comm_channel_ep_set_recv_queue_size})
        EXPECT_EQ(set(nullptr, 8), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_set_device(nullptr, dev), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_set_device(ep, nullptr), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_set_device_rep(nullptr, rep), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_set_device_rep(ep, nullptr), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_get_event_channel(nullptr, &fd, &fd), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_get_event_channel(ep, nullptr, nullptr), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_get_service_event_channel(nullptr, &fd), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_get_service_event_channel(ep, nullptr), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_event_handle_arm_send(nullptr), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_event_handle_arm_recv(nullptr), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_listen(nullptr, "x"), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_listen(ep, nullptr), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_connect(nullptr, "x", &peer), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_connect(ep, nullptr, &peer), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_connect(ep, "x", nullptr), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_sendto(nullptr, &byte, 1, 0, peer), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_sendto(ep, nullptr, 1, 0, peer), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_sendto(ep, &byte, 1, 0, nullptr), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_recvfrom(nullptr, &byte, &length, 0, &peer), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_recvfrom(ep, nullptr, &length, 0, &peer), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_recvfrom(ep, &byte, nullptr, 0, &peer), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_recvfrom(ep, &byte, &length, 0, nullptr), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_recvfrom(ep, &byte, &length, 1, &peer), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_disconnect(nullptr, peer), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_disconnect(ep, nullptr), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_destroy(nullptr), DOCA_ERROR_NOT_CONNECTED);
    EXPECT_EQ(doca_comm_channel_peer_addr_get_user_data(nullptr, &word), INVALID);
    EXPECT_EQ(doca_comm_channel_peer_addr_set_user_data(nullptr, 1), INVALID);
    EXPECT_EQ(doca_comm_channel_peer_addr_update_info(nullptr), INVALID);
    for (const auto get : {doca_comm_channel_peer_addr_get_send_messages, doca_comm_channel_peer_addr_get_send_bytes,
                           doca_comm_channel_peer_addr_get_recv_messages, doca_comm_channel_peer_addr_get_recv_bytes,
                           doca_comm_channel_peer_addr_get_send_in_flight_messages})
        EXPECT_EQ(get(nullptr, &word), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_update_service_state_info(nullptr), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_get_peer_addr_list(nullptr, &list, &number), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_get_peer_addr_list(ep, nullptr, &number), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_get_peer_addr_list(ep, &list, nullptr), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_get_pending_connections(nullptr, &number), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_get_pending_connections(ep, nullptr), INVALID);
    EXPECT_EQ(word, 77u);
    EXPECT_EQ(number, 77u);
    EXPECT_EQ(size, 77u);
    EXPECT_EQ(fd, 77);
    EXPECT_EQ(length, 1u);
    EXPECT_EQ(peer, untouched<Address>());
}

/// Devices on both sides of the PCIe.
class CommChannelTest : public testing::TestWithParam<DevicePair> {
protected:
    /// What was sent is there in the same moment. On a card it takes its time.
    [[nodiscard]] static bool is_at_once() { return GetParam().exporter.is_soft(); }
    /// The next message, which was sent.
    [[nodiscard]] static Received receive_sent(doca_comm_channel_ep_t *ep)
    {
        return is_at_once() ? receive(ep) : await_message(ep);
    }
    /// Where there is room, as the peer has received.
    [[nodiscard]] static doca_error_t send_to_room(doca_comm_channel_ep_t *ep, Address *to, const std::string &text)
    {
        const auto send = [&] { return send_text(ep, to, text); };
        return is_at_once() ? send() : until_not(DOCA_ERROR_AGAIN, send);
    }

    DevHandle dpu{open_device(GetParam().importer)};
    DevHandle host{open_device(GetParam().exporter)};
    RepHandle rep{open_representor(dpu, GetParam().exporter.pci)};
    const std::string name = service_name();
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CommChannelTest);
INSTANTIATE_TEST_SUITE_P(pair, CommChannelTest, testing::ValuesIn(comm_channel_pairs()), pair_name);

/// A service and a client, which are connected.
class CommChannelConnectedTest : public CommChannelTest {
protected:
    void SetUp() override { set_up({}); }
    void set_up(const Sizes &sizes)
    {
        client.reset();
        service.reset();
        service = make_service(dpu, rep, name, sizes);
        client = make_endpoint(host, sizes);
        ASSERT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &to_service), DOCA_SUCCESS);
        ASSERT_EQ(receive(service).status, DOCA_ERROR_AGAIN) << "this takes the client in";
        ASSERT_EQ(await_connection(to_service), DOCA_SUCCESS);
    }
    /// The address of the client, which its first message tells.
    Address *to_client()
    {
        must(send_text(client, to_service, "hello"));
        const Received got = await_message(service);
        EXPECT_EQ(got.text, "hello");
        return got.from;
    }

    EpHandle service;
    EpHandle client;
    Address *to_service = nullptr;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CommChannelConnectedTest);
INSTANTIATE_TEST_SUITE_P(pair, CommChannelConnectedTest, testing::ValuesIn(comm_channel_pairs()), pair_name);

TEST_P(CommChannelTest, properties)
{
    EpHandle ep;
    must(doca_comm_channel_ep_create(ep.out()));
    doca_dev *device = untouched<doca_dev>();
    EXPECT_EQ(doca_comm_channel_ep_get_device(ep, &device), DOCA_SUCCESS);
    EXPECT_EQ(device, nullptr);
    doca_dev_rep *representor = untouched<doca_dev_rep>();
    EXPECT_EQ(doca_comm_channel_ep_get_device_rep(ep, &representor), DOCA_SUCCESS);
    EXPECT_EQ(representor, nullptr);
    std::uint16_t size = 0;
    EXPECT_EQ(doca_comm_channel_ep_get_max_msg_size(ep, &size), DOCA_SUCCESS);
    EXPECT_EQ(size, longest_message);
    EXPECT_EQ(doca_comm_channel_ep_get_send_queue_size(ep, &size), DOCA_SUCCESS);
    EXPECT_EQ(size, 512);
    EXPECT_EQ(doca_comm_channel_ep_get_recv_queue_size(ep, &size), DOCA_SUCCESS);
    EXPECT_EQ(size, 512);

    EXPECT_EQ(doca_comm_channel_ep_set_device(ep, host), DOCA_SUCCESS);
    EXPECT_EQ(doca_comm_channel_ep_set_device(ep, dpu), DOCA_SUCCESS);
    EXPECT_EQ(doca_comm_channel_ep_set_device_rep(ep, rep), DOCA_SUCCESS);
    EXPECT_EQ(doca_comm_channel_ep_get_device(ep, &device), DOCA_SUCCESS);
    EXPECT_EQ(device, dpu.get());
    EXPECT_EQ(doca_comm_channel_ep_get_device_rep(ep, &representor), DOCA_SUCCESS);
    EXPECT_EQ(representor, rep.get());
    EXPECT_EQ(doca_comm_channel_ep_set_max_msg_size(ep, 1024), DOCA_SUCCESS);
    EXPECT_EQ(doca_comm_channel_ep_get_max_msg_size(ep, &size), DOCA_SUCCESS);
    EXPECT_EQ(size, 1024);
    EXPECT_EQ(doca_comm_channel_ep_set_max_msg_size(ep, 1), DOCA_SUCCESS);
    EXPECT_EQ(doca_comm_channel_ep_get_max_msg_size(ep, &size), DOCA_SUCCESS);
    EXPECT_EQ(size, 64) << "the least";
    EXPECT_EQ(doca_comm_channel_ep_set_max_msg_size(ep, 0), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_set_max_msg_size(ep, UINT16_MAX), INVALID);

    // A size that was set is a power of two from 8.
    for (const auto &[asked, effective] : {std::pair<std::uint16_t, std::uint16_t>{1, 8},
                                           {8, 8},
                                           {9, 16},
                                           {10, 16},
                                           {512, 512},
                                           {513, 1024},
                                           {8190, 8192},
                                           {8192, 8192}}) {
        EXPECT_EQ(doca_comm_channel_ep_set_send_queue_size(ep, asked), DOCA_SUCCESS);
        EXPECT_EQ(doca_comm_channel_ep_get_send_queue_size(ep, &size), DOCA_SUCCESS);
        EXPECT_EQ(size, effective) << asked;
        EXPECT_EQ(doca_comm_channel_ep_set_recv_queue_size(ep, asked), DOCA_SUCCESS);
        EXPECT_EQ(doca_comm_channel_ep_get_recv_queue_size(ep, &size), DOCA_SUCCESS);
        EXPECT_EQ(size, effective) << asked;
    }
    for (const std::uint16_t wrong : std::initializer_list<std::uint16_t>{0, 8193, 65535}) {
        EXPECT_EQ(doca_comm_channel_ep_set_send_queue_size(ep, wrong), INVALID);
        EXPECT_EQ(doca_comm_channel_ep_set_recv_queue_size(ep, wrong), INVALID);
    }
    EXPECT_EQ(doca_comm_channel_ep_get_recv_queue_size(ep, &size), DOCA_SUCCESS);
    EXPECT_EQ(size, 8192) << "what was refused changes nothing";
}

TEST_P(CommChannelTest, an_endpoint_uses_its_device)
{
    EpHandle ep = make_endpoint(host);
    EXPECT_EQ(doca_dev_close(host), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_comm_channel_ep_set_device(ep, dpu), DOCA_SUCCESS);
    EXPECT_EQ(doca_dev_close(host.release()), DOCA_SUCCESS);
}

TEST_P(CommChannelTest, a_service_listens_for_a_representor_that_was_closed)
{
    EpHandle ep = make_endpoint(dpu);
    doca_dev_rep *const set = rep;
    must(doca_comm_channel_ep_set_device_rep(ep, rep));
    must(doca_dev_rep_close(rep.release()));
    doca_dev_rep *told = nullptr;
    EXPECT_EQ(doca_comm_channel_ep_get_device_rep(ep, &told), DOCA_SUCCESS);
    EXPECT_EQ(told, set);
    ASSERT_EQ(doca_comm_channel_ep_listen(ep, name.c_str()), DOCA_SUCCESS);
    EpHandle client = make_endpoint(host);
    Address *peer = nullptr;
    ASSERT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &peer), DOCA_SUCCESS);
    EXPECT_EQ(receive(ep).status, DOCA_ERROR_AGAIN) << "this takes the client in";
    must(await_connection(peer));
    must(send_text(client, peer, "hello"));
    EXPECT_EQ(await_message(ep).text, "hello");
}

TEST_P(CommChannelTest, a_representor_serves_its_device_opened_anew)
{
    const RepList list(dpu);
    rep.reset();
    must(doca_dev_close(dpu.release()));
    for (doca_devinfo_rep *info : list) {
        if (pci_of(info) == GetParam().exporter.pci)
            must(doca_dev_rep_open(info, rep.out()));
    }
    dpu = open_device(GetParam().importer);
    const EpHandle ep = make_service(dpu, rep, name);
    rep.reset();
}

TEST_P(CommChannelTest, states_before_a_connection)
{
    EpHandle ep;
    must(doca_comm_channel_ep_create(ep.out()));
    Address *peer = untouched<Address>();
    int fd = 77;
    EXPECT_EQ(doca_comm_channel_ep_listen(ep, name.c_str()), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_comm_channel_ep_connect(ep, name.c_str(), &peer), DOCA_ERROR_BAD_STATE);
    must(doca_comm_channel_ep_set_device(ep, dpu));
    EXPECT_EQ(doca_comm_channel_ep_listen(ep, name.c_str()), DOCA_ERROR_BAD_STATE) << "no representor";
    EXPECT_EQ(doca_comm_channel_ep_connect(ep, name.c_str(), &peer),
              is_at_once() ? DOCA_ERROR_CONNECTION_ABORTED : DOCA_ERROR_NOT_SUPPORTED)
        << "a DPU's port, for which no service listens, and which acts for no function on a card";
    EXPECT_EQ(doca_comm_channel_ep_get_event_channel(ep, &fd, &fd), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_comm_channel_ep_get_service_event_channel(ep, &fd), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_comm_channel_ep_event_handle_arm_recv(ep), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_event_handle_arm_send(ep), INVALID);
    EXPECT_EQ(send_text(ep, untouched<Address>(), "x"), DOCA_ERROR_NOT_CONNECTED);
    EXPECT_EQ(receive(ep).status, DOCA_ERROR_NOT_CONNECTED);
    EXPECT_EQ(doca_comm_channel_ep_disconnect(ep, untouched<Address>()), DOCA_ERROR_NOT_CONNECTED);
    EXPECT_EQ(peer, untouched<Address>());
    EXPECT_EQ(fd, 77);
    // A host function has no representors.
    must(doca_comm_channel_ep_set_device(ep, host));
    must(doca_comm_channel_ep_set_device_rep(ep, rep));
    EXPECT_EQ(doca_comm_channel_ep_listen(ep, name.c_str()), DOCA_ERROR_NOT_SUPPORTED);
}

TEST_P(CommChannelTest, names)
{
    std::uint32_t size = 0;
    must(doca_comm_channel_get_max_service_name_len(&size));
    Address *peer = untouched<Address>();
    const std::string longest = name + std::string(size - 1 - name.size(), 'x');
    const std::string too_long = longest + "x";
    EpHandle service = make_endpoint(dpu);
    must(doca_comm_channel_ep_set_device_rep(service, rep));
    EpHandle client = make_endpoint(host);
    for (const std::string &wrong : {std::string(), too_long}) {
        EXPECT_EQ(doca_comm_channel_ep_listen(service, wrong.c_str()), INVALID);
        EXPECT_EQ(doca_comm_channel_ep_connect(client, wrong.c_str(), &peer), INVALID);
    }
    EXPECT_EQ(peer, untouched<Address>());
    for (const std::string &right : {longest, name + "/../ä %s\n"}) {
        service = make_service(dpu, rep, right);
        client = make_endpoint(host);
        EXPECT_EQ(doca_comm_channel_ep_connect(client, right.c_str(), &peer), DOCA_SUCCESS);
        EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
        EXPECT_EQ(await_connection(peer), DOCA_SUCCESS);
    }
}

TEST_P(CommChannelTest, connect_needs_a_service)
{
    EpHandle client = make_endpoint(host);
    Address *peer = untouched<Address>();
    const LogCapture log;
    EXPECT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &peer), DOCA_ERROR_CONNECTION_ABORTED);
    EXPECT_EQ(peer, untouched<Address>());
    EXPECT_LOGGED(log, name);
    const EpHandle service = make_service(dpu, rep, name);
    EXPECT_EQ(doca_comm_channel_ep_connect(client, (name + "x").c_str(), &peer), DOCA_ERROR_CONNECTION_ABORTED);
    EXPECT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &peer), DOCA_SUCCESS) << "the same endpoint, later";
}

TEST_P(CommChannelTest, a_name_is_one_service_on_a_representor)
{
    EpHandle first = make_service(dpu, rep, name);
    EpHandle second = make_endpoint(dpu);
    must(doca_comm_channel_ep_set_device_rep(second, rep));
    EXPECT_EQ(doca_comm_channel_ep_listen(second, name.c_str()), DOCA_ERROR_CONNECTION_ABORTED);
    EXPECT_EQ(doca_comm_channel_ep_listen(second, (name + "x").c_str()), DOCA_SUCCESS);
    first.reset();
    EpHandle third = make_service(dpu, rep, name);
    const RepList reps(dpu);
    for (doca_devinfo_rep *info : reps) {
        if (pci_of(info) == GetParam().exporter.pci)
            continue;
        RepHandle other;
        must(doca_dev_rep_open(info, other.out()));
        EXPECT_NO_THROW(make_service(dpu, other, name)) << "on another representor";
    }
}

TEST_P(CommChannelTest, functions_behind_other_representors_do_not_find_a_service)
{
    const EpHandle service = make_service(dpu, rep, name);
    for (const DeviceParam &device : devices_that(has_comm_channel)) {
        // The port acts as the first PF behind it, which the exporter of each pair is.
        if (device.ibdev == GetParam().exporter.ibdev || device.ibdev == GetParam().importer.ibdev)
            continue;
        DevHandle dev = open_device(device);
        EpHandle client = make_endpoint(dev);
        Address *peer = nullptr;
        EXPECT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &peer), DOCA_ERROR_CONNECTION_ABORTED) << device;
    }
}

TEST_P(CommChannelTest, a_representor_belongs_to_the_device)
{
    for (const DeviceParam &device : devices_that(has_representors)) {
        if (device.ibdev == GetParam().importer.ibdev)
            continue;
        DevHandle dev = open_device(device);
        EpHandle ep = make_endpoint(dev);
        must(doca_comm_channel_ep_set_device_rep(ep, rep));
        EXPECT_EQ(doca_comm_channel_ep_listen(ep, name.c_str()), INVALID);
    }
}

TEST_P(CommChannelConnectedTest, what_can_not_be_changed_any_more)
{
    for (doca_comm_channel_ep_t *ep : {service.get(), client.get()}) {
        Address *peer = untouched<Address>();
        EXPECT_EQ(doca_comm_channel_ep_set_device(ep, dpu), DOCA_ERROR_BAD_STATE);
        EXPECT_EQ(doca_comm_channel_ep_set_device_rep(ep, rep), DOCA_ERROR_BAD_STATE);
        EXPECT_EQ(doca_comm_channel_ep_set_max_msg_size(ep, 100), DOCA_ERROR_BAD_STATE);
        EXPECT_EQ(doca_comm_channel_ep_set_send_queue_size(ep, 8), DOCA_ERROR_BAD_STATE);
        EXPECT_EQ(doca_comm_channel_ep_set_recv_queue_size(ep, 8), DOCA_ERROR_BAD_STATE);
        EXPECT_EQ(doca_comm_channel_ep_listen(ep, name.c_str()), DOCA_ERROR_NOT_PERMITTED);
        EXPECT_EQ(doca_comm_channel_ep_connect(ep, name.c_str(), &peer), DOCA_ERROR_NOT_PERMITTED);
        EXPECT_EQ(peer, untouched<Address>());
    }
    int fd = 77;
    Address **list = nullptr;
    std::uint32_t count = 77;
    EXPECT_EQ(doca_comm_channel_ep_get_service_event_channel(client, &fd), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_comm_channel_ep_update_service_state_info(client), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_comm_channel_ep_get_peer_addr_list(client, &list, &count), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_comm_channel_ep_get_pending_connections(client, &count), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(fd, 77);
    EXPECT_EQ(count, 77u);
    EXPECT_EQ(list, nullptr);
}

TEST_P(CommChannelTest, a_connection_is_in_progress_until_the_service_receives)
{
    const EpHandle service = make_service(dpu, rep, name);
    const EpHandle client = make_endpoint(host);
    Address *peer = nullptr;
    ASSERT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &peer), DOCA_SUCCESS);
    EXPECT_EQ(doca_comm_channel_peer_addr_update_info(peer), DOCA_ERROR_CONNECTION_INPROGRESS);
    EXPECT_EQ(send_text(client, peer, "too early"), DOCA_ERROR_AGAIN);
    EXPECT_EQ(receive(client).status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(send_text(client, peer, "now"), DOCA_SUCCESS);
    EXPECT_EQ(doca_comm_channel_peer_addr_update_info(peer), DOCA_SUCCESS);
    EXPECT_EQ(await_message(service).text, "now");
}

TEST_P(CommChannelConnectedTest, boundaries_and_order_of_messages)
{
    const std::vector<std::size_t> sizes = {1, 2, 7, 8, 9, 63, 64, 1000, 4079, 4080};
    Address *const peer = to_client();
    unsigned sent = 0, got = 0;
    for (int round = 0; round < times(200); ++round) {
        for (int i = 0; i < 3; ++i, ++sent)
            ASSERT_EQ(send_to_room(client, to_service, pattern(sizes[sent % sizes.size()], sent)), DOCA_SUCCESS);
        for (int i = 0; i < 3; ++i, ++got) {
            const Received message = receive_sent(service);
            ASSERT_EQ(message.status, DOCA_SUCCESS);
            EXPECT_EQ(message.from, peer);
            ASSERT_EQ(message.text, pattern(sizes[got % sizes.size()], got));
            ASSERT_EQ(send_to_room(service, peer, message.text), DOCA_SUCCESS);
        }
        for (unsigned i = got - 3; i < got; ++i) {
            const Received message = await_message(client);
            EXPECT_EQ(message.from, to_service);
            ASSERT_EQ(message.text, pattern(sizes[i % sizes.size()], i));
        }
    }
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(receive(client).status, DOCA_ERROR_AGAIN);
}

TEST_P(CommChannelConnectedTest, send_errors)
{
    const std::string text(longest_message + 1, 'x');
    EXPECT_EQ(send_text(client, to_service, ""), INVALID);
    EXPECT_EQ(send_text(client, to_service, text), INVALID);
    EXPECT_EQ(doca_comm_channel_ep_sendto(client, text.data(), 1, 1, to_service), INVALID);
    EXPECT_EQ(send_text(client, untouched<Address>(), "x"), DOCA_ERROR_NOT_CONNECTED);
    EXPECT_EQ(send_text(service, to_service, "x"), DOCA_ERROR_NOT_CONNECTED) << "an address of another endpoint";
    EXPECT_EQ(doca_comm_channel_ep_disconnect(service, to_service), DOCA_ERROR_NOT_CONNECTED);
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN) << "nothing was sent";
}

TEST_P(CommChannelConnectedTest, a_message_that_does_not_fit_stays)
{
    ASSERT_EQ(send_text(client, to_service, "four"), DOCA_SUCCESS);
    EXPECT_EQ(receive(service, 3).status, INVALID);
    EXPECT_EQ(receive(service, 0).status, INVALID);
    EXPECT_EQ(receive(service, 4).text, "four");
}

TEST_P(CommChannelTest, the_smaller_side_decides)
{
    const EpHandle service = make_service(dpu, rep, name, {.message = 100, .queue = 16});
    const EpHandle client = make_endpoint(host, {.message = 1000, .queue = 64});
    Address *peer = nullptr;
    must(doca_comm_channel_ep_connect(client, name.c_str(), &peer));
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    must(await_connection(peer));
    EXPECT_EQ(send_text(client, peer, std::string(101, 'x')), INVALID);
    int sent = 0;
    while (send_text(client, peer, std::string(100, 'x')) == DOCA_SUCCESS)
        ++sent;
    EXPECT_EQ(sent, 16) << "as many as the service's receive queue takes";
}

TEST_P(CommChannelConnectedTest, full_queues)
{
    for (const std::uint16_t queue : std::initializer_list<std::uint16_t>{8, 512, 8190}) {
        set_up({.queue = queue});
        const int effective = queue == 8190 ? 8192 : queue;
        const std::size_t size = queue == 8190 ? 100 : longest_message; // else it takes long
        for (int i = 0; i < effective; ++i)
            ASSERT_EQ(send_text(client, to_service, pattern(size, static_cast<unsigned>(i))), DOCA_SUCCESS) << i;
        for (int i = 0; i < 3; ++i)
            EXPECT_EQ(send_text(client, to_service, "more"), DOCA_ERROR_AGAIN);
        for (int i = 0; i < effective; ++i) {
            const Received got = receive_sent(service);
            ASSERT_EQ(got.status, DOCA_SUCCESS);
            ASSERT_EQ(got.text, pattern(size, static_cast<unsigned>(i)));
            if (i == 0) {
                EXPECT_EQ(send_to_room(client, to_service, "one more"), DOCA_SUCCESS);
                EXPECT_EQ(send_text(client, to_service, "and no other"), DOCA_ERROR_AGAIN);
            }
        }
        EXPECT_EQ(receive_sent(service).text, "one more");
        EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    }
}

TEST_P(CommChannelConnectedTest, statistics)
{
    const auto read = [](Address *peer, auto get) {
        std::uint64_t value = 77;
        must(get(peer, &value));
        return value;
    };
    Address *const peer = to_client();
    EXPECT_EQ(read(to_service, doca_comm_channel_peer_addr_get_user_data), 0u);
    EXPECT_EQ(doca_comm_channel_peer_addr_set_user_data(to_service, UINT64_MAX), DOCA_SUCCESS);
    EXPECT_EQ(read(to_service, doca_comm_channel_peer_addr_get_user_data), UINT64_MAX);
    EXPECT_EQ(read(peer, doca_comm_channel_peer_addr_get_user_data), 0u) << "each side has its own";

    EXPECT_EQ(read(peer, doca_comm_channel_peer_addr_get_recv_messages), 0u) << "as of the last update";
    for (const int size : {1, 10, 100})
        must(send_text(client, to_service, std::string(static_cast<std::size_t>(size), 'x')));
    must(receive_sent(service).status);
    must(send_text(service, peer, "answer"));
    // On a card it takes a while until each side has heard how far the other one is.
    EXPECT_EQ(until_not(DOCA_ERROR_AGAIN,
                        [&] {
                            must(doca_comm_channel_peer_addr_update_info(to_service));
                            const auto in_flight =
                                read(to_service, doca_comm_channel_peer_addr_get_send_in_flight_messages);
                            return is_at_once() || in_flight == 2 ? DOCA_SUCCESS : DOCA_ERROR_AGAIN;
                        }),
              DOCA_SUCCESS);
    must(doca_comm_channel_peer_addr_update_info(peer));
    EXPECT_EQ(read(to_service, doca_comm_channel_peer_addr_get_send_messages), 4u);
    EXPECT_EQ(read(to_service, doca_comm_channel_peer_addr_get_send_bytes), 5u + 111u);
    EXPECT_EQ(read(to_service, doca_comm_channel_peer_addr_get_send_in_flight_messages), 2u);
    EXPECT_EQ(read(to_service, doca_comm_channel_peer_addr_get_recv_messages), 0u);
    EXPECT_EQ(read(peer, doca_comm_channel_peer_addr_get_recv_messages), 2u);
    EXPECT_EQ(read(peer, doca_comm_channel_peer_addr_get_recv_bytes), 6u);
    EXPECT_EQ(read(peer, doca_comm_channel_peer_addr_get_send_messages), 1u);
    EXPECT_EQ(read(peer, doca_comm_channel_peer_addr_get_send_bytes), 6u);
    EXPECT_EQ(read(peer, doca_comm_channel_peer_addr_get_send_in_flight_messages), 1u);
    EXPECT_EQ(await_message(client).text, "answer");
    EXPECT_EQ(read(to_service, doca_comm_channel_peer_addr_get_recv_messages), 0u) << "as of the last update";
    must(doca_comm_channel_peer_addr_update_info(to_service));
    EXPECT_EQ(read(to_service, doca_comm_channel_peer_addr_get_recv_messages), 1u);
    EXPECT_EQ(read(to_service, doca_comm_channel_peer_addr_get_recv_bytes), 6u);
}

/// Who sends twice and loses what an unchecked first call gives still gets the answer in its loop.
TEST_P(CommChannelConnectedTest, the_first_receive_after_two_messages_gives_nothing)
{
    Address *const peer = to_client();
    must(send_text(client, to_service, "again"));
    must(send_text(service, peer, "answer"));
    EXPECT_EQ(receive(client).status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(receive_sent(client).text, "answer");
    must(send_text(client, to_service, "a"));
    must(send_text(client, to_service, "b"));
    must(send_text(service, peer, "next"));
    EXPECT_EQ(receive_sent(client).text, "next") << "once for a connection";
}

TEST_P(CommChannelConnectedTest, the_first_receive_after_one_message_gives_the_answer)
{
    must(send_text(service, to_client(), "answer"));
    EXPECT_EQ(receive_sent(client).text, "answer");
}

TEST_P(CommChannelConnectedTest, the_first_receive_of_who_waits_for_events_gives_the_answer)
{
    int fd = -1;
    must(doca_comm_channel_ep_get_event_channel(client, nullptr, &fd));
    must(doca_comm_channel_ep_event_handle_arm_recv(client));
    Address *const peer = to_client();
    must(send_text(client, to_service, "again"));
    must(send_text(service, peer, "answer"));
    await_readable(fd);
    EXPECT_EQ(receive_sent(client).text, "answer");
}

TEST_P(CommChannelConnectedTest, messages_arrive_after_a_disconnect)
{
    Address *const peer = to_client();
    must(send_text(service, peer, "first"));
    must(send_text(service, peer, "last"));
    EXPECT_EQ(doca_comm_channel_ep_disconnect(service, peer), DOCA_SUCCESS);
    EXPECT_EQ(send_text(service, peer, "x"), DOCA_ERROR_NOT_CONNECTED);
    EXPECT_EQ(doca_comm_channel_ep_disconnect(service, peer), DOCA_ERROR_NOT_CONNECTED);
    service.reset();

    EXPECT_EQ(send_text(client, to_service, "is lost, as if it had come too late"), DOCA_SUCCESS);
    EXPECT_EQ(doca_comm_channel_peer_addr_update_info(to_service), DOCA_SUCCESS);
    EXPECT_EQ(receive(client).status, DOCA_ERROR_AGAIN) << "two messages were sent";
    EXPECT_EQ(receive(client).text, "first");
    EXPECT_EQ(receive(client).text, "last");
    EXPECT_EQ(receive(client).status, DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(receive(client).status, DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(send_text(client, to_service, "x"), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(doca_comm_channel_peer_addr_update_info(to_service), DOCA_ERROR_CONNECTION_ABORTED);
    EXPECT_EQ(doca_comm_channel_ep_disconnect(client, to_service), DOCA_SUCCESS);
    EXPECT_EQ(receive(client).status, DOCA_ERROR_NOT_CONNECTED);
}

TEST_P(CommChannelConnectedTest, a_client_that_disconnects)
{
    Address *const peer = to_client();
    must(send_text(client, to_service, "last"));
    EXPECT_EQ(doca_comm_channel_ep_disconnect(client, to_service), DOCA_SUCCESS);
    EXPECT_EQ(await_message(service).text, "last");
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN) << "to a service this is no error";
    EXPECT_EQ(send_text(service, peer, "x"), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(doca_comm_channel_peer_addr_update_info(peer), DOCA_ERROR_CONNECTION_ABORTED);
    std::uint64_t messages = 0;
    EXPECT_EQ(doca_comm_channel_peer_addr_get_recv_messages(peer, &messages), DOCA_SUCCESS);
    EXPECT_EQ(messages, 2u) << "counters outlive the connection";
    EXPECT_EQ(doca_comm_channel_ep_disconnect(service, peer), DOCA_SUCCESS);

    // The endpoints can be used again.
    ASSERT_EQ(doca_comm_channel_ep_set_max_msg_size(client, 200), DOCA_SUCCESS);
    ASSERT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &to_service), DOCA_SUCCESS);
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(await_connection(to_service), DOCA_SUCCESS);
    EXPECT_NE(to_client(), nullptr);
}

TEST_P(CommChannelTest, a_client_that_gives_up_before_it_was_taken_in)
{
    const EpHandle service = make_service(dpu, rep, name);
    EpHandle client = make_endpoint(host);
    Address *peer = nullptr;
    must(doca_comm_channel_ep_connect(client, name.c_str(), &peer));
    EXPECT_EQ(doca_comm_channel_ep_disconnect(client, peer), DOCA_ERROR_NOT_CONNECTED);
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    must(doca_comm_channel_ep_connect(client, name.c_str(), &peer));
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(await_connection(peer), DOCA_SUCCESS);
}

TEST_P(CommChannelTest, a_client_that_is_destroyed_before_it_knows_that_it_was_taken_in)
{
    const EpHandle service = make_service(dpu, rep, name);
    EpHandle client = make_endpoint(host);
    Address *peer = nullptr, **list = nullptr;
    std::uint32_t count = 0;
    must(doca_comm_channel_ep_connect(client, name.c_str(), &peer));
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    must(doca_comm_channel_ep_update_service_state_info(service));
    must(doca_comm_channel_ep_get_peer_addr_list(service, &list, &count));
    ASSERT_EQ(count, 1u);
    Address *const of_client = list[0];
    const LogCapture log;
    client.reset();
    EXPECT_EQ(until_not(DOCA_SUCCESS, [&] { return doca_comm_channel_peer_addr_update_info(of_client); }),
              DOCA_ERROR_CONNECTION_ABORTED);
    EXPECT_EQ(doca_comm_channel_ep_disconnect(service, of_client), DOCA_SUCCESS) << "it has not died";
    EXPECT_FALSE(log.has("has died"));
}

TEST_P(CommChannelTest, a_service_that_ends_before_its_client_knows_that_it_was_taken_in)
{
    EpHandle service = make_service(dpu, rep, name);
    const EpHandle client = make_endpoint(host);
    Address *peer = nullptr;
    must(doca_comm_channel_ep_connect(client, name.c_str(), &peer));
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    service.reset();
    EXPECT_EQ(receive_sent(client).status, DOCA_ERROR_CONNECTION_RESET) << "the first time already";
    EXPECT_EQ(doca_comm_channel_ep_disconnect(client, peer), DOCA_SUCCESS);
}

TEST_P(CommChannelTest, a_service_that_ends_before_it_took_a_client_in)
{
    EpHandle service = make_service(dpu, rep, name);
    const EpHandle client = make_endpoint(host);
    Address *peer = nullptr;
    must(doca_comm_channel_ep_connect(client, name.c_str(), &peer));
    service.reset();
    EXPECT_EQ(await_connection(peer), DOCA_ERROR_CONNECTION_ABORTED);
    EXPECT_EQ(doca_comm_channel_peer_addr_update_info(peer), DOCA_ERROR_CONNECTION_ABORTED);
    EXPECT_EQ(send_text(client, peer, "x"), DOCA_ERROR_INITIALIZATION);
    EXPECT_EQ(receive(client).status, DOCA_ERROR_INITIALIZATION);
    int send_fd = -1, recv_fd = -1;
    EXPECT_EQ(doca_comm_channel_ep_get_event_channel(client, &send_fd, &recv_fd), DOCA_SUCCESS);
    EXPECT_EQ(doca_comm_channel_ep_event_handle_arm_send(client), DOCA_SUCCESS);
    EXPECT_EQ(doca_comm_channel_ep_event_handle_arm_recv(client), DOCA_SUCCESS);
    EXPECT_TRUE(is_readable(send_fd) && is_readable(recv_fd)) << "who sleeps is told";
    EXPECT_EQ(doca_comm_channel_ep_disconnect(client, peer), DOCA_ERROR_NOT_CONNECTED);
}
