// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Receives a text with a number of rdma_send_immediate.

#include <arpa/inet.h>

#include <doca_buf.h>
#include <doca_log.h>

#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_RECEIVE_IMMEDIATE);

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
        DOCA_LOG_INFO("Received %u with %u bytes: %.*s", ntohl(doca_rdma_task_receive_get_result_immediate_data(task)),
                      len, (int)len, (const char *)data);
        resources->is_done = 1;
    } else {
        DOCA_LOG_ERR("A message without a number");
        result = DOCA_ERROR_UNEXPECTED;
    }
    doca_task_free(doca_rdma_task_receive_as_task(task));
    end_work(resources, result);
}

static doca_error_t configure(struct rdma_resources *resources)
{
    return doca_rdma_task_receive_set_conf(resources->rdma, receive_ended, receive_failed, 1);
}

static const struct rdma_sample sample = {
    .suits = can_receive, .is_listening = 1, .configure = configure, .connected = receive_text};

int main(int argc, char **argv)
{
    return rdma_main("doca_rdma_receive_immediate", RDMA_ARGUMENT_PORT, &sample, argc, argv);
}
