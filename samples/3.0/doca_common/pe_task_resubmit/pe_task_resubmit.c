// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A few tasks make many copies: in its callback, each takes the next two buffers and is submitted again.
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

static void copied(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
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
    doca_error_t result = submit_copies(resources, dma, NUM_TASKS);
    while (result == DOCA_SUCCESS && resources->num_copied + resources->num_failed < NUM_COPIES)
        result = progress(resources->pe);
    return result == DOCA_SUCCESS ? check_counts(resources, NUM_COPIES, 0) : result;
}

static const struct pe_sample sample = {.program = "doca_pe_task_resubmit",
                                        .num_copies = NUM_COPIES,
                                        .num_tasks = NUM_TASKS,
                                        .copied = copied,
                                        .failed = copy_failed,
                                        .run = copy_all};

int main(int argc, char **argv)
{
    return run_pe_sample(&sample, 1, argc, argv);
}
