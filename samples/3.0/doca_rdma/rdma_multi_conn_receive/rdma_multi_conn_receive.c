// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Receives a text of rdma_multi_conn_send by each of several connections. Receives are the context's, and not
// a connection's: the result tells by which one the text has come.
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_log.h>

#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_MULTI_CONN_RECEIVE);

#define MESSAGE_SIZE (sizeof(((struct rdma_resources *)NULL)->memory) / MAX_CONNECTIONS)

static struct doca_buf *bufs[MAX_CONNECTIONS];
static uint16_t num_received;

static unsigned number_of(const struct rdma_resources *resources, const struct doca_rdma_connection *connection)
{
    unsigned number = 0;

    while (number < resources->config->num_connections && resources->connections[number] != connection)
        number++;
    return number;
}

static void receive_ended(struct doca_rdma_task_receive *task, union doca_data task_user_data,
                          union doca_data ctx_user_data)
{
    struct rdma_resources *resources = ctx_user_data.ptr;
    const uint32_t len = doca_rdma_task_receive_get_result_len(task);
    void *data = NULL;

    (void)task_user_data;
    (void)doca_buf_get_data(doca_rdma_task_receive_get_dst_buf(task), &data);
    DOCA_LOG_INFO("Received %u bytes by connection %u: %.*s", len,
                  number_of(resources, doca_rdma_task_receive_get_result_rdma_connection(task)), (int)len,
                  (const char *)data);
    doca_task_free(doca_rdma_task_receive_as_task(task));
    if (++num_received == resources->config->num_connections) {
        resources->is_done = 1;
        end_work(resources, DOCA_SUCCESS);
    }
}

static doca_error_t configure(struct rdma_resources *resources)
{
    const doca_error_t result = doca_rdma_set_max_num_connections(resources->rdma, resources->config->num_connections);

    if (result != DOCA_SUCCESS)
        return result;
    return doca_rdma_task_receive_set_conf(resources->rdma, receive_ended, receive_failed,
                                           resources->config->num_connections);
}

static doca_error_t receive_texts(struct rdma_resources *resources)
{
    doca_error_t result = DOCA_SUCCESS;

    for (uint16_t i = 0; i < resources->config->num_connections && result == DOCA_SUCCESS; i++) {
        struct doca_rdma_task_receive *task = NULL;
        union doca_data none = {0};

        result = doca_buf_inventory_buf_get_by_addr(resources->inventory, resources->mmap,
                                                    resources->memory + i * MESSAGE_SIZE, MESSAGE_SIZE, &bufs[i]);
        if (result == DOCA_SUCCESS)
            result = doca_rdma_task_receive_allocate_init(resources->rdma, bufs[i], none, &task);
        if (result == DOCA_SUCCESS)
            result = submit(doca_rdma_task_receive_as_task(task));
    }
    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("Waiting for %u messages", resources->config->num_connections);
    return result;
}

/* The buffers go when the context needs them no more. */
static void free_buffers(struct rdma_resources *resources)
{
    (void)resources;
    for (size_t i = 0; i < MAX_CONNECTIONS; i++) {
        if (bufs[i] != NULL)
            (void)doca_buf_dec_refcount(bufs[i], NULL);
    }
}

static const struct rdma_sample sample = {.suits = can_receive,
                                          .is_listening = 1,
                                          .configure = configure,
                                          .connected = receive_texts,
                                          .clean_up = free_buffers};

int main(int argc, char **argv)
{
    return rdma_main("doca_rdma_multi_conn_receive", RDMA_ARGUMENT_COUNT | RDMA_ARGUMENT_PORT, &sample, argc, argv);
}
