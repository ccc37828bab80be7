// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Connections that the program makes by ids of rdma_cm of its own: with itself, and with programs of librdmacm alone
// (bare_rdma_cm.cpp). On software devices, which have no such ids, their refusal.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <unistd.h>

#include "../support/log_capture.hpp"
#include "../support/own_port.hpp"
#include "foreign_process.hpp"
#include "rdma_instance.hpp"

using namespace doca_test;

namespace {

/// Returns the IPv4 address among the GIDs of @p info, or the card's own one on InfiniBand; empty if there is none.
std::string address_of(const doca_devinfo *info)
{
    std::uint32_t count = 0;
    must(doca_rdma_cap_get_gid_table_size(info, &count));
    std::vector<doca_rdma_gid> gids(count);
    must(doca_rdma_cap_get_gid(info, 0, count, gids.data()));
    for (const doca_rdma_gid &gid : gids) {
        in6_addr address;
        std::memcpy(&address, gid.raw, sizeof(address));
        char text[INET_ADDRSTRLEN];
        if (IN6_IS_ADDR_V4MAPPED(&address))
            return inet_ntop(AF_INET, gid.raw + 12, text, sizeof(text));
    }
    return std::getenv("OPENDOCA_CARD_SIDE") != nullptr ? "127.0.0.1" : "";
}

/// An event channel with its ids, as a program has them, and the events in the order of their arrival.
class Ids {
public:
    struct Event {
        rdma_cm_event_type type;
        rdma_cm_id *id;
        std::string data;
    };

    Ids()
    {
        if (channel_ != nullptr)
            (void)fcntl(channel_->fd, F_SETFL, O_NONBLOCK);
    }
    Ids(const Ids &) = delete;
    Ids &operator=(const Ids &) = delete;
    ~Ids()
    {
        for (rdma_cm_id *const id : ids_)
            rdma_destroy_id(id);
        if (channel_ != nullptr)
            rdma_destroy_event_channel(channel_);
    }

    [[nodiscard]] bool is_available() const { return channel_ != nullptr; }
    [[nodiscard]] rdma_cm_id *create()
    {
        rdma_cm_id *id = nullptr;
        EXPECT_EQ(rdma_create_id(channel_, &id, nullptr, RDMA_PS_TCP), 0);
        ids_.push_back(id);
        return id;
    }
    void destroy(rdma_cm_id *id)
    {
        std::erase(ids_, id);
        EXPECT_EQ(rdma_destroy_id(id), 0);
    }
    /// Moves events from the channel to this object.
    void read()
    {
        rdma_cm_event *event = nullptr;
        while (rdma_get_cm_event(channel_, &event) == 0) {
            Event copy{event->event, event->id, {}};
            if (event->param.conn.private_data != nullptr)
                copy.data.assign(static_cast<const char *>(event->param.conn.private_data),
                                 event->param.conn.private_data_len);
            if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
                ids_.push_back(event->id);
            rdma_ack_cm_event(event);
            events_.push_back(copy);
        }
    }
    /// Takes the oldest event of @p id, or of any.
    [[nodiscard]] bool take(Event &event, const rdma_cm_id *id = nullptr)
    {
        read();
        const auto found =
            std::ranges::find_if(events_, [&](const Event &one) { return id == nullptr || one.id == id; });
        if (found == events_.end())
            return false;
        event = *found;
        events_.erase(found);
        return true;
    }

private:
    rdma_event_channel *channel_ = rdma_create_event_channel();
    std::vector<rdma_cm_id *> ids_;
    std::vector<Event> events_;
};

class RdmaBridgeTest : public testing::TestWithParam<std::string> {
protected:
    static constexpr std::size_t size = 4096;
    const std::uint16_t port = own_port(0);

