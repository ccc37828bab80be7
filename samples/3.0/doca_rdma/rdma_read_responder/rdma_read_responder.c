// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Lets rdma_read_requester read a text from its memory.
#include <string.h>

#include <doca_log.h>

#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_READ_RESPONDER);

static int can_be_read(const struct doca_devinfo *devinfo)
{
    return doca_rdma_cap_task_read_is_supported(devinfo) == DOCA_SUCCESS;
}

static doca_error_t offer_text(struct rdma_resources *resources)
{
    strcpy(resources->memory, resources->config->text);
    return export_memory(resources);
}

static doca_error_t wait_for_requester(struct rdma_resources *resources)
{
    const doca_error_t result = wait_for_enter("Wait until the requester has finished");

    if (result != DOCA_SUCCESS)
        return result;
    resources->is_done = 1;
    end_work(resources, DOCA_SUCCESS);
    return DOCA_SUCCESS;
}

/* The memory is exported before the two connect, as the requester needs it at once then. An instance that
 * only answers has no tasks. */
static const struct rdma_sample sample = {.suits = can_be_read,
                                          .permissions = DOCA_ACCESS_FLAG_RDMA_READ,
                                          .configure = offer_text,
                                          .connected = wait_for_requester};

int main(int argc, char **argv)
{
    return rdma_main("doca_rdma_read_responder", RDMA_ARGUMENT_TEXT | RDMA_ARGUMENT_MMAP, &sample, argc, argv);
}
