// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the AES-GCM samples share: their arguments, a context with a key, and memory for source and result.
#ifndef AES_GCM_COMMON_H_
#define AES_GCM_COMMON_H_

#include <doca_aes_gcm.h>
#include <doca_buf_inventory.h>

#include "../common.h"

#define MAX_FILE_SIZE (1024 * 1024)
#define MAX_KEY_SIZE 32
#define MAX_IV_SIZE 12
#define MAX_TAG_SIZE 16

struct gcm_config {
    char source[MAX_PATH_SIZE];
    char result[MAX_PATH_SIZE];
    uint8_t key[MAX_KEY_SIZE];
    size_t key_size;
    uint8_t iv[MAX_IV_SIZE];
    size_t iv_size;
    int tag_size;
    int aad_size;
};

doca_error_t parse_arguments(const char *program, int argc, char **argv, struct gcm_config *config);

struct gcm_resources {
    struct doca_dev *dev;
    struct doca_pe *pe;
    struct doca_buf_inventory *inventory;
    struct doca_mmap *source_mmap;
    struct doca_mmap *result_mmap;
    struct doca_buf *source; /* the whole file is data */
    struct doca_buf *result; /* empty */
    struct doca_aes_gcm *gcm;
    struct doca_aes_gcm_key *key;
    struct doca_ctx *ctx;
    size_t source_len;
    int has_ended;       /* the task */
    doca_error_t status; /* of the task */
    uint8_t source_memory[MAX_FILE_SIZE + MAX_TAG_SIZE];
    uint8_t result_memory[MAX_FILE_SIZE + MAX_TAG_SIZE];
};

/* Adds the sample's tasks to the context. */
typedef doca_error_t (*configure_fn)(struct gcm_resources *resources);

/* Reads the source file, sets up all that the task needs, and starts the context. Also after a failure,
 * destroy_gcm_resources() must follow; *resources was zero. */
doca_error_t create_gcm_resources(const struct gcm_config *config, suits_fn suits, configure_fn configure,
                                  struct gcm_resources *resources);
doca_error_t destroy_gcm_resources(struct gcm_resources *resources);

/* Submits a task, waits for its end, frees it, and writes the result file. */
doca_error_t run_task(const struct gcm_config *config, struct gcm_resources *resources, struct doca_task *task);
/* What both callbacks of a task do. */
void note_end(struct gcm_resources *resources, struct doca_task *task);

#endif /* AES_GCM_COMMON_H_ */
