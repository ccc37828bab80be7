// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// message_client SERVICE: asks a question, and takes a buffer by a consumer.
#include "channel.h"

static int num_answers, num_consumed;
static char text[64];

static void received(struct doca_cc_event_msg_recv *event, uint8_t *message, SIZE size,
                     struct doca_cc_connection *connection)
{
    (void)event;
    (void)connection;
    CHECK(size == sizeof("an answer") && memcmp(message, "an answer", size) == 0);
    ++num_answers;
}

static void consumed(struct POST_RECV *task, union doca_data task_data, union doca_data ctx_data)
{
    const struct doca_buf *buf = post_recv_get_buf(task);
    void *data;
    size_t size;
    (void)task_data;
    (void)ctx_data;
    WORKS(doca_task_get_status(post_recv_as_task(task)));
    WORKS(doca_buf_get_data(buf, &data));
    WORKS(doca_buf_get_data_len(buf, &size));
    CHECK(size <= sizeof(text));
    memcpy(text, data, size);
    doca_task_free(post_recv_as_task(task));
    ++num_consumed;
}

static void run_until(struct doca_pe *pe, struct doca_ctx *ctx, enum doca_ctx_states wanted)
{
    enum doca_ctx_states state;
    do {
        (void)doca_pe_progress(pe);
        WORKS(doca_ctx_get_state(ctx, &state));
    } while (state != wanted);
}

int main(int argc, char **argv)
{
    struct doca_dev *dev = open_device(doca_cc_cap_client_is_supported, "0b:00.0");
    struct doca_cc_connection *connection;
    struct doca_cc_consumer *consumer;
    struct doca_cc_client *client;
    struct POST_RECV *receive;
    struct TASK_SEND *task;
    struct memory memory;
    struct doca_buf *buf;
    struct doca_pe *pe;
    SIZE size = 0;
    WORKS(doca_cc_client_create(dev, argv[argc - 1], &client));
    WORKS(doca_cc_client_set_recv_queue_size(client, 16));
    WORKS(doca_cc_client_get_recv_queue_size(client, &size));
    CHECK(size == 16);
    pe = make_engine(doca_cc_client_as_ctx(client));
    WORKS(client_send_set_conf(client, sent, sent, LOG2_OR_NUMBER(3)));
    WORKS(doca_cc_client_event_msg_recv_register(client, received));
    GIVES(doca_ctx_start(doca_cc_client_as_ctx(client)), DOCA_ERROR_IN_PROGRESS);
    run_until(pe, doca_cc_client_as_ctx(client), DOCA_CTX_STATE_RUNNING);
    WORKS(doca_cc_client_get_connection(client, &connection));
    WORKS(client_send_alloc_init(client, connection, "a question", sizeof("a question"), &task));
    WORKS(doca_task_submit(send_as_task(task)));
    while (num_answers == 0)
        (void)doca_pe_progress(pe);

    WORKS(consumer_is_supported(doca_dev_as_devinfo(dev)));
    make_memory(&memory, dev, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    buf = buffer(&memory, 0, 64, NULL);
    WORKS(doca_cc_consumer_create(connection, memory.mmap, &consumer));
    WORKS(doca_pe_connect_ctx(pe, doca_cc_consumer_as_ctx(consumer)));
    WORKS(post_recv_set_conf(consumer, consumed, consumed, LOG2_OR_NUMBER(2)));
    GIVES(doca_ctx_start(doca_cc_consumer_as_ctx(consumer)), DOCA_ERROR_IN_PROGRESS);
    run_until(pe, doca_cc_consumer_as_ctx(consumer), DOCA_CTX_STATE_RUNNING);
    WORKS(post_recv_alloc_init(consumer, buf, &receive));
    WORKS(doca_task_submit(post_recv_as_task(receive)));
    while (num_consumed == 0)
        (void)doca_pe_progress(pe);
    CHECK(strcmp(text, "in bulk") == 0);
    stop(pe, doca_cc_consumer_as_ctx(consumer));
    WORKS(doca_cc_consumer_destroy(consumer));
    stop(pe, doca_cc_client_as_ctx(client));
    WORKS(doca_cc_client_destroy(client));
    WORKS(doca_pe_destroy(pe));
    WORKS(doca_buf_dec_refcount(buf, NULL));
    drop_memory(&memory);
    WORKS(doca_dev_close(dev));
    return 0;
}
