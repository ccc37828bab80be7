// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Loses each pair of the blocks of a text and its redundancy, and recovers both.
#include <string.h>

#include <doca_log.h>

#include "../../common.h"
#include "../../wait.h"
#include "../ec_common.h"

DOCA_LOG_REGISTER(EC_RECOVER);

#define NUM_LOST 2

doca_error_t ec_recover(const struct ec_config *config);

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

static doca_error_t compare_outputs(const struct ec_resources *resources, const uint32_t lost[NUM_LOST])
{
    const size_t size = resources->block_size;

    for (size_t n = 0; n < NUM_LOST; n++) {
        if (memcmp(resources->memory.outputs + n * size, resources->blocks[lost[n]], size) != 0) {
            DOCA_LOG_ERR("Block %u is not what it was", lost[n]);
            return DOCA_ERROR_UNEXPECTED;
        }
    }
    DOCA_LOG_INFO("The blocks %u and %u were lost and are back", lost[0], lost[1]);
    return DOCA_SUCCESS;
}

static doca_error_t recover(struct ec_resources *resources, uint32_t lost[NUM_LOST])
{
    struct doca_matrix *matrix = NULL;
    doca_error_t result = add_available(resources, lost);

    if (result == DOCA_SUCCESS)
        result = doca_ec_recover_matrix_create(resources->coding, resources->ec, lost, NUM_LOST, &matrix);
    if (result != DOCA_SUCCESS)
        return result;

    const struct doca_ec_job_recover job = {
        .base = {.type = DOCA_EC_JOB_RECOVER, .flags = DOCA_JOB_FLAGS_NONE, .ctx = doca_ec_as_ctx(resources->ec)},
        .recover_matrix = matrix,
        .src_remaining_data_buff = resources->src,
        .dst_recovered_data_buff = resources->dst,
    };

    result = run_job(resources->workq, &job.base);
    if (result == DOCA_SUCCESS)
        result = compare_outputs(resources, lost);
    return first_error(result, doca_ec_matrix_destroy(matrix));
}

static doca_error_t recover_each_pair(struct ec_resources *resources)
{
    doca_error_t result = DOCA_SUCCESS;
    size_t num_pairs = 0;

    for (uint32_t first = 0; first < NUM_BLOCKS; first++) {
        for (uint32_t second = first + 1; result == DOCA_SUCCESS && second < NUM_BLOCKS; second++) {
            uint32_t lost[NUM_LOST] = {first, second};

            result = recover(resources, lost);
            num_pairs++;
        }
    }
    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("Recovered %zu pairs of blocks", num_pairs);
    return result;
}

doca_error_t ec_recover(const struct ec_config *config)
{
    struct ec_resources resources = {0};
    doca_error_t result;

    result = create_ec_resources(config->data, &resources);
    if (result == DOCA_SUCCESS)
        result = create_redundancy(&resources);
    if (result == DOCA_SUCCESS)
        result = recover_each_pair(&resources);
    result = first_error(result, destroy_ec_resources(&resources));
    return result;
}
