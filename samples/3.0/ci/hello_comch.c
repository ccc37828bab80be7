// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// One word from a client on the host to a server on the DPU, by Comch. docs/ci-without-a-card.md runs it.
#include <stdio.h>
#include <string.h>

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        doca_error_t error_ = (call);                                                                                  \
        if (error_ != DOCA_SUCCESS && error_ != DOCA_ERROR_IN_PROGRESS) {                                              \
            fprintf(stderr, "%s: %s\n", #call, doca_error_get_descr(error_));                                          \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

static char heard[64];
static int is_over;

static void received(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t length,
                     struct doca_comch_connection *connection)
{
    (void)event, (void)connection;
    snprintf(heard, sizeof(heard), "%.*s", (int)length, (char *)bytes);
}

static void client_changed(struct doca_comch_event_connection_status_changed *event,
                           struct doca_comch_connection *connection, uint8_t is_successful)
{
    (void)event, (void)is_successful, (void)connection;
    is_over = heard[0] != '\0';
}

static void sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)task_data, (void)ctx_data;
    is_over = 1;
    doca_task_free(doca_comch_task_send_as_task(task));
}

static struct doca_dev *open_first(doca_error_t (*suits)(const struct doca_devinfo *))
{
    struct doca_devinfo **list;
    struct doca_dev *dev = NULL;
    uint32_t count;

    if (doca_devinfo_create_list(&list, &count) != DOCA_SUCCESS)
        return NULL;
    for (uint32_t i = 0; i < count && dev == NULL; ++i)
        if (suits(list[i]) == DOCA_SUCCESS)
            doca_dev_open(list[i], &dev);
    doca_devinfo_destroy_list(list);
    return dev;
}

static int finish(struct doca_pe *pe, struct doca_ctx *ctx)
{
    enum doca_ctx_states state;

    while (!is_over)
        doca_pe_progress(pe);
    for (doca_ctx_stop(ctx); doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE;)
        doca_pe_progress(pe);
    return 0;
}

static int serve(struct doca_pe *pe)
{
    struct doca_dev *dev = open_first(doca_comch_cap_server_is_supported);
    struct doca_devinfo_rep **list;
    struct doca_dev_rep *rep;
    struct doca_comch_server *server;
    uint32_t count;

    MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count));
    MUST(doca_dev_rep_open(list[0], &rep));
    MUST(doca_comch_server_create(dev, rep, "hello", &server));
    MUST(doca_comch_server_event_msg_recv_register(server, received));
    MUST(doca_comch_server_event_connection_status_changed_register(server, client_changed, client_changed));
    MUST(doca_pe_connect_ctx(pe, doca_comch_server_as_ctx(server)));
    MUST(doca_ctx_start(doca_comch_server_as_ctx(server)));
    finish(pe, doca_comch_server_as_ctx(server));
    printf("the server has heard: %s\n", heard);
    return strcmp(heard, "hello") != 0;
}

static int speak(struct doca_pe *pe)
{
    struct doca_dev *dev = open_first(doca_comch_cap_client_is_supported);
    struct doca_comch_client *client;
    struct doca_comch_connection *connection;
    struct doca_comch_task_send *task;
    enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;

    MUST(doca_comch_client_create(dev, "hello", &client));
    MUST(doca_comch_client_event_msg_recv_register(client, received));
    MUST(doca_comch_client_task_send_set_conf(client, sent, sent, 1));
    MUST(doca_pe_connect_ctx(pe, doca_comch_client_as_ctx(client)));
    MUST(doca_ctx_start(doca_comch_client_as_ctx(client)));
    while (state == DOCA_CTX_STATE_STARTING) {
        doca_pe_progress(pe);
        MUST(doca_ctx_get_state(doca_comch_client_as_ctx(client), &state));
    }
    MUST(doca_comch_client_get_connection(client, &connection));
    MUST(doca_comch_client_task_send_alloc_init(client, connection, "hello", 5, &task));
    MUST(doca_task_submit(doca_comch_task_send_as_task(task)));
    return finish(pe, doca_comch_client_as_ctx(client));
}

int main(int argc, char **argv)
{
    const int is_server = argc == 2 && strcmp(argv[1], "server") == 0;
    const int is_client = argc == 2 && strcmp(argv[1], "client") == 0;
    struct doca_pe *pe;

    if (!is_server && !is_client) {
        fprintf(stderr, "usage: %s server|client\n", argv[0]);
        return 2;
    }
    MUST(doca_pe_create(&pe));
    return is_server ? serve(pe) : speak(pe);
}
