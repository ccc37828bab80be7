// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Lets the requester write to this process's memory, and learns by a receive that it has.
#include <arpa/inet.h>
#include <inttypes.h>

#include <doca_log.h>

#include "../../common.h"
#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_WRITE_IMMEDIATE_RESPONDER);

doca_error_t rdma_write_immediate_responder(const struct rdma_config *config);

static doca_error_t receive_immediate(struct rdma_resources *resources)
{
    /* Only the immediate is received: the text goes to where the requester writes it. */
    const struct doca_rdma_job_recv job = {
        .base = {.type = DOCA_RDMA_JOB_RECV, .flags = DOCA_JOB_FLAGS_NONE, .ctx = resources->ctx},
        .dst_buff = NULL,
    };
    struct doca_rdma_result rdma_result;
    doca_error_t result;

    result = submit_job(resources, &job.base);
    if (result != DOCA_SUCCESS)
        return result;
    DOCA_LOG_INFO("The receive is submitted: the requester can write now");
    result = await_job(resources, &rdma_result);
    if (result != DOCA_SUCCESS)
        return result;
    if (rdma_result.opcode != DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM) {
        DOCA_LOG_ERR("Something else than a write with immediate was received: opcode %d", (int)rdma_result.opcode);
        return DOCA_ERROR_UNEXPECTED;
    }
    DOCA_LOG_INFO("Received the immediate 0x%" PRIx32, (uint32_t)ntohl(rdma_result.immediate_data));
    show_text("The requester has written", resources, 0, MEMORY_SIZE);
    return DOCA_SUCCESS;
}

doca_error_t rdma_write_immediate_responder(const struct rdma_config *config)
{
    struct rdma_resources resources = {0};
    doca_error_t result;

    result = create_rdma_resources(config, DOCA_RDMA_JOB_RECV, DOCA_ACCESS_RDMA_WRITE, &resources);
    if (result == DOCA_SUCCESS)
        result = export_memory(&resources);
    if (result == DOCA_SUCCESS)
        result = connect_to_peer(&resources);
    if (result == DOCA_SUCCESS)
        result = receive_immediate(&resources);
    result = first_error(result, destroy_rdma_resources(&resources));
    return result;
}
