// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(RDMA_COMMON);

#define NUM_BUFFERS (2 + MAX_CONNECTIONS)

void end_work(struct rdma_resources *resources, doca_error_t result)
{
    resources->result = first_error(resources->result, result);
    (void)doca_ctx_stop(resources->ctx);
}

doca_error_t submit(struct doca_task *task)
{
    const doca_error_t result = doca_task_submit(task);

    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Failed to submit a task: %s", doca_error_get_descr(result));
        doca_task_free(task);
    }
    return result;
}

void finish_task(struct rdma_resources *resources, struct doca_task *task)
{
    doca_task_free(task);
    resources->is_done = 1;
    end_work(resources, DOCA_SUCCESS);
}

void fail_task(struct rdma_resources *resources, struct doca_task *task, const char *what)
{
    const doca_error_t status = doca_task_get_status(task);

    DOCA_LOG_ERR("Failed to %s: %s", what, doca_error_get_descr(status));
    doca_task_free(task);
    end_work(resources, status);
}

int can_receive(const struct doca_devinfo *devinfo)
{
    return doca_rdma_cap_task_receive_is_supported(devinfo) == DOCA_SUCCESS;
}

void receive_failed(struct doca_rdma_task_receive *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    (void)task_user_data;
    fail_task(ctx_user_data.ptr, doca_rdma_task_receive_as_task(task), "receive");
}

doca_error_t receive_text(struct rdma_resources *resources)
{
    struct doca_rdma_task_receive *task = NULL;
    union doca_data none = {0};
    doca_error_t result;

    result = doca_buf_inventory_buf_get_by_addr(resources->inventory, resources->mmap, resources->memory,
                                                sizeof(resources->memory), &resources->buf);
    if (result == DOCA_SUCCESS)
        result = doca_rdma_task_receive_allocate_init(resources->rdma, resources->buf, none, &task);
    if (result == DOCA_SUCCESS)
        result = submit(doca_rdma_task_receive_as_task(task));
    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("Waiting for a message");
    return result;
}

/* The first connection's file is called as the argument says, and those of others have their number behind
 * it. */
static void path_of(const char *path, uint16_t number, char *full, size_t size)
{
    if (number == 0)
        snprintf(full, size, "%s", path);
    else
        snprintf(full, size, "%s.%u", path, number);
}

static doca_error_t export_connection(struct rdma_resources *resources, uint16_t number)
{
    char path[MAX_PATH_SIZE + 8];
    const void *local = NULL;
    size_t local_len = 0;
    const doca_error_t result = doca_rdma_export(resources->rdma, &local, &local_len, &resources->connections[number]);

    path_of(resources->config->local_path, number, path, sizeof(path));
    return result == DOCA_SUCCESS ? save_file(path, local, local_len) : result;
}

static doca_error_t connect_connection(struct rdma_resources *resources, uint16_t number)
{
    char path[MAX_PATH_SIZE + 8];
    char remote[MAX_DESCRIPTOR_SIZE];
    size_t remote_len = 0;
    doca_error_t result;

    path_of(resources->config->remote_path, number, path, sizeof(path));
    result = load_file(path, remote, sizeof(remote), &remote_len);
    if (result == DOCA_SUCCESS)
        result = doca_rdma_connect(resources->rdma, remote, remote_len, resources->connections[number]);
    return result;
}

static doca_error_t connect_by_files(struct rdma_resources *resources)
{
    doca_error_t result = DOCA_SUCCESS;

    for (uint16_t i = 0; i < resources->config->num_connections && result == DOCA_SUCCESS; i++)
        result = export_connection(resources, i);
    if (result == DOCA_SUCCESS)
        result = wait_for_enter("Copy the files from the remote side to here");
    for (uint16_t i = 0; i < resources->config->num_connections && result == DOCA_SUCCESS; i++)
        result = connect_connection(resources, i);
    if (result == DOCA_SUCCESS)
        result = resources->sample->connected(resources);
    return result;
}

