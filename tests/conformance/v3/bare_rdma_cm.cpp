// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A program of librdmacm, as others write them, without any DOCA: one side of a connection.
//
//   bare_rdma_cm client ADDRESS PORT WAY   asks for a connection
//   bare_rdma_cm server ADDRESS PORT WAY   prints "ready" and waits for one
//
// WAY: talk      the client finds "welcome" in the answer's private data, sends a message, gets it back, and
// disconnects;
//                the server sends back what it has got, and waits for the end
//      die       kills itself when the connection is there
//      rejected  the client is rejected by the other program
//      reject    the server rejects
//      linger    the client waits until it is disconnected, or is rejected
//
// Exit status 0: all was as it has to be.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <unistd.h>

namespace {

constexpr std::string_view greeting = "welcome", message = "a message from a program of rdma_cm";
std::array<char, 256> sent_memory, received_memory;

[[noreturn]] void fail(const char *what)
{
    std::fprintf(stderr, "bare_rdma_cm: %s: %s\n", what, std::strerror(errno));
    std::exit(1);
}

void must(bool is_good, const char *what)
{
    if (!is_good)
        fail(what);
}

struct Connection {
    rdma_event_channel *channel = nullptr;
    rdma_cm_id *id = nullptr;
    ibv_mr *sent = nullptr, *received = nullptr;
};

/// The next event, which has to be @p type.
rdma_cm_event wait_for(rdma_event_channel &channel, rdma_cm_event_type type, std::string *private_data = nullptr)
{
    rdma_cm_event *event = nullptr;
    must(rdma_get_cm_event(&channel, &event) == 0, "rdma_get_cm_event");
    if (event->event != type) {
        std::fprintf(stderr, "bare_rdma_cm: %s (%d) instead of %s\n", rdma_event_str(event->event), event->status,
                     rdma_event_str(type));
        std::exit(1);
    }
    if (private_data != nullptr && event->param.conn.private_data != nullptr)
        private_data->assign(static_cast<const char *>(event->param.conn.private_data),
                             event->param.conn.private_data_len);
    const rdma_cm_event copy = *event;
    rdma_ack_cm_event(event);
    return copy;
}

void prepare(Connection &connection)
{
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    attributes.sq_sig_all = 1;
    must(rdma_create_qp(connection.id, nullptr, &attributes) == 0, "rdma_create_qp");
    connection.sent = rdma_reg_msgs(connection.id, sent_memory.data(), sent_memory.size());
    connection.received = rdma_reg_msgs(connection.id, received_memory.data(), received_memory.size());
    must(connection.sent != nullptr && connection.received != nullptr, "rdma_reg_msgs");
    must(rdma_post_recv(connection.id, nullptr, received_memory.data(), received_memory.size(), connection.received) ==
             0,
         "rdma_post_recv");
}

std::string receive(Connection &connection)
{
    ibv_wc completion{};
    must(rdma_get_recv_comp(connection.id, &completion) == 1 && completion.status == IBV_WC_SUCCESS, "a receive");
    return {received_memory.data(), completion.byte_len};
}

void send(Connection &connection, std::string_view text)
{
    text.copy(sent_memory.data(), text.size());
    must(rdma_post_send(connection.id, nullptr, sent_memory.data(), text.size(), connection.sent, 0) == 0,
         "rdma_post_send");
    ibv_wc completion{};
    must(rdma_get_send_comp(connection.id, &completion) == 1 && completion.status == IBV_WC_SUCCESS, "a send");
}

void run_client(Connection &connection, rdma_addrinfo &there, const std::string &way)
{
    constexpr int patience = 5000; // ms
    constexpr int by_its_program = 28;
    must(rdma_create_id(connection.channel, &connection.id, nullptr, RDMA_PS_TCP) == 0, "rdma_create_id");
    must(rdma_resolve_addr(connection.id, nullptr, there.ai_dst_addr, patience) == 0, "rdma_resolve_addr");
    wait_for(*connection.channel, RDMA_CM_EVENT_ADDR_RESOLVED);
    must(rdma_resolve_route(connection.id, patience) == 0, "rdma_resolve_route");
    wait_for(*connection.channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
    prepare(connection);
    rdma_conn_param wish{};
    wish.responder_resources = wish.initiator_depth = 1;
    wish.retry_count = wish.rnr_retry_count = 7;
    must(rdma_connect(connection.id, &wish) == 0, "rdma_connect");
    if (way == "rejected" || way == "linger") {
        const rdma_cm_event end = wait_for(*connection.channel, RDMA_CM_EVENT_REJECTED);
        must(way == "linger" || end.status == by_its_program, "another reason");
        return;
    }
    std::string private_data;
    wait_for(*connection.channel, RDMA_CM_EVENT_ESTABLISHED, &private_data);
    must(private_data.starts_with(greeting), "the private data of the answer");
    if (way == "die")
        raise(SIGKILL);
    send(connection, message);
    must(receive(connection) == message, "what comes back");
    must(rdma_disconnect(connection.id) == 0, "rdma_disconnect");
}

void run_server(Connection &connection, rdma_addrinfo &here, const std::string &way)
{
    rdma_cm_id *listener = nullptr;
    must(rdma_create_id(connection.channel, &listener, nullptr, RDMA_PS_TCP) == 0, "rdma_create_id");
    must(rdma_bind_addr(listener, here.ai_src_addr) == 0 && rdma_listen(listener, 4) == 0, "rdma_listen");
    std::puts("ready");
    std::fflush(stdout);
    connection.id = wait_for(*connection.channel, RDMA_CM_EVENT_CONNECT_REQUEST).id;
    if (way == "reject") {
        must(rdma_reject(connection.id, nullptr, 0) == 0, "rdma_reject");
        return;
    }
    prepare(connection);
    rdma_conn_param answer{};
    answer.responder_resources = answer.initiator_depth = 1;
    answer.rnr_retry_count = 7;
    must(rdma_accept(connection.id, &answer) == 0, "rdma_accept");
    wait_for(*connection.channel, RDMA_CM_EVENT_ESTABLISHED);
    if (way == "die")
        raise(SIGKILL);
    send(connection, receive(connection));
    wait_for(*connection.channel, RDMA_CM_EVENT_DISCONNECTED);
    rdma_disconnect(connection.id);
}

} // namespace

int main(int argc, char **argv)
{
    must(argc == 5, "client|server ADDRESS PORT WAY");
    const bool is_server = std::string_view(argv[1]) == "server";
    rdma_addrinfo hints{}, *address = nullptr;
    hints.ai_port_space = RDMA_PS_TCP;
    hints.ai_flags = RAI_NUMERICHOST | (is_server ? RAI_PASSIVE : 0);
    must(rdma_getaddrinfo(argv[2], argv[3], &hints, &address) == 0, "rdma_getaddrinfo");
    Connection connection;
    connection.channel = rdma_create_event_channel();
    must(connection.channel != nullptr, "rdma_create_event_channel");
    alarm(120); // for hangs
    (is_server ? run_server : run_client)(connection, *address, argv[4]);
    return 0; // the kernel ends what is left
}
