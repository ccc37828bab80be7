// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// One side of a connection between host and DPU, compiled for each generation of the API: Comm Channel or Comch.
//
//     messages serve DEVICE NAME SIZE HOST        takes one client of the function HOST, and sends back what it
//     receives
//                                                 until the client leaves
//     messages connect DEVICE NAME SIZE COUNT     sends COUNT messages of 1 to SIZE bytes, one by one, and checks what
//                                                 comes back
//
// DEVICE and HOST are PCI addresses. SIZE is the limit of the server. A client whose own limit is larger also checks
// that one byte more is refused.
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_dev.h>
#include <doca_error.h>

#ifdef IS_V3
#include <doca_comch.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_pe.h>
#define list_devices doca_devinfo_create_list
#define free_list doca_devinfo_destroy_list
#define list_representors doca_devinfo_rep_create_list
#define free_representors doca_devinfo_rep_destroy_list
#define list_all DOCA_DEVINFO_REP_FILTER_NET
#define is_device_at doca_devinfo_is_equal_pci_addr
#define is_representor_at doca_devinfo_rep_is_equal_pci_addr
#define name_of doca_error_get_name
#else
#include <doca_comm_channel.h>
#define list_devices doca_devinfo_list_create
#define free_list doca_devinfo_list_destroy
#define list_representors doca_devinfo_rep_list_create
#define free_representors doca_devinfo_rep_list_destroy
#define list_all DOCA_DEV_REP_FILTER_NET
#define is_device_at doca_devinfo_get_is_pci_addr_equal
#define is_representor_at doca_devinfo_rep_get_is_pci_addr_equal
#define name_of doca_get_error_name
#endif

enum { own_limit = 4080 };

static const char last_message[] = "that was all";

static void must(doca_error_t result, const char *what)
{
    if (result == DOCA_SUCCESS)
        return;
    printf("%s: %s\n", what, name_of(result));
    exit(EXIT_FAILURE);
}

static void say(const char *text)
{
    printf("%s\n", text);
    fflush(stdout);
}

static int can_serve(const struct doca_devinfo *devinfo)
{
#ifdef IS_V3
    return doca_comch_cap_server_is_supported(devinfo) == DOCA_SUCCESS;
#else
    uint32_t count;

    return doca_comm_channel_get_service_max_num_connections((struct doca_devinfo *)devinfo, &count) == DOCA_SUCCESS;
#endif
}

static int can_connect(const struct doca_devinfo *devinfo)
{
#ifdef IS_V3
    return doca_comch_cap_client_is_supported(devinfo) == DOCA_SUCCESS;
#else
    uint32_t size;

    return doca_comm_channel_get_max_message_size((struct doca_devinfo *)devinfo, &size) == DOCA_SUCCESS &&
           !can_serve(devinfo);
#endif
}

static struct doca_dev *open_device(const char *address, int is_server)
{
    struct doca_devinfo **list = NULL;
    struct doca_dev *dev = NULL;
    uint32_t count = 0;
    uint8_t is_there = 0;

    must(list_devices(&list, &count), "list of devices");
    for (uint32_t i = 0; i < count && dev == NULL; i++) {
        must(is_device_at(list[i], address, &is_there), "address of a device");
        if (is_there && (is_server ? can_serve(list[i]) : can_connect(list[i])))
            must(doca_dev_open(list[i], &dev), "device");
    }
    must(dev != NULL ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "device");
    must(free_list(list), "list of devices");
    return dev;
}

static struct doca_dev_rep *open_representor(struct doca_dev *dev, const char *address)
{
    struct doca_devinfo_rep **list = NULL;
    struct doca_dev_rep *rep = NULL;
    uint32_t count = 0;
    uint8_t is_there = 0;

    must(list_representors(dev, list_all, &list, &count), "list of representors");
    for (uint32_t i = 0; i < count && rep == NULL; i++) {
        must(is_representor_at(list[i], address, &is_there), "address of a representor");
        if (is_there)
            must(doca_dev_rep_open(list[i], &rep), "representor");
    }
    must(rep != NULL ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "representor");
    must(free_representors(list), "list of representors");
    return rep;
}

/* Message number i of a client. */
static size_t make_message(uint32_t i, size_t size, char *message)
{
    const size_t len = 1 + (size_t)i * 7919 % size;

    for (size_t at = 0; at < len; at++)
        message[at] = (char)(i + at);
    return len;
}

#ifdef IS_V3

struct side {
    struct doca_dev *dev;
    struct doca_dev_rep *rep; /* of a server */
    struct doca_pe *pe;
    struct doca_ctx *ctx;
    struct doca_comch_server *server;
    struct doca_comch_client *client;
    struct doca_comch_connection *peer;
    char received[own_limit];
    size_t received_len; /* 0: nothing */
    int is_sent;
    doca_error_t send_result;
};

static void sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
    struct side *const side = ctx_data.ptr;

    (void)task_data;
    side->is_sent = 1;
    side->send_result = doca_task_get_status(doca_comch_task_send_as_task(task));
    doca_task_free(doca_comch_task_send_as_task(task));
}

