// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Receives a text that another process sends.
#include <doca_log.h>

#include "../../common.h"
#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_RECEIVE);

doca_error_t rdma_receive(const struct rdma_config *config);

static doca_error_t receive_into(struct rdma_resources *resources, struct doca_buf *dst_buf)
{
    const struct doca_rdma_job_recv job = {
        .base = {.type = DOCA_RDMA_JOB_RECV, .flags = DOCA_JOB_FLAGS_NONE, .ctx = resources->ctx},
        .dst_buff = dst_buf,
    };
    struct doca_rdma_result rdma_result;
    size_t len = 0;
    doca_error_t result;

    result = submit_job(resources, &job.base);
    if (result != DOCA_SUCCESS)
        return result;
    DOCA_LOG_INFO("The receive is submitted: the sender can send now");
    result = await_job(resources, &rdma_result);
    if (result == DOCA_SUCCESS)
        result = doca_buf_get_data_len(dst_buf, &len);
    if (result != DOCA_SUCCESS)
        return result;
    if (rdma_result.opcode != DOCA_RDMA_OPCODE_RECV_SEND) {
        DOCA_LOG_ERR("Something else than a message without immediate was received: opcode %d",
                     (int)rdma_result.opcode);
        return DOCA_ERROR_UNEXPECTED;
    }
    DOCA_LOG_INFO("Received %zu bytes", len);
    show_text("The text in them is", resources, 0, len);
    return DOCA_SUCCESS;
}

doca_error_t rdma_receive(const struct rdma_config *config)
{
    struct rdma_resources resources = {0};
    struct doca_buf *dst_buf = NULL;
    doca_error_t result;

    result = create_rdma_resources(config, DOCA_RDMA_JOB_RECV, 0, &resources);
    if (result == DOCA_SUCCESS)
        result = connect_to_peer(&resources);
    if (result == DOCA_SUCCESS) {
        result = doca_buf_inventory_buf_by_addr(resources.inventory, resources.mmap, resources.memory, MEMORY_SIZE,
                                                &dst_buf);
        if (result != DOCA_SUCCESS)
            DOCA_LOG_ERR("No buffer of %d bytes: %s", MEMORY_SIZE, doca_get_error_string(result));
        else
            result = receive_into(&resources, dst_buf);
    }
    if (dst_buf != NULL)
        result = first_error(result, doca_buf_refcount_rm(dst_buf, NULL));
    result = first_error(result, destroy_rdma_resources(&resources));
    return result;
}
