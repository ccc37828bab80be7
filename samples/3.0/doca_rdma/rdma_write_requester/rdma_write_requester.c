// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Writes a text to the memory of rdma_write_responder, which need not do anything for it.
#include <string.h>

#include <doca_log.h>

#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_WRITE_REQUESTER);

static int can_write(const struct doca_devinfo *devinfo)
{
    return doca_rdma_cap_task_write_is_supported(devinfo) == DOCA_SUCCESS;
}

static void write_ended(struct doca_rdma_task_write *task, union doca_data task_user_data,
                        union doca_data ctx_user_data)
{
    struct rdma_resources *resources = ctx_user_data.ptr;

    (void)task_user_data;
    DOCA_LOG_INFO("Wrote: %s", resources->config->text);
    finish_task(resources, doca_rdma_task_write_as_task(task));
}

static void write_failed(struct doca_rdma_task_write *task, union doca_data task_user_data,
                         union doca_data ctx_user_data)
{
    (void)task_user_data;
    fail_task(ctx_user_data.ptr, doca_rdma_task_write_as_task(task), "write");
}

static doca_error_t configure(struct rdma_resources *resources)
{
    return doca_rdma_task_write_set_conf(resources->rdma, write_ended, write_failed, 1);
}

static doca_error_t write_text(struct rdma_resources *resources)
{
    const size_t size = strlen(resources->config->text) + 1;
    struct doca_rdma_task_write *task = NULL;
    union doca_data none = {0};
    doca_error_t result = import_memory(resources);

    memcpy(resources->memory, resources->config->text, size);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_get_by_data(resources->inventory, resources->mmap, resources->memory, size,
                                                    &resources->buf);
    if (result == DOCA_SUCCESS)
        result = doca_rdma_task_write_allocate_init(resources->rdma, resources->connections[0], resources->buf,
                                                    resources->remote_buf, none, &task);
    return result == DOCA_SUCCESS ? submit(doca_rdma_task_write_as_task(task)) : result;
}

static const struct rdma_sample sample = {.suits = can_write, .configure = configure, .connected = write_text};

int main(int argc, char **argv)
{
    return rdma_main("doca_rdma_write_requester", RDMA_ARGUMENT_TEXT | RDMA_ARGUMENT_MMAP, &sample, argc, argv);
}
