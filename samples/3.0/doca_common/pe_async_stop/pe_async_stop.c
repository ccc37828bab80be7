// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Stops a context in a callback, while other tasks are in flight. The stop takes until each of them has come
// back, well or failed, and has been freed; the state callback tells when it is done.
#include <doca_log.h>

#include "../pe_common.h"

DOCA_LOG_REGISTER(PE_ASYNC_STOP);

#define NUM_COPIES 16
#define NUM_BEFORE_STOP 5

static int is_idle;
static doca_error_t stop_result = DOCA_ERROR_UNEXPECTED;

static void copied(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    struct pe_resources *resources = ctx_user_data.ptr;
    struct doca_ctx *ctx = doca_task_get_ctx(doca_dma_task_memcpy_as_task(task));

    (void)task_user_data;
    count_copied(resources, task);
    free_copy(task);
    if (resources->num_copied == NUM_BEFORE_STOP)
        stop_result = doca_ctx_stop(ctx);
}

static void changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev_state,
                    enum doca_ctx_states next_state)
{
    size_t num_in_flight = 0;

    (void)user_data;
    (void)doca_ctx_get_num_inflight_tasks(ctx, &num_in_flight);
    DOCA_LOG_INFO("The context was %s and is %s, with %zu tasks in flight", state_name(prev_state),
                  state_name(next_state), num_in_flight);
    is_idle = next_state == DOCA_CTX_STATE_IDLE;
}

static doca_error_t copy_and_stop(struct pe_resources *resources, struct doca_dma *dma)
{
    doca_error_t result = submit_copies(resources, dma, NUM_COPIES);
    while (result == DOCA_SUCCESS && !is_idle)
        result = progress(resources->pe);
    if (result == DOCA_SUCCESS && stop_result != DOCA_ERROR_IN_PROGRESS) {
        DOCA_LOG_ERR("A stop in a callback has given: %s", doca_error_get_descr(stop_result));
        result = DOCA_ERROR_UNEXPECTED;
    }
    if (result == DOCA_SUCCESS && resources->num_copied + resources->num_failed != NUM_COPIES)
        result = DOCA_ERROR_UNEXPECTED;
    return result;
}

static const struct pe_sample sample = {.program = "doca_pe_async_stop",
                                        .num_copies = NUM_COPIES,
                                        .num_tasks = NUM_COPIES,
                                        .copied = copied,
                                        .failed = copy_failed,
                                        .changed = changed,
                                        .run = copy_and_stop};

int main(int argc, char **argv)
{
    return run_pe_sample(&sample, 1, argc, argv);
}
