// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "ec_common.h"

#include <string.h>

#include <bsd/string.h>
#include <doca_argp.h>
#include <doca_log.h>

#include "../common.h"
#include "../wait.h"

DOCA_LOG_REGISTER(SAMPLES::EC_COMMON);

#define DEFAULT_DATA "Any two of these six blocks may be lost, and nothing of the text is."
#define WORKQ_DEPTH 1
#define NUM_BUFFERS 2 /* source and destination */

static doca_error_t set_data(void *value, void *config)
{
    struct ec_config *const c = config;
    const size_t len = strlen(value);

    if (len == 0 || len >= sizeof(c->data)) {
        DOCA_LOG_ERR("The data has %zu bytes, and 1 to %zu are possible", len, sizeof(c->data) - 1);
        return DOCA_ERROR_INVALID_VALUE;
    }
    (void)strlcpy(c->data, value, sizeof(c->data));
    return DOCA_SUCCESS;
}

static doca_error_t register_data_argument(void)
{
    struct doca_argp_param *param;
    doca_error_t result;

    result = doca_argp_param_create(&param);
    if (result != DOCA_SUCCESS)
        return result;
    doca_argp_param_set_short_name(param, "d");
    doca_argp_param_set_long_name(param, "data");
    doca_argp_param_set_arguments(param, "<text>");
    doca_argp_param_set_description(param, "Text to protect (default: " DEFAULT_DATA ")");
    doca_argp_param_set_callback(param, set_data);
    doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
    return doca_argp_register_param(param);
}

doca_error_t parse_arguments(const char *program, int argc, char **argv, struct ec_config *config)
{
    doca_error_t result;

    (void)strlcpy(config->data, DEFAULT_DATA, sizeof(config->data));
    result = doca_argp_init(program, config);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The arguments cannot be set up: %s", doca_get_error_string(result));
        return result;
    }
    result = register_data_argument();
    if (result == DOCA_SUCCESS)
        result = add_busy_argument();
    if (result == DOCA_SUCCESS)
        result = doca_argp_start(argc, argv);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The arguments cannot be used: %s (-h shows what is possible)", doca_get_error_string(result));
    (void)doca_argp_destroy();
    return result;
}

static doca_error_t open_ec_device(struct doca_dev **dev)
{
    struct doca_devinfo **devices = NULL;
    uint32_t num_devices = 0;
    doca_error_t result;

    result = doca_devinfo_list_create(&devices, &num_devices);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The devices cannot be listed: %s", doca_get_error_string(result));
        return result;
    }
    result = DOCA_ERROR_NOT_FOUND;
    for (uint32_t i = 0; i < num_devices && result != DOCA_SUCCESS; i++) {
        if (doca_ec_job_get_supported(devices[i], DOCA_EC_JOB_CREATE) == DOCA_SUCCESS)
            result = doca_dev_open(devices[i], dev);
    }
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("None of the %u devices here can be used for erasure coding: %s", num_devices,
                     doca_get_error_string(result));
    (void)doca_devinfo_list_destroy(devices);
    return result;
}

static doca_error_t start_ec(struct ec_resources *r)
{
    struct doca_ctx *ctx;
    doca_error_t result;

    result = doca_ec_create(&r->ec);
    if (result != DOCA_SUCCESS)
        return result;
    ctx = doca_ec_as_ctx(r->ec);
    result = doca_ctx_dev_add(ctx, r->dev);
    if (result != DOCA_SUCCESS)
        return result;
    r->has_device = true;
    result = doca_ctx_start(ctx);
    if (result != DOCA_SUCCESS)
        return result;
    r->is_started = true;
    result = create_workq(WORKQ_DEPTH, &r->workq);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_ctx_workq_add(ctx, r->workq);
    if (result != DOCA_SUCCESS)
        return result;
    r->has_workq = true;
    return doca_ec_matrix_create(r->ec, DOCA_CODING_MATRIX_CAUCHY, NUM_DATA, NUM_REDUNDANCY, &r->coding);
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
    result = open_ec_device(&resources->dev);
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
    struct doca_ctx *const ctx = r->ec == NULL ? NULL : doca_ec_as_ctx(r->ec);
    doca_error_t result = DOCA_SUCCESS;

    if (r->coding != NULL)
        result = first_error(result, doca_ec_matrix_destroy(r->coding));
    if (r->dst != NULL)
        result = first_error(result, doca_buf_refcount_rm(r->dst, NULL));
    if (r->src != NULL)
        result = first_error(result, doca_buf_refcount_rm(r->src, NULL));
    if (r->has_workq)
        result = first_error(result, doca_ctx_workq_rm(ctx, r->workq));
    if (r->workq != NULL)
        result = first_error(result, doca_workq_destroy(r->workq));
    if (r->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(r->inventory));
    if (r->mmap != NULL)
        result = first_error(result, doca_mmap_destroy(r->mmap));
    if (r->is_started)
        result = first_error(result, doca_ctx_stop(ctx));
    if (r->has_device)
        result = first_error(result, doca_ctx_dev_rm(ctx, r->dev));
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

    result = run_ec_job(resources->workq, &job.base);
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

doca_error_t run_ec_job(struct doca_workq *workq, const struct doca_job *job)
{
    struct doca_event event = {0};
    doca_error_t result;

    result = doca_workq_submit(workq, job);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The job cannot be submitted: %s", doca_get_error_string(result));
        return result;
    }
    result = await_event(workq, &event);
    /* When a job has failed, the cause is in its event. */
    if (event.result.u64 != DOCA_SUCCESS)
        result = (doca_error_t)event.result.u64;
    if (result == DOCA_SUCCESS && event.type != job->type)
        result = DOCA_ERROR_UNEXPECTED;
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The job has failed: %s", doca_get_error_string(result));
    return result;
}
