// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "comch_common.h"

#include <doca_log.h>

DOCA_LOG_REGISTER(COMCH_COMMON);

#define NUM_SEND_TASKS 1024
#define RECV_QUEUE_SIZE 10

void give_up(struct control *control, doca_error_t reason)
{
    control->result = first_error(control->result, reason);
    (void)doca_ctx_stop(control->ctx);
}

static struct control *control_of(const struct doca_comch_connection *connection)
{
    struct doca_comch_server *server = doca_comch_server_get_server_ctx(connection);
    union doca_data user_data = {0};

    if (server != NULL)
        (void)doca_ctx_get_user_data(doca_comch_server_as_ctx(server), &user_data);
    else
        (void)doca_ctx_get_user_data(doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(connection)),
                                     &user_data);
    return user_data.ptr;
}

static void send_ended(struct doca_comch_task_send *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    (void)task_user_data;
    (void)ctx_user_data;
    doca_task_free(doca_comch_task_send_as_task(task));
}

static void send_failed(struct doca_comch_task_send *task, union doca_data task_user_data,
                        union doca_data ctx_user_data)
{
    struct control *control = ctx_user_data.ptr;
    const doca_error_t status = doca_task_get_status(doca_comch_task_send_as_task(task));

    (void)task_user_data;
    DOCA_LOG_ERR("Failed to send a message: %s", doca_error_get_descr(status));
    doca_task_free(doca_comch_task_send_as_task(task));
    give_up(control, status);
}

static void message_received(struct doca_comch_event_msg_recv *event, uint8_t *recv_buffer, uint32_t msg_len,
                             struct doca_comch_connection *connection)
{
    struct control *control = control_of(connection);

    (void)event;
    if (connection == control->connection)
        control->received(control, (const char *)recv_buffer, msg_len);
}

/* One client at a time: a second one is sent away. */
static void client_came(struct doca_comch_event_connection_status_changed *event,
                        struct doca_comch_connection *connection, uint8_t change_successful)
{
    struct control *control = control_of(connection);

    (void)event;
    if (change_successful == 0)
        return;
    if (control->connection != NULL) {
        DOCA_LOG_WARN("A second client is sent away");
        (void)doca_comch_server_disconnect(control->server, connection);
        return;
    }
    DOCA_LOG_INFO("A client has connected");
    control->connection = connection;
    if (control->connected != NULL)
        control->connected(control);
}

/* The server's work ends with its client. */
static void client_went(struct doca_comch_event_connection_status_changed *event,
                        struct doca_comch_connection *connection, uint8_t change_successful)
{
    struct control *control = control_of(connection);

    (void)event;
    (void)change_successful;
    if (connection != control->connection)
        return;
    DOCA_LOG_INFO("The client has gone");
    control->connection = NULL;
    control->peer_consumer = 0;
    (void)doca_ctx_stop(control->ctx);
}

static void consumer_came(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
                          uint32_t id)
{
    struct control *control = control_of(connection);

    (void)event;
    if (connection == control->connection)
        control->peer_consumer = id;
}

static void consumer_went(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
                          uint32_t id)
{
    struct control *control = control_of(connection);

    (void)event;
    if (control->peer_consumer == id)
        control->peer_consumer = 0;
}

static void client_runs(struct control *control)
{
    const doca_error_t result = doca_comch_client_get_connection(control->client, &control->connection);

    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Failed to get the connection: %s", doca_error_get_descr(result));
        give_up(control, result);
    } else if (control->connected != NULL) {
        control->connected(control);
    }
}

static void state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev_state,
                          enum doca_ctx_states next_state)
{
    struct control *control = user_data.ptr;

    (void)ctx;
    DOCA_LOG_INFO("The %s was %s and is %s", control->client != NULL ? "client" : "server", state_name(prev_state),
                  state_name(next_state));
    if (next_state == DOCA_CTX_STATE_RUNNING && control->client != NULL)
        client_runs(control);
    if (next_state == DOCA_CTX_STATE_IDLE) {
        control->connection = NULL;
        control->peer_consumer = 0;
        control->is_over = 1;
    }
}

/* Both kinds: everything but what only they have is set. */
static doca_error_t start(struct control *control, doca_error_t expected)
{
    union doca_data user_data = {.ptr = control};
    doca_error_t result = doca_pe_create(&control->pe);

    if (result == DOCA_SUCCESS)
        result = doca_ctx_set_user_data(control->ctx, user_data);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_set_state_changed_cb(control->ctx, state_changed);
    if (result == DOCA_SUCCESS)
        result = doca_pe_connect_ctx(control->pe, control->ctx);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(control->ctx);
    return result == expected ? DOCA_SUCCESS : first_error(result, DOCA_ERROR_UNEXPECTED);
}

static int can_serve(const struct doca_devinfo *devinfo)
{
    return doca_comch_cap_server_is_supported(devinfo) == DOCA_SUCCESS;
}

static int can_connect(const struct doca_devinfo *devinfo)
{
    return doca_comch_cap_client_is_supported(devinfo) == DOCA_SUCCESS;
}

static doca_error_t open_representor(struct doca_dev *dev, const char *pci_addr, struct doca_dev_rep **rep)
{
    struct doca_devinfo_rep **list = NULL;
    uint32_t count = 0;
    uint8_t is_equal = 0;
    doca_error_t result = doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count);

    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Failed to list representors: %s", doca_error_get_descr(result));
        return result;
    }
    result = DOCA_ERROR_NOT_FOUND;
    for (uint32_t i = 0; i < count && result == DOCA_ERROR_NOT_FOUND; i++) {
        if (doca_devinfo_rep_is_equal_pci_addr(list[i], pci_addr, &is_equal) == DOCA_SUCCESS && is_equal != 0)
            result = doca_dev_rep_open(list[i], rep);
    }
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("No representor of %s: %s", pci_addr, doca_error_get_descr(result));
    return first_error(result, doca_devinfo_rep_destroy_list(list));
}

