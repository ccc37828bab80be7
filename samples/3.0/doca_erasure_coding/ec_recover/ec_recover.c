// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Loses each pair of the blocks of a text and its redundancy, and recovers both.
#include <stdlib.h>

#include <doca_log.h>

#include "../ec_common.h"

DOCA_LOG_REGISTER(EC_RECOVER);

#define NUM_LOST 2

static void recovered(struct doca_ec_task_recover *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    (void)task_user_data;
    end_task(ctx_user_data.ptr, doca_ec_task_recover_as_task(task));
}

static doca_error_t configure(struct ec_resources *resources)
{
    return doca_ec_task_recover_set_conf(resources->ec, recovered, recovered, 1);
}

/* The source of a recovery: the first blocks that are left, as many as there are data blocks. */
static doca_error_t add_available(struct ec_resources *resources, const uint32_t lost[NUM_LOST])
{
    size_t num_available = 0;
    doca_error_t result = begin_inputs(resources);

    for (uint32_t i = 0; result == DOCA_SUCCESS && i < NUM_BLOCKS && num_available < NUM_DATA; i++) {
        if (i == lost[0] || i == lost[1])
            continue;
        result = add_input(resources, resources->blocks[i]);
        num_available++;
    }
    return result;
}

static doca_error_t recover(struct ec_resources *resources, uint32_t lost[NUM_LOST])
{
    struct doca_ec_matrix *matrix = NULL;
    struct doca_ec_task_recover *task = NULL;
    union doca_data none = {0};
    doca_error_t result = add_available(resources, lost);

    if (result == DOCA_SUCCESS)
        result = doca_ec_matrix_create_recover(resources->ec, resources->coding, lost, NUM_LOST, &matrix);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_ec_task_recover_allocate_init(resources->ec, matrix, resources->src, resources->dst, none, &task);
    if (result == DOCA_SUCCESS)
        result = run_task(resources, doca_ec_task_recover_as_task(task));
    for (size_t n = 0; result == DOCA_SUCCESS && n < NUM_LOST; n++)
        result = compare_output(resources, n, lost[n], resources->blocks[lost[n]]);
    return first_error(result, doca_ec_matrix_destroy(matrix));
}

static doca_error_t recover_each_pair(struct ec_resources *resources)
{
    doca_error_t result = DOCA_SUCCESS;
    size_t num_pairs = 0;

    for (uint32_t first = 0; first < NUM_BLOCKS; first++) {
        for (uint32_t second = first + 1; result == DOCA_SUCCESS && second < NUM_BLOCKS; second++) {
            uint32_t lost[NUM_LOST] = {first, second};

            DOCA_LOG_INFO("The blocks %u and %u are lost", first, second);
            result = recover(resources, lost);
            num_pairs++;
        }
    }
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to recover: %s", doca_error_get_descr(result));
    else
        DOCA_LOG_INFO("Recovered %zu pairs of blocks", num_pairs);
    return result;
}

int main(int argc, char **argv)
{
    static struct ec_resources resources;
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = create_redundancy("doca_ec_recover", argc, argv, configure, &resources);
    if (result == DOCA_SUCCESS)
        result = recover_each_pair(&resources);
    return finish(first_error(result, destroy_ec_resources(&resources)));
}
