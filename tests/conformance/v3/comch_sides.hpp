// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A server and a client of Comch in one process, each with a progress engine of its own, and what they are told.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "../support/log_capture.hpp"
#include "objects.hpp"

namespace doca_test {

using ServerHandle = Handle<doca_comch_server, doca_comch_server_destroy>;
using ClientHandle = Handle<doca_comch_client, doca_comch_client_destroy>;
using ConsumerHandle = Handle<doca_comch_consumer, doca_comch_consumer_destroy>;
using ProducerHandle = Handle<doca_comch_producer, doca_comch_producer_destroy>;
using RepHandle = Handle<doca_dev_rep, doca_dev_rep_close>;

inline constexpr std::uint32_t num_sends = 64;

/// What the callbacks of one side have told.
struct Side {
    PeHandle pe;
    std::vector<std::string> messages;
    std::vector<doca_comch_connection *> connected;
    std::vector<doca_comch_connection *> disconnected;
    std::vector<std::uint32_t> consumers;
    std::vector<std::uint32_t> expired;
    int num_sent = 0;
    int num_failed = 0;
    doca_comch_connection *from = nullptr; ///< of the last message
    /// Whether it has taken a task that was sent, with its user data.
    std::function<bool(doca_comch_task_send *, void *)> on_sent = [](doca_comch_task_send *, void *) { return false; };

    Side() { must(doca_pe_create(pe.out())); }
};

inline Side &side_of(doca_comch_connection *connection)
{
    doca_data data{};
    doca_comch_server *const server = doca_comch_server_get_server_ctx(connection);
    doca_ctx *const ctx = server != nullptr ? doca_comch_server_as_ctx(server)
                                            : doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(connection));
    must(doca_ctx_get_user_data(ctx, &data));
    return *static_cast<Side *>(data.ptr);
}

inline void received(doca_comch_event_msg_recv *event, std::uint8_t *data, std::uint32_t length,
                     doca_comch_connection *connection)
{
    EXPECT_NE(event, nullptr);
    Side &side = side_of(connection);
    side.messages.emplace_back(reinterpret_cast<const char *>(data), length);
    side.from = connection;
}
inline void sent(doca_comch_task_send *task, doca_data task_data, doca_data ctx_data)
{
    if (static_cast<Side *>(ctx_data.ptr)->on_sent(task, task_data.ptr))
        return;
    ++static_cast<Side *>(ctx_data.ptr)->num_sent;
    doca_task_free(doca_comch_task_send_as_task(task));
}
inline void send_failed(doca_comch_task_send *task, doca_data, doca_data ctx_data)
{
    ++static_cast<Side *>(ctx_data.ptr)->num_failed;
    doca_task_free(doca_comch_task_send_as_task(task));
}
inline void connected(doca_comch_event_connection_status_changed *event, doca_comch_connection *connection,
                      std::uint8_t is_done)
{
    EXPECT_NE(event, nullptr);
    EXPECT_EQ(is_done, 1);
    side_of(connection).connected.push_back(connection);
}
inline void disconnected(doca_comch_event_connection_status_changed *event, doca_comch_connection *connection,
                         std::uint8_t)
{
    EXPECT_NE(event, nullptr);
    side_of(connection).disconnected.push_back(connection);
}
inline void consumer_came(doca_comch_event_consumer *event, doca_comch_connection *connection, std::uint32_t id)
{
    EXPECT_NE(event, nullptr);
    side_of(connection).consumers.push_back(id);
}
inline void consumer_went(doca_comch_event_consumer *event, doca_comch_connection *connection, std::uint32_t id)
{
    EXPECT_NE(event, nullptr);
    side_of(connection).expired.push_back(id);
}

/// The card's, where a test runs on one.
inline std::string device_name(const char *variable, const char *of_software)
{
    const char *const name = std::getenv(variable);
    return name != nullptr ? name : of_software;
}

/// Of the function of @p host.
inline RepHandle representor_of(doca_dev *dev, doca_dev *host)
{
    char address[DOCA_DEVINFO_PCI_ADDR_SIZE] = {};
    must(doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(host), address));
    doca_devinfo_rep **list = nullptr;
    std::uint32_t size = 0;
    must(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &size));
    RepHandle rep;
    for (std::uint32_t i = 0; i != size && rep == nullptr; ++i) {
        std::uint8_t is_its = 0;
        must(doca_devinfo_rep_is_equal_pci_addr(list[i], address, &is_its));
        if (is_its != 0)
            must(doca_dev_rep_open(list[i], rep.out()));
    }
    must(doca_devinfo_rep_destroy_list(list));
    return rep;
}

