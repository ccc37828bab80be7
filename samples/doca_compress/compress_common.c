// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "compress_common.h"

#include <inttypes.h>

#include <doca_log.h>

#include "../wait.h"

DOCA_LOG_REGISTER(SAMPLES::COMPRESS_COMMON);

#define WORKQ_DEPTH 1
#define NUM_BUFFERS 2 /* source and destination */

static doca_error_t set_input(void *value, void *config)
{
    struct compress_config *const c = config;

    return set_string("path of the input", value, c->input, sizeof(c->input));
}

static doca_error_t set_output(void *value, void *config)
{
    struct compress_config *const c = config;

    return set_string("path of the output", value, c->output, sizeof(c->output));
}

doca_error_t parse_arguments(const char *program, int argc, char **argv, struct compress_config *config)
{
    static const struct argument arguments[] = {
        {"i", "input", "<path>", "File to read", set_input, DOCA_ARGP_TYPE_STRING, true},
        {"o", "output", "<path>", "File to write", set_output, DOCA_ARGP_TYPE_STRING, true},
    };
    doca_error_t result;

    result = begin_arguments(program, config);
    if (result != DOCA_SUCCESS)
        return result;
    result = add_argument(&arguments[0]);
    if (result == DOCA_SUCCESS)
        result = add_argument(&arguments[1]);
    return read_arguments(result, argc, argv);
}

static bool can_run(struct doca_devinfo *devinfo, int job_type)
{
    return doca_compress_job_get_supported(devinfo, (enum doca_compress_job_types)job_type) == DOCA_SUCCESS;
}

static doca_error_t start_compress(struct compress_resources *r)
{
    doca_error_t result = doca_compress_create(&r->compress);

    if (result == DOCA_SUCCESS)
        result = create_workq(WORKQ_DEPTH, &r->workq);
    if (result == DOCA_SUCCESS)
        result = start_ctx(doca_compress_as_ctx(r->compress), r->dev, r->workq, &r->setup);
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
        result = open_first_device(can_run, (int)job_type, "DEFLATE", &resources->dev);
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
    doca_error_t result = DOCA_SUCCESS;

    if (r->dst != NULL)
        result = first_error(result, doca_buf_refcount_rm(r->dst, NULL));
    if (r->src != NULL)
        result = first_error(result, doca_buf_refcount_rm(r->src, NULL));
    result = first_error(result, stop_ctx(&r->setup));
    if (r->workq != NULL)
        result = first_error(result, doca_workq_destroy(r->workq));
    if (r->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(r->inventory));
    if (r->output_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(r->output_mmap));
    if (r->input_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(r->input_mmap));
    if (r->compress != NULL)
        result = first_error(result, doca_compress_destroy(r->compress));
    if (r->dev != NULL)
        result = first_error(result, doca_dev_close(r->dev));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Compression cannot be taken apart: %s", doca_get_error_string(result));
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
