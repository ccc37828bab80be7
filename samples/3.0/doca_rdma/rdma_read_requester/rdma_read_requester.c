// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Reads a text from the memory of rdma_read_responder, which need not do anything for it.

#include <doca_buf.h>
#include <doca_log.h>

#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_READ_REQUESTER);

static int can_read(const struct doca_devinfo *devinfo)
{
    return doca_rdma_cap_task_read_is_supported(devinfo) == DOCA_SUCCESS;
}

static void read_ended(struct doca_rdma_task_read *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    struct rdma_resources *resources = ctx_user_data.ptr;

    (void)task_user_data;
    resources->memory[sizeof(resources->memory) - 1] = '\0'; /* the peer may have anything there */
    DOCA_LOG_INFO("Read %u bytes: %s", doca_rdma_task_read_get_result_len(task), resources->memory);
    finish_task(resources, doca_rdma_task_read_as_task(task));
}

static void read_failed(struct doca_rdma_task_read *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    (void)task_user_data;
    fail_task(ctx_user_data.ptr, doca_rdma_task_read_as_task(task), "read");
}

static doca_error_t configure(struct rdma_resources *resources)
{
    return doca_rdma_task_read_set_conf(resources->rdma, read_ended, read_failed, 1);
}

/* The whole memory of the responder is the data that is read. */
static doca_error_t read_text(struct rdma_resources *resources)
{
    struct doca_rdma_task_read *task = NULL;
    union doca_data none = {0};
    size_t len = 0;
    doca_error_t result = import_memory(resources);

    if (result == DOCA_SUCCESS)
        result = doca_buf_get_len(resources->remote_buf, &len);
    if (result == DOCA_SUCCESS && len > sizeof(resources->memory))
        len = sizeof(resources->memory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_set_data_len(resources->remote_buf, len);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_get_by_addr(resources->inventory, resources->mmap, resources->memory, len,
                                                    &resources->buf);
    if (result == DOCA_SUCCESS)
        result = doca_rdma_task_read_allocate_init(resources->rdma, resources->connections[0], resources->remote_buf,
                                                   resources->buf, none, &task);
    return result == DOCA_SUCCESS ? submit(doca_rdma_task_read_as_task(task)) : result;
}

static const struct rdma_sample sample = {.suits = can_read, .configure = configure, .connected = read_text};

int main(int argc, char **argv)
{
    return rdma_main("doca_rdma_read_requester", RDMA_ARGUMENT_MMAP, &sample, argc, argv);
}
