// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Submits copies, and polls the progress engine until all have come back. Each one calls a callback.
#include <doca_log.h>

#include "../pe_common.h"

DOCA_LOG_REGISTER(PE_POLLING);

#define NUM_COPIES 16

static doca_error_t copy_all(struct pe_resources *resources, struct doca_dma *dma)
{
    size_t num_in_flight = 0;
    doca_error_t result = submit_copies(resources, dma, NUM_COPIES);
    if (result == DOCA_SUCCESS)
        result = doca_pe_get_num_inflight_tasks(resources->pe, &num_in_flight);
    DOCA_LOG_INFO("%zu copies are in flight", num_in_flight);
    while (result == DOCA_SUCCESS && num_in_flight != 0) {
        /* Zero: nothing has happened. A program could do something else in the meantime. */
        if (doca_pe_progress(resources->pe) != 0)
            result = doca_pe_get_num_inflight_tasks(resources->pe, &num_in_flight);
    }
    return result == DOCA_SUCCESS ? check_counts(resources, NUM_COPIES, 0) : result;
}

static const struct pe_sample sample = {.program = "doca_pe_polling",
                                        .num_copies = NUM_COPIES,
                                        .num_tasks = NUM_COPIES,
                                        .copied = copy_ended,
                                        .failed = copy_failed,
                                        .run = copy_all};

int main(int argc, char **argv)
{
    return run_pe_sample(&sample, 0, argc, argv);
}
