// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the compress samples share: their arguments, a context, and memory for a file and the result.
#ifndef COMPRESS_COMMON_H_
#define COMPRESS_COMMON_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_compress.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>

#include "../common.h"

#define MAX_PATH_SIZE 4096 /* terminating NUL included */
#define MAX_INPUT_SIZE (8u << 20)
#define MAX_OUTPUT_SIZE (64u << 20)

struct compress_config {
    char input[MAX_PATH_SIZE];
    char output[MAX_PATH_SIZE];
};

/* Fills a configuration from the command line. */
doca_error_t parse_arguments(const char *program, int argc, char **argv, struct compress_config *config);

/* All that a job takes. */
struct compress_resources {
    struct doca_dev *dev;
    struct doca_buf_inventory *inventory;
    struct doca_compress *compress;
    struct doca_workq *workq;
    struct doca_mmap *input_mmap;
    struct doca_mmap *output_mmap;
    struct doca_buf *src; /* full of the file */
    struct doca_buf *dst; /* empty */
    size_t input_len;
    struct ctx_setup setup;
    uint8_t input[MAX_INPUT_SIZE];
    uint8_t output[MAX_OUTPUT_SIZE];
};

/*
 * Loads the file and sets up everything for a job of the type, on the first device that can do it. Also after a
 * failure, destroy_compress_resources() must follow; *resources was zero before.
 */
doca_error_t create_compress_resources(const struct compress_config *config, enum doca_compress_job_types job_type,
                                       struct compress_resources *resources);
doca_error_t destroy_compress_resources(struct compress_resources *resources);

/* Runs a DEFLATE job of the type on the file, saves the result, and shows the lengths and checksums. */
doca_error_t run_deflate_job(const struct compress_config *config, enum doca_compress_job_types job_type,
                             struct compress_resources *resources);

#endif /* COMPRESS_COMMON_H_ */