class ComchTest : public testing::Test {
protected:
    // The default name is unique among the tests that run at the same time.
    explicit ComchTest(std::string name_of_service = "comch test " + std::to_string(getpid()))
        : service(std::move(name_of_service))
    {
    }

    const std::string service;
    const char *const name = service.c_str();
    const bool is_soft_pair = std::getenv("OPENDOCA_TEST_HOST") == nullptr; ///< else both are of a card

    void SetUp() override
    {
        must(doca_comch_server_create(dpu, rep, name, server.out()));
        must(doca_comch_server_event_msg_recv_register(server, received));
        must(doca_comch_server_event_connection_status_changed_register(server, connected, disconnected));
        must(doca_comch_server_event_consumer_register(server, consumer_came, consumer_went));
        must(doca_comch_server_task_send_set_conf(server, sent, send_failed, num_sends));
        must(doca_comch_server_set_recv_queue_size(server, 10));
        connect_ctx(server_ctx(), at_server);
        must(doca_comch_client_create(host, name, client.out()));
        must(doca_comch_client_event_msg_recv_register(client, received));
        must(doca_comch_client_event_consumer_register(client, consumer_came, consumer_went));
        must(doca_comch_client_task_send_set_conf(client, sent, send_failed, num_sends));
        must(doca_comch_client_set_recv_queue_size(client, 10));
        connect_ctx(client_ctx(), at_client);
    }
    void TearDown() override
    {
        (void)doca_ctx_stop(client_ctx());
        (void)doca_ctx_stop(server_ctx());
        run_until([&] {
            return state_of(client_ctx()) == DOCA_CTX_STATE_IDLE && state_of(server_ctx()) == DOCA_CTX_STATE_IDLE;
        });
    }
    static void connect_ctx(doca_ctx *ctx, Side &side)
    {
        must(doca_ctx_set_user_data(ctx, {.ptr = &side}));
        must(doca_pe_connect_ctx(side.pe, ctx));
    }
    [[nodiscard]] doca_ctx *server_ctx() const { return doca_comch_server_as_ctx(server); }
    [[nodiscard]] doca_ctx *client_ctx() const { return doca_comch_client_as_ctx(client); }
    void run_until(const std::function<bool()> &is_done)
    {
        while (!is_done()) {
            const bool has_progressed = doca_pe_progress(at_server.pe) != 0;
            if (doca_pe_progress(at_client.pe) == 0 && !has_progressed)
                std::this_thread::yield();
        }
    }
    void start()
    {
        ASSERT_EQ(doca_ctx_start(server_ctx()), DOCA_SUCCESS);
        start_client();
    }
    void start_client()
    {
        ASSERT_EQ(doca_ctx_start(client_ctx()), DOCA_ERROR_IN_PROGRESS);
        run_until([&] { return state_of(client_ctx()) == DOCA_CTX_STATE_RUNNING && !at_server.connected.empty(); });
        ASSERT_EQ(doca_comch_client_get_connection(client, &to_server), DOCA_SUCCESS);
    }
    void send_from_client(const std::string &text)
    {
        doca_comch_task_send *task = nullptr;
        must(doca_comch_client_task_send_alloc_init(client, to_server, text.data(),
                                                    static_cast<std::uint32_t>(text.size()), &task));
        must(doca_task_submit(doca_comch_task_send_as_task(task)));
    }
    void send_from_server(const std::string &text)
    {
        doca_comch_task_send *task = nullptr;
        must(doca_comch_server_task_send_alloc_init(server, at_server.connected[0], text.data(),
                                                    static_cast<std::uint32_t>(text.size()), &task));
        must(doca_task_submit(doca_comch_task_send_as_task(task)));
    }

    DevHandle dpu = open_device(device_name("OPENDOCA_TEST_DPU", "soft_p0"));
    DevHandle host = open_device(device_name("OPENDOCA_TEST_HOST", "soft_pf0"));
    RepHandle rep = representor_of(dpu, host);
    Side at_server;
    Side at_client;
    ServerHandle server;
    ClientHandle client;
    doca_comch_connection *to_server = nullptr;
};

} // namespace doca_test
