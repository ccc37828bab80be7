// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Compresses a file to raw DEFLATE or, with -z, to a zlib stream.
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_log.h>

#include "../compress_common.h"

DOCA_LOG_REGISTER(COMPRESS_DEFLATE);

#define NUM_TASKS 1
#define ZLIB_HEADER_SIZE 2
#define ZLIB_TRAILER_SIZE 4 /* the Adler-32 of the content */

static int is_suitable(const struct doca_devinfo *devinfo)
{
    return doca_compress_cap_task_compress_deflate_is_supported(devinfo) == DOCA_SUCCESS;
}

static void done(struct doca_compress_task_compress_deflate *task, union doca_data task_user_data,
                 union doca_data ctx_user_data)
{
    struct compress_resources *resources = ctx_user_data.ptr;

    (void)task_user_data;
    resources->crc = doca_compress_task_compress_deflate_get_crc_cs(task);
    resources->adler_or_xxh = doca_compress_task_compress_deflate_get_adler_cs(task);
    end_task(resources, doca_compress_task_compress_deflate_as_task(task));
}

static void failed(struct doca_compress_task_compress_deflate *task, union doca_data task_user_data,
                   union doca_data ctx_user_data)
{
    (void)task_user_data;
    fail_task(ctx_user_data.ptr, doca_compress_task_compress_deflate_as_task(task));
}

static doca_error_t configure(struct compress_resources *resources)
{
    return doca_compress_task_compress_deflate_set_conf(resources->compress, done, failed, NUM_TASKS);
}

static doca_error_t compress(const struct compress_config *config, struct compress_resources *resources)
{
    struct doca_compress_task_compress_deflate *task = NULL;
    union doca_data none = {0};
    size_t header = config->has_frame ? ZLIB_HEADER_SIZE : 0;
    size_t len = 0;
    /* The result is written behind the destination's data, of which there is none. */
    doca_error_t result = doca_buf_set_data(resources->dst, resources->output + header, 0);

    if (result != DOCA_SUCCESS)
        return result;
    result = doca_compress_task_compress_deflate_alloc_init(resources->compress, resources->src, resources->dst, none,
                                                            &task);
    if (result == DOCA_SUCCESS)
        result = run_task(resources, doca_compress_task_compress_deflate_as_task(task));
    if (result != DOCA_SUCCESS)
        return result;
    len = header + result_len(resources);
    if (config->has_frame) {
        if (sizeof(resources->output) - len < ZLIB_TRAILER_SIZE)
            return DOCA_ERROR_TOO_BIG;
        resources->output[0] = 0x78; /* DEFLATE with a window of 32 KiB */
        resources->output[1] = 0x01; /* and check bits */
        write_be32(resources->output + len, resources->adler_or_xxh);
        len += ZLIB_TRAILER_SIZE;
    }
    return save_output(config, resources, len);
}

int main(int argc, char **argv)
{
    static struct compress_config config;
    static struct compress_resources resources;
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = parse_arguments("doca_compress_deflate", 1, argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = create_compress_resources(&config, is_suitable, configure, &resources);
    if (result == DOCA_SUCCESS)
        result = compress(&config, &resources);
    return finish(first_error(result, destroy_compress_resources(&resources)));
}
