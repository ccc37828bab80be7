// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "comch_fast_path.h"

#include <arpa/inet.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(COMCH_FAST_PATH);

/* The control path's engine, too: the consumer's start, new consumers and the peer's end are told there. */
static void progress_engines(struct fast_path *path)
{
    struct doca_pe *const engines[] = {path->consumer_pe, path->producer_pe, path->control->pe};

    path->control->result = first_error(path->control->result, progress_all(engines, 3));
}

static doca_error_t check_peer(struct fast_path *path)
{
    if (path->control->connection == NULL || path->has_ended) {
        DOCA_LOG_ERR("The peer has gone");
        path->control->result = first_error(path->control->result, DOCA_ERROR_CONNECTION_RESET);
    }
    return path->control->result;
}

static doca_error_t progress_path(struct fast_path *path)
{
    progress_engines(path);
    return check_peer(path);
}

static void take_message(struct fast_path *path, const struct doca_comch_consumer_task_post_recv *task)
{
    struct doca_buf *room = doca_comch_consumer_task_post_recv_get_buf(task);
    void *data = NULL;
    size_t len = 0;

    (void)doca_buf_get_data(room, &data);
    (void)doca_buf_get_data_len(room, &len);
    len = len < sizeof(path->last) ? len : sizeof(path->last) - 1;
    memcpy(path->last, data, len);
    path->last[len] = '\0';
    path->num_to_come = 0;
    if (doca_comch_consumer_task_post_recv_get_imm_data_len(task) == sizeof(uint32_t)) {
        memcpy(&path->num_to_come, doca_comch_consumer_task_post_recv_get_imm_data(task), sizeof(uint32_t));
        path->num_to_come = ntohl(path->num_to_come);
    }
    path->num_received++;
}

/* The task is used again: its room is empty once more. */
static void receive_ended(struct doca_comch_consumer_task_post_recv *task, union doca_data task_user_data,
                          union doca_data ctx_user_data)
{
    struct fast_path *path = ctx_user_data.ptr;
    doca_error_t result;

    (void)task_user_data;
    take_message(path, task);
    (void)doca_buf_reset_data_len(doca_comch_consumer_task_post_recv_get_buf(task));
    result = doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task));
    if (result != DOCA_SUCCESS) {
        doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
        give_up(path->control, result);
    }
}

/* So end all that wait when the consumer is stopped. */
static void receive_failed(struct doca_comch_consumer_task_post_recv *task, union doca_data task_user_data,
                           union doca_data ctx_user_data)
{
    (void)task_user_data;
    (void)ctx_user_data;
    doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void send_ended(struct doca_comch_producer_task_send *task, union doca_data task_user_data,
                       union doca_data ctx_user_data)
{
    struct fast_path *path = ctx_user_data.ptr;

    (void)task_user_data;
    path->num_sent++;
    doca_task_free(doca_comch_producer_task_send_as_task(task));
}

static void send_failed(struct doca_comch_producer_task_send *task, union doca_data task_user_data,
                        union doca_data ctx_user_data)
{
    struct fast_path *path = ctx_user_data.ptr;
    const doca_error_t status = doca_task_get_status(doca_comch_producer_task_send_as_task(task));

    (void)task_user_data;
    DOCA_LOG_ERR("Failed to send to the consumer: %s", doca_error_get_descr(status));
    doca_task_free(doca_comch_producer_task_send_as_task(task));
    give_up(path->control, status);
}

static void consumer_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev_state,
                             enum doca_ctx_states next_state)
{
    struct fast_path *path = user_data.ptr;

    (void)ctx;
    DOCA_LOG_INFO("The consumer was %s and is %s", state_name(prev_state), state_name(next_state));
    path->is_taking = next_state == DOCA_CTX_STATE_RUNNING;
    path->has_ended = next_state == DOCA_CTX_STATE_IDLE;
}

