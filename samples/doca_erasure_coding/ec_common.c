// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "ec_common.h"

#include <string.h>

#include <bsd/string.h>
#include <doca_log.h>

#include "../wait.h"

DOCA_LOG_REGISTER(SAMPLES::EC_COMMON);

#define DEFAULT_DATA "Any two of these six blocks may be lost, and nothing of the text is."
#define WORKQ_DEPTH 1
#define NUM_BUFFERS 2 /* source and destination */

static doca_error_t set_data(void *value, void *config)
{
    struct ec_config *const c = config;

    return set_string("data", value, c->data, sizeof(c->data));
}

doca_error_t parse_arguments(const char *program, int argc, char **argv, struct ec_config *config)
{
    static const struct argument data = {.short_name = "d",
                                         .long_name = "data",
                                         .value = "<text>",
                                         .description = "Text to protect (default: " DEFAULT_DATA ")",
                                         .callback = set_data,
                                         .type = DOCA_ARGP_TYPE_STRING};
    doca_error_t result;

    (void)strlcpy(config->data, DEFAULT_DATA, sizeof(config->data));
    result = begin_arguments(program, config);
    return result == DOCA_SUCCESS ? read_arguments(add_argument(&data), argc, argv) : result;
}

static bool can_run(struct doca_devinfo *devinfo, int job_type)
{
    return doca_ec_job_get_supported(devinfo, (enum doca_ec_job_types)job_type) == DOCA_SUCCESS;
}

static doca_error_t start_ec(struct ec_resources *r)
{
    doca_error_t result = doca_ec_create(&r->ec);

    if (result == DOCA_SUCCESS)
        result = create_workq(WORKQ_DEPTH, &r->workq);
    if (result == DOCA_SUCCESS)
        result = start_ctx(doca_ec_as_ctx(r->ec), r->dev, r->workq, &r->setup);
    if (result == DOCA_SUCCESS)
        result = doca_ec_matrix_create(r->ec, DOCA_CODING_MATRIX_CAUCHY, NUM_DATA, NUM_REDUNDANCY, &r->coding);
    return result;
}

/* The blocks are as long as they must be, and end with zeros. */
static void cut_text(const char *text, struct ec_resources *resources)
{
    const size_t len = strlen(text);
    const size_t unit = NUM_DATA * BLOCK_UNIT;

    resources->block_size = (len + unit - 1) / unit * BLOCK_UNIT;
    for (size_t i = 0; i < NUM_DATA; i++) {
        const size_t begin = i * resources->block_size;
        const size_t left = begin < len ? len - begin : 0;

        memcpy(resources->blocks[i], text + (left == 0 ? 0 : begin),
               left < resources->block_size ? left : resources->block_size);
    }
}

static doca_error_t create_buffers(struct ec_resources *r)
{
    doca_error_t result;

    result = map_memory(r->dev, &r->memory, sizeof(r->memory), DOCA_ACCESS_LOCAL_READ_WRITE, &r->mmap);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_create(NULL, NUM_BUFFERS, DOCA_BUF_EXTENSION_NONE, &r->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(r->inventory);
    if (result == DOCA_SUCCESS)
        result =
            doca_buf_inventory_buf_by_addr(r->inventory, r->mmap, r->memory.inputs, sizeof(r->memory.inputs), &r->src);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_by_addr(r->inventory, r->mmap, r->memory.outputs, sizeof(r->memory.outputs),
                                                &r->dst);
    return result;
}

doca_error_t create_ec_resources(const char *text, struct ec_resources *resources)
{
    doca_error_t result;

    cut_text(text, resources);
    result = open_first_device(can_run, DOCA_EC_JOB_CREATE, "erasure coding", &resources->dev);
    if (result != DOCA_SUCCESS)
        return result;
    result = start_ec(resources);
    if (result == DOCA_SUCCESS)
        result = create_buffers(resources);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Erasure coding cannot be set up: %s", doca_get_error_string(result));
    return result;
}

doca_error_t destroy_ec_resources(struct ec_resources *r)
{
    doca_error_t result = DOCA_SUCCESS;

    if (r->coding != NULL)
        result = first_error(result, doca_ec_matrix_destroy(r->coding));
    if (r->dst != NULL)
        result = first_error(result, doca_buf_refcount_rm(r->dst, NULL));
    if (r->src != NULL)
        result = first_error(result, doca_buf_refcount_rm(r->src, NULL));
    result = first_error(result, stop_ctx(&r->setup));
    if (r->workq != NULL)
        result = first_error(result, doca_workq_destroy(r->workq));
    if (r->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(r->inventory));
    if (r->mmap != NULL)
        result = first_error(result, doca_mmap_destroy(r->mmap));
    if (r->ec != NULL)
        result = first_error(result, doca_ec_destroy(r->ec));
    if (r->dev != NULL)
        result = first_error(result, doca_dev_close(r->dev));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Erasure coding cannot be taken apart: %s", doca_get_error_string(result));
    return result;
}

doca_error_t create_redundancy(struct ec_resources *resources)
{
    const size_t size = resources->block_size;
    doca_error_t result = begin_inputs(resources);

    for (size_t i = 0; result == DOCA_SUCCESS && i < NUM_DATA; i++)
        result = add_input(resources, resources->blocks[i]);
    if (result != DOCA_SUCCESS)
        return result;

    const struct doca_ec_job_create job = {
        .base = {.type = DOCA_EC_JOB_CREATE, .flags = DOCA_JOB_FLAGS_NONE, .ctx = doca_ec_as_ctx(resources->ec)},
        .create_matrix = resources->coding,
        .src_original_data_buff = resources->src,
        .dst_rdnc_buff = resources->dst,
    };

    result = run_job(resources->workq, &job.base);
    for (size_t j = 0; result == DOCA_SUCCESS && j < NUM_REDUNDANCY; j++)
        memcpy(resources->blocks[NUM_DATA + j], resources->memory.outputs + j * size, size);
    return result;
}

doca_error_t begin_inputs(struct ec_resources *resources)
{
    const doca_error_t result = doca_buf_reset_data_len(resources->src);

    /* Results are put behind the destination's data. */
    return result == DOCA_SUCCESS ? doca_buf_reset_data_len(resources->dst) : result;
}

doca_error_t add_input(struct ec_resources *resources, const uint8_t *block)
{
    size_t len = 0;
    const doca_error_t result = doca_buf_get_data_len(resources->src, &len);

    if (result != DOCA_SUCCESS)
        return result;
    memcpy(resources->memory.inputs + len, block, resources->block_size);
    return doca_buf_set_data(resources->src, resources->memory.inputs, len + resources->block_size);
}
