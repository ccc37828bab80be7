// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Decompresses a file that is one LZ4 block.
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_log.h>

#include "../compress_common.h"

DOCA_LOG_REGISTER(DECOMPRESS_LZ4_BLOCK);

#define NUM_TASKS 1

static int is_suitable(const struct doca_devinfo *devinfo)
{
    return doca_compress_cap_task_decompress_lz4_block_is_supported(devinfo) == DOCA_SUCCESS;
}

static void done(struct doca_compress_task_decompress_lz4_block *task, union doca_data task_user_data,
                 union doca_data ctx_user_data)
{
    struct compress_resources *resources = ctx_user_data.ptr;

    (void)task_user_data;
    resources->crc = doca_compress_task_decompress_lz4_block_get_crc_cs(task);
    resources->adler_or_xxh = doca_compress_task_decompress_lz4_block_get_xxh_cs(task);
    end_task(resources, doca_compress_task_decompress_lz4_block_as_task(task));
}

static void failed(struct doca_compress_task_decompress_lz4_block *task, union doca_data task_user_data,
                   union doca_data ctx_user_data)
{
    (void)task_user_data;
    fail_task(ctx_user_data.ptr, doca_compress_task_decompress_lz4_block_as_task(task));
}

static doca_error_t configure(struct compress_resources *resources)
{
    return doca_compress_task_decompress_lz4_block_set_conf(resources->compress, done, failed, NUM_TASKS);
}

static doca_error_t decompress(const struct compress_config *config, struct compress_resources *resources)
{
    struct doca_compress_task_decompress_lz4_block *task = NULL;
    union doca_data none = {0};
    doca_error_t result;

    result = doca_compress_task_decompress_lz4_block_alloc_init(resources->compress, resources->src, resources->dst,
                                                                none, &task);
    if (result == DOCA_SUCCESS)
        result = run_task(resources, doca_compress_task_decompress_lz4_block_as_task(task));
    return result == DOCA_SUCCESS ? save_output(config, resources, result_len(resources)) : result;
}

int main(int argc, char **argv)
{
    static struct compress_config config;
    static struct compress_resources resources;
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = parse_arguments("doca_decompress_lz4_block", 0, argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = create_compress_resources(&config, is_suitable, configure, &resources);
    if (result == DOCA_SUCCESS)
        result = decompress(&config, &resources);
    return finish(first_error(result, destroy_compress_resources(&resources)));
}