/* The callbacks below tell when there are connections. */
static doca_error_t connect_by_address(struct rdma_resources *resources)
{
    const struct rdma_config *config = resources->config;
    const enum doca_rdma_addr_type type =
        strchr(config->address, ':') != NULL ? DOCA_RDMA_ADDR_TYPE_IPv6 : DOCA_RDMA_ADDR_TYPE_IPv4;
    union doca_data user_data = {.ptr = resources};
    doca_error_t result;

    if (resources->sample->is_listening) {
        result = doca_rdma_start_listen_to_port(resources->rdma, config->port);
        if (result == DOCA_SUCCESS)
            DOCA_LOG_INFO("Listening to port %u", config->port);
        return result;
    }
    result = doca_rdma_addr_create(type, config->address, config->port, &resources->addr);
    for (uint16_t i = 0; i < config->num_connections && result == DOCA_SUCCESS; i++)
        result = doca_rdma_connect_to_addr(resources->rdma, resources->addr, user_data);
    return result;
}

/* As many as are expected: others are refused. */
static void peer_asks(struct doca_rdma_connection *connection, union doca_data ctx_user_data)
{
    struct rdma_resources *resources = ctx_user_data.ptr;
    union doca_data user_data = {.ptr = resources};
    doca_error_t result;

    if (resources->num_asking == resources->config->num_connections) {
        (void)doca_rdma_connection_reject(connection);
        return;
    }
    result = doca_rdma_connection_accept(connection, NULL, 0);
    if (result == DOCA_SUCCESS)
        result = doca_rdma_connection_set_user_data(connection, user_data);
    if (result == DOCA_SUCCESS)
        resources->num_asking++;
    else
        end_work(resources, result);
}

static void peer_connected(struct doca_rdma_connection *connection, union doca_data connection_user_data,
                           union doca_data ctx_user_data)
{
    struct rdma_resources *resources = ctx_user_data.ptr;
    doca_error_t result = DOCA_SUCCESS;

    (void)connection_user_data; /* the same, as a connection by address has it; one by files has none */
    if (resources->config->port == 0)
        return; /* by files: connect_by_files() starts the work */
    DOCA_LOG_INFO("Connected by address");
    resources->connections[resources->num_connected++] = connection;
    if (resources->num_connected == resources->config->num_connections)
        result = resources->sample->connected(resources);
    if (result != DOCA_SUCCESS)
        end_work(resources, result);
}

static void peer_failed(struct doca_rdma_connection *connection, union doca_data connection_user_data,
                        union doca_data ctx_user_data)
{
    (void)connection;
    (void)connection_user_data;
    DOCA_LOG_ERR("Failed to connect by address");
    end_work(ctx_user_data.ptr, DOCA_ERROR_NOT_CONNECTED);
}

static void peer_went(struct doca_rdma_connection *connection, union doca_data connection_user_data,
                      union doca_data ctx_user_data)
{
    struct rdma_resources *resources = ctx_user_data.ptr;
    const doca_error_t result = doca_rdma_connection_disconnect(connection);

    (void)connection_user_data;
    DOCA_LOG_INFO("The peer has disconnected");
    end_work(resources, result);
}

static void state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev_state,
                          enum doca_ctx_states next_state)
{
    struct rdma_resources *resources = user_data.ptr;
    doca_error_t result;

    (void)ctx;
    DOCA_LOG_INFO("The RDMA context was %s and is %s", state_name(prev_state), state_name(next_state));
    if (next_state == DOCA_CTX_STATE_RUNNING) {
        result = resources->config->port != 0 ? connect_by_address(resources) : connect_by_files(resources);
        if (result != DOCA_SUCCESS) {
            DOCA_LOG_ERR("Failed to connect: %s", doca_error_get_descr(result));
            end_work(resources, result);
        }
    } else if (next_state == DOCA_CTX_STATE_IDLE) {
        resources->is_over = 1;
    }
}

doca_error_t export_memory(struct rdma_resources *resources)
{
    const void *descriptor = NULL;
    size_t len = 0;
    doca_error_t result = doca_mmap_export_rdma(resources->mmap, resources->dev, &descriptor, &len);

    if (result == DOCA_SUCCESS)
        result = save_file(resources->config->mmap_path, descriptor, len);
    return result;
}

