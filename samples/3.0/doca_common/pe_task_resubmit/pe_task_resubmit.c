// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A few tasks make many copies: in its callback, each takes the next two buffers and is submitted again.
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_log.h>

#include "../pe_common.h"

DOCA_LOG_REGISTER(PE_TASK_RESUBMIT);

#define NUM_TASKS 4
#define NUM_COPIES 16

static doca_error_t submit_again(struct pe_resources *resources, struct doca_dma_task_memcpy *task)
{
    struct doca_buf *src = NULL;
    struct doca_buf *dst = NULL;
    const doca_error_t result = take_slots(resources, &src, &dst);

    if (result != DOCA_SUCCESS)
        return result;
    (void)doca_buf_dec_refcount((struct doca_buf *)doca_dma_task_memcpy_get_src(task), NULL);
    (void)doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL);
    doca_dma_task_memcpy_set_src(task, src);
    doca_dma_task_memcpy_set_dst(task, dst);
    return doca_task_submit(doca_dma_task_memcpy_as_task(task));
}

static void copied(struct doca_dma_task_memcpy *task, union doca_data task_user_data,
                   union doca_data ctx_user_data)
{
    struct pe_resources *resources = ctx_user_data.ptr;

    (void)task_user_data;
    count_copied(resources, task);
    /* There are no slots left when enough has been copied. */
    if (submit_again(resources, task) != DOCA_SUCCESS)
        free_copy(task);
}

static doca_error_t copy_all(struct pe_resources *resources, struct doca_dma *dma)
{
    doca_error_t result = doca_ctx_start(doca_dma_as_ctx(dma));

    if (result == DOCA_SUCCESS)
        result = submit_copies(resources, dma, NUM_TASKS);
    while (result == DOCA_SUCCESS && resources->num_copied + resources->num_failed < NUM_COPIES)
        (void)doca_pe_progress(resources->pe);
    return result == DOCA_SUCCESS ? check_counts(resources, NUM_COPIES, 0) : result;
}

int main(void)
{
    struct pe_resources resources = {0};
    struct doca_dma *dma = NULL;
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = create_pe_resources(NUM_COPIES, &resources);
    if (result == DOCA_SUCCESS)
        result = create_dma(&resources, NUM_TASKS, copied, copy_failed, NULL, &dma);
    if (result == DOCA_SUCCESS)
        result = copy_all(&resources, dma);
    result = first_error(result, destroy_dma(&resources, dma));
    return finish(first_error(result, destroy_pe_resources(&resources)));
}
