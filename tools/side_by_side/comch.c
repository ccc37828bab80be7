// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Round trips by send tasks and receive events of Comch of DOCA 3.0, both sides polling; see side_by_side.py.
#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>

#include "comch.h"
#include "echo.h"

static struct doca_pe *pe;
static struct doca_comch_connection *connection;
static struct doca_task *send_task;
static unsigned long num_received;
static unsigned long num_awaited;
static const unsigned char message[8] = "message";
static char name[64];

static void received(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t length,
                     struct doca_comch_connection *from)
{
    (void)event, (void)bytes, (void)length;
    connection = from;
    num_received++;
}

static void changed(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *of,
                    uint8_t is_successful)
{
    (void)event, (void)of, (void)is_successful;
}

static int is_sending;

static void sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)task, (void)task_data, (void)ctx_data;
    is_sending = 0;
}

static void failed(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)task_data, (void)ctx_data;
    MUST(doca_task_get_status(doca_comch_task_send_as_task(task)));
}

static void wait_for_message(void)
{
    num_awaited++;
    while (num_received < num_awaited)
        (void)doca_pe_progress(pe);
}

static void send_message(void)
{
    while (is_sending)
        (void)doca_pe_progress(pe);
    is_sending = 1;
    MUST(doca_task_submit(send_task));
}

static struct doca_comch_server *server;

static void serve(void)
{
    MUST(doca_pe_create(&pe));
    server = create_server(name, NULL);
    MUST(doca_comch_server_task_send_set_conf(server, sent, failed, 1));
    MUST(doca_comch_server_event_msg_recv_register(server, received));
    MUST(doca_comch_server_event_connection_status_changed_register(server, changed, changed));
    start_ctx(pe, doca_comch_server_as_ctx(server));
}

static void echo_one(void)
{
    struct doca_comch_task_send *task = NULL;

    wait_for_message();
    if (send_task == NULL) {
        MUST(doca_comch_server_task_send_alloc_init(server, connection, message, sizeof(message), &task));
        send_task = doca_comch_task_send_as_task(task);
    }
    send_message();
}

static void echo(unsigned long count)
{
    for (; count != 0; count--)
        echo_one();
}

static void round_trip_8(unsigned long count)
{
    wake_echo(count);
    for (; count != 0; count--) {
        send_message();
        wait_for_message();
    }
}

int main(void)
{
    static const struct loop loops[] = {{"round_trip_8", round_trip_8}};
    struct doca_comch_client *client = NULL;
    struct doca_comch_task_send *task = NULL;

    snprintf(name, sizeof(name), "side by side %d", (int)getpid());
    start_echo(serve, echo);
    wake_echo(1); /* it accepts while it waits for a message */
    MUST(doca_pe_create(&pe));
    MUST(doca_comch_client_create(open_first(doca_comch_cap_client_is_supported), name, &client));
    MUST(doca_comch_client_task_send_set_conf(client, sent, failed, 1));
    MUST(doca_comch_client_event_msg_recv_register(client, received));
    start_ctx(pe, doca_comch_client_as_ctx(client));
    MUST(doca_comch_client_get_connection(client, &connection));
    MUST(doca_comch_client_task_send_alloc_init(client, connection, message, sizeof(message), &task));
    send_task = doca_comch_task_send_as_task(task);
    send_message();
    wait_for_message();
    return serve_loops(loops, sizeof(loops) / sizeof(loops[0]));
}
