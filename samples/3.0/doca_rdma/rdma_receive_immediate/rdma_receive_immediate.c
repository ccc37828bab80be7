// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Receives a text with a number of rdma_send_immediate.
#include <stdlib.h>

#include <arpa/inet.h>

#include <doca_buf.h>
#include <doca_log.h>

#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_RECEIVE_IMMEDIATE);

static int can_receive(const struct doca_devinfo *devinfo)
{
    return doca_rdma_cap_task_receive_is_supported(devinfo) == DOCA_SUCCESS;
}

static void receive_ended(struct doca_rdma_task_receive *task, union doca_data task_user_data,
                          union doca_data ctx_user_data)
{
    struct rdma_resources *resources = ctx_user_data.ptr;
    const uint32_t len = doca_rdma_task_receive_get_result_len(task);
    doca_error_t result = DOCA_SUCCESS;
    void *data = NULL;

    (void)task_user_data;
    if (doca_rdma_task_receive_get_result_opcode(task) == DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM) {
        (void)doca_buf_get_data(doca_rdma_task_receive_get_dst_buf(task), &data);
        DOCA_LOG_INFO("Received %u with %u bytes: %.*s",
                      ntohl(doca_rdma_task_receive_get_result_immediate_data(task)), len, (int)len,
                      (const char *)data);
        resources->is_done = 1;
    } else {
        DOCA_LOG_ERR("A message without a number");
        result = DOCA_ERROR_UNEXPECTED;
    }
    doca_task_free(doca_rdma_task_receive_as_task(task));
    end_work(resources, result);
}

static void receive_failed(struct doca_rdma_task_receive *task, union doca_data task_user_data,
                           union doca_data ctx_user_data)
{
    const doca_error_t status = doca_task_get_status(doca_rdma_task_receive_as_task(task));

    (void)task_user_data;
    DOCA_LOG_ERR("Failed to receive: %s", doca_error_get_descr(status));
    doca_task_free(doca_rdma_task_receive_as_task(task));
    end_work(ctx_user_data.ptr, status);
}

static doca_error_t configure(struct rdma_resources *resources)
{
    return doca_rdma_task_receive_set_conf(resources->rdma, receive_ended, receive_failed, 1);
}

static doca_error_t receive_text(struct rdma_resources *resources)
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

static const struct rdma_sample sample = {
    .suits = can_receive, .is_listening = 1, .configure = configure, .connected = receive_text};

int main(int argc, char **argv)
{
    static struct rdma_config config;
    static struct rdma_resources resources;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    if (parse_arguments("doca_rdma_receive_immediate", RDMA_ARGUMENT_PORT, argc, argv, &config) !=
        DOCA_SUCCESS)
        return finish(DOCA_ERROR_INVALID_VALUE);
    return run_sample(&config, &sample, &resources);
}
