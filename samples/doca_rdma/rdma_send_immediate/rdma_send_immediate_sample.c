// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sends a text and a number to a process that receives them.
#include <arpa/inet.h>
#include <inttypes.h>

#include <doca_log.h>

#include "../../common.h"
#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_SEND_IMMEDIATE);

#define IMMEDIATE 0xd0ca

doca_error_t rdma_send_immediate(const struct rdma_config *config);

static doca_error_t send_text(struct rdma_resources *resources)
{
    struct doca_rdma_job_send job = {
        .base = {.type = DOCA_RDMA_JOB_SEND_IMM, .flags = DOCA_JOB_FLAGS_NONE, .ctx = resources->ctx},
        .immediate_data = htonl(IMMEDIATE),
    };
    struct doca_rdma_result rdma_result;
    struct doca_buf *src_buf;
    doca_error_t result;

    result = put_text(resources, resources->config->text, &src_buf);
    if (result != DOCA_SUCCESS)
        return result;
    job.src_buff = src_buf;
    result = submit_job(resources, &job.base);
    if (result == DOCA_SUCCESS)
        result = await_job(resources, &rdma_result);
    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("Sent, with the immediate 0x%" PRIx32 ": %s", (uint32_t)IMMEDIATE, resources->config->text);
    result = first_error(result, doca_buf_refcount_rm(src_buf, NULL));
    return result;
}

doca_error_t rdma_send_immediate(const struct rdma_config *config)
{
    struct rdma_resources resources = {0};
    doca_error_t result;

    result = create_rdma_resources(config, DOCA_RDMA_JOB_SEND_IMM, 0, &resources);
    if (result == DOCA_SUCCESS)
        result = connect_to_peer(&resources);
    if (result == DOCA_SUCCESS)
        result = wait_for_enter("Wait until the receiver has submitted its receive");
    if (result == DOCA_SUCCESS)
        result = send_text(&resources);
    result = first_error(result, destroy_rdma_resources(&resources));
    return result;
}
