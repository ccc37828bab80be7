// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the compress samples share: their arguments, a context, and memory for a file and the result.
#ifndef COMPRESS_COMMON_H_
#define COMPRESS_COMMON_H_

#include <doca_buf_inventory.h>
#include <doca_compress.h>

#include "../common.h"

#define MAX_INPUT_SIZE (8u << 20)
#define MAX_OUTPUT_SIZE (64u << 20)

struct compress_config {
    char input[MAX_PATH_SIZE];
    char output[MAX_PATH_SIZE];
    int has_frame; /* the compressed file has the frame of a zlib stream */
};

/* Reads -i, -o and, if with_frame is set, -z. */
doca_error_t parse_arguments(const char *program, int with_frame, int argc, char **argv,
                             struct compress_config *config);

struct compress_resources {
    struct doca_dev *dev;
    struct doca_pe *pe;
    struct doca_buf_inventory *inventory;
    struct doca_mmap *input_mmap;
    struct doca_mmap *output_mmap;
    struct doca_buf *src; /* all of the file is data */
    struct doca_buf *dst; /* empty */
    struct doca_compress *compress;
    struct doca_ctx *ctx;
    size_t input_len;
    uint32_t crc; /* the checksums of a task that has succeeded */
    uint32_t adler_or_xxh;
    int is_over;         /* the context is idle again */
    doca_error_t result; /* the first failure of a callback */
    uint8_t input[MAX_INPUT_SIZE];
    uint8_t output[MAX_OUTPUT_SIZE];
};

/* Adds the sample's tasks to the context. */
typedef doca_error_t (*configure_fn)(struct compress_resources *resources);

/* Loads the file, sets up all that a task on it needs, and starts the context. Also after a failure,
 * destroy_compress_resources() must follow; *resources was zero. */
doca_error_t create_compress_resources(const struct compress_config *config, suits_fn suits, configure_fn configure,
                                       struct compress_resources *resources);
doca_error_t destroy_compress_resources(struct compress_resources *resources);

/* Submits a task, and waits until the context is idle again: the task's callbacks have stopped it. */
doca_error_t run_task(struct compress_resources *resources, struct doca_task *task);
/* For callbacks: frees the task and stops the context. The first logs why the task has failed. */
void fail_task(struct compress_resources *resources, struct doca_task *task);
void end_task(struct compress_resources *resources, struct doca_task *task);

/* The length of the result. */
size_t result_len(const struct compress_resources *resources);
/* Saves the first len bytes of the output, and logs the lengths and checksums. */
doca_error_t save_output(const struct compress_config *config, const struct compress_resources *resources, size_t len);

/* Words of compressed files. */
uint32_t read_le32(const uint8_t *bytes);
uint32_t read_be32(const uint8_t *bytes);
void write_be32(uint8_t *bytes, uint32_t value);

#endif /* COMPRESS_COMMON_H_ */
