// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Decompresses an LZ4 file of one frame, and checks its content checksum if it has one.
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_log.h>

#include "../compress_common.h"

DOCA_LOG_REGISTER(DECOMPRESS_LZ4_STREAM);

#define NUM_TASKS 1

#define LZ4_MAGIC 0x184D2204u
#define WORD_SIZE 4
#define MIN_HEADER_SIZE 7 /* magic number, FLG, BD, and a checksum of one byte */
#define CONTENT_SIZE_SIZE 8
#define FLAG_INDEPENDENT 0x20
#define FLAG_BLOCK_CHECKSUM 0x10
#define FLAG_CONTENT_SIZE 0x08
#define FLAG_CONTENT_CHECKSUM 0x04
#define FLAG_DICTIONARY 0x01

struct frame {
    size_t start; /* of the first block in the file */
    size_t len;   /* of all blocks */
    uint8_t has_block_checksum;
    uint8_t are_blocks_independent;
    int has_checksum; /* of the content */
};

static int is_suitable(const struct doca_devinfo *devinfo)
{
    return doca_compress_cap_task_decompress_lz4_stream_is_supported(devinfo) == DOCA_SUCCESS;
}

static void done(struct doca_compress_task_decompress_lz4_stream *task, union doca_data task_user_data,
                 union doca_data ctx_user_data)
{
    struct compress_resources *resources = ctx_user_data.ptr;

    (void)task_user_data;
    resources->crc = doca_compress_task_decompress_lz4_stream_get_crc_cs(task);
    resources->adler_or_xxh = doca_compress_task_decompress_lz4_stream_get_xxh_cs(task);
    end_task(resources, doca_compress_task_decompress_lz4_stream_as_task(task));
}

static void failed(struct doca_compress_task_decompress_lz4_stream *task, union doca_data task_user_data,
                   union doca_data ctx_user_data)
{
    (void)task_user_data;
    fail_task(ctx_user_data.ptr, doca_compress_task_decompress_lz4_stream_as_task(task));
}

static doca_error_t configure(struct compress_resources *resources)
{
    return doca_compress_task_decompress_lz4_stream_set_conf(resources->compress, done, failed, NUM_TASKS);
}

/* Finds the blocks of the frame: what is between its header and its end mark. */
static doca_error_t read_frame(const struct compress_resources *resources, struct frame *frame)
{
    const uint8_t *input = resources->input;
    const size_t len = resources->input_len;
    size_t tail = WORD_SIZE; /* the end mark */
    uint8_t flags;

    if (len < MIN_HEADER_SIZE || read_le32(input) != LZ4_MAGIC) {
        DOCA_LOG_ERR("The file is no LZ4 frame");
        return DOCA_ERROR_INVALID_VALUE;
    }
    flags = input[WORD_SIZE];
    if ((flags & FLAG_DICTIONARY) != 0) {
        DOCA_LOG_ERR("The frame needs a dictionary");
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    frame->has_block_checksum = (flags & FLAG_BLOCK_CHECKSUM) != 0;
    frame->are_blocks_independent = (flags & FLAG_INDEPENDENT) != 0;
    frame->has_checksum = (flags & FLAG_CONTENT_CHECKSUM) != 0;
    frame->start = MIN_HEADER_SIZE + ((flags & FLAG_CONTENT_SIZE) != 0 ? CONTENT_SIZE_SIZE : 0);
    if (frame->has_checksum)
        tail += WORD_SIZE;
    if (len <= frame->start + tail) {
        DOCA_LOG_ERR("The frame has no block");
        return DOCA_ERROR_INVALID_VALUE;
    }
    frame->len = len - frame->start - tail;
    return DOCA_SUCCESS;
}

static doca_error_t decompress(const struct compress_config *config, struct compress_resources *resources)
{
    struct doca_compress_task_decompress_lz4_stream *task = NULL;
    struct frame frame = {0};
    union doca_data none = {0};
    doca_error_t result = read_frame(resources, &frame);

    if (result == DOCA_SUCCESS)
        result = doca_buf_set_data(resources->src, resources->input + frame.start, frame.len);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_compress_task_decompress_lz4_stream_alloc_init(resources->compress, frame.has_block_checksum,
                                                                 frame.are_blocks_independent, resources->src,
                                                                 resources->dst, none, &task);
    if (result == DOCA_SUCCESS)
        result = run_task(resources, doca_compress_task_decompress_lz4_stream_as_task(task));
    if (result != DOCA_SUCCESS)
        return result;
    /* The task's checksum has the reverse order of bytes. */
    if (frame.has_checksum &&
        read_be32(resources->input + resources->input_len - WORD_SIZE) != resources->adler_or_xxh) {
        DOCA_LOG_ERR("The frame has another checksum than its content");
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
    result = parse_arguments("doca_decompress_lz4_stream", 0, argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = create_compress_resources(&config, is_suitable, configure, &resources);
    if (result == DOCA_SUCCESS)
        result = decompress(&config, &resources);
    return finish(first_error(result, destroy_compress_resources(&resources)));
}
