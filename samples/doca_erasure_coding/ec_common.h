// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the samples of erasure coding share: their argument, a context, and memory for blocks.
#ifndef EC_COMMON_H_
#define EC_COMMON_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_erasure_coding.h>
#include <doca_error.h>
#include <doca_mmap.h>

#include "../common.h"

#define MAX_DATA_SIZE 4096 /* of the text, terminating NUL included */
#define NUM_DATA 4         /* data blocks, which the text is cut into */
#define NUM_REDUNDANCY 2   /* redundancy blocks: so many blocks may be lost */
#define NUM_BLOCKS (NUM_DATA + NUM_REDUNDANCY)
#define BLOCK_UNIT 64 /* blocks are multiples of it */
#define MAX_BLOCK_SIZE (MAX_DATA_SIZE / NUM_DATA)

struct ec_config {
    char data[MAX_DATA_SIZE];
};

/* Fills a configuration from the command line. */
doca_error_t parse_arguments(const char *program, int argc, char **argv, struct ec_config *config);

/* All that a job takes, and the blocks. */
struct ec_resources {
    struct doca_dev *dev;
    struct doca_buf_inventory *inventory;
    struct doca_ec *ec;
    struct doca_workq *workq;
    struct doca_mmap *mmap;
    struct doca_buf *src;       /* the inputs of the present job */
    struct doca_buf *dst;       /* receives its outputs */
    struct doca_matrix *coding; /* makes the redundancy */
    size_t block_size;
    struct ctx_setup setup;
    struct {
        uint8_t inputs[NUM_DATA * MAX_BLOCK_SIZE];
        uint8_t outputs[NUM_REDUNDANCY * MAX_BLOCK_SIZE];
    } memory;
    uint8_t blocks[NUM_BLOCKS][MAX_BLOCK_SIZE]; /* data, then redundancy: what a program would store */
};

/*
 * Cuts a text into blocks and sets up everything for jobs, on the first device that can do erasure coding. Also after a
 * failure, destroy_ec_resources() must follow; *resources was zero before.
 */
doca_error_t create_ec_resources(const char *text, struct ec_resources *resources);
doca_error_t destroy_ec_resources(struct ec_resources *resources);

/* Computes the redundancy blocks of the data blocks. */
doca_error_t create_redundancy(struct ec_resources *resources);

/* Make the inputs of the next job: none at first, then one block after the other. Its output goes to memory.outputs. */
doca_error_t begin_inputs(struct ec_resources *resources);
doca_error_t add_input(struct ec_resources *resources, const uint8_t *block);

#endif /* EC_COMMON_H_ */