doca_error_t import_memory(struct rdma_resources *resources)
{
    char descriptor[MAX_DESCRIPTOR_SIZE];
    size_t descriptor_len = 0;
    void *remote = NULL;
    size_t remote_len = 0;
    doca_error_t result = load_file(resources->config->mmap_path, descriptor, sizeof(descriptor), &descriptor_len);

    if (result == DOCA_SUCCESS)
        result =
            doca_mmap_create_from_export(NULL, descriptor, descriptor_len, resources->dev, &resources->remote_mmap);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_get_memrange(resources->remote_mmap, &remote, &remote_len);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_get_by_addr(resources->inventory, resources->remote_mmap, remote, remote_len,
                                                    &resources->remote_buf);
    return result;
}

static doca_error_t create_rdma(struct rdma_resources *resources)
{
    const uint32_t permissions = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | resources->sample->permissions;
    union doca_data user_data = {.ptr = resources};
    doca_error_t result = open_device(resources->config->device, resources->sample->suits, &resources->dev);

    if (result == DOCA_SUCCESS)
        result =
            map_memory(resources->dev, resources->memory, sizeof(resources->memory), permissions, &resources->mmap);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_create(NUM_BUFFERS, &resources->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(resources->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_pe_create(&resources->pe);
    if (result == DOCA_SUCCESS)
        result = doca_rdma_create(resources->dev, &resources->rdma);
    if (result == DOCA_SUCCESS)
        result = doca_rdma_set_permissions(resources->rdma, permissions);
    if (result == DOCA_SUCCESS)
        result = doca_rdma_set_connection_state_callbacks(resources->rdma, peer_asks, peer_connected, peer_failed,
                                                          peer_went);
    if (result == DOCA_SUCCESS && resources->sample->configure != NULL)
        result = resources->sample->configure(resources);
    if (result != DOCA_SUCCESS)
        return result;
    resources->ctx = doca_rdma_as_ctx(resources->rdma);
    result = doca_ctx_set_user_data(resources->ctx, user_data);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_set_state_changed_cb(resources->ctx, state_changed);
    if (result == DOCA_SUCCESS)
        result = doca_pe_connect_ctx(resources->pe, resources->ctx);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(resources->ctx);
    return result;
}

static doca_error_t destroy_rdma(struct rdma_resources *resources)
{
    doca_error_t result = DOCA_SUCCESS;

    if (resources->ctx != NULL)
        result = stop_ctx(resources->ctx, resources->pe, NULL);
    if (resources->sample->clean_up != NULL)
        resources->sample->clean_up(resources);
    if (resources->addr != NULL)
        result = first_error(result, doca_rdma_addr_destroy(resources->addr));
    if (resources->rdma != NULL)
        result = first_error(result, doca_rdma_destroy(resources->rdma));
    if (resources->pe != NULL)
        result = first_error(result, doca_pe_destroy(resources->pe));
    if (resources->buf != NULL)
        result = first_error(result, doca_buf_dec_refcount(resources->buf, NULL));
    if (resources->remote_buf != NULL)
        result = first_error(result, doca_buf_dec_refcount(resources->remote_buf, NULL));
    if (resources->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(resources->inventory));
    if (resources->remote_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(resources->remote_mmap));
    if (resources->mmap != NULL)
        result = first_error(result, doca_mmap_destroy(resources->mmap));
    if (resources->dev != NULL)
        result = first_error(result, doca_dev_close(resources->dev));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to clean up: %s", doca_error_get_descr(result));
    return result;
}

static int run_sample(const struct rdma_config *config, const struct rdma_sample *sample,
                      struct rdma_resources *resources)
{
    doca_error_t result;

    resources->config = config;
    resources->sample = sample;
    result = create_rdma(resources);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Failed to set up RDMA: %s", doca_error_get_descr(result));
    } else {
        while (result == DOCA_SUCCESS && !resources->is_over)
            result = progress(resources->pe);
        result = first_error(result, resources->result);
        if (result == DOCA_SUCCESS && !resources->is_done) {
            DOCA_LOG_ERR("The peer has gone before the work was done");
            result = DOCA_ERROR_CONNECTION_RESET;
        }
    }
    return finish(first_error(result, destroy_rdma(resources)));
}

int rdma_main(const char *program, uint32_t arguments, const struct rdma_sample *sample, int argc, char **argv)
{
    static struct rdma_config config;
    static struct rdma_resources resources;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    if (parse_arguments(program, arguments, argc, argv, &config) != DOCA_SUCCESS)
        return finish(DOCA_ERROR_INVALID_VALUE);
    return run_sample(&config, sample, &resources);
}