    void SetUp() override
    {
        address = address_of(doca_dev_as_devinfo(dev));
        if (!ids.is_available() || address.empty())
            GTEST_SKIP() << "there is no rdma_cm for this device";
        const rdma_cm_id *const probe = resolved();
        if (probe->verbs == nullptr || GetParam() != ibv_get_device_name(probe->verbs->device))
            GTEST_SKIP() << address << " is another device's";
        a.start();
        b.start();
    }
    void run_until(const std::function<bool()> &is_done)
    {
        while (!is_done()) {
            ids.read();
            const bool has_progressed = a.progress();
            if (!b.progress() && !has_progressed)
                std::this_thread::yield();
        }
    }
    /// Waits for the next event, of @p id or of any, which has to be @p type.
    Ids::Event next(rdma_cm_event_type type, const rdma_cm_id *id = nullptr)
    {
        Ids::Event event{};
        run_until([&] { return ids.take(event, id); });
        EXPECT_EQ(event.type, type) << rdma_event_str(event.type);
        return event;
    }
    [[nodiscard]] sockaddr_in place() const
    {
        sockaddr_in there{};
        there.sin_family = AF_INET;
        there.sin_port = htons(port);
        inet_pton(AF_INET, address.c_str(), &there.sin_addr);
        return there;
    }
    [[nodiscard]] rdma_cm_id *listener()
    {
        rdma_cm_id *const id = ids.create();
        sockaddr_in here = place();
        EXPECT_EQ(rdma_bind_addr(id, reinterpret_cast<sockaddr *>(&here)), 0);
        EXPECT_EQ(rdma_listen(id, 8), 0);
        return id;
    }
    /// Returns a client's id with a route.
    [[nodiscard]] rdma_cm_id *resolved()
    {
        constexpr int patience = 5000; // ms
        rdma_cm_id *const id = ids.create();
        sockaddr_in there = place();
        EXPECT_EQ(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr *>(&there), patience), 0);
        next(RDMA_CM_EVENT_ADDR_RESOLVED, id);
        EXPECT_EQ(rdma_resolve_route(id, patience), 0);
        next(RDMA_CM_EVENT_ROUTE_RESOLVED, id);
        return id;
    }
    [[nodiscard]] static rdma_conn_param parameters()
    {
        rdma_conn_param result{};
        result.responder_resources = result.initiator_depth = 1;
        result.retry_count = result.rnr_retry_count = 7;
        return result;
    }
    [[nodiscard]] static doca_rdma_connection *prepare(RdmaInstance &instance, rdma_cm_id *id)
    {
        doca_rdma_connection *connection = nullptr;
        EXPECT_EQ(doca_rdma_bridge_prepare_connection(instance.get(), id, &connection), DOCA_SUCCESS);
        EXPECT_NE(id->qp, nullptr);
        return connection;
    }
    /// Connects a, as the client, to b. @p confirms: the client's queue pair is withdrawn from its id.
    void connect(bool confirms = false)
    {
        if (listening == nullptr)
            listening = listener();
        client = resolved();
        of_a = prepare(a, client);
        rdma_conn_param request = parameters();
        if (confirms) {
            request.qp_num = client->qp->qp_num;
            request.srq = client->qp->srq != nullptr;
            client->qp = nullptr;
        }
        ASSERT_EQ(rdma_connect(client, &request), 0);
        server = next(RDMA_CM_EVENT_CONNECT_REQUEST).id;
        of_b = prepare(b, server);
        std::array<char, 7> greeting = {'w', 'e', 'l', 'c', 'o', 'm', 'e'};
        ASSERT_EQ(doca_rdma_bridge_accept(b.get(), greeting.data(), greeting.size(), of_b), DOCA_SUCCESS);
        const Ids::Event reply = next(confirms ? RDMA_CM_EVENT_CONNECT_RESPONSE : RDMA_CM_EVENT_ESTABLISHED, client);
        EXPECT_TRUE(reply.data.starts_with("welcome"));
        ASSERT_EQ(doca_rdma_bridge_established(a.get(), of_a), DOCA_SUCCESS);
        next(RDMA_CM_EVENT_ESTABLISHED, server);
        ASSERT_EQ(doca_rdma_bridge_established(b.get(), of_b), DOCA_SUCCESS);
        run_until([&] { return a.connected.size() == 1 && b.connected.size() == 1; });
    }
    /// Connects a, as the client, to b. Librdmacm has connected the client's queue pair, and its program has not
    /// reported that yet.
    void connect_unreported()
    {
        if (listening == nullptr)
            listening = listener();
        client = resolved();
        of_a = prepare(a, client);
        rdma_conn_param request = parameters();
        ASSERT_EQ(rdma_connect(client, &request), 0);
        server = next(RDMA_CM_EVENT_CONNECT_REQUEST).id;
        of_b = prepare(b, server);
        must(doca_rdma_bridge_accept(b.get(), nullptr, 0, of_b));
        next(RDMA_CM_EVENT_ESTABLISHED, server);
        must(doca_rdma_bridge_established(b.get(), of_b));
    }
    /// Sends a message from b to a, which is not polled: its completion is left to a's next progress.
    void send_to_unpolled(doca_rdma_connection *connection)
    {
        Outcome sent;
        send(b, connection, memory.data(), 7, sent);
        while (!sent.has_ended()) {
            if (!b.progress())
                std::this_thread::yield();
        }
        ASSERT_EQ(sent.status, DOCA_SUCCESS);
    }
    void receive(RdmaInstance &instance, std::byte *to, Outcome &outcome)
    {
        bufs.emplace_back();
        must(doca_buf_inventory_buf_get_by_addr(inventory, map, to, 64, bufs.back().out()));
        outcome.then = [this](doca_task *task) {
            length = doca_rdma_task_receive_get_result_len(reinterpret_cast<const doca_rdma_task_receive *>(task));
        };
        doca_rdma_task_receive *task = nullptr;
        must(doca_rdma_task_receive_allocate_init(instance.get(), bufs.back(), {.ptr = &outcome}, &task));
        must(doca_task_submit(doca_rdma_task_receive_as_task(task)));
    }
    void send(RdmaInstance &instance, doca_rdma_connection *connection, std::byte *from, std::size_t bytes,
              Outcome &outcome)
    {
        bufs.emplace_back();
        must(doca_buf_inventory_buf_get_by_data(inventory, map, from, bytes, bufs.back().out()));
        doca_rdma_task_send *task = nullptr;
        must(doca_rdma_task_send_allocate_init(instance.get(), connection, bufs.back(), {.ptr = &outcome}, &task));
        must(doca_task_submit(doca_rdma_task_send_as_task(task)));
    }
    /// Sends a message from a to b.
    void expect_a_message()
    {
        Outcome received, sent;
        std::memcpy(memory.data(), "message", 7);
        receive(b, memory.data() + 64, received);
        send(a, of_a, memory.data(), 7, sent);
        run_until([&] { return received.has_ended() && sent.has_ended(); });
        EXPECT_EQ(received.status, DOCA_SUCCESS);
        EXPECT_EQ(sent.status, DOCA_SUCCESS);
        EXPECT_EQ(std::memcmp(memory.data() + 64, "message", 7), 0);
    }
    /// Writes 8 bytes from @p instance to the peer's memory, which permits it.
    doca_error_t write(RdmaInstance &instance, doca_rdma_connection *connection)
    {
        const void *descriptor = nullptr;
        std::size_t bytes = 0;
        must(doca_mmap_export_rdma(map, dev, &descriptor, &bytes));
        const MmapHandle remote = [&] {
            MmapHandle made;
            must(doca_mmap_create_from_export(nullptr, descriptor, bytes, dev, made.out()));
            return made;
        }();
        BufHandle src, dst;
        must(doca_buf_inventory_buf_get_by_data(inventory, map, memory.data(), 8, src.out()));
        must(doca_buf_inventory_buf_get_by_addr(inventory, remote, memory.data() + 128, 8, dst.out()));
        Outcome outcome;
        doca_rdma_task_write *task = nullptr;
        must(doca_rdma_task_write_allocate_init(instance.get(), connection, src, dst, {.ptr = &outcome}, &task));
        must(doca_task_submit(doca_rdma_task_write_as_task(task)));
        run_until([&] { return outcome.has_ended(); });
        return outcome.status;
    }

