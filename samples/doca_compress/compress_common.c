// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "compress_common.h"

#include <inttypes.h>
#include <string.h>

#include <bsd/string.h>
#include <doca_argp.h>
#include <doca_log.h>

#include "../common.h"
#include "../wait.h"

DOCA_LOG_REGISTER(SAMPLES::COMPRESS_COMMON);

#define WORKQ_DEPTH 1
#define NUM_BUFFERS 2 /* source and destination */

static doca_error_t set_path(char *path, const char *what, const char *value)
{
    const size_t len = strlen(value);

    if (len == 0 || len >= MAX_PATH_SIZE) {
        DOCA_LOG_ERR("The path of the %s has %zu bytes, and 1 to %d are possible", what, len, MAX_PATH_SIZE - 1);
        return DOCA_ERROR_INVALID_VALUE;
    }
    (void)strlcpy(path, value, MAX_PATH_SIZE);
    return DOCA_SUCCESS;
}

static doca_error_t set_input(void *value, void *config)
{
    return set_path(((struct compress_config *)config)->input, "input", value);
}

static doca_error_t set_output(void *value, void *config)
{
    return set_path(((struct compress_config *)config)->output, "output", value);
}

static doca_error_t register_path(const char *short_name, const char *long_name, const char *description,
                                  callback_func set)
{
    struct doca_argp_param *param;
    doca_error_t result;

    result = doca_argp_param_create(&param);
    if (result != DOCA_SUCCESS)
        return result;
    doca_argp_param_set_short_name(param, short_name);
    doca_argp_param_set_long_name(param, long_name);
    doca_argp_param_set_arguments(param, "<path>");
    doca_argp_param_set_description(param, description);
    doca_argp_param_set_callback(param, set);
    doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
    doca_argp_param_set_mandatory(param);
    return doca_argp_register_param(param);
}

doca_error_t parse_arguments(const char *program, int argc, char **argv, struct compress_config *config)
{
    doca_error_t result;

    result = doca_argp_init(program, config);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The arguments cannot be set up: %s", doca_get_error_string(result));
        return result;
    }
    result = register_path("i", "input", "File to read", set_input);
    if (result == DOCA_SUCCESS)
        result = register_path("o", "output", "File to write", set_output);
    if (result == DOCA_SUCCESS)
        result = add_busy_argument();
    if (result == DOCA_SUCCESS)
        result = doca_argp_start(argc, argv);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The arguments cannot be used: %s (-h shows what is possible)", doca_get_error_string(result));
    (void)doca_argp_destroy();
    return result;
}

static doca_error_t open_compress_device(enum doca_compress_job_types job_type, struct doca_dev **dev)
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
        if (doca_compress_job_get_supported(devices[i], job_type) == DOCA_SUCCESS)
            result = doca_dev_open(devices[i], dev);
    }
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("None of the %u devices here can be used: %s", num_devices, doca_get_error_string(result));
    (void)doca_devinfo_list_destroy(devices);
    return result;
}

static doca_error_t start_compress(struct compress_resources *r)
{
    struct doca_ctx *ctx;
    doca_error_t result;

    result = doca_compress_create(&r->compress);
    if (result != DOCA_SUCCESS)
        return result;
    ctx = doca_compress_as_ctx(r->compress);
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
    r->has_workq = result == DOCA_SUCCESS;
    return result;
}

static doca_error_t create_buffers(struct compress_resources *r)
{
    doca_error_t result;

    result = map_memory(r->dev, r->input, sizeof(r->input), DOCA_ACCESS_LOCAL_READ_ONLY, &r->input_mmap);
    if (result == DOCA_SUCCESS)
        result = map_memory(r->dev, r->output, sizeof(r->output), DOCA_ACCESS_LOCAL_READ_WRITE, &r->output_mmap);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_create(NULL, NUM_BUFFERS, DOCA_BUF_EXTENSION_NONE, &r->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(r->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_by_data(r->inventory, r->input_mmap, r->input, r->input_len, &r->src);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_by_addr(r->inventory, r->output_mmap, r->output, sizeof(r->output), &r->dst);
    return result;
}

doca_error_t create_compress_resources(const struct compress_config *config, enum doca_compress_job_types job_type,
                                       struct compress_resources *resources)
{
    doca_error_t result;

    result = load_file(config->input, resources->input, sizeof(resources->input), &resources->input_len);
    if (result == DOCA_SUCCESS)
        result = open_compress_device(job_type, &resources->dev);
    if (result != DOCA_SUCCESS)
        return result;
    result = start_compress(resources);
    if (result == DOCA_SUCCESS)
        result = create_buffers(resources);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Compression cannot be set up: %s", doca_get_error_string(result));
    return result;
}

doca_error_t destroy_compress_resources(struct compress_resources *r)
{
    struct doca_ctx *const ctx = r->compress == NULL ? NULL : doca_compress_as_ctx(r->compress);
    doca_error_t result = DOCA_SUCCESS;

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
    if (r->output_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(r->output_mmap));
    if (r->input_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(r->input_mmap));
    if (r->is_started)
        result = first_error(result, doca_ctx_stop(ctx));
    if (r->has_device)
        result = first_error(result, doca_ctx_dev_rm(ctx, r->dev));
    if (r->compress != NULL)
        result = first_error(result, doca_compress_destroy(r->compress));
    if (r->dev != NULL)
        result = first_error(result, doca_dev_close(r->dev));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Compression cannot be taken apart: %s", doca_get_error_string(result));
    return result;
}

/* Submits the job and waits until it has ended. */
static doca_error_t run_job(struct doca_workq *workq, const struct doca_job *job)
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
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The job has failed: %s", doca_get_error_string(result));
    return result;
}

doca_error_t run_deflate_job(const struct compress_config *config, enum doca_compress_job_types job_type,
                             struct compress_resources *resources)
{
    uint64_t checksums = 0;
    size_t len = 0;
    doca_error_t result;

    const struct doca_compress_deflate_job job = {
        .base = {.type = (int)job_type, .flags = DOCA_JOB_FLAGS_NONE, .ctx = doca_compress_as_ctx(resources->compress)},
        .dst_buff = resources->dst,
        .src_buff = resources->src,
        .output_chksum = &checksums,
    };

    result = run_job(resources->workq, &job.base);
    if (result == DOCA_SUCCESS)
        result = doca_buf_get_data_len(resources->dst, &len);
    if (result == DOCA_SUCCESS)
        result = save_file(config->output, resources->output, len);
    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("%zu bytes became %zu, CRC-32 %08" PRIx32 ", Adler-32 %08" PRIx32, resources->input_len, len,
                      (uint32_t)checksums, (uint32_t)(checksums >> 32));
    return result;
}
