// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Connections by rdma_cm, with programs of others (bare_rdma_cm.cpp) and with ourselves, on RDMA devices.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <poll.h>
#include <unistd.h>

#include "../support/own_port.hpp"
#include "foreign_process.hpp"
#include "rdma_instance.hpp"

using namespace doca_test;

static_assert(sizeof(rdma_conn_param) != 0, "doca_rdma.h brings <rdma/rdma_cma.h>, whose types programs use");

namespace {

class RdmaCmTest : public testing::TestWithParam<std::string> {
protected:
    static constexpr std::size_t size = 4096;
    const std::uint16_t port = own_port(0);

    void SetUp() override
    {
        if (access("/dev/infiniband/rdma_cm", R_OK | W_OK) != 0 || getenv("OPENDOCA_CARD_SIDE") != nullptr)
            GTEST_SKIP() << "there is no rdma_cm for this device";
        std::uint8_t ipv4[4];
        if (doca_devinfo_get_ipv4_addr(doca_dev_as_devinfo(dev), ipv4, sizeof(ipv4)) != DOCA_SUCCESS)
            GTEST_SKIP() << "the device has no IPv4 address";
        char text[INET_ADDRSTRLEN];
        own_address = inet_ntop(AF_INET, ipv4, text, sizeof(text));
        a.start();
        b.start();
    }
    void run_until(const std::function<bool()> &is_done)
    {
        while (!is_done()) {
            const bool has_progressed = a.progress();
            if (!b.progress() && !has_progressed)
                std::this_thread::yield();
        }
    }
    [[nodiscard]] static BufHandle buf_of(doca_buf_inventory *inventory, doca_mmap *map, std::vector<std::byte> &memory,
                                          std::size_t data_length)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_addr(inventory, map, memory.data(), memory.size(), buf.out()));
        must(doca_buf_set_data_len(buf, data_length));
        return buf;
    }
    void connect(const std::string &address, doca_rdma_addr_type type = DOCA_RDMA_ADDR_TYPE_IPv4)
    {
        must(doca_rdma_addr_create(type, address.c_str(), port, server.out()));
        must(doca_rdma_connect_to_addr(a.get(), server, {}));
    }
    /// @p instance receives a message on its newest connection, into its memory, and sends it back when it has come.
    void echo(RdmaInstance &instance)
    {
        receive(instance, b_map, b_memory, received);
        run_until([&] { return received.has_ended(); });
        ASSERT_EQ(received.status, DOCA_SUCCESS);
        send(instance, b_map, b_memory, sent);
        run_until([&] { return sent.has_ended(); });
        EXPECT_EQ(sent.status, DOCA_SUCCESS);
    }
    void receive(RdmaInstance &instance, doca_mmap *map, std::vector<std::byte> &memory, Outcome &outcome)
    {
        bufs.push_back(buf_of(inventory, map, memory, 0));
        outcome.then = [this](doca_task *task) {
            length = doca_rdma_task_receive_get_result_len(reinterpret_cast<const doca_rdma_task_receive *>(task));
        };
        doca_rdma_task_receive *task = nullptr;
        must(doca_rdma_task_receive_allocate_init(instance.get(), bufs.back(), {.ptr = &outcome}, &task));
        must(doca_task_submit(doca_rdma_task_receive_as_task(task)));
    }
    void send(RdmaInstance &instance, doca_mmap *map, std::vector<std::byte> &memory, Outcome &outcome)
    {
        bufs.push_back(buf_of(inventory, map, memory, length));
        doca_rdma_task_send *task = nullptr;
        must(doca_rdma_task_send_allocate_init(instance.get(), instance.open.back(), bufs.back(), {.ptr = &outcome},
                                               &task));
        must(doca_task_submit(doca_rdma_task_send_as_task(task)));
    }

    DevHandle dev = open_device(GetParam());
    std::string own_address;
    std::vector<std::byte> a_memory = std::vector<std::byte>(size), b_memory = std::vector<std::byte>(size);
    MmapHandle a_map = map_of(dev, a_memory, rdma_rights), b_map = map_of(dev, b_memory, rdma_rights);
    InventoryHandle inventory = inventory_of(64);
    std::vector<BufHandle> bufs;
    Outcome received, sent;
    std::uint32_t length = 35;
    AddressHandle server;
    RdmaInstance a{dev}, b{dev};
};

std::vector<std::string> rdma_devices()
{
    std::vector<std::string> names = connecting_devices();
    std::erase_if(names, is_soft);
    return names;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RdmaCmTest);
INSTANTIATE_TEST_SUITE_P(device, RdmaCmTest, testing::ValuesIn(rdma_devices()), name_of_device);

TEST_P(RdmaCmTest, a_client_of_rdma_cm_is_served)
{
    b.on_request = [](doca_rdma_connection *connection) {
        std::array<char, 7> greeting = {'w', 'e', 'l', 'c', 'o', 'm', 'e'};
        EXPECT_EQ(doca_rdma_connection_accept(connection, greeting.data(), greeting.size()), DOCA_SUCCESS);
    };
    must(doca_rdma_start_listen_to_port(b.get(), port));
    Foreign client("client", own_address, port, "talk");
    run_until([&] { return !b.open.empty() || client.has_ended(); });
    ASSERT_FALSE(b.open.empty());
    echo(b);
    run_until([&] { return !b.ends.empty() && client.has_ended(); });
    EXPECT_TRUE(client.was_well());
    EXPECT_EQ(state_of(b.ctx()), DOCA_CTX_STATE_RUNNING);
}

