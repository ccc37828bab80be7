// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// message_server SERVICE: answers one message, and sends a buffer to the client's consumer.
#include "channel.h"

static struct doca_cc_server *server;
static struct doca_cc_connection *peer;
static uint32_t consumer_id;
static int is_gone, num_produced;

static void connected(struct doca_cc_event_connection_status_changed *event, struct doca_cc_connection *connection,
                      IS_SUCCESSFUL is_successful)
{
    (void)event;
    CHECK(is_successful && doca_cc_server_get_server_ctx(connection) == server);
    peer = connection;
}

static void disconnected(struct doca_cc_event_connection_status_changed *event, struct doca_cc_connection *connection,
                         IS_SUCCESSFUL is_successful)
{
    (void)event;
    CHECK(is_successful && connection == peer);
    is_gone = 1;
}

static void received(struct doca_cc_event_msg_recv *event, uint8_t *message, SIZE size,
                     struct doca_cc_connection *connection)
{
    struct TASK_SEND *task;
    uint64_t count = 0;
    (void)event;
    CHECK(size == sizeof("a question") && memcmp(message, "a question", size) == 0 && connection == peer);
    WORKS(doca_cc_connection_update_info(connection));
    WORKS(doca_cc_connection_get_counter(connection, DOCA_CC_COUNTER_RECV_MESSAGES, &count));
    CHECK(count == 1);
    WORKS(server_send_alloc_init(server, connection, "an answer", sizeof("an answer"), &task));
    WORKS(doca_task_submit(send_as_task(task)));
}

static void consumer_came(struct doca_cc_event_consumer *event, struct doca_cc_connection *connection, uint32_t id)
{
    (void)event;
    CHECK(connection == peer);
    consumer_id = id;
}

static void consumer_went(struct doca_cc_event_consumer *event, struct doca_cc_connection *connection, uint32_t id)
{
    (void)event;
    (void)connection;
    CHECK(id == consumer_id);
}

static void produced(struct PRODUCER_SEND *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)task_data;
    (void)ctx_data;
    WORKS(doca_task_get_status(producer_send_as_task(task)));
    CHECK((uint32_t)producer_send_get_consumer_id(task) == consumer_id);
    doca_task_free(producer_send_as_task(task));
    ++num_produced;
}

int main(int argc, char **argv)
{
    struct doca_dev *dev = open_device(doca_cc_cap_server_is_supported, "03:00.0");
    struct doca_dev_rep *rep = open_representor(dev), *same = NULL;
    struct doca_cc_producer *producer;
    struct PRODUCER_SEND *task;
    struct memory memory;
    struct doca_buf *buf;
    struct doca_pe *pe;
    SIZE size = 0;
    WORKS(doca_cc_cap_get_max_msg_size(doca_dev_as_devinfo(dev), &size));
    CHECK(size >= 1024);
    WORKS(doca_cc_server_create(dev, rep, argv[argc - 1], &server));
    WORKS(doca_cc_server_set_max_msg_size(server, 1024));
    WORKS(doca_cc_server_get_max_msg_size(server, &size));
    CHECK(size == 1024);
    WORKS(doca_cc_server_get_device_repr(server, &same));
    CHECK(same == rep);
    pe = make_engine(doca_cc_server_as_ctx(server));
    WORKS(server_send_set_conf(server, sent, sent, LOG2_OR_NUMBER(3)));
    WORKS(doca_cc_server_event_msg_recv_register(server, received));
    WORKS(doca_cc_server_event_connection_register(server, connected, disconnected));
    WORKS(doca_cc_server_event_consumer_register(server, consumer_came, consumer_went));
    WORKS(doca_ctx_start(doca_cc_server_as_ctx(server)));
    puts("listening");
    fflush(stdout);
    while (consumer_id == 0)
        (void)doca_pe_progress(pe);

    WORKS(producer_is_supported(doca_dev_as_devinfo(dev)));
    make_memory(&memory, dev, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    buf = buffer(&memory, 0, 1024, "in bulk");
    WORKS(doca_cc_producer_create(peer, &producer));
    WORKS(doca_pe_connect_ctx(pe, doca_cc_producer_as_ctx(producer)));
    WORKS(producer_send_set_conf(producer, produced, produced, LOG2_OR_NUMBER(2)));
    WORKS(doca_ctx_start(doca_cc_producer_as_ctx(producer)));
    WORKS(producer_send_alloc_init(producer, buf, consumer_id, &task));
    WORKS(doca_task_submit(producer_send_as_task(task)));
    while (num_produced == 0)
        (void)doca_pe_progress(pe);
    stop(pe, doca_cc_producer_as_ctx(producer));
    WORKS(doca_cc_producer_destroy(producer));
    while (!is_gone)
        (void)doca_pe_progress(pe);
    stop(pe, doca_cc_server_as_ctx(server));
    WORKS(doca_cc_server_destroy(server));
    WORKS(doca_pe_destroy(pe));
    WORKS(doca_buf_dec_refcount(buf, NULL));
    drop_memory(&memory);
    WORKS(doca_dev_rep_close(rep));
    WORKS(doca_dev_close(dev));
    return 0;
}
