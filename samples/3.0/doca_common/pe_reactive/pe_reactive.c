// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// All of the program is in callbacks: a context that runs submits its copies, the last copy stops it, and
// idle it ends the program. The loop only progresses.
#include <stdlib.h>

#include <doca_log.h>

#include "../pe_common.h"

DOCA_LOG_REGISTER(PE_REACTIVE);

#define NUM_COPIES 16

static struct doca_dma *dma;
static int is_over;
static doca_error_t result_of_callbacks;

static void stop_after_last(struct pe_resources *resources)
{
    if (resources->num_copied + resources->num_failed == NUM_COPIES)
        (void)doca_ctx_stop(doca_dma_as_ctx(dma));
}

static void copied(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    copy_ended(task, task_user_data, ctx_user_data);
    stop_after_last(ctx_user_data.ptr);
}

static void failed(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    copy_failed(task, task_user_data, ctx_user_data);
    stop_after_last(ctx_user_data.ptr);
}

static void changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev_state,
                    enum doca_ctx_states next_state)
{
    DOCA_LOG_INFO("The context was %s and is %s", state_name(prev_state), state_name(next_state));
    switch (next_state) {
    case DOCA_CTX_STATE_RUNNING:
        result_of_callbacks = submit_copies(user_data.ptr, dma, NUM_COPIES);
        if (result_of_callbacks != DOCA_SUCCESS)
            (void)doca_ctx_stop(ctx);
        break;
    case DOCA_CTX_STATE_IDLE:
        is_over = 1;
        break;
    case DOCA_CTX_STATE_STARTING: /* some contexts take time to start */
    case DOCA_CTX_STATE_STOPPING: /* tasks in flight come back now */
        break;
    }
}

int main(int argc, char **argv)
{
    struct pe_resources resources = {0};
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = read_no_arguments("doca_pe_reactive", 1, argc, argv);
    if (result == DOCA_SUCCESS)
        result = create_pe_resources(NUM_COPIES, &resources);
    if (result == DOCA_SUCCESS)
        result = create_dma(&resources, NUM_COPIES, copied, failed, changed, &dma);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(doca_dma_as_ctx(dma));
    if (result == DOCA_SUCCESS) {
        while (result == DOCA_SUCCESS && !is_over)
            result = progress(resources.pe);
        if (result == DOCA_SUCCESS)
            result = first_error(result_of_callbacks, check_counts(&resources, NUM_COPIES, 0));
    }
    result = first_error(result, destroy_dma(&resources, dma));
    return finish(first_error(result, destroy_pe_resources(&resources)));
}
