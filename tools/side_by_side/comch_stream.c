// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages from a producer to a consumer of Comch of DOCA 3.0, both sides polling, in memory that both processes can
// map; see side_by_side.py.
#include <sys/mman.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_mmap.h>

#include "comch.h"
#include "echo.h"

enum { small = 8, large = 1 << 20, depth = 4, num_receives = 16 };

/* What the other process is told to do, with a count in the lower bits. */
static const unsigned long set_up = 1UL << 62;
static const unsigned long take = 1UL << 61;

static struct doca_pe *control_pe;
static struct doca_pe *pe; /* of the consumer and the producer */
static struct doca_dev *dev;
static struct doca_comch_server *server;
static struct doca_buf_inventory *inventory;
static struct doca_comch_connection *connection;
static uint32_t peer_consumer;
static struct doca_task *send_small;
static struct doca_task *send_large[depth];
static unsigned long num_received;
static unsigned long num_awaited;
static unsigned long num_sent;
static unsigned long num_submitted;
static char name[64];

static void message_received(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t length,
                             struct doca_comch_connection *from)
{
    (void)event, (void)bytes, (void)length, (void)from;
}

static void message_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)task, (void)task_data, (void)ctx_data;
}

static void connected(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *of,
                      uint8_t is_successful)
{
    (void)event, (void)is_successful;
    connection = of;
}

static void disconnected(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *of,
                         uint8_t is_successful)
{
    (void)event, (void)of, (void)is_successful;
}

static void consumer_new(struct doca_comch_event_consumer *event, struct doca_comch_connection *of, uint32_t id)
{
    (void)event, (void)of;
    peer_consumer = id;
}

static void consumer_gone(struct doca_comch_event_consumer *event, struct doca_comch_connection *of, uint32_t id)
{
    (void)event, (void)of, (void)id;
}

static void received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
                     union doca_data ctx_data)
{
    (void)task_data, (void)ctx_data;
    num_received++;
    MUST(doca_buf_reset_data_len(doca_comch_consumer_task_post_recv_get_buf(task)));
    MUST(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
}

static void not_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
                         union doca_data ctx_data)
{
    (void)task_data, (void)ctx_data;
    MUST(doca_task_get_status(doca_comch_consumer_task_post_recv_as_task(task)));
}

static void sent(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)task, (void)task_data, (void)ctx_data;
    num_sent++;
}

static void not_sent(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)task_data, (void)ctx_data;
    MUST(doca_task_get_status(doca_comch_producer_task_send_as_task(task)));
}

static void start_on_connection(struct doca_ctx *ctx)
{
    enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;
    doca_error_t status;

    MUST(doca_pe_connect_ctx(pe, ctx));
    status = doca_ctx_start(ctx);
    MUST(status == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : status);
    while (state == DOCA_CTX_STATE_STARTING) {
        (void)doca_pe_progress(pe);
        (void)doca_pe_progress(control_pe);
        MUST(doca_ctx_get_state(ctx, &state));
    }
}

static struct doca_task *create_send(struct doca_comch_producer *producer, struct doca_buf *buf)
{
    struct doca_comch_producer_task_send *task = NULL;

    MUST(doca_comch_producer_task_send_alloc_init(producer, buf, NULL, 0, peer_consumer, &task));
    return doca_comch_producer_task_send_as_task(task);
}

