// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The engines that the client of the storage sample uses: a context that compresses and one that computes redundancy,
// both on the progress engine of Comch.
#ifndef STORAGE_CODER_H_
#define STORAGE_CODER_H_

#include <doca_buf_inventory.h>
#include <doca_compress.h>
#include <doca_erasure_coding.h>

#include "storage_memory.h"

#define BLOCK_UNIT 64 /* blocks are multiples of it: a rule of doca_erasure_coding */

/* Zero before create_coder(). */
struct coder {
    struct doca_pe *pe; /* not owned */
    struct doca_buf_inventory *inventory;
    struct doca_compress *compress;
    struct doca_ec *ec;
    struct doca_ec_matrix *matrix; /* that the redundancy is computed by */
    uint32_t num_data;             /* data blocks */
    uint32_t num_redundancy;       /* redundancy blocks */
    uint64_t max_len;              /* bytes that the device compresses in one task */
    uint64_t max_block_size;       /* bytes of a block of its redundancy */
    int is_done;                   /* the present task has ended, */
    doca_error_t status;           /* with this status, */
    uint32_t crc;                  /* and this CRC-32 of what is not compressed */
};

/* Whether the device has all that is needed; the log says what is missing. */
doca_error_t check_engines(const struct doca_devinfo *devinfo);

/* After a failure, too, destroy_coder() must follow. */
doca_error_t create_coder(struct doca_dev *dev, struct doca_pe *pe, uint32_t num_data, uint32_t num_redundancy,
                          struct coder *coder);
doca_error_t destroy_coder(struct coder *coder);

/* Each of these runs one task and waits for its end. The first two return how many bytes were written, and the checksum
 * of what is not compressed. */
doca_error_t compress_range(struct coder *coder, struct range src, struct range dst, size_t *len, uint32_t *crc);
doca_error_t decompress_range(struct coder *coder, struct range src, struct range dst, size_t *len, uint32_t *crc);

/* Computes the redundancy blocks of an image, which lie behind its data blocks. */
doca_error_t create_redundancy(struct coder *coder, const struct memory *image, size_t block_size);
/* Recovers lost blocks, whose numbers ascend, in their places; there are not more than redundancy blocks. */
doca_error_t recover_blocks(struct coder *coder, const struct memory *image, size_t block_size, uint32_t *lost,
                            uint32_t num_lost);

#endif /* STORAGE_CODER_H_ */