    DevHandle dev = open_device(GetParam());
    std::string address;
    std::vector<std::byte> memory = std::vector<std::byte>(size);
    MmapHandle map = map_of(dev, memory, rdma_rights);
    InventoryHandle inventory = inventory_of(64);
    std::vector<BufHandle> bufs;
    std::uint32_t length = 0;
    Ids ids; // destroyed after the instances, as programs must
    RdmaInstance a{dev}, b{dev};
    rdma_cm_id *listening = nullptr, *client = nullptr, *server = nullptr;
    doca_rdma_connection *of_a = nullptr, *of_b = nullptr;
};

std::vector<std::string> rdma_devices()
{
    std::vector<std::string> names = connecting_devices();
    std::erase_if(names, is_soft);
    return names;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RdmaBridgeTest);
INSTANTIATE_TEST_SUITE_P(device, RdmaBridgeTest, testing::ValuesIn(rdma_devices()), name_of_device);

TEST_P(RdmaBridgeTest, a_program_connects_its_own_ids)
{
    connect();
    expect_a_message();
    EXPECT_EQ(write(a, of_a), DOCA_SUCCESS);
    EXPECT_EQ(write(b, of_b), DOCA_SUCCESS);
    doca_mtu_size mtu = DOCA_MTU_SIZE_RAW_ETHERNET;
    must(doca_rdma_get_mtu(a.get(), &mtu));
    EXPECT_NE(mtu, DOCA_MTU_SIZE_RAW_ETHERNET);

    must(doca_rdma_connection_disconnect(of_a));
    EXPECT_EQ(client->qp, nullptr);
    next(RDMA_CM_EVENT_DISCONNECTED, server);
    must(doca_rdma_connection_disconnect(of_b));
    EXPECT_EQ(server->qp, nullptr);
    ids.destroy(client);
    ids.destroy(server);
    EXPECT_EQ(state_of(a.ctx()), DOCA_CTX_STATE_RUNNING);
    EXPECT_TRUE(a.ends.empty() && b.ends.empty()) << "the program has ended them";
    EXPECT_TRUE(a.requests.empty() && b.requests.empty() && a.failures.empty());
}