doca_error_t create_server(const char *name, const struct comch_config *config, struct control *control)
{
    uint32_t max_msg_size = 0;
    doca_error_t result = open_device(config->pci_addr, can_serve, &control->dev);

    if (result == DOCA_SUCCESS)
        result = open_representor(control->dev, config->rep_pci_addr, &control->rep);
    if (result == DOCA_SUCCESS)
        result = doca_comch_cap_get_max_msg_size(doca_dev_as_devinfo(control->dev), &max_msg_size);
    if (result == DOCA_SUCCESS)
        result = doca_comch_server_create(control->dev, control->rep, name, &control->server);
    if (result == DOCA_SUCCESS)
        result = doca_comch_server_set_max_msg_size(control->server, max_msg_size);
    if (result == DOCA_SUCCESS)
        result = doca_comch_server_set_recv_queue_size(control->server, RECV_QUEUE_SIZE);
    if (result == DOCA_SUCCESS)
        result = doca_comch_server_task_send_set_conf(control->server, send_ended, send_failed, NUM_SEND_TASKS);
    if (result == DOCA_SUCCESS)
        result = doca_comch_server_event_msg_recv_register(control->server, message_received);
    if (result == DOCA_SUCCESS)
        result = doca_comch_server_event_connection_status_changed_register(control->server, client_came, client_went);
    if (result == DOCA_SUCCESS)
        result = doca_comch_server_event_consumer_register(control->server, consumer_came, consumer_went);
    if (result == DOCA_SUCCESS) {
        control->ctx = doca_comch_server_as_ctx(control->server);
        result = start(control, DOCA_SUCCESS);
    }
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to start the server: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t create_client(const char *name, const struct comch_config *config, struct control *control)
{
    uint32_t max_msg_size = 0;
    doca_error_t result = open_device(config->pci_addr, can_connect, &control->dev);

    if (result == DOCA_SUCCESS)
        result = doca_comch_cap_get_max_msg_size(doca_dev_as_devinfo(control->dev), &max_msg_size);
    if (result == DOCA_SUCCESS)
        result = doca_comch_client_create(control->dev, name, &control->client);
    if (result == DOCA_SUCCESS)
        result = doca_comch_client_set_max_msg_size(control->client, max_msg_size);
    if (result == DOCA_SUCCESS)
        result = doca_comch_client_set_recv_queue_size(control->client, RECV_QUEUE_SIZE);
    if (result == DOCA_SUCCESS)
        result = doca_comch_client_task_send_set_conf(control->client, send_ended, send_failed, NUM_SEND_TASKS);
    if (result == DOCA_SUCCESS)
        result = doca_comch_client_event_msg_recv_register(control->client, message_received);
    if (result == DOCA_SUCCESS)
        result = doca_comch_client_event_consumer_register(control->client, consumer_came, consumer_went);
    if (result == DOCA_SUCCESS) {
        control->ctx = doca_comch_client_as_ctx(control->client);
        result = start(control, DOCA_ERROR_IN_PROGRESS);
    }
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to start the client: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t destroy_control(struct control *control)
{
    doca_error_t result = DOCA_SUCCESS;

    if (control->ctx != NULL && control->pe != NULL)
        result = stop_ctx(control->ctx, control->pe, NULL);
    if (control->server != NULL)
        result = first_error(result, doca_comch_server_destroy(control->server));
    if (control->client != NULL)
        result = first_error(result, doca_comch_client_destroy(control->client));
    if (control->pe != NULL)
        result = first_error(result, doca_pe_destroy(control->pe));
    if (control->rep != NULL)
        result = first_error(result, doca_dev_rep_close(control->rep));
    if (control->dev != NULL)
        result = first_error(result, doca_dev_close(control->dev));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to clean up: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t wait_for_peer(struct control *control)
{
    doca_error_t result = DOCA_SUCCESS;

    while (result == DOCA_SUCCESS && control->connection == NULL && !control->is_over)
        result = progress(control->pe);
    if (result == DOCA_SUCCESS && control->connection == NULL)
        result = first_error(control->result, DOCA_ERROR_NOT_CONNECTED);
    return result;
}

doca_error_t wait_for_end(struct control *control)
{
    doca_error_t result = DOCA_SUCCESS;

    while (result == DOCA_SUCCESS && !control->is_over)
        result = progress(control->pe);
    return first_error(result, control->result);
}

doca_error_t send_text(struct control *control, const char *text, size_t len)
{
    struct doca_comch_task_send *task = NULL;
    doca_error_t result;

    if (control->server != NULL)
        result =
            doca_comch_server_task_send_alloc_init(control->server, control->connection, text, (uint32_t)len, &task);
    else
        result =
            doca_comch_client_task_send_alloc_init(control->client, control->connection, text, (uint32_t)len, &task);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Failed to make a message of %zu bytes: %s", len, doca_error_get_descr(result));
        return result;
    }
    result = doca_task_submit(doca_comch_task_send_as_task(task));
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Failed to send %zu bytes: %s", len, doca_error_get_descr(result));
        doca_task_free(doca_comch_task_send_as_task(task));
    }
    return result;
}
