// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the SHA samples share: their argument, a context, and memory for text and digest.
#ifndef SHA_COMMON_H_
#define SHA_COMMON_H_

#include <doca_buf_inventory.h>
#include <doca_sha.h>

#include "../common.h"

#define DIGEST_SIZE 32 /* of SHA-256 */

struct sha_config {
    char text[MAX_TEXT_SIZE];
};

doca_error_t parse_arguments(const char *program, const char *default_text, int argc, char **argv,
                             struct sha_config *config);

struct sha_resources {
    struct doca_dev *dev;
    struct doca_pe *pe;
    struct doca_buf_inventory *inventory;
    struct doca_mmap *text_mmap;
    struct doca_mmap *digest_mmap;
    struct doca_buf *text;   /* all of it is data */
    struct doca_buf *digest; /* empty */
    struct doca_sha *sha;
    struct doca_ctx *ctx;
    size_t text_len;
    int is_over;         /* the context is idle again */
    doca_error_t result; /* the first failure of a callback */
    char text_memory[MAX_TEXT_SIZE];
    uint8_t digest_memory[DIGEST_SIZE];
};

/* Adds the sample's tasks to the context, and sets its state callback. */
typedef doca_error_t (*configure_fn)(struct sha_resources *resources);

/* Sets up all that hashing with SHA-256 needs, and does not start the context. Also after a failure,
 * destroy_sha_resources() must follow; *resources was zero. */
doca_error_t create_sha_resources(const struct sha_config *config, suits_fn suits, configure_fn configure,
                                  struct sha_resources *resources);
doca_error_t destroy_sha_resources(struct sha_resources *resources);

/* Submits a task, and waits until the context is idle again: the task's callbacks have stopped it. */
doca_error_t run_task(struct sha_resources *resources, struct doca_task *task);
/* Of a task that has failed: frees it, and ends the work. */
void fail_task(struct sha_resources *resources, struct doca_task *task);

/* Stops the context, and keeps a failure that is the reason. May be called in callbacks. */
void end_work(struct sha_resources *resources, doca_error_t result);
/* A state callback: notes when the context is idle. */
void note_idle(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev_state,
               enum doca_ctx_states next_state);

/* Logs the digest. */
doca_error_t show_digest(const struct sha_resources *resources);

#endif /* SHA_COMMON_H_ */
