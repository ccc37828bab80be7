// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Two ways to be told of a task that can't succeed. doca_task_try_submit() checks it and refuses it; after
// doca_task_submit() it comes back by the error callback, and its context stops: all tasks behind it fail as
// well.
#include <doca_buf.h>
#include <doca_log.h>

#include "../pe_common.h"

DOCA_LOG_REGISTER(PE_TASK_ERROR);

#define NUM_COPIES 16
#define NUM_BEFORE_ERROR 2

static int is_idle;

static void changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev_state,
                    enum doca_ctx_states next_state)
{
    (void)user_data;
    (void)ctx;
    DOCA_LOG_INFO("The context was %s and is %s", state_name(prev_state), state_name(next_state));
    is_idle = next_state == DOCA_CTX_STATE_IDLE;
}

/* A source without data. */
static doca_error_t submit_bad_copy(struct pe_resources *resources, struct doca_dma *dma)
{
    struct doca_dma_task_memcpy *task = NULL;
    doca_error_t result = make_copy(resources, dma, &task);

    if (result != DOCA_SUCCESS)
        return result;
    (void)doca_buf_reset_data_len((struct doca_buf *)doca_dma_task_memcpy_get_src(task));
    result = doca_task_try_submit(doca_dma_task_memcpy_as_task(task));
    DOCA_LOG_INFO("Tried to submit a copy of nothing: %s", doca_error_get_descr(result));
    if (result != DOCA_ERROR_INVALID_VALUE) {
        if (result != DOCA_SUCCESS)
            free_copy(task);
        return DOCA_ERROR_UNEXPECTED;
    }
    result = doca_task_submit(doca_dma_task_memcpy_as_task(task));
    if (result != DOCA_SUCCESS)
        free_copy(task);
    return result;
}

static doca_error_t copy_all(struct pe_resources *resources, struct doca_dma *dma)
{
    doca_error_t result = submit_copies(resources, dma, NUM_BEFORE_ERROR);
    if (result == DOCA_SUCCESS)
        result = submit_bad_copy(resources, dma);
    if (result == DOCA_SUCCESS)
        result = submit_copies(resources, dma, NUM_COPIES - NUM_BEFORE_ERROR - 1);
    while (result == DOCA_SUCCESS && !is_idle)
        result = progress(resources->pe);
    return result == DOCA_SUCCESS ? check_counts(resources, NUM_BEFORE_ERROR, NUM_COPIES - NUM_BEFORE_ERROR) : result;
}

static const struct pe_sample sample = {.program = "doca_pe_task_error",
                                        .num_copies = NUM_COPIES,
                                        .num_tasks = NUM_COPIES,
                                        .copied = copy_ended,
                                        .failed = copy_failed,
                                        .changed = changed,
                                        .run = copy_all};

int main(int argc, char **argv)
{
    return run_pe_sample(&sample, 1, argc, argv);
}
