// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the samples of erasure coding share: their argument, a context, and memory for blocks.
#ifndef EC_COMMON_H_
#define EC_COMMON_H_

#include <doca_buf_inventory.h>
#include <doca_erasure_coding.h>

#include "../common.h"

#define NUM_DATA 4       /* data blocks, which the text is cut into */
#define NUM_REDUNDANCY 2 /* redundancy blocks: so many blocks may be lost */
#define NUM_BLOCKS (NUM_DATA + NUM_REDUNDANCY)
#define BLOCK_UNIT 64 /* blocks are multiples of it */
#define MAX_BLOCK_SIZE (MAX_TEXT_SIZE / NUM_DATA)
#define MAX_INPUTS (2 + NUM_REDUNDANCY > NUM_DATA ? 2 + NUM_REDUNDANCY : NUM_DATA)

struct ec_config {
    char text[MAX_TEXT_SIZE];
};

struct ec_resources {
    struct doca_dev *dev;
    struct doca_pe *pe;
    struct doca_buf_inventory *inventory;
    struct doca_mmap *mmap;
    struct doca_buf *src; /* the inputs of the present task */
    struct doca_buf *dst; /* receives its outputs */
    struct doca_ec *ec;
    struct doca_ctx *ctx;
    struct doca_ec_matrix *coding;
    size_t block_size;
    int is_over;         /* the present task has ended */
    doca_error_t result; /* of the present task */
    struct {
        uint8_t inputs[MAX_INPUTS * MAX_BLOCK_SIZE];
        uint8_t outputs[NUM_REDUNDANCY * MAX_BLOCK_SIZE];
    } memory;
    uint8_t blocks[NUM_BLOCKS][MAX_BLOCK_SIZE]; /* data, then redundancy: what a program would store */
};

/* Adds further kinds of tasks to the context than that which creates redundancy. May be NULL. */
typedef doca_error_t (*configure_fn)(struct ec_resources *resources);

/* Reads the command line, cuts the text into blocks, starts a context, and computes the redundancy of the blocks. After
 * a failure, too, destroy_ec_resources() must follow; *resources was zero. */
doca_error_t create_redundancy(const char *program, int argc, char **argv, configure_fn configure,
                               struct ec_resources *resources);
doca_error_t destroy_ec_resources(struct ec_resources *resources);

/* Make the inputs of the next task: none at first, then one block after the other. Its output goes to memory.outputs.
 */
doca_error_t begin_inputs(struct ec_resources *resources);
doca_error_t add_input(struct ec_resources *resources, const uint8_t *block);
/* Submits a task, waits for its end, and frees it. */
doca_error_t run_task(struct ec_resources *resources, struct doca_task *task);
/* To be called in the callbacks of the task. */
void end_task(struct ec_resources *resources, struct doca_task *task);
/* Compares an output with the block that it should be, and logs it by its number. */
doca_error_t compare_output(const struct ec_resources *resources, size_t output, uint32_t number,
                            const uint8_t *expected);

#endif /* EC_COMMON_H_ */
