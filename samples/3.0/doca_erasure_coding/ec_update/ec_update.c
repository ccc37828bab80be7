// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Changes a data block, and computes the new redundancy from the change and the old redundancy alone.
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "../ec_common.h"

DOCA_LOG_REGISTER(EC_UPDATE);

#define CHANGED 1 /* the data block that changes */

static void updated(struct doca_ec_task_update *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    (void)task_user_data;
    end_task(ctx_user_data.ptr, doca_ec_task_update_as_task(task));
}

static doca_error_t configure(struct ec_resources *resources)
{
    return doca_ec_task_update_set_conf(resources->ec, updated, updated, 1);
}

static doca_error_t update(struct ec_resources *resources, const uint8_t *new_block)
{
    struct doca_ec_matrix *matrix = NULL;
    struct doca_ec_task_update *task = NULL;
    uint32_t changed = CHANGED;
    union doca_data none = {0};
    doca_error_t result = begin_inputs(resources);

    if (result == DOCA_SUCCESS)
        result = add_input(resources, resources->blocks[CHANGED]);
    if (result == DOCA_SUCCESS)
        result = add_input(resources, new_block);
    for (size_t j = 0; result == DOCA_SUCCESS && j < NUM_REDUNDANCY; j++)
        result = add_input(resources, resources->blocks[NUM_DATA + j]);
    if (result == DOCA_SUCCESS)
        result = doca_ec_matrix_create_update(resources->ec, resources->coding, &changed, 1, &matrix);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_ec_task_update_allocate_init(resources->ec, matrix, resources->src, resources->dst, none, &task);
    if (result == DOCA_SUCCESS)
        result = run_task(resources, doca_ec_task_update_as_task(task));
    return first_error(result, doca_ec_matrix_destroy(matrix));
}

/* Changes the block and back again: the redundancy is then what it was. */
static doca_error_t update_twice(struct ec_resources *resources)
{
    static uint8_t old_redundancy[NUM_REDUNDANCY][MAX_BLOCK_SIZE], old_block[MAX_BLOCK_SIZE], new_block[MAX_BLOCK_SIZE];
    const size_t size = resources->block_size;
    doca_error_t result;

    memcpy(old_redundancy, resources->blocks[NUM_DATA], sizeof(old_redundancy));
    memcpy(old_block, resources->blocks[CHANGED], size);
    memset(new_block, 'x', size);
    result = update(resources, new_block);
    if (result == DOCA_SUCCESS && memcmp(resources->memory.outputs, old_redundancy[0], size) == 0)
        result = DOCA_ERROR_UNEXPECTED;
    if (result == DOCA_SUCCESS) {
        DOCA_LOG_INFO("Block %u and the redundancy have changed", CHANGED);
        memcpy(resources->blocks[CHANGED], new_block, size);
        for (size_t j = 0; j < NUM_REDUNDANCY; j++)
            memcpy(resources->blocks[NUM_DATA + j], resources->memory.outputs + j * size, size);
        result = update(resources, old_block);
    }
    for (uint32_t j = 0; result == DOCA_SUCCESS && j < NUM_REDUNDANCY; j++)
        result = compare_output(resources, j, NUM_DATA + j, old_redundancy[j]);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to update: %s", doca_error_get_descr(result));
    return result;
}

int main(int argc, char **argv)
{
    static struct ec_resources resources;
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = create_redundancy("doca_ec_update", argc, argv, configure, &resources);
    if (result == DOCA_SUCCESS)
        result = update_twice(&resources);
    return finish(first_error(result, destroy_ec_resources(&resources)));
}