static struct side *side_of(struct doca_comch_connection *connection)
{
    struct doca_comch_server *const server = doca_comch_server_get_server_ctx(connection);
    union doca_data data = {0};

    must(doca_ctx_get_user_data(server != NULL ? doca_comch_server_as_ctx(server)
                                               : doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(connection)),
                                &data),
         "user data");
    return data.ptr;
}

static void received(struct doca_comch_event_msg_recv *event, uint8_t *message, uint32_t len,
                     struct doca_comch_connection *connection)
{
    struct side *const side = side_of(connection);

    (void)event;
    memcpy(side->received, message, len);
    side->received_len = len;
}

static void connected(struct doca_comch_event_connection_status_changed *event,
                      struct doca_comch_connection *connection, uint8_t is_done)
{
    (void)event;
    must(is_done ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED, "connected");
    side_of(connection)->peer = connection;
}

static void disconnected(struct doca_comch_event_connection_status_changed *event,
                         struct doca_comch_connection *connection, uint8_t is_done)
{
    (void)event;
    (void)is_done;
    side_of(connection)->peer = NULL;
}

static void poll_once(struct side *side)
{
    if (doca_pe_progress(side->pe) == 0)
        (void)sched_yield();
}

/* A client whose server has gone becomes idle by itself. */
static void poll_while_running(struct side *side)
{
    enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;

    poll_once(side);
    must(doca_ctx_get_state(side->ctx, &state), "state");
    must(state == DOCA_CTX_STATE_RUNNING ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_RESET, "receive");
}

static void wait_for_state(struct side *side, enum doca_ctx_states wanted)
{
    enum doca_ctx_states state = wanted;

    do {
        poll_once(side);
        must(doca_ctx_get_state(side->ctx, &state), "state");
    } while (state != wanted);
}

/* What is asked of a device, or of a connection, when a producer is made. */
static void try_producer(struct side *side)
{
    struct doca_comch_producer *producer = NULL;
    const doca_error_t result = doca_comch_producer_create(side->peer, &producer);

    printf("producer: %s\n", name_of(result));
    fflush(stdout);
    if (result == DOCA_SUCCESS)
        must(doca_comch_producer_destroy(producer), "destroy the producer");
}

static void open_side(struct side *side, const char *device, const char *name, uint32_t size, const char *host)
{
    const int is_server = host != NULL;
    doca_error_t result;

    side->dev = open_device(device, is_server);

    must(doca_pe_create(&side->pe), "engine");
    if (is_server) {
        side->rep = open_representor(side->dev, host);
        must(doca_comch_server_create(side->dev, side->rep, name, &side->server), "server");
        side->ctx = doca_comch_server_as_ctx(side->server);
        must(doca_comch_server_set_max_msg_size(side->server, size), "limit");
        must(doca_comch_server_task_send_set_conf(side->server, sent, sent, 1), "sends");
        must(doca_comch_server_event_msg_recv_register(side->server, received), "receives");
        must(doca_comch_server_event_connection_status_changed_register(side->server, connected, disconnected),
             "connections");
    } else {
        must(doca_comch_client_create(side->dev, name, &side->client), "client");
        side->ctx = doca_comch_client_as_ctx(side->client);
        must(doca_comch_client_task_send_set_conf(side->client, sent, sent, 1), "sends");
        must(doca_comch_client_event_msg_recv_register(side->client, received), "receives");
    }
    must(doca_ctx_set_user_data(side->ctx, (union doca_data){.ptr = side}), "user data");
    must(doca_pe_connect_ctx(side->pe, side->ctx), "engine of the context");
    result = doca_ctx_start(side->ctx);
    must(result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result, "start");
    if (is_server)
        return;
    wait_for_state(side, DOCA_CTX_STATE_RUNNING);
    must(doca_comch_client_get_connection(side->client, &side->peer), "connection");
    try_producer(side);
}

static doca_error_t send_message(struct side *side, const char *message, size_t len)
{
    struct doca_comch_task_send *task = NULL;
    const uint32_t bytes = (uint32_t)len;

    if (side->server != NULL)
        must(doca_comch_server_task_send_alloc_init(side->server, side->peer, message, bytes, &task), "task");
    else
        must(doca_comch_client_task_send_alloc_init(side->client, side->peer, message, bytes, &task), "task");
    side->is_sent = 0;
    must(doca_task_submit(doca_comch_task_send_as_task(task)), "submit");
    while (!side->is_sent)
        poll_once(side);
    return side->send_result;
}

static size_t receive_message(struct side *side, char *message)
{
    size_t len;

    while (side->received_len == 0)
        poll_while_running(side);
    len = side->received_len;
    memcpy(message, side->received, len);
    side->received_len = 0;
    return len;
}

static void wait_for_client(struct side *side)
{
    while (side->peer == NULL)
        poll_once(side);
    try_producer(side);
}

static void wait_until_client_leaves(struct side *side)
{
    while (side->peer != NULL)
        poll_once(side);
}

