// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Lets rdma_write_immediate_requester write to its memory, and shows what is there when the number comes.

#include <arpa/inet.h>

#include <doca_log.h>

#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_WRITE_IMMEDIATE_RESPONDER);

static void receive_ended(struct doca_rdma_task_receive *task, union doca_data task_user_data,
                          union doca_data ctx_user_data)
{
    struct rdma_resources *resources = ctx_user_data.ptr;
    doca_error_t result = DOCA_SUCCESS;

    (void)task_user_data;
    if (doca_rdma_task_receive_get_result_opcode(task) == DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM) {
        resources->memory[sizeof(resources->memory) - 1] = '\0'; /* the peer may have written anything */
        DOCA_LOG_INFO("Received %u; the requester has written: %s",
                      ntohl(doca_rdma_task_receive_get_result_immediate_data(task)), resources->memory);
        resources->is_done = 1;
    } else {
        DOCA_LOG_ERR("A message, and no number of a write");
        result = DOCA_ERROR_UNEXPECTED;
    }
    doca_task_free(doca_rdma_task_receive_as_task(task));
    end_work(resources, result);
}

static doca_error_t configure(struct rdma_resources *resources)
{
    const doca_error_t result = doca_rdma_task_receive_set_conf(resources->rdma, receive_ended, receive_failed, 1);

    return result == DOCA_SUCCESS ? export_memory(resources) : result;
}

/* A number comes without bytes, so its receive has no buffer. */
static doca_error_t receive_number(struct rdma_resources *resources)
{
    struct doca_rdma_task_receive *task = NULL;
    union doca_data none = {0};
    doca_error_t result = doca_rdma_task_receive_allocate_init(resources->rdma, NULL, none, &task);

    if (result == DOCA_SUCCESS)
        result = submit(doca_rdma_task_receive_as_task(task));
    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("Waiting for the number");
    return result;
}

static const struct rdma_sample sample = {.suits = can_receive,
                                          .permissions = DOCA_ACCESS_FLAG_RDMA_WRITE,
                                          .configure = configure,
                                          .connected = receive_number};

int main(int argc, char **argv)
{
    return rdma_main("doca_rdma_write_immediate_responder", RDMA_ARGUMENT_MMAP, &sample, argc, argv);
}