/* Once there is a connection: what sends and receives. All messages come from one place, and go to one. */
static void open_fast_path(void)
{
    const int memory_file = memfd_create("side_by_side", MFD_CLOEXEC);
    struct doca_comch_consumer *consumer = NULL;
    struct doca_comch_producer *producer = NULL;
    struct doca_mmap *map = NULL;
    struct doca_buf *buf = NULL;
    unsigned char *memory;

    expect(memory_file >= 0 && ftruncate(memory_file, 2 * large) == 0, "memfd_create");
    memory = mmap(NULL, 2 * large, PROT_READ | PROT_WRITE, MAP_SHARED, memory_file, 0);
    expect(memory != MAP_FAILED, "mmap");
    memset(memory, 1, 2 * large);
    MUST(doca_mmap_create(&map));
    MUST(doca_mmap_add_dev(map, dev));
    MUST(doca_mmap_set_memrange(map, memory, 2 * large));
    MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
    MUST(doca_mmap_start(map));
    MUST(doca_buf_inventory_create(2 + num_receives, &inventory));
    MUST(doca_buf_inventory_start(inventory));

    MUST(doca_comch_consumer_create(connection, map, &consumer));
    MUST(doca_comch_consumer_task_post_recv_set_conf(consumer, received, not_received, num_receives));
    start_on_connection(doca_comch_consumer_as_ctx(consumer));
    for (int i = 0; i < num_receives; i++) {
        struct doca_comch_consumer_task_post_recv *task = NULL;

        MUST(doca_buf_inventory_buf_get_by_addr(inventory, map, memory + large, large, &buf));
        MUST(doca_comch_consumer_task_post_recv_alloc_init(consumer, buf, &task));
        MUST(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
    }
    MUST(doca_comch_producer_create(connection, &producer));
    MUST(doca_comch_producer_task_send_set_conf(producer, sent, not_sent, 1 + depth));
    start_on_connection(doca_comch_producer_as_ctx(producer));
    while (peer_consumer == 0)
        (void)doca_pe_progress(control_pe);
    MUST(doca_buf_inventory_buf_get_by_data(inventory, map, memory, small, &buf));
    send_small = create_send(producer, buf);
    MUST(doca_buf_inventory_buf_get_by_data(inventory, map, memory, large, &buf));
    for (int i = 0; i < depth; i++)
        send_large[i] = create_send(producer, buf);
}

/* The control path has a part in the first message each way, which opens a lane. */
static void progress(void)
{
    if (doca_pe_progress(pe) == 0 && (num_sent == 0 || num_received == 0))
        (void)doca_pe_progress(control_pe);
}

static void wait_for_message(void)
{
    num_awaited++;
    while (num_received < num_awaited)
        progress();
}

static void wait_for_sends(unsigned long most_in_flight)
{
    while (num_submitted - num_sent > most_in_flight)
        progress();
}

static void send_message(struct doca_task *task, unsigned long most_in_flight)
{
    wait_for_sends(most_in_flight - 1);
    num_submitted++;
    MUST(doca_task_submit(task));
}

static void serve(void)
{
    MUST(doca_pe_create(&control_pe));
    MUST(doca_pe_create(&pe));
    server = create_server(name, &dev);
    MUST(doca_comch_server_task_send_set_conf(server, message_sent, message_sent, 1));
    MUST(doca_comch_server_event_msg_recv_register(server, message_received));
    MUST(doca_comch_server_event_connection_status_changed_register(server, connected, disconnected));
    MUST(doca_comch_server_event_consumer_register(server, consumer_new, consumer_gone));
    start_ctx(control_pe, doca_comch_server_as_ctx(server));
}

static void answer(unsigned long what)
{
    if (what == set_up) {
        while (connection == NULL)
            (void)doca_pe_progress(control_pe);
        open_fast_path();
        what = 1;
    }
    if ((what & take) != 0) {
        for (what &= ~take; what != 0; what--)
            wait_for_message();
        what = 0;
        send_message(send_small, 1);
    }
    for (; what != 0; what--) {
        wait_for_message();
        send_message(send_small, 1);
    }
    /* Its end is told by progress, and nobody progresses while this process sleeps. */
    wait_for_sends(0);
}

/* Half of as many round trips. */
static void one_way_8(unsigned long count)
{
    wake_echo(count / 2);
    for (count /= 2; count != 0; count--) {
        send_message(send_small, 1);
        wait_for_message();
    }
}

/* Until the last has arrived. */
static void stream_1M(unsigned long count)
{
    wake_echo(take | count);
    for (unsigned long i = 0; i < count; i++)
        send_message(send_large[i % depth], depth);
    wait_for_message();
    wait_for_sends(0);
}

int main(void)
{
    static const struct loop loops[] = {{"one_way_8", one_way_8}, {"stream_1M", stream_1M}};
    struct doca_comch_client *client = NULL;

    snprintf(name, sizeof(name), "side by side %d", (int)getpid());
    start_echo(serve, answer);
    wake_echo(set_up);
    MUST(doca_pe_create(&control_pe));
    MUST(doca_pe_create(&pe));
    dev = open_first(doca_comch_cap_client_is_supported);
    MUST(doca_comch_client_create(dev, name, &client));
    MUST(doca_comch_client_task_send_set_conf(client, message_sent, message_sent, 1));
    MUST(doca_comch_client_event_msg_recv_register(client, message_received));
    MUST(doca_comch_client_event_consumer_register(client, consumer_new, consumer_gone));
    start_ctx(control_pe, doca_comch_client_as_ctx(client));
    MUST(doca_comch_client_get_connection(client, &connection));
    open_fast_path();
    send_message(send_small, 1);
    wait_for_message();
    return serve_loops(loops, sizeof(loops) / sizeof(loops[0]));
}
