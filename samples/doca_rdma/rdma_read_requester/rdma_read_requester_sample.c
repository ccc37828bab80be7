// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Reads the responder's memory while the responder does nothing.
#include <doca_log.h>

#include "../../common.h"
#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_READ_REQUESTER);

doca_error_t rdma_read_requester(const struct rdma_config *config);

/* Reads as much of the responder's memory as ours has room for. */
static doca_error_t read_remote(struct rdma_resources *resources, struct doca_buf *dst_buf, struct doca_buf *src_buf)
{
    const struct doca_rdma_job_read_write job = {
        .base = {.type = DOCA_RDMA_JOB_READ, .flags = DOCA_JOB_FLAGS_NONE, .ctx = resources->ctx},
        .dst_buff = dst_buf,
        .src_buff = src_buf,
    };
    struct doca_rdma_result rdma_result;
    size_t len = 0;
    doca_error_t result;

    result = submit_job(resources, &job.base);
    if (result == DOCA_SUCCESS)
        result = await_job(resources, &rdma_result);
    if (result == DOCA_SUCCESS)
        result = doca_buf_get_data_len(dst_buf, &len);
    if (result != DOCA_SUCCESS)
        return result;
    DOCA_LOG_INFO("Read %zu bytes of the responder's memory", len);
    show_text("The text in it is", resources, 0, len);
    return DOCA_SUCCESS;
}

static doca_error_t import_and_read(struct rdma_resources *resources)
{
    struct doca_buf *src_buf = NULL;
    struct doca_buf *dst_buf = NULL;
    void *remote_addr;
    size_t remote_len;
    doca_error_t result;

    result = import_memory(resources, &remote_addr, &remote_len);
    if (result != DOCA_SUCCESS)
        return result;
    /* The source is full of data; the destination is empty. */
    result =
        doca_buf_inventory_buf_by_data(resources->inventory, resources->remote_mmap, remote_addr, remote_len, &src_buf);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_by_addr(resources->inventory, resources->mmap, resources->memory, MEMORY_SIZE,
                                                &dst_buf);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("No buffers: %s", doca_get_error_string(result));
    else
        result = read_remote(resources, dst_buf, src_buf);
    if (dst_buf != NULL)
        result = first_error(result, doca_buf_refcount_rm(dst_buf, NULL));
    if (src_buf != NULL)
        result = first_error(result, doca_buf_refcount_rm(src_buf, NULL));
    return result;
}

doca_error_t rdma_read_requester(const struct rdma_config *config)
{
    struct rdma_resources resources = {0};
    doca_error_t result;

    result = create_rdma_resources(config, DOCA_RDMA_JOB_READ, 0, &resources);
    if (result == DOCA_SUCCESS)
        result = connect_to_peer(&resources);
    if (result == DOCA_SUCCESS)
        result = import_and_read(&resources);
    result = first_error(result, destroy_rdma_resources(&resources));
    return result;
}
