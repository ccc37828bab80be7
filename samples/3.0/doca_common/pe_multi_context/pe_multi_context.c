// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Several contexts on one progress engine, which calls the callbacks of all of them.
#include <stdlib.h>

#include <doca_log.h>

#include "../pe_common.h"

DOCA_LOG_REGISTER(PE_MULTI_CONTEXT);

#define NUM_CONTEXTS 4
#define NUM_COPIES 16 /* of each context */

static doca_error_t start_all(struct pe_resources *resources, struct doca_dma **contexts)
{
    doca_error_t result = DOCA_SUCCESS;

    for (size_t i = 0; i < NUM_CONTEXTS && result == DOCA_SUCCESS; i++) {
        result = create_dma(resources, NUM_COPIES, copy_ended, copy_failed, NULL, &contexts[i]);
        if (result == DOCA_SUCCESS)
            result = doca_ctx_start(doca_dma_as_ctx(contexts[i]));
    }
    return result;
}

static doca_error_t copy_all(struct pe_resources *resources, struct doca_dma **contexts)
{
    doca_error_t result = DOCA_SUCCESS;

    for (size_t i = 0; i < NUM_CONTEXTS && result == DOCA_SUCCESS; i++)
        result = submit_copies(resources, contexts[i], NUM_COPIES);
    while (result == DOCA_SUCCESS && resources->num_copied + resources->num_failed < (size_t)NUM_CONTEXTS * NUM_COPIES)
        result = progress(resources->pe);
    return result == DOCA_SUCCESS ? check_counts(resources, NUM_CONTEXTS * NUM_COPIES, 0) : result;
}

int main(int argc, char **argv)
{
    struct pe_resources resources = {0};
    struct doca_dma *contexts[NUM_CONTEXTS] = {NULL};
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = read_no_arguments("doca_pe_multi_context", 1, argc, argv);
    if (result == DOCA_SUCCESS)
        result = create_pe_resources(NUM_CONTEXTS * NUM_COPIES, &resources);
    if (result == DOCA_SUCCESS)
        result = start_all(&resources, contexts);
    if (result == DOCA_SUCCESS)
        result = copy_all(&resources, contexts);
    for (size_t i = 0; i < NUM_CONTEXTS; i++)
        result = first_error(result, destroy_dma(&resources, contexts[i]));
    return finish(first_error(result, destroy_pe_resources(&resources)));
}