static doca_error_t create_consumer(struct fast_path *path)
{
    union doca_data user_data = {.ptr = path};
    struct doca_ctx *ctx;
    doca_error_t result = doca_pe_create(&path->consumer_pe);

    if (result == DOCA_SUCCESS)
        result = doca_comch_consumer_create(path->control->connection, path->mmap, &path->consumer);
    if (result == DOCA_SUCCESS)
        result = doca_comch_consumer_set_imm_data_len(path->consumer, sizeof(uint32_t));
    if (result == DOCA_SUCCESS)
        result =
            doca_comch_consumer_task_post_recv_set_conf(path->consumer, receive_ended, receive_failed, NUM_FAST_TASKS);
    if (result != DOCA_SUCCESS)
        return result;
    ctx = doca_comch_consumer_as_ctx(path->consumer);
    result = doca_ctx_set_user_data(ctx, user_data);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_set_state_changed_cb(ctx, consumer_changed);
    if (result == DOCA_SUCCESS)
        result = doca_pe_connect_ctx(path->consumer_pe, ctx);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(ctx);
    if (result != DOCA_ERROR_IN_PROGRESS)
        return first_error(result, DOCA_ERROR_UNEXPECTED);
    result = DOCA_SUCCESS;
    while (result == DOCA_SUCCESS && !path->is_taking)
        result = progress_path(path);
    return result;
}

static doca_error_t create_producer(struct fast_path *path)
{
    union doca_data user_data = {.ptr = path};
    struct doca_ctx *ctx;
    doca_error_t result = doca_pe_create(&path->producer_pe);

    if (result == DOCA_SUCCESS)
        result = doca_comch_producer_create(path->control->connection, &path->producer);
    if (result == DOCA_SUCCESS)
        result = doca_comch_producer_task_send_set_conf(path->producer, send_ended, send_failed, NUM_FAST_TASKS);
    if (result != DOCA_SUCCESS)
        return result;
    ctx = doca_comch_producer_as_ctx(path->producer);
    result = doca_ctx_set_user_data(ctx, user_data);
    if (result == DOCA_SUCCESS)
        result = doca_pe_connect_ctx(path->producer_pe, ctx);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(ctx);
    return result;
}

static doca_error_t post_receives(struct fast_path *path)
{
    doca_error_t result = DOCA_SUCCESS;

    for (size_t i = 0; i < NUM_FAST_TASKS && result == DOCA_SUCCESS; i++) {
        struct doca_comch_consumer_task_post_recv *task = NULL;

        result = doca_buf_inventory_buf_get_by_addr(path->inventory, path->mmap, path->memory + (i + 1) * MAX_TEXT_SIZE,
                                                    MAX_TEXT_SIZE, &path->rooms[i]);
        if (result == DOCA_SUCCESS)
            result = doca_comch_consumer_task_post_recv_alloc_init(path->consumer, path->rooms[i], &task);
        if (result != DOCA_SUCCESS)
            break;
        result = doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task));
        if (result != DOCA_SUCCESS)
            doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
    }
    return result;
}

