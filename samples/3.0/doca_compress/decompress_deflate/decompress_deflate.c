// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Decompresses a file of raw DEFLATE or, with -z, a zlib stream, and checks its Adler-32.
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_log.h>

#include "../compress_common.h"

DOCA_LOG_REGISTER(DECOMPRESS_DEFLATE);

#define NUM_TASKS 1
#define ZLIB_HEADER_SIZE 2
#define ZLIB_TRAILER_SIZE 4 /* the Adler-32 of the content */

static int is_suitable(const struct doca_devinfo *devinfo)
{
    return doca_compress_cap_task_decompress_deflate_is_supported(devinfo) == DOCA_SUCCESS;
}

static void done(struct doca_compress_task_decompress_deflate *task, union doca_data task_user_data,
                 union doca_data ctx_user_data)
{
    struct compress_resources *resources = ctx_user_data.ptr;

    (void)task_user_data;
    resources->crc = doca_compress_task_decompress_deflate_get_crc_cs(task);
    resources->adler_or_xxh = doca_compress_task_decompress_deflate_get_adler_cs(task);
    end_task(resources, doca_compress_task_decompress_deflate_as_task(task));
}

static void failed(struct doca_compress_task_decompress_deflate *task, union doca_data task_user_data,
                   union doca_data ctx_user_data)
{
    (void)task_user_data;
    fail_task(ctx_user_data.ptr, doca_compress_task_decompress_deflate_as_task(task));
}

static doca_error_t configure(struct compress_resources *resources)
{
    return doca_compress_task_decompress_deflate_set_conf(resources->compress, done, failed, NUM_TASKS);
}

static doca_error_t decompress(const struct compress_config *config, struct compress_resources *resources)
{
    struct doca_compress_task_decompress_deflate *task = NULL;
    union doca_data none = {0};
    size_t len = resources->input_len;
    doca_error_t result = DOCA_SUCCESS;

    if (config->has_frame) {
        if (len <= ZLIB_HEADER_SIZE + ZLIB_TRAILER_SIZE) {
            DOCA_LOG_ERR("A zlib stream has more than %zu bytes", len);
            return DOCA_ERROR_INVALID_VALUE;
        }
        result = doca_buf_set_data(resources->src, resources->input + ZLIB_HEADER_SIZE,
                                   len - ZLIB_HEADER_SIZE - ZLIB_TRAILER_SIZE);
        if (result != DOCA_SUCCESS)
            return result;
    }
    result = doca_compress_task_decompress_deflate_alloc_init(resources->compress, resources->src, resources->dst, none,
                                                              &task);
    if (result == DOCA_SUCCESS)
        result = run_task(resources, doca_compress_task_decompress_deflate_as_task(task));
    if (result != DOCA_SUCCESS)
        return result;
    if (config->has_frame && read_be32(resources->input + len - ZLIB_TRAILER_SIZE) != resources->adler_or_xxh) {
        DOCA_LOG_ERR("The stream has another Adler-32 than its content");
        return DOCA_ERROR_IO_FAILED;
    }
    return save_output(config, resources, result_len(resources));
}

int main(int argc, char **argv)
{
    static struct compress_config config;
    static struct compress_resources resources;
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = parse_arguments("doca_decompress_deflate", 1, argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = create_compress_resources(&config, is_suitable, configure, &resources);
    if (result == DOCA_SUCCESS)
        result = decompress(&config, &resources);
    return finish(first_error(result, destroy_compress_resources(&resources)));
}