TEST_P(RdmaBridgeTest, a_client_confirms_a_reply_that_librdmacm_leaves_to_it)
{
    connect(true);
    expect_a_message();
    EXPECT_EQ(write(b, of_b), DOCA_SUCCESS);
}

TEST_P(RdmaBridgeTest, the_rights_of_the_instance_apply)
{
    a.stop();
    must(doca_rdma_set_permissions(a.get(), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
    a.start();
    connect(); // librdmacm lets the peer write
    expect_a_message();
    EXPECT_EQ(write(b, of_b), DOCA_ERROR_NOT_PERMITTED);
}

TEST_P(RdmaBridgeTest, a_message_comes_after_the_callback_of_its_connection)
{
    listening = listener();
    client = resolved();
    of_a = prepare(a, client);
    rdma_conn_param request = parameters();
    ASSERT_EQ(rdma_connect(client, &request), 0);
    server = next(RDMA_CM_EVENT_CONNECT_REQUEST).id;
    of_b = prepare(b, server);
    must(doca_rdma_bridge_accept(b.get(), nullptr, 0, of_b));
    next(RDMA_CM_EVENT_ESTABLISHED, client);
    must(doca_rdma_bridge_established(a.get(), of_a));
    expect_a_message(); // before the server's program has seen its event
    EXPECT_EQ(b.connected, std::vector{of_b});
    EXPECT_EQ(doca_rdma_bridge_established(b.get(), of_b), DOCA_SUCCESS);
    for (int i = 0; i != 1000; ++i)
        (void)b.progress();
    EXPECT_EQ(b.connected, std::vector{of_b}) << "once";
}

TEST_P(RdmaBridgeTest, a_message_to_a_client_comes_after_the_callback_of_its_connection)
{
    Outcome received, sent;
    receive(a, memory.data() + 64, received);
    connect_unreported();
    bool was_first = false;
    received.then = [&](doca_task *) { was_first = a.connected.empty(); };
    send(b, of_b, memory.data(), 7, sent);
    run_until([&] { return received.has_ended(); }); // before the client's program has reported its event
    EXPECT_EQ(received.status, DOCA_SUCCESS);
    EXPECT_FALSE(was_first);
    EXPECT_EQ(a.connected, std::vector{of_a});
    next(RDMA_CM_EVENT_ESTABLISHED, client);
    EXPECT_EQ(doca_rdma_bridge_established(a.get(), of_a), DOCA_SUCCESS);
    run_until([&] { return sent.has_ended(); });
    expect_a_message();
    EXPECT_EQ(a.connected.size(), 1u) << "once";
}

TEST_P(RdmaBridgeTest, disconnecting_an_unreported_client_takes_the_message_that_it_has_received)
{
    connect(); // shares the poller with the client that ends
    doca_rdma_connection *const first_of_a = of_a, *const first_of_b = of_b;
    Outcome received;
    receive(a, memory.data() + 128, received);
    connect_unreported();
    send_to_unpolled(of_b);
    must(doca_rdma_connection_disconnect(of_a));
    EXPECT_EQ(client->qp, nullptr);
    run_until([&] { return received.has_ended(); });
    EXPECT_EQ(received.status, DOCA_SUCCESS);
    EXPECT_EQ(a.connected, std::vector{first_of_a}) << "the other was ended before it was reported";
    must(doca_rdma_connection_disconnect(of_b));
    of_a = first_of_a;
    of_b = first_of_b;
    expect_a_message();
}

TEST_P(RdmaBridgeTest, a_message_in_the_queue_outlives_the_disconnection_of_its_unreported_client)
{
    connect();
    doca_rdma_connection *const first_of_b = of_b;
    Outcome first, second;
    receive(a, memory.data() + 128, first);
    receive(a, memory.data() + 192, second);
    connect_unreported();
    send_to_unpolled(first_of_b);
    send_to_unpolled(of_b);
    // One progress takes both messages from the device, and reports one.
    first.then = [&](doca_task *) { EXPECT_EQ(doca_rdma_connection_disconnect(of_a), DOCA_SUCCESS); };
    run_until([&] { return first.has_ended() && second.has_ended(); });
    EXPECT_EQ(first.status, DOCA_SUCCESS);
    EXPECT_EQ(second.status, DOCA_SUCCESS);
    EXPECT_EQ(client->qp, nullptr);
}

TEST_P(RdmaBridgeTest, stopping_the_context_of_an_unreported_client_takes_the_message_that_it_has_received)
{
    connect();
    Outcome received;
    receive(a, memory.data() + 128, received);
    connect_unreported();
    send_to_unpolled(of_b);
    a.stop();
    EXPECT_EQ(received.status, DOCA_SUCCESS);
    EXPECT_EQ(client->qp, nullptr);
    ids.destroy(client);
    a.start(); // nothing of before is left
}

TEST_P(RdmaBridgeTest, an_instance_that_listens_by_address_is_the_peer)
{
    const rdma_cm_id *const probe = resolved();
    ibv_port_attr attributes{};
    ASSERT_EQ(ibv_query_port(probe->verbs, probe->port_num, &attributes), 0);
    if (attributes.link_layer != IBV_LINK_LAYER_ETHERNET)
        GTEST_SKIP() << "connections by address need IPoIB";
    must(doca_rdma_start_listen_to_port(b.get(), port));
    client = resolved();
    of_a = prepare(a, client);
    rdma_conn_param request = parameters();
    ASSERT_EQ(rdma_connect(client, &request), 0);
    next(RDMA_CM_EVENT_ESTABLISHED, client); // b's callback has accepted
    must(doca_rdma_bridge_established(a.get(), of_a));
    run_until([&] { return !b.open.empty(); });
    expect_a_message();
    must(doca_rdma_connection_disconnect(of_a));
    run_until([&] { return !b.ends.empty(); });
}

TEST_P(RdmaBridgeTest, a_client_of_librdmacm_is_served)
{
    listening = listener();
    Foreign other("client", address, port, "talk");
    server = next(RDMA_CM_EVENT_CONNECT_REQUEST).id;
    of_b = prepare(b, server);
    Outcome received, sent;
    receive(b, memory.data(), received);
    std::array<char, 7> greeting = {'w', 'e', 'l', 'c', 'o', 'm', 'e'};
    must(doca_rdma_bridge_accept(b.get(), greeting.data(), greeting.size(), of_b));
    next(RDMA_CM_EVENT_ESTABLISHED, server);
    must(doca_rdma_bridge_established(b.get(), of_b));
    run_until([&] { return received.has_ended(); });
    ASSERT_EQ(received.status, DOCA_SUCCESS);
    send(b, of_b, memory.data(), length, sent);
    next(RDMA_CM_EVENT_DISCONNECTED, server);
    must(doca_rdma_connection_disconnect(of_b));
    run_until([&] { return sent.has_ended() && other.has_ended(); });
    EXPECT_TRUE(other.was_well());
}

TEST_P(RdmaBridgeTest, a_server_of_librdmacm_is_asked)
{
    Foreign other("server", address, port, "talk");
    other.wait_until_ready();
    client = resolved();
    of_a = prepare(a, client);
    rdma_conn_param request = parameters();
    ASSERT_EQ(rdma_connect(client, &request), 0);
    next(RDMA_CM_EVENT_ESTABLISHED, client);
    must(doca_rdma_bridge_established(a.get(), of_a));
    Outcome sent, back;
    receive(a, memory.data() + 64, back);
    std::memcpy(memory.data(), "something to send", 17);
    send(a, of_a, memory.data(), 17, sent);
    run_until([&] { return sent.has_ended() && back.has_ended(); });
    EXPECT_EQ(back.status, DOCA_SUCCESS);
    EXPECT_EQ(length, 17u);
    EXPECT_EQ(std::memcmp(memory.data() + 64, "something to send", 17), 0);
    must(doca_rdma_connection_disconnect(of_a));
    run_until([&] { return other.has_ended(); });
    EXPECT_TRUE(other.was_well());
}

TEST_P(RdmaBridgeTest, a_peer_that_rejects_or_dies_is_an_event_of_the_program)
{
    for (const char *way : {"reject", "die"}) {
        Foreign other("server", address, port, way);
        other.wait_until_ready();
        client = resolved();
        of_a = prepare(a, client);
        rdma_conn_param request = parameters();
        ASSERT_EQ(rdma_connect(client, &request), 0);
        if (std::strcmp(way, "reject") == 0) {
            next(RDMA_CM_EVENT_REJECTED, client);
            const LogCapture log;
            EXPECT_EQ(doca_rdma_bridge_established(a.get(), of_a), DOCA_ERROR_CONNECTION_ABORTED);
            EXPECT_LOGGED(log, "rdma_cm has not connected it");
        } else {
            next(RDMA_CM_EVENT_ESTABLISHED, client);
            must(doca_rdma_bridge_established(a.get(), of_a));
            next(RDMA_CM_EVENT_DISCONNECTED, client);
            must(doca_rdma_connection_disconnect(of_a));
        }
        EXPECT_EQ(client->qp, nullptr);
        ids.destroy(client);
        run_until([&] { return other.has_ended(); });
    }
}

TEST_P(RdmaBridgeTest, stopping_the_context_disconnects_and_releases_the_id)
{
    connect();
    a.stop();
    EXPECT_EQ(client->qp, nullptr);
    ids.destroy(client);
    next(RDMA_CM_EVENT_DISCONNECTED, server);
}

TEST_P(RdmaBridgeTest, the_end_of_a_queue_pair_is_reported)
{
    connect();
    ASSERT_EQ(rdma_disconnect(client), 0); // as of a queue pair of rdma_create_qp()
    Outcome sent;
    send(a, of_a, memory.data(), 7, sent);
    run_until([&] { return !a.ends.empty(); });
    EXPECT_EQ(a.ends, std::vector{of_a});
    EXPECT_TRUE(sent.has_ended());
    EXPECT_EQ(client->qp, nullptr);
}

TEST_P(RdmaBridgeTest, ids_that_do_not_fit_are_refused)
{
    doca_rdma_connection *connection = nullptr;
    const LogCapture log;
    EXPECT_EQ(doca_rdma_bridge_prepare_connection(a.get(), ids.create(), &connection), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "bound to device none");
    client = resolved();
    of_a = prepare(a, client);
    EXPECT_EQ(doca_rdma_bridge_prepare_connection(b.get(), client, &connection), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "has a queue pair already");
    EXPECT_EQ(connection, nullptr);
    must(doca_rdma_connection_disconnect(of_a));
    EXPECT_EQ(client->qp, nullptr);
    b.stop();
    EXPECT_EQ(doca_rdma_bridge_prepare_connection(b.get(), client, &connection), DOCA_ERROR_BAD_STATE);
    must(doca_rdma_set_max_num_connections(b.get(), 1));
    b.start();
    of_b = prepare(b, client);
    EXPECT_EQ(doca_rdma_bridge_prepare_connection(b.get(), resolved(), &connection), DOCA_ERROR_FULL);
    EXPECT_EQ(connection, nullptr);
}

TEST_P(RdmaBridgeTest, calls_in_another_order_are_refused)
{
    listening = listener();
    client = resolved();
    of_a = prepare(a, client);
    std::array<char, 197> long_data{};
    EXPECT_EQ(doca_rdma_bridge_accept(a.get(), long_data.data(), 197, of_a), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_bridge_accept(a.get(), nullptr, 1, of_a), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_bridge_accept(b.get(), nullptr, 0, of_a), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_bridge_established(b.get(), of_a), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_connection_accept(of_a, nullptr, 0), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_bridge_accept(a.get(), nullptr, 0, of_a), DOCA_ERROR_CONNECTION_ABORTED) << "a client's id";
    EXPECT_EQ(client->qp, nullptr);
    EXPECT_EQ(doca_rdma_bridge_established(a.get(), of_a), DOCA_ERROR_BAD_STATE) << "it has ended";

    connect();
    EXPECT_EQ(doca_rdma_bridge_accept(b.get(), nullptr, 0, of_b), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_bridge_established(b.get(), of_b), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_bridge_established(a.get(), of_a), DOCA_ERROR_BAD_STATE);
    expect_a_message();
}

/// On software devices.
class RdmaBridgeSoft : public testing::Test {};

TEST_F(RdmaBridgeSoft, an_id_is_refused)
{
    const std::vector<std::string> names = connecting_devices();
    const auto name = std::ranges::find_if(names, is_soft);
    if (name == names.end())
        GTEST_SKIP() << "there is no software device";
    const DevHandle dev = open_device(*name);
    RdmaInstance instance(dev);
    instance.start();
    rdma_cm_id id{};
    doca_rdma_connection *connection = nullptr;
    const LogCapture log;
    EXPECT_EQ(doca_rdma_bridge_prepare_connection(instance.get(), &id, &connection), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_LOGGED(log, "cannot use an id of rdma_cm");
    EXPECT_EQ(connection, nullptr);
    EXPECT_EQ(id.qp, nullptr);

    const void *details = nullptr;
    std::size_t bytes = 0;
    must(doca_rdma_export(instance.get(), &details, &bytes, &connection));
    EXPECT_EQ(doca_rdma_bridge_accept(instance.get(), nullptr, 0, connection), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_bridge_established(instance.get(), connection), DOCA_ERROR_BAD_STATE);
    EXPECT_LOGGED(log, "was not prepared by doca_rdma_bridge_prepare_connection()");
    std::uint32_t number = 1;
    must(doca_rdma_connection_get_id(connection, &number));
    EXPECT_EQ(number, 0u) << "a refused call counts no connection";
}

} // namespace