doca_error_t create_fast_path(const char *text, struct fast_path *path)
{
    doca_error_t result = map_memory(path->control->dev, path->memory, sizeof(path->memory),
                                     DOCA_ACCESS_FLAG_PCI_READ_WRITE, &path->mmap);

    strcpy(path->memory, text);
    path->num_to_come = UINT32_MAX;
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_create(NUM_FAST_TASKS + 1, &path->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(path->inventory);
    if (result == DOCA_SUCCESS)
        result =
            doca_buf_inventory_buf_get_by_data(path->inventory, path->mmap, path->memory, strlen(text), &path->text);
    if (result == DOCA_SUCCESS)
        result = create_consumer(path);
    if (result == DOCA_SUCCESS)
        result = create_producer(path);
    if (result == DOCA_SUCCESS)
        result = post_receives(path);
    while (result == DOCA_SUCCESS && path->control->peer_consumer == 0)
        result = progress_path(path);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to set up the data path: %s", doca_error_get_descr(result));
    else
        DOCA_LOG_INFO("The data path is set up");
    return result;
}

doca_error_t destroy_fast_path(struct fast_path *path)
{
    doca_error_t result = DOCA_SUCCESS;

    if (path->producer != NULL) {
        result = stop_ctx(doca_comch_producer_as_ctx(path->producer), path->producer_pe, path->control->pe);
        result = first_error(result, doca_comch_producer_destroy(path->producer));
    }
    if (path->producer_pe != NULL)
        result = first_error(result, doca_pe_destroy(path->producer_pe));
    if (path->consumer != NULL) {
        result = first_error(
            result, stop_ctx(doca_comch_consumer_as_ctx(path->consumer), path->consumer_pe, path->control->pe));
        result = first_error(result, doca_comch_consumer_destroy(path->consumer));
    }
    if (path->consumer_pe != NULL)
        result = first_error(result, doca_pe_destroy(path->consumer_pe));
    for (size_t i = 0; i < NUM_FAST_TASKS && path->rooms[i] != NULL; i++)
        result = first_error(result, doca_buf_dec_refcount(path->rooms[i], NULL));
    if (path->text != NULL)
        result = first_error(result, doca_buf_dec_refcount(path->text, NULL));
    if (path->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(path->inventory));
    if (path->mmap != NULL)
        result = first_error(result, doca_mmap_destroy(path->mmap));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to take the data path apart: %s", doca_error_get_descr(result));
    return result;
}

/* Retries while all tasks are under way, or the consumer has no room. */
static doca_error_t send_message(struct fast_path *path, uint32_t num_to_come)
{
    uint32_t immediate = htonl(num_to_come);
    struct doca_comch_producer_task_send *task = NULL;
    doca_error_t result;

    for (;;) {
        result = doca_comch_producer_task_send_alloc_init(path->producer, path->text, (uint8_t *)&immediate,
                                                          sizeof(immediate), path->control->peer_consumer, &task);
        if (result != DOCA_ERROR_NO_MEMORY)
            break;
        result = progress_path(path);
        if (result != DOCA_SUCCESS)
            break;
    }
    if (result != DOCA_SUCCESS)
        return result;
    for (;;) {
        result = doca_task_submit(doca_comch_producer_task_send_as_task(task));
        if (result != DOCA_ERROR_AGAIN)
            break;
        result = progress_path(path);
        if (result != DOCA_SUCCESS)
            break;
    }
    if (result != DOCA_SUCCESS)
        doca_task_free(doca_comch_producer_task_send_as_task(task));
    return result;
}

doca_error_t send_messages(struct fast_path *path, uint32_t count)
{
    doca_error_t result = DOCA_SUCCESS;

    for (uint32_t i = 0; i < count && result == DOCA_SUCCESS; i++)
        result = send_message(path, count - i - 1);
    while (result == DOCA_SUCCESS && path->num_sent != count) {
        progress_engines(path);
        /* The peer may go as soon as it has the last one. */
        result = path->num_sent != count ? check_peer(path) : path->control->result;
    }
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Sent %u of %u messages: %s", path->num_sent, count, doca_error_get_descr(result));
    else
        DOCA_LOG_INFO("Sent %u messages", count);
    return result;
}

doca_error_t receive_messages(struct fast_path *path)
{
    doca_error_t result = DOCA_SUCCESS;

    while (result == DOCA_SUCCESS && path->num_to_come != 0) {
        progress_engines(path);
        result = path->num_to_come != 0 ? check_peer(path) : path->control->result;
    }
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Only %u messages have come: %s", path->num_received, doca_error_get_descr(result));
    else
        DOCA_LOG_INFO("Received %u messages, the last one: %s", path->num_received, path->last);
    return result;
}
