// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Lets the requester read a text in this process's memory.
#include <bsd/string.h>
#include <doca_log.h>

#include "../../common.h"
#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_READ_RESPONDER);

doca_error_t rdma_read_responder(const struct rdma_config *config);

doca_error_t rdma_read_responder(const struct rdma_config *config)
{
    struct rdma_resources resources = {0};
    doca_error_t result;

    result = create_rdma_resources(config, DOCA_RDMA_JOB_READ, DOCA_ACCESS_RDMA_READ, &resources);
    if (result == DOCA_SUCCESS) {
        (void)strlcpy(resources.memory, config->text, MEMORY_SIZE);
        DOCA_LOG_INFO("The text to be read is: %s", config->text);
        result = export_memory(&resources);
    }
    if (result == DOCA_SUCCESS)
        result = connect_to_peer(&resources);
    /* Nothing else to do: the requester reads without our help. */
    if (result == DOCA_SUCCESS)
        result = wait_for_enter("Wait until the requester has finished");
    result = first_error(result, destroy_rdma_resources(&resources));
    return result;
}
