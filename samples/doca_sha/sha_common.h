// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the SHA samples share: their argument, the objects that a digest takes, and jobs.
#ifndef SHA_COMMON_H_
#define SHA_COMMON_H_

#include <stddef.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_sha.h>

#include "../common.h"

#define MAX_DATA_SIZE 4096 /* of the data to hash, terminating NUL included */

struct sha_config {
    char data[MAX_DATA_SIZE];
};

/* Fills a configuration from the command line. */
doca_error_t parse_arguments(const char *program, int argc, char **argv, struct sha_config *config);

/* All that a digest takes. */
struct sha_resources {
    struct doca_dev *dev;
    struct doca_buf_inventory *inventory;
    struct doca_sha *sha;
    struct doca_workq *workq;
    char *data; /* what is hashed, mapped for the device */
    size_t data_len;
    unsigned char digest[DOCA_SHA256_BYTE_COUNT];
    struct doca_mmap *data_mmap;
    struct doca_mmap *digest_mmap;
    struct doca_buf *response; /* empty, and as long as the digest */
    struct ctx_setup setup;
};

/*
 * Sets up everything for SHA-256 of a text, on the first device that can do it. Also after a failure,
 * destroy_sha_resources() must follow; *resources was zero before.
 */
doca_error_t create_sha_resources(enum doca_sha_job_type job_type, const char *text, struct sha_resources *resources);
doca_error_t destroy_sha_resources(struct sha_resources *resources);

/* A buffer that is full of len bytes of the data. */
doca_error_t take_request(struct sha_resources *resources, size_t offset, size_t len, struct doca_buf **request);

/* Shows what the last job has written into the response. */
doca_error_t show_digest(const struct sha_resources *resources);

#endif /* SHA_COMMON_H_ */
