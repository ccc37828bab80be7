// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Lets rdma_write_requester write to its memory, and shows what is there then.

#include <doca_log.h>

#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_WRITE_RESPONDER);

static int can_be_written(const struct doca_devinfo *devinfo)
{
    return doca_rdma_cap_task_write_is_supported(devinfo) == DOCA_SUCCESS;
}

static doca_error_t show_text(struct rdma_resources *resources)
{
    const doca_error_t result = wait_for_enter("Wait until the requester has finished");

    if (result != DOCA_SUCCESS)
        return result;
    resources->memory[sizeof(resources->memory) - 1] = '\0'; /* the peer may have written anything */
    DOCA_LOG_INFO("The requester has written: %s", resources->memory);
    resources->is_done = 1;
    end_work(resources, DOCA_SUCCESS);
    return DOCA_SUCCESS;
}

/* The memory is exported before the two connect, as the requester needs it at once then. An instance that
 * only answers has no tasks. */
static const struct rdma_sample sample = {.suits = can_be_written,
                                          .permissions = DOCA_ACCESS_FLAG_RDMA_WRITE,
                                          .configure = export_memory,
                                          .connected = show_text};

int main(int argc, char **argv)
{
    return rdma_main("doca_rdma_write_responder", RDMA_ARGUMENT_MMAP, &sample, argc, argv);
}
