// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sends a text with a number to rdma_receive_immediate.
#include <string.h>

#include <arpa/inet.h>

#include <doca_log.h>

#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_SEND_IMMEDIATE);

static int can_send(const struct doca_devinfo *devinfo)
{
    return doca_rdma_cap_task_send_imm_is_supported(devinfo) == DOCA_SUCCESS;
}

static void send_ended(struct doca_rdma_task_send_imm *task, union doca_data task_user_data,
                       union doca_data ctx_user_data)
{
    struct rdma_resources *resources = ctx_user_data.ptr;

    (void)task_user_data;
    DOCA_LOG_INFO("Sent %u with: %s", resources->config->immediate, resources->config->text);
    finish_task(resources, doca_rdma_task_send_imm_as_task(task));
}

static void send_failed(struct doca_rdma_task_send_imm *task, union doca_data task_user_data,
                        union doca_data ctx_user_data)
{
    (void)task_user_data;
    fail_task(ctx_user_data.ptr, doca_rdma_task_send_imm_as_task(task), "send");
}

static doca_error_t configure(struct rdma_resources *resources)
{
    return doca_rdma_task_send_imm_set_conf(resources->rdma, send_ended, send_failed, 1);
}

static doca_error_t send_text(struct rdma_resources *resources)
{
    const size_t len = strlen(resources->config->text);
    struct doca_rdma_task_send_imm *task = NULL;
    union doca_data none = {0};
    doca_error_t result;

    memcpy(resources->memory, resources->config->text, len);
    result = doca_buf_inventory_buf_get_by_data(resources->inventory, resources->mmap, resources->memory, len,
                                                &resources->buf);
    if (result == DOCA_SUCCESS)
        result = doca_rdma_task_send_imm_allocate_init(resources->rdma, resources->connections[0], resources->buf,
                                                       htonl(resources->config->immediate), none, &task);
    if (result == DOCA_SUCCESS)
        result = submit(doca_rdma_task_send_imm_as_task(task));
    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("Sending %zu bytes", len);
    return result;
}

static const struct rdma_sample sample = {.suits = can_send, .configure = configure, .connected = send_text};

int main(int argc, char **argv)
{
    return rdma_main("doca_rdma_send_immediate",
                     RDMA_ARGUMENT_TEXT | RDMA_ARGUMENT_NUMBER | RDMA_ARGUMENT_PORT | RDMA_ARGUMENT_ADDRESS, &sample,
                     argc, argv);
}
