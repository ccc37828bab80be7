// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Lets the requester write to this process's memory, and shows what has arrived.
#include <doca_log.h>

#include "../../common.h"
#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_WRITE_RESPONDER);

doca_error_t rdma_write_responder(const struct rdma_config *config);

doca_error_t rdma_write_responder(const struct rdma_config *config)
{
    struct rdma_resources resources = {0};
    doca_error_t result;

    result = create_rdma_resources(config, DOCA_RDMA_JOB_WRITE, DOCA_ACCESS_RDMA_WRITE, &resources);
    if (result == DOCA_SUCCESS)
        result = export_memory(&resources);
    if (result == DOCA_SUCCESS)
        result = connect_to_peer(&resources);
    /* The requester writes without our help, and nothing tells us when. */
    if (result == DOCA_SUCCESS)
        result = wait_for_enter("Wait until the requester has finished");
    if (result == DOCA_SUCCESS)
        show_text("The requester has written", &resources, 0, MEMORY_SIZE);
    result = first_error(result, destroy_rdma_resources(&resources));
    return result;
}