TEST_P(RdmaCmTest, a_server_of_rdma_cm_is_asked)
{
    Foreign other("server", own_address, port, "talk");
    other.wait_until_ready();
    connect(own_address);
    run_until([&] { return !a.open.empty() || !a.failures.empty(); });
    ASSERT_FALSE(a.open.empty());
    Outcome back;
    receive(a, b_map, b_memory, back);
    std::memcpy(a_memory.data(), "something to send", 17);
    length = 17;
    send(a, a_map, a_memory, sent);
    run_until([&] { return sent.has_ended() && back.has_ended(); });
    EXPECT_EQ(back.status, DOCA_SUCCESS);
    EXPECT_EQ(length, 17u);
    EXPECT_EQ(std::memcmp(b_memory.data(), "something to send", 17), 0);
    must(doca_rdma_connection_disconnect(a.open.front()));
    run_until([&] { return other.has_ended(); });
    EXPECT_TRUE(other.was_well());
}

TEST_P(RdmaCmTest, both_sides_can_reject)
{
    b.on_request = [](doca_rdma_connection *connection) {
        EXPECT_EQ(doca_rdma_connection_reject(connection), DOCA_SUCCESS);
    };
    must(doca_rdma_start_listen_to_port(b.get(), port));
    Foreign client("client", own_address, port, "rejected");
    run_until([&] { return client.has_ended(); });
    EXPECT_TRUE(client.was_well());
    EXPECT_TRUE(b.open.empty());
    must(doca_rdma_stop_listen_to_port(b.get(), port));

    Foreign other("server", own_address, port, "reject");
    other.wait_until_ready();
    connect(own_address);
    run_until([&] { return !a.failures.empty(); });
    EXPECT_TRUE(a.open.empty());
    EXPECT_EQ(doca_rdma_addr_destroy(server), DOCA_SUCCESS) << "nobody uses it any more";
    (void)server.release();
}

TEST_P(RdmaCmTest, the_end_of_a_process_is_told_though_nothing_is_sent)
{
    Foreign other("server", own_address, port, "die");
    other.wait_until_ready();
    connect(own_address);
    run_until([&] { return !a.ends.empty(); });
    EXPECT_EQ(a.open, a.ends);
    run_until([&] { return other.has_ended(); });
}

TEST_P(RdmaCmTest, who_waits_for_an_answer_is_refused_when_the_server_stops)
{
    b.on_request = [](doca_rdma_connection *) {};
    must(doca_rdma_start_listen_to_port(b.get(), port));
    Foreign asked("client", own_address, port, "linger");
    run_until([&] { return !b.requests.empty(); });
    must(doca_rdma_stop_listen_to_port(b.get(), port));
    Foreign late("client", own_address, port, "linger"); // nobody listens
    run_until([&] { return late.has_ended(); });
    EXPECT_TRUE(late.was_well());
    EXPECT_FALSE(asked.has_ended()) << "it can still be accepted";
    b.stop();
    run_until([&] { return asked.has_ended(); });
    EXPECT_TRUE(asked.was_well());
}

TEST_P(RdmaCmTest, a_port_that_is_taken_is_refused)
{
    must(doca_rdma_start_listen_to_port(b.get(), port));
    EXPECT_EQ(doca_rdma_start_listen_to_port(a.get(), port), DOCA_ERROR_CONNECTION_ABORTED);
    must(doca_rdma_stop_listen_to_port(b.get(), port));
    EXPECT_EQ(doca_rdma_start_listen_to_port(a.get(), port), DOCA_SUCCESS) << "it is free again";
}

TEST_P(RdmaCmTest, a_gid_is_an_address)
{
    const std::string gid = "::ffff:" + own_address;
    must(doca_rdma_start_listen_to_port(b.get(), port));
    connect(gid, DOCA_RDMA_ADDR_TYPE_GID);
    run_until([&] { return (!a.open.empty() && !b.open.empty()) || !a.failures.empty(); });
    EXPECT_TRUE(a.failures.empty());
    doca_mtu_size mtu = DOCA_MTU_SIZE_RAW_ETHERNET;
    must(doca_rdma_get_mtu(a.get(), &mtu));
    EXPECT_NE(mtu, DOCA_MTU_SIZE_RAW_ETHERNET);
}

TEST_P(RdmaCmTest, an_address_that_nobody_has_fails_in_time)
{
    must(doca_rdma_start_listen_to_port(b.get(), port));
    const std::string nobody = own_address.substr(0, own_address.rfind('.')) + ".254";
    connect(nobody);
    run_until([&] { return !a.failures.empty(); });
    EXPECT_TRUE(a.open.empty());
    EXPECT_EQ(state_of(a.ctx()), DOCA_CTX_STATE_RUNNING);
}

/// Sleeps until there is something for @p instance, and does it.
void sleep_and_progress(RdmaInstance &instance)
{
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(instance.pe(), &handle));
    while (instance.progress())
        ;
    must(doca_pe_request_notification(instance.pe()));
    pollfd wish = {.fd = handle, .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&wish, 1, 60'000), 1) << "nothing has woken it";
    must(doca_pe_clear_notification(instance.pe(), handle));
    (void)instance.progress();
}

TEST_P(RdmaCmTest, a_program_that_sleeps_is_woken_for_each_step)
{
    b.on_request = [](doca_rdma_connection *connection) {
        std::array<char, 7> greeting = {'w', 'e', 'l', 'c', 'o', 'm', 'e'};
        EXPECT_EQ(doca_rdma_connection_accept(connection, greeting.data(), greeting.size()), DOCA_SUCCESS);
    };
    must(doca_rdma_start_listen_to_port(b.get(), port));
    Foreign client("client", own_address, port, "die");
    while (b.ends.empty() && !HasFatalFailure())
        sleep_and_progress(b);
    EXPECT_EQ(b.requests.size(), 1u);
    EXPECT_EQ(b.open.size(), 1u);
}

} // namespace
