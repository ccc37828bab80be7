// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sends a text by each of several connections to rdma_multi_conn_receive. One context has all of them.
#include <string.h>

#include <doca_buf.h>
#include <doca_log.h>

#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_MULTI_CONN_SEND);

static uint16_t num_sent;

static int can_send(const struct doca_devinfo *devinfo)
{
    return doca_rdma_cap_task_send_is_supported(devinfo) == DOCA_SUCCESS;
}

static void send_ended(struct doca_rdma_task_send *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    struct rdma_resources *resources = ctx_user_data.ptr;

    DOCA_LOG_INFO("Sent by connection %u: %s", (unsigned)task_user_data.u64, resources->config->text);
    doca_task_free(doca_rdma_task_send_as_task(task));
    if (++num_sent == resources->config->num_connections) {
        resources->is_done = 1;
        /* By address, the receiver ends first: it may not have seen the last connection yet. */
        if (resources->config->port == 0)
            end_work(resources, DOCA_SUCCESS);
    }
}

static void send_failed(struct doca_rdma_task_send *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    const doca_error_t status = doca_task_get_status(doca_rdma_task_send_as_task(task));

    DOCA_LOG_ERR("Failed to send by connection %u: %s", (unsigned)task_user_data.u64, doca_error_get_descr(status));
    doca_task_free(doca_rdma_task_send_as_task(task));
    end_work(ctx_user_data.ptr, status);
}

static doca_error_t configure(struct rdma_resources *resources)
{
    const doca_error_t result = doca_rdma_set_max_num_connections(resources->rdma, resources->config->num_connections);

    if (result != DOCA_SUCCESS)
        return result;
    return doca_rdma_task_send_set_conf(resources->rdma, send_ended, send_failed, resources->config->num_connections);
}

/* All tasks send the same buffer, which none of them owns. */
static doca_error_t send_texts(struct rdma_resources *resources)
{
    const size_t len = strlen(resources->config->text);
    doca_error_t result;

    memcpy(resources->memory, resources->config->text, len);
    result = doca_buf_inventory_buf_get_by_data(resources->inventory, resources->mmap, resources->memory, len,
                                                &resources->buf);
    for (uint16_t i = 0; i < resources->config->num_connections && result == DOCA_SUCCESS; i++) {
        struct doca_rdma_task_send *task = NULL;
        union doca_data number = {.u64 = i};

        result = doca_rdma_task_send_allocate_init(resources->rdma, resources->connections[i], resources->buf, number,
                                                   &task);
        if (result == DOCA_SUCCESS)
            result = submit(doca_rdma_task_send_as_task(task));
    }
    return result;
}

static const struct rdma_sample sample = {.suits = can_send, .configure = configure, .connected = send_texts};

int main(int argc, char **argv)
{
    return rdma_main("doca_rdma_multi_conn_send",
                     RDMA_ARGUMENT_TEXT | RDMA_ARGUMENT_COUNT | RDMA_ARGUMENT_PORT | RDMA_ARGUMENT_ADDRESS, &sample,
                     argc, argv);
}