static void leave(struct side *side)
{
    const doca_error_t result = doca_ctx_stop(side->ctx);

    must(result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result, "stop");
    wait_for_state(side, DOCA_CTX_STATE_IDLE);
    if (side->server != NULL)
        must(doca_comch_server_destroy(side->server), "destroy the server");
    else
        must(doca_comch_client_destroy(side->client), "destroy the client");
    must(doca_pe_destroy(side->pe), "destroy the engine");
}

#else

struct side {
    struct doca_dev *dev;
    struct doca_dev_rep *rep; /* of a server */
    struct doca_comm_channel_ep_t *ep;
    struct doca_comm_channel_addr_t *peer;
    char first[own_limit]; /* a server's first message, which shows it its client */
    size_t first_len;
};

static void open_side(struct side *side, const char *device, const char *name, uint32_t size, const char *host)
{
    const int is_server = host != NULL;

    side->dev = open_device(device, is_server);
    must(doca_comm_channel_ep_create(&side->ep), "endpoint");
    must(doca_comm_channel_ep_set_device(side->ep, side->dev), "device");
    must(doca_comm_channel_ep_set_max_msg_size(side->ep, (uint16_t)(is_server ? size : own_limit)), "limit");
    if (is_server) {
        side->rep = open_representor(side->dev, host);
        must(doca_comm_channel_ep_set_device_rep(side->ep, side->rep), "representor");
        must(doca_comm_channel_ep_listen(side->ep, name), "listen");
    } else {
        must(doca_comm_channel_ep_connect(side->ep, name, &side->peer), "connect");
    }
}

static doca_error_t send_message(struct side *side, const char *message, size_t len)
{
    doca_error_t result;

    while ((result = doca_comm_channel_ep_sendto(side->ep, message, len, DOCA_CC_MSG_FLAG_NONE, side->peer)) ==
           DOCA_ERROR_AGAIN)
        (void)sched_yield();
    return result;
}

static size_t receive_message(struct side *side, char *message)
{
    doca_error_t result;
    size_t len;

    if (side->first_len != 0) {
        len = side->first_len;
        memcpy(message, side->first, len);
        side->first_len = 0;
        return len;
    }
    do {
        len = own_limit;
        result = doca_comm_channel_ep_recvfrom(side->ep, message, &len, DOCA_CC_MSG_FLAG_NONE, &side->peer);
        if (result == DOCA_ERROR_AGAIN)
            (void)sched_yield();
    } while (result == DOCA_ERROR_AGAIN);
    must(result, "receive");
    return len;
}

static void wait_for_client(struct side *side)
{
    side->first_len = receive_message(side, side->first);
}

static void wait_until_client_leaves(struct side *side)
{
    doca_error_t result;

    while ((result = doca_comm_channel_peer_addr_update_info(side->peer)) == DOCA_SUCCESS)
        (void)sched_yield();
    must(result == DOCA_ERROR_CONNECTION_ABORTED ? DOCA_SUCCESS : result, "end of the client");
}

static void leave(struct side *side)
{
    /* A service whose client has left has nothing to disconnect. */
    if (side->rep == NULL)
        must(doca_comm_channel_ep_disconnect(side->ep, side->peer), "disconnect");
    must(doca_comm_channel_ep_destroy(side->ep), "destroy");
}

#endif

static void serve(struct side *side)
{
    static char message[own_limit];
    size_t len;

    say("listens");
    wait_for_client(side);
    do {
        len = receive_message(side, message);
        must(send_message(side, message, len), "answer");
    } while (len != sizeof(last_message) || memcmp(message, last_message, len) != 0);
    wait_until_client_leaves(side);
}

static void make_round_trip(struct side *side, const char *message, size_t len)
{
    static char answer[own_limit];

    must(send_message(side, message, len), "send");
    if (receive_message(side, answer) != len || memcmp(answer, message, len) != 0)
        must(DOCA_ERROR_UNEXPECTED, "answer");
}

int main(int argc, char **argv)
{
    const int is_server = argc == 6 && strcmp(argv[1], "serve") == 0;
    static struct side side;
    static char message[own_limit];
    uint32_t size;

    if (argc != 6 || (!is_server && strcmp(argv[1], "connect") != 0))
        return EXIT_FAILURE;
    size = (uint32_t)strtoul(argv[4], NULL, 10);
    open_side(&side, argv[2], argv[3], size, is_server ? argv[5] : NULL);
    if (is_server) {
        serve(&side);
    } else {
        const uint32_t count = (uint32_t)strtoul(argv[5], NULL, 10);

        for (uint32_t i = 0; i < count; i++)
            make_round_trip(&side, message, make_message(i, size, message));
        make_round_trip(&side, message, size);
        if (size < own_limit && send_message(&side, message, size + 1) != DOCA_ERROR_INVALID_VALUE)
            must(DOCA_ERROR_UNEXPECTED, "a message that is too long");
        make_round_trip(&side, last_message, sizeof(last_message));
    }
    leave(&side);
    if (side.rep != NULL)
        must(doca_dev_rep_close(side.rep), "close the representor");
    must(doca_dev_close(side.dev), "close the device");
    say("done");
    return EXIT_SUCCESS;
}
