// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the storage sample stores of a file, its image:
//
//   | header | compressed content | unused | redundancy           |
//   | data block 0 | data block 1 | ...   | redundancy block | ... |
//
// The header lies in data block 0 and is recovered with it: a reader needs nothing but the numbers of blocks and their
// size.
#ifndef STORAGE_IMAGE_H_
#define STORAGE_IMAGE_H_

#include "storage_coder.h"

/* Zero before create_image(). */
struct image {
    struct memory memory; /* all blocks, one behind the other; the device across the PCIe may read and write it */
    uint32_t num_blocks;
    size_t block_size; /* at most a num_blocks-th of the memory */
    uint32_t crc;      /* of the file's content */
};

/* Makes the image of the first len bytes of a file, which are at most the coder's max_len. */
doca_error_t create_image(struct doca_dev *dev, struct coder *coder, const struct memory *file, size_t len,
                          struct image *image);
doca_error_t destroy_image(struct image *image);

/* Decompresses the content of an image whose data blocks are complete, and compares its CRC-32. content is created by
 * it, with at least one byte. */
doca_error_t read_image(struct doca_dev *dev, struct coder *coder, const struct image *image, struct memory *content,
                        size_t *len);

#endif /* STORAGE_IMAGE_H_ */
