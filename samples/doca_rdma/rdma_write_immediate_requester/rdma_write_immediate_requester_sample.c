// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Writes a text to the responder's memory, and tells it so with a number.
#include <arpa/inet.h>
#include <inttypes.h>

#include <doca_log.h>

#include "../../common.h"
#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_WRITE_IMMEDIATE_REQUESTER);

#define IMMEDIATE 0xd0ca

doca_error_t rdma_write_immediate_requester(const struct rdma_config *config);

static doca_error_t write_remote(struct rdma_resources *resources, struct doca_buf *dst_buf, struct doca_buf *src_buf)
{
    const struct doca_rdma_job_read_write job = {
        .base = {.type = DOCA_RDMA_JOB_WRITE_IMM, .flags = DOCA_JOB_FLAGS_NONE, .ctx = resources->ctx},
        .dst_buff = dst_buf,
        .src_buff = src_buf,
        .immediate_data = htonl(IMMEDIATE),
    };
    struct doca_rdma_result rdma_result;
    doca_error_t result;

    result = submit_job(resources, &job.base);
    if (result == DOCA_SUCCESS)
        result = await_job(resources, &rdma_result);
    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("Wrote to the responder's memory, with the immediate 0x%" PRIx32 ": %s", (uint32_t)IMMEDIATE,
                      resources->config->text);
    return result;
}

static doca_error_t import_and_write(struct rdma_resources *resources)
{
    struct doca_buf *src_buf = NULL;
    struct doca_buf *dst_buf = NULL;
    void *remote_addr;
    size_t remote_len;
    doca_error_t result;

    result = import_memory(resources, &remote_addr, &remote_len);
    if (result == DOCA_SUCCESS)
        result = put_text(resources, resources->config->text, &src_buf);
    if (result != DOCA_SUCCESS)
        return result;
    /* All of the responder's memory is room for the text. */
    result =
        doca_buf_inventory_buf_by_addr(resources->inventory, resources->remote_mmap, remote_addr, remote_len, &dst_buf);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("No buffer of the responder's memory: %s", doca_get_error_string(result));
    else
        result = write_remote(resources, dst_buf, src_buf);
    if (dst_buf != NULL)
        result = first_error(result, doca_buf_refcount_rm(dst_buf, NULL));
    result = first_error(result, doca_buf_refcount_rm(src_buf, NULL));
    return result;
}

doca_error_t rdma_write_immediate_requester(const struct rdma_config *config)
{
    struct rdma_resources resources = {0};
    doca_error_t result;

    result = create_rdma_resources(config, DOCA_RDMA_JOB_WRITE_IMM, 0, &resources);
    if (result == DOCA_SUCCESS)
        result = connect_to_peer(&resources);
    if (result == DOCA_SUCCESS)
        result = wait_for_enter("Wait until the responder has submitted its receive");
    if (result == DOCA_SUCCESS)
        result = import_and_write(&resources);
    result = first_error(result, destroy_rdma_resources(&resources));
    return result;
}
